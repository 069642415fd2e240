"""Output for users besides results: tables, progress bars, and suggestions in error messages."""
