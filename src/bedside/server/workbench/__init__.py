"""The workbench: server templates and plain ES modules, no build step, no remote asset."""
