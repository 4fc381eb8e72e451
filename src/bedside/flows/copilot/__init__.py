"""The copilot flow."""
