"""The bedrock provider: `wire` maps, `client` talks."""
