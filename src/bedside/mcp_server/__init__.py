"""The mcp_server room."""
