"""The clinical room."""
