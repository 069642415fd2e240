"""``python -m dask_graphflow`` is ``graphflow``."""

from dask_graphflow.cli import main

if __name__ == "__main__":
    main(prog_name="graphflow")
