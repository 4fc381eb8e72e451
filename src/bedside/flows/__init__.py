"""The flows room."""
