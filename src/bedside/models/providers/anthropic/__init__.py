"""The anthropic provider: `wire` maps, `client` talks."""
