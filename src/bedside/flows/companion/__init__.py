"""The companion flow."""
