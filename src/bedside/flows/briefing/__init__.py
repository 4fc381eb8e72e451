"""The briefing flow."""
