"""Small cases of every kernel, for compute-sanitizer: ``compute-sanitizer python tests/sanitize.py``.

It fails if a result is wrong, or if a kernel that :mod:`~dask_graphflow.kernels.sources` lists was never
launched. A case is called with the kernels of the device, or with those of the host in test_sanitize.py,
and names the kernels that it launches on a device.
"""

# ruff: noqa: T201
from __future__ import annotations

import sys
import traceback
from itertools import product
from pathlib import Path

# Each of these modules adds its cases.
import sanitize_advance  # noqa: F401
import sanitize_components  # noqa: F401
import sanitize_groups  # noqa: F401
import sanitize_intersect  # noqa: F401
import sanitize_neighbors  # noqa: F401
import sanitize_peers  # noqa: F401
import sanitize_rows  # noqa: F401
import sanitize_sample  # noqa: F401
import sanitize_scores  # noqa: F401
import sanitize_searches  # noqa: F401
from sanitize_cases import CASES

LAUNCHED = set()


class Recorded:
    """An object of CuPy, wrapped so that launched kernels are recorded in LAUNCHED."""

    def __init__(self, wrapped, name=None):
        self.__dict__.update(wrapped=wrapped, name=name)

    def __getattr__(self, name):
        return getattr(self.wrapped, name)

    def __setattr__(self, name, value):
        setattr(self.wrapped, name, value)

    def get_function(self, name):
        return Recorded(self.wrapped.get_function(name), name)

    @property
    def kernel(self):
        return Recorded(self.wrapped.kernel, self.name)  # what a gang is launched by

    def __call__(self, *arguments, **options):
        LAUNCHED.add(self.name)
        return self.wrapped(*arguments, **options)


def unlaunched(case):
    """Return the kernels that a case should have launched and did not launch."""
    launched = {name.partition("<")[0] for name in LAUNCHED}
    return set(CASES[case]) - launched


def main(part="0", parts="1", wrong=None, *names):
    """Run cases on the device, and list those that failed in the file `wrong`; return the exit code.

    Of all cases, or those with some names, every n-th one is run, from a given one on.
    """
    import cupy

    # Each array gets its own memory. Otherwise, reads past its end or before it is written are not noticed.
    cupy.cuda.set_allocator(None)
    module = cupy.RawModule
    cupy.RawModule = lambda *arguments, **options: Recorded(module(*arguments, **options))
    from dask_graphflow.kernels.common import device

    every, failed = set(), []
    chosen = [case for case in CASES if not names or case.__name__ in names]
    cases = chosen[int(part) :: int(parts)]
    for case in cases:
        LAUNCHED.clear()
        try:
            for parents, ids in product(("int32", "int64"), repeat=2):
                case(device, parents, ids)
            cupy.cuda.runtime.deviceSynchronize()
        except Exception:
            traceback.print_exc()
            failed.append(case.__name__)
            continue
        every |= LAUNCHED
        print(f"{case.__name__}: {', '.join(sorted(LAUNCHED))}", flush=True)
        if missing := unlaunched(case):  # that every kernel has a case is a test
            print(f"  never launched here: {', '.join(sorted(missing))}")
            failed.append(case.__name__)
    if wrong is not None:
        Path(wrong).write_text("\n".join(failed))
    print(f"{len(cases)} cases, {len(every)} kernels")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
