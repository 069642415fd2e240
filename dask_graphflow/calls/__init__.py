"""What a call on a graph is, how the members of a gang carry it out, and how answers become frames."""
