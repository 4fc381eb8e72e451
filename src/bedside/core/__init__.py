"""The vocabulary: only types that two rooms exchange."""
