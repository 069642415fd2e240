"""Forests of connected components: hooking edges into them, chunk by chunk, and compressing them."""
