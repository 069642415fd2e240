"""Print digests of the results of sample calls, and whether their kernels were compiled with the package.

PYTHONPATH=. python tools/digests.py [--without-numba] [--level LEVEL] [FUNCTION ...]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from importlib.abc import MetaPathFinder


class Blocked(MetaPathFinder):
    """Refuses to import Numba."""

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        """Raise an error if it is Numba that is imported."""
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ImportError(f"{name} was imported")


def main() -> None:
    """Make the calls."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("functions", nargs="*")
    parser.add_argument("--level", type=int, help="use the entries for this level of processors")
    parser.add_argument("--without-numba", action="store_true", help="fail if Numba is imported")
    options = parser.parse_args()
    if options.without_numba:
        sys.meta_path.insert(0, Blocked())
    import pandas as pd
    import sample_calls

    from dask_graphflow.kernels import precompiled

    if options.level is not None:
        from dask_graphflow.kernels import _precompiled

        level = min(options.level, _precompiled.level())
        _precompiled.level = lambda: level
    digests = {}
    for call, result in sample_calls.results(options.functions):
        hashes = pd.util.hash_pandas_object(result, index=False).to_numpy()
        digests[call] = hashlib.sha256(hashes.tobytes()).hexdigest()
    level, problem, *_ = precompiled.library()
    print(json.dumps({"level": level, "problem": problem, "digests": digests}))


if __name__ == "__main__":
    main()
