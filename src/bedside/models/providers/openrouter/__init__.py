"""The openrouter provider: `wire` maps, `client` talks."""
