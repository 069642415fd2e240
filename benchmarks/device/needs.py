"""Check before a measurement that all packages are installed, and say what to install."""

from __future__ import annotations

import importlib.util

from benchmarks.errors import UnusableInputError

INSTALL = {
    "cupy": 'pip install "dask-graphflow[cuda13]" (or [cuda12], as nvidia-smi says)',
    "rmm": 'pip install "dask-graphflow[cuda13]" (or [cuda12], as nvidia-smi says)',
    "cudf": 'pip install "dask-graphflow[cuda13]" (or [cuda12], as nvidia-smi says)',
    "dask_cudf": 'pip install "dask-graphflow[cuda13]" (or [cuda12], as nvidia-smi says)',
    "dask_cuda": 'pip install "dask-graphflow[cuda13]" (or [cuda12], as nvidia-smi says)',
    "distributed_ucxx": "pip install distributed-ucxx-cu13 (or -cu12), or take --protocol tcp",
    "cugraph": "pip install cugraph-cu13 (or -cu12), from NVIDIA's package index",
}


def check(*modules: str) -> None:
    """Raise an error that says what to install, unless all modules can be imported."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        lines = dict.fromkeys(INSTALL[name] for name in missing)
        raise UnusableInputError(f"{', '.join(missing)} not installed; {'; '.join(lines)}")


def peers(asked: str, known: str) -> bool:
    """Return whether the only known peer was requested; raise if another one was."""
    if asked and asked != known:
        raise UnusableInputError(f"--peer {asked}: the only peer here is {known}")
    if asked:
        check("cugraph")
    return bool(asked)
