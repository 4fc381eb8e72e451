"""The evals room."""
