"""The tests of NetworkX that fail with this backend, and why."""

from __future__ import annotations

#: The reason for each test, by the end of its name in pytest.
EXPECTED_FAILURES: dict[str, str] = {}
