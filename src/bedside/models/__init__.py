"""The models room: one gateway to language models, and what it knows about them.

`config` is what settings say; `gateway.Chain` calls the links of a role in order; `deidentify`
and `egress` decide what may leave; `profiles` and `prices` are data; `build` puts them together.
Nothing is imported here, so that a pure flow may import `bedside.models.router` alone.
"""
