"""One folder per wire protocol: a pure `wire` and a `client` over the official SDK."""
