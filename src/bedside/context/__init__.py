"""The context room."""
