"""Numbered changes of the schema."""
