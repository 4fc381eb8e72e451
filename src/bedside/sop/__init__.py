"""The sop room."""
