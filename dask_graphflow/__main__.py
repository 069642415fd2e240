"""``python -m dask_graphflow`` is ``graphflow``."""

from _graphflow_cli import main

if __name__ == "__main__":
    main(prog_name="graphflow")
