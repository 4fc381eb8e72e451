"""The openai provider: `wire` maps, `client` talks."""
