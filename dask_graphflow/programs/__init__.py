"""Programs: the language of edge and vertex programs, and its compilation for the host and the device."""
