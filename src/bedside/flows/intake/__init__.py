"""The intake flow."""
