"""The cases for compute-sanitizer cover every kernel, and they are right on the host and on a device."""

from __future__ import annotations

import importlib

import conftest
import pytest
import sanitize

from dask_graphflow.kernels.sources import KERNELS


def test_every_kernel_has_a_case():
    listed = {name.partition("<")[0] for names in KERNELS.values() for name in names}
    assert {kernel for kernels in sanitize.CASES.values() for kernel in kernels} == listed


@pytest.mark.parametrize("case", sanitize.CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize(
    ("parents", "ids"),
    [
        ("int32", "int32"),
        # kernels are compiled for each of these types
        *(
            pytest.param(*types, marks=pytest.mark.slow)
            for types in (("int32", "int64"), ("int64", "int32"), ("int64", "int64"))
        ),
    ],
)
@pytest.mark.parametrize("place", ["host", pytest.param("device", marks=pytest.mark.gpu)])
def test_the_cases_are_right(case, parents, ids, place):
    if place == "device":
        conftest.cupy_or_skip()
    case(importlib.import_module(f"dask_graphflow.kernels.common.{place}"), parents, ids)


def test_a_launch_is_noted_only_when_it_happens(monkeypatch):
    monkeypatch.setattr(sanitize, "LAUNCHED", set())

    class Module:
        def get_function(self, name):
            return lambda grid, block, arguments: (name, grid, block, arguments)

    kernel = sanitize.Recorded(Module()).get_function("hook<int, int>")
    case = next(case for case, kernels in sanitize.CASES.items() if "hook" in kernels)
    assert "hook" in sanitize.unlaunched(case)
    assert kernel((1,), (256,), ()) == ("hook<int, int>", (1,), (256,), ())
    assert {"hook<int, int>"} == sanitize.LAUNCHED
    assert "hook" not in sanitize.unlaunched(case)
