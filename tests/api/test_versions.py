"""``gf.show_versions``: its output, and that it imports no package."""

from __future__ import annotations

import importlib.metadata
import io
import subprocess
import sys
from types import SimpleNamespace

import dask
import pytest

import dask_graphflow as gf
from dask_graphflow.api import versions
from dask_graphflow.kernels import gpu


@pytest.fixture
def smi(tmp_path, monkeypatch):
    """Return a function that puts an ``nvidia-smi`` on PATH, which says something or fails."""

    def put(says, code=0):
        file = tmp_path / "nvidia-smi"
        file.write_text(f"#!/bin/sh\nprintf '{says}'\nexit {code}\n")
        file.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return put


def test_compress_prints_a_line_per_check(capsys):
    assert gf.show_versions() is None
    printed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert printed["dask_graphflow"] == gf.__version__
    assert printed["dask"] == dask.__version__
    assert printed["python"].startswith("{}.{}.{}".format(*sys.version_info[:3]))
    assert {"os", "processor", "memory", "numba", "llvmlite", "driver", "gpus"} <= set(printed)
    elsewhere = io.StringIO()
    gf.show_versions(elsewhere)
    assert elsewhere.getvalue().startswith(f"dask_graphflow  {gf.__version__}\n")
    assert capsys.readouterr().out == ""


def test_packages_are_not_imported(tmp_path):
    for name in ("cupy", "cudf", "dask_cudf", "dask_cuda", "rmm", "ucxx", "numba", "llvmlite"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')")
    code = (
        "import dask.dataframe\n"  # which tries CuPy itself
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import dask_graphflow as gf; gf.show_versions(); gf.plot.plan\n"
        "op = gf.EdgeOp('x', target='a', signal='a[src] + 1', slot='min')\n"
        "op.bind({'a': 'int32'}, index_dtype='int32').cuda\n"
        "assert not {'distributed', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, capture_output=True)


def test_wheels_for_a_cuda_are_found_by_their_own_names(monkeypatch):
    names = ["cupy-cuda13x", "cupy_cuda12x", "Dask_cuDF.cu13", "rmm", "cupyx", "cudf-polars-cu13"]
    packages = [SimpleNamespace(name=name, version=str(i)) for i, name in enumerate(names)]
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: packages)
    assert versions.find_installed(["cupy", "cudf", "dask-cudf", "rmm"]) == {
        "cupy-cuda12x": "1",
        "cupy-cuda13x": "0",
        "cudf": None,
        "dask-cudf-cu13": "2",
        "rmm": "3",
    }


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for nvidia-smi")
def test_gpus_are_those_that_nvidia_smi_lists(smi, monkeypatch, capsys):
    monkeypatch.setattr(gpu, "_driver_version", lambda: 13010)
    smi(r"NVIDIA H100, 81559 MiB, 580.65\nNVIDIA H100, 81559 MiB, 580.65\n")
    found = gf.show_versions(as_dict=True)["cuda"]
    assert found == {"driver": "CUDA 13.1", "gpus": ["NVIDIA H100, 81559 MiB, 580.65"] * 2}
    gf.show_versions()
    assert capsys.readouterr().out.count("NVIDIA H100") == 2
    smi("")
    assert versions.gpus() == []
    smi("NVIDIA-SMI has failed", code=9)
    assert versions.gpus() is None
