"""Messages between the members of a gang: channels, exchanges and mirrors. Nothing here imports Dask."""
