"""``graphflow doctor``: each finding, on simulated machines, and the exit code."""

from __future__ import annotations

import importlib.metadata
import json
import pathlib
import socket
import tomllib
from types import SimpleNamespace

import dask
import pytest
from click.testing import CliRunner

from _graphflow_cli import main
from dask_graphflow.api import measuring, rate_store, versions
from dask_graphflow.cli import checks
from dask_graphflow.cli.checks import MISSING, OK, WRONG
from dask_graphflow.costs import Rates
from dask_graphflow.kernels import gpu

PROJECT = tomllib.loads((pathlib.Path(__file__).parents[2] / "pyproject.toml").read_text())[
    "project"
]
H100 = "NVIDIA H100, 81559 MiB, 580.65"
FOR_13 = {
    "cupy-cuda13x": "14.2.0",
    "cudf-cu13": "26.10.0",
    "dask-cudf-cu13": "26.10.0",
    "dask-cuda": "26.10.0",
}
FOR_12 = {name.replace("13", "12"): version for name, version in FOR_13.items()}


def raising(error):
    def call(*_, **__):
        raise error

    return call


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Return a function that says what is installed on a machine where the library is."""
    extras = [
        f'{one}; extra == "{name}"'
        for name, wanted in PROJECT["optional-dependencies"].items()
        for one in wanted
        if ";" not in one
    ]
    requires = [*PROJECT["dependencies"], *extras]
    metadata = {"Requires-Python": PROJECT["requires-python"]}
    here = {name: importlib.metadata.version(name) for name in ("dask", "pandas", "numba", "numpy")}

    def set_up(
        *, python="3.12.1", driver=None, gpus=None, packages=None, run=None, apart="", **others
    ):
        there = here | {"distributed": here["dask"], "pyarrow": "26.0", "fsspec": "2026.1"}
        there |= {"click": "8.2", "packaging": "26.0", "psutil": "7.0", "tqdm": "4.67"}
        there |= (
            {"matplotlib": "3.11", "crategraph-forceatlas2": "0.1", "bokeh": "3.7"}
            | (packages or {})
            | others
        )
        found = [SimpleNamespace(name=name, version=one) for name, one in there.items() if one]
        monkeypatch.setattr(importlib.metadata, "requires", lambda _: requires)
        monkeypatch.setattr(importlib.metadata, "metadata", lambda _: metadata)
        monkeypatch.setattr(importlib.metadata, "distributions", lambda: found)
        monkeypatch.setattr(checks.platform, "python_version", lambda: python)
        monkeypatch.setattr(gpu, "_driver_version", lambda: driver)
        monkeypatch.setattr(versions, "gpus", lambda: gpus)
        monkeypatch.setattr(gpu, "count", lambda: len(gpus or []))
        monkeypatch.setattr(gpu, "why_apart", lambda one, other: apart if other == 2 else "")
        monkeypatch.setattr(checks, "_run", run or (lambda device: None))

    with dask.config.set({"graphflow.calibration.path": str(tmp_path)}):
        yield set_up


def examined(code=0):
    """Run the command, and return its checks by name."""
    done = CliRunner().invoke(main, ["doctor", "--json"])
    assert done.exit_code == code, done.output
    found = json.loads(done.stdout)
    assert found["ok"] == (code == 0)
    return {check["name"]: checks.CheckResult(**check) for check in found["checks"]}


# What is needed


def test_a_machine_without_a_gpu_passes_the_checks(machine):
    machine()
    found = examined()
    wanted = {one.split(">")[0].split("[")[0] for one in PROJECT["dependencies"]}
    assert wanted | {"Python", "kernels"} == {name for name in found if found[name].needed}
    assert all(check.state == OK for check in found.values() if check.needed)
    assert (found["GPU"].state, found["GPU"].todo) == (MISSING, "")
    assert "GPU kernels" not in found


def test_doctor_prints_a_table(machine):
    machine(matplotlib=None)
    done = CliRunner().invoke(main, ["doctor"])
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert lines[0].split() == ["Python", "ok", "3.12.1"]
    at = next(i for i, line in enumerate(lines) if line.startswith("matplotlib "))
    assert lines[at + 1].split(maxsplit=1) == ["do", 'pip install "dask-graphflow[plot]"']
    assert len({line.index(" ok ") for line in lines if " ok " in line}) == 1


@pytest.mark.parametrize(
    ("version", "state", "found"),
    [(None, MISSING, "not installed"), ("2.4", WRONG, "2.4; >=3.1 is required")],
)
def test_doctor_says_what_the_dashboard_needs(machine, version, state, found):
    machine(bokeh=version)
    check = examined()["bokeh"]
    assert (check.state, check.found) == (state, f"{found}; Dask's dashboard needs it")
    assert check.todo == 'pip install "dask-graphflow[dashboard]"'
    assert not check.needed


def test_a_package_that_is_too_old_is_named_with_the_required_version(machine):
    machine(python="3.9.2", pandas="1.5.3", dask="2026.7.1rc1", tqdm=None)
    found = examined(code=1)
    assert (found["Python"].state, found["Python"].todo) == (WRONG, "install Python >=3.11")
    assert found["pandas"].found == "1.5.3; >=2.0 is required"
    assert found["pandas"].todo == 'pip install "pandas>=2.0"'
    assert found["dask"].todo == 'pip install "dask[dataframe]>=2026.7.1"'
    assert (found["tqdm"].state, found["tqdm"].todo) == (MISSING, 'pip install "tqdm"')
    assert found["distributed"].state == OK


def test_doctor_compiles_a_kernel_and_checks_its_result(monkeypatch):
    (check,) = checks.kernels()
    assert check.state == OK
    compute = SimpleNamespace(compute=lambda scheduler: {"component": SimpleNamespace(tolist=list)})
    built = SimpleNamespace(connected_components=lambda: compute)
    monkeypatch.setattr(checks, "Graph", lambda *_, **__: built)
    (check,) = checks.kernels()
    assert check.state == WRONG
    assert "are [], not [1, 1]" in check.found


def test_a_check_that_fails_does_not_hide_the_others(machine, monkeypatch):
    machine(run=raising(OSError("libllvm:\nno such file")))
    monkeypatch.setattr(checks, "room_of", raising(ImportError("no numba")))
    found = examined(code=1)
    assert found["kernels"].found == "OSError: libllvm: no such file"
    assert "numba" in found["kernels"].todo
    assert (found["memory"].state, found["memory"].found) == (WRONG, "ImportError: no numba")
    assert "calibration" in found


# GPUs


@pytest.mark.parametrize(
    ("driver", "packages", "names"),
    [
        (13010, FOR_13, ["cupy-cuda13x", "cudf-cu13", "dask-cudf-cu13", "dask-cuda"]),
        (12080, FOR_12, ["cupy-cuda12x", "cudf-cu12", "dask-cudf-cu12", "dask-cuda"]),
        # A newer driver runs code that was built for an older CUDA version.
        (13000, FOR_12, ["cupy-cuda12x", "cudf-cu12", "dask-cudf-cu12", "dask-cuda"]),
        (14000, FOR_13, ["cupy-cuda13x", "cudf-cu13", "dask-cudf-cu13", "dask-cuda"]),
    ],
)
def test_a_gpu_that_can_be_used(machine, driver, packages, names):
    ran = []
    machine(driver=driver, gpus=[H100], packages=packages, run=ran.append)
    found = examined()
    assert all(found[name].state == OK for name in ["GPU", *names, "GPU kernels"])
    assert H100 in found["GPU"].found
    assert ran == [None, "gpu"]


@pytest.mark.parametrize(("driver", "cuda"), [(13010, 13), (12080, 12)])
def test_a_gpu_with_cupy_and_without_cudf_can_be_used(machine, driver, cuda):
    ran = []
    machine(driver=driver, gpus=[H100], packages={f"cupy-cuda{cuda}x": "14.2.0"}, run=ran.append)
    found = examined()
    assert found[f"cupy-cuda{cuda}x"].state == found["GPU kernels"].state == OK
    assert found["cudf"].state == MISSING
    assert f"[cuda{cuda}]" in found["cudf"].todo
    assert ran == [None, "gpu"]


@pytest.mark.parametrize(("driver", "extra"), [(13010, "cuda13"), (12040, "cuda12")])
def test_a_gpu_without_packages_says_which_fit_the_driver(machine, driver, extra):
    machine(driver=driver, gpus=[H100])
    found = examined()
    install = f'pip install "dask-graphflow[{extra}]"'
    cupy = found[f"cupy-{extra}x"]
    assert (cupy.state, cupy.todo) == (MISSING, install)
    assert (found["GPU kernels"].state, found["GPU kernels"].todo) == (WRONG, install)


@pytest.mark.parametrize(
    ("given", "said", "todo"),
    [
        ({"gpus": [H100]}, "libcuda, cannot be loaded", "--gpus all"),
        ({"driver": 13000, "gpus": []}, "CUDA 13.0, but no GPU", "nvidia-smi"),
        ({"driver": 11040, "gpus": [H100]}, "CUDA 11.4", "Update the driver to one for CUDA 12"),
    ],
    ids=["no driver's library", "no GPU", "an old driver"],
)
def test_an_unusable_gpu_is_reported_as_wrong_and_the_machine_still_passes(
    machine, given, said, todo
):
    machine(**given)
    check = examined()["GPU"]
    assert check.state == WRONG
    assert said in check.found
    assert todo in check.todo


@pytest.mark.parametrize(
    ("count", "apart", "state", "found"),
    [
        (2, "no access", OK, "the kernels of all 2 GPUs can use each other's memory"),
        (3, "", OK, "the kernels of all 3 GPUs can use each other's memory"),
        (3, "no access", MISSING, "2 of 3 pairs send arrays by NCCL. GPUs 0 and 2: no access"),
    ],
)
def test_doctor_says_whether_gpus_can_use_each_others_memory(machine, count, apart, state, found):
    machine(driver=13000, gpus=[H100] * count, packages=FOR_13, apart=apart)
    check = examined()["GPU pairs"]
    assert (check.state, check.found, check.todo) == (state, found, "")


def test_doctor_says_nothing_about_pairs_if_there_is_one_gpu(machine):
    machine(driver=13000, gpus=[H100], packages=FOR_13)
    assert "GPU pairs" not in examined()


# The rest


def test_doctor_names_a_configured_cluster_without_connecting_to_it(machine, monkeypatch):
    machine()
    monkeypatch.setattr(socket.socket, "connect", raising(AssertionError("connected")))
    assert "threads in one process" in examined()["cluster"].found
    with dask.config.set({"scheduler-address": "tcp://10.0.0.1:8786"}):
        assert "tcp://10.0.0.1:8786" in examined()["cluster"].found


def test_doctor_reports_the_stored_calibration(machine, monkeypatch):
    machine()
    monkeypatch.setattr(rate_store, "_measured", {})
    assert examined()["calibration"].state == MISSING
    monkeypatch.setattr(measuring, "measure", lambda *_, **__: Rates((100,), (1e6,)))
    rate_store.rates(False, 3)
    (path,) = rate_store.folder().iterdir()
    (rate_store.folder() / "rates-another-host-cpu-3.json").write_text(path.read_text())
    check = examined()["calibration"]
    assert check.state == OK
    assert check.found == f"{path}, 0.0 days old"
    with dask.config.set({"graphflow.calibration.age": "0 s"}):
        assert "stale" in examined()["calibration"].found
    path.write_text("{")
    assert "stale" in examined()["calibration"].found
