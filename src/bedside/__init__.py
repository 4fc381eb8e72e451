"""Bedside."""
