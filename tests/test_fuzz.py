"""The fuzzer finds nothing in its first cases; ``python -m benchmarks fuzz`` goes on for longer."""

from __future__ import annotations

import itertools

import pytest

from benchmarks.fuzz import fuzz
from benchmarks.fuzz.columns import FAMILIES, NUMBERS, Unfit, exact, make

CASES = 60


def test_random_calls_are_right_or_refused_by_a_named_error():
    results = fuzz(minutes=5, first=0, most=CASES)
    assert [found["told"] for found in results["findings"]] == []
    assert results["cases"] == CASES
    right = sum(count for name, count in results["outcomes"].items() if name.startswith("right"))
    assert right > CASES / 3  # so that the test does not pass by refusing everything


@pytest.mark.parametrize("form", sorted({*itertools.chain(*FAMILIES.values()), *NUMBERS}))
def test_every_form_holds_exactly_what_it_was_given(form):
    tried = [[1, 2], ["a", "b"], [0, 86_400 * 10**9], [False, True]]
    held = 0
    for values in tried:
        try:
            held += exact(make(values, form)) == values
        except Unfit:
            continue
    assert held


def test_a_form_that_cannot_hold_the_values_refuses_them():
    for values, form in [
        ([300], "int8"),
        ([-1], "UInt64"),
        ([2**53 + 1], "float64"),
        ([2], "bool"),
    ]:
        with pytest.raises(Unfit):
            make(values, form)
