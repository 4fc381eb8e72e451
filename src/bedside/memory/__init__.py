"""What was said before, kept with its source, and found again without a model."""
