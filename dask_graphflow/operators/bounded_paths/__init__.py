"""Simple paths and simple cycles of at most so many edges."""
