"""The notes flow."""
