"""The MCP door: guideline search, and read-only patient tools behind scope."""

from __future__ import annotations

from bedside.mcp_server.door import build_server, serve

__all__ = ["build_server", "serve"]
