"""Edge programs: algorithms that users write."""
