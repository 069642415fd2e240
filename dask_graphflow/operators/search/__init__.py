"""Searches: level by level, from 64 sources at once, or a whole search per thread; and their paths."""
