"""Deterministic tools: queries over a record, answered with cited lines. Pure."""
