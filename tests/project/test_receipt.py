"""A receipt covers the kernels that ran on a GPU, and a release needs all of its steps."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchmarks import __main__ as benchmarks
from benchmarks.commands import on_gpu
from benchmarks.lib import receipt

ROOT = Path(__file__).parents[2]
FOREST = "dask_graphflow/kernels/common/forest.cu"


@pytest.fixture
def root(tmp_path):
    """Return a copy of the kernels, to be changed."""
    # Not the caches: other processes write to them meanwhile.
    caches = shutil.ignore_patterns("__pycache__")
    for folder in receipt.FOLDERS:
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=caches)
    return tmp_path


def run(date="2030-01-02T03:04:05+00:00", steps=receipt.REQUIRED, device="H200", **how):
    step = {"status": "passed", **how}
    return {"date": date, "machine": {"device": device}, "steps": dict.fromkeys(steps, step)}


def kept(root, *runs):
    path = root / "receipt.json"
    receipt.write({"sources": receipt.sources(root), "runs": list(runs)}, path)
    return path


STEPS = [
    ({}, None),
    (None, "memcheck: not run"),
    ({"status": "failed", "why": "test_x"}, "memcheck: failed (test_x)"),
    ({"status": "not run", "why": "no such tool"}, "memcheck: not run (no such tool)"),
]


@pytest.mark.parametrize(("step", "message"), STEPS)
def test_a_release_needs_every_step_to_pass(root, step, message, capsys):
    whole = run()
    if step is None:
        del whole["steps"]["memcheck"]
    else:
        whole["steps"]["memcheck"] = {"status": "passed", **step}
    assert receipt.check_release(kept(root, whole), root) == (1 if message else 0)
    shown = capsys.readouterr().out
    assert (message or "kernels: the ones last tested on H200 on 2030-01-02") in shown


def test_a_release_needs_a_valid_receipt(root, capsys):
    path = root / "receipt.json"
    assert receipt.show(path, root) == 0
    assert capsys.readouterr().out == "kernels: never tested on a GPU\n"
    assert receipt.check_release(path, root) == 1
    assert "there is no receipt" in capsys.readouterr().out
    for text in ("", "[]", "{}", '{"sources": {}, "runs": [{"date": 1}]}'):
        path.write_text(text)
        with pytest.raises(
            receipt.ReceiptError, match=r"receipt\.json is not a receipt.*take it from"
        ):
            receipt.read(path)
        assert receipt.check_release(path, root) == 1
        assert receipt.show(path, root) == 0
        assert "kernels: unknown" in capsys.readouterr().out


@pytest.mark.parametrize(
    "file", [FOREST, "dask_graphflow/kernels/common/device.py", "dask_graphflow/kernels/sources.py"]
)
def test_changed_code_fails_the_release(root, file, capsys):
    path = kept(root, run())
    (root / file).write_text((root / file).read_text() + "more = 1;\n")
    assert receipt.check_release(path, root) == 1
    shown = capsys.readouterr().out
    assert f"kernels: changed since they were tested on H200 on 2030-01-02 ({file})" in shown
    assert "python -m benchmarks on-gpu" in shown


PYTHON = """'''Doc.'''

LIMIT = 1  # seconds
'''Seconds.'''


def twice(x):
    '''Return
    twice x.'''
    return "# 2" * x
"""
CUDA = """// Adds.
constexpr int LIMIT = 1; /* of
   all */
#include "a//b.cuh"
"""


@pytest.mark.parametrize(
    ("suffix", "text", "prose", "code"),
    [
        (".py", PYTHON, ("Doc.", "seconds", "Seconds.", "Return\n    twice x."), ("1", "# 2")),
        (".cu", CUDA, ("Adds.", "of\n   all"), ("1", "//b")),
    ],
    ids=["python", "cuda"],
)
def test_the_hash_covers_code_but_not_prose(tmp_path, suffix, text, prose, code):
    def code_hash(text):
        file = tmp_path / f"file{suffix}"
        file.write_text(text)
        return receipt.code_hash(file)

    for part in prose:
        assert text.count(part) == 1
        assert code_hash(text.replace(part, "Other words.")) == code_hash(text)
    for part in code:
        assert code_hash(text.replace(part, "3")) != code_hash(text)
    assert code_hash(text.replace("\n", "\n\n")) == code_hash(text)


def test_new_and_removed_files_are_changes(root):
    path = kept(root, run())
    (root / FOREST).rename(root / FOREST.replace("forest", "trees"))
    (root / receipt.FOLDERS[0] / "loading.py").touch()
    changed = receipt.changed(receipt.read(path), receipt.sources(root))
    names = ("common/forest.cu", "common/trees.cu", "loading.py")
    assert changed == [f"dask_graphflow/kernels/{name}" for name in names]


def test_files_that_do_not_run_on_a_gpu_are_not_covered(root):
    path = kept(root, run())
    for name in receipt.NOT_ON_GPU:
        files = [file for folder in receipt.FOLDERS for file in (root / folder).rglob(name)]
        assert files
        for file in files:
            file.write_text("")
    assert receipt.check_release(path, root) == 0


# Merging


def test_receipts_of_parts_are_merged(root):
    now = receipt.sources(root)
    half = len(receipt.REQUIRED) // 2
    first = run("2030-01-01", receipt.REQUIRED[:half])
    second = run("2030-01-02", receipt.REQUIRED[half:], device="two H200")
    parts = [{"sources": now, "runs": [part]} for part in (second, first)]
    assert receipt.problems(parts[0], now)
    whole = receipt.merge(parts, now)
    assert receipt.problems(whole, now) == []
    assert whole["runs"] == [first, second]
    assert receipt.merge([whole, *parts], now) == whole


def test_the_last_run_of_a_step_counts(root):
    now = receipt.sources(root)
    good, bad = run("2030-01-01"), run("2030-01-02", ["memcheck"], status="failed")
    skipped = run("2030-01-03", ["memcheck"], status="not run")
    mended = run("2030-01-04", ["memcheck"])

    def merged(*runs):
        return receipt.merge([{"sources": now, "runs": [one]} for one in runs], now)

    assert receipt.problems(merged(good, bad), now) == ["memcheck: failed"]
    assert receipt.problems(merged(bad, good, skipped), now) == ["memcheck: failed"]
    assert receipt.problems(merged(mended, good, bad), now) == []
    assert merged(mended, good, bad)["runs"] == [good, mended]


def test_the_command_rejects_receipts_of_other_kernels(tmp_path, capsys):
    now, into = receipt.sources(), tmp_path / "whole.json"
    for name, sources in (("one", now), ("other", {**now, FOREST: "0"})):
        receipt.write({"sources": sources, "runs": [run(steps=["memcheck"])]}, tmp_path / name)
    assert receipt.main([str(tmp_path / "one"), "--into", str(into)]) == 0
    assert receipt.latest(receipt.read(into))["memcheck"][0]["status"] == "passed"
    assert receipt.main([str(tmp_path / "other"), "--into", str(into)]) == 1
    assert FOREST in capsys.readouterr().out
    assert receipt.main([str(tmp_path / "none"), "--into", str(into)]) == 1


def test_dev_needs_only_the_standard_library():
    outputs = []
    for command in ("receipt", "release"):
        alone = [sys.executable, "-S", ROOT / "dev.py", command]  # without site-packages
        done = subprocess.run(alone, capture_output=True, text=True, check=False)
        outputs.append((done.returncode, done.stdout.splitlines()[0]))
    line = receipt.headline(receipt.read(), receipt.sources())
    ready = not receipt.problems(receipt.read(), receipt.sources())
    assert outputs == [(0, line), (0 if ready else 1, line)]


# The script that writes it


def test_every_step_is_in_a_group():
    grouped = {name for group in on_gpu.GROUPS.values() for name in group}
    assert {*grouped, "tests"} == {*receipt.REQUIRED}
    assert on_gpu.chosen([], []) == list(receipt.REQUIRED)
    assert on_gpu.chosen(["racecheck"], ["sanitizer"]) == ["memcheck", "initcheck"]
    assert on_gpu.chosen(["tests", "sanitizer", "benchmark", "two-gpus"], []) == []


@pytest.mark.parametrize("name", on_gpu.BENCHMARKS)
def test_benchmarks_of_steps_have_valid_arguments(name, monkeypatch):
    bench, parsed = on_gpu.BENCHMARKS[name], []
    for module in benchmarks.COMMANDS:
        monkeypatch.setattr(module, "run", lambda options: parsed.append(options) or 0)
    peers = ["--peers", bench.peer] if bench.peer else []
    assert benchmarks.main([*bench.call, *peers, "--out", "folder"]) == 0
    assert [options.out for options in parsed] == ["folder"]


CASE = '<testcase classname="tests.test_x" name="test_{}">{}</testcase>'
PASS, FAIL, SKIP = (
    CASE.format(*what) for what in (("a", ""), ("b", "<failure/>"), ("c", "<skipped/>"))
)


@pytest.mark.parametrize(
    ("code", "cases", "status", "why"),
    [
        (0, PASS + PASS + SKIP, "passed", ""),
        (1, PASS + FAIL, "failed", "tests/test_x.py::test_b"),
        (0, SKIP, "failed", "pytest ended with exit code 0"),
        (5, "", "failed", "pytest ended with exit code 5"),
        (None, PASS, "failed", "pytest ran past the time limit"),
        (3, PASS, "failed", "pytest ended with exit code 3"),
    ],
)
def test_a_run_of_pytest_passes_if_a_test_passed_and_none_failed(
    code, cases, status, why, tmp_path
):
    report = tmp_path / "report.xml"
    report.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    result = on_gpu.judge_tests(code, report)
    assert (result.status, result.why) == (status, why)
    assert result.counts["passed"] == cases.count(PASS)
    assert on_gpu.judge_tests(0, tmp_path / "none").status == "failed"


@pytest.mark.parametrize(
    ("code", "log", "status"),
    [
        (0, "========= ERROR SUMMARY: 0 errors", "passed"),
        (0, "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)", "passed"),
        (0, "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)", "failed"),
        (86, "========= ERROR SUMMARY: 12 errors", "failed"),
        (1, "========= ERROR SUMMARY: 0 errors", "failed"),
        (0, "========= Device not supported", "failed"),
        (0, "", "failed"),
        (None, "", "failed"),
    ],
)
def test_a_sanitizer_passes_with_a_summary_without_errors(tmp_path, code, log, status):
    wrong = tmp_path / "wrong"
    wrong.write_text("cut\njoined")
    found = on_gpu.judge_sanitizer(code, log, wrong)
    assert found.status == status
    assert found.failed == (["cut", "joined"] if code == 1 else [])


def test_parts_of_a_step_are_combined():
    good = on_gpu.Result("passed", {"errors": 0})
    bad = on_gpu.Result("failed", {"errors": 2}, "why")
    counts = {"kernels": on_gpu.kernels(), "errors": 0}
    assert on_gpu.worst([good, good]) == on_gpu.Result("passed", counts)
    assert on_gpu.worst([good, bad, good]).status == "failed"
    assert on_gpu.worst([good, bad, bad]).counts["errors"] == 4
    first = on_gpu.Result("passed", {"passed": 5, "failed": 0, "skipped": 1})
    second = on_gpu.Result("failed", {"passed": 1, "failed": 2, "skipped": 0}, "test_a")
    both = on_gpu.together([first, second])
    assert (both.status, both.why) == ("failed", "test_a")
    assert both.counts == {"passed": 6, "failed": 2, "skipped": 1}


def calls_of(steps, monkeypatch, step):
    """Return the options and files of each call of pytest in a step, in which every test passes."""
    seen = []

    def call(command, limit, environment=None):
        report = next(part for part in command if part.startswith("--junit-xml="))
        Path(report.partition("=")[2]).write_text(f"<testsuite>{PASS}</testsuite>")
        seen.append(command)
        return 0

    monkeypatch.setattr(on_gpu, "call", call)
    assert steps.run(step).counts["passed"] == len(seen)
    # Where pytest-benchmark is installed, its warning about pytest-xdist would fail every test.
    assert all("-p no:benchmark" in " ".join(command) for command in seen)
    return seen


@pytest.mark.parametrize("jobs", [1, 12])
def test_tests_that_measure_time_run_after_the_others(steps, monkeypatch, jobs):
    steps.jobs = jobs
    (first, *more) = calls_of(steps, monkeypatch, "tests")
    assert ("-n" in first) == (jobs > 1)
    assert first[-1] == "tests"
    marks = [one[one.index("-m", 2) + 1] for one in (first, *more)]
    wanted = "not gpu2 and (gpu or not slow)"
    if jobs == 1:
        assert marks == [wanted]
        return
    assert marks == [f"({wanted}) and not alone", f"({wanted}) and alone"]
    assert "-n" not in more[0]
    assert {"tests/kernels/test_link_device.py", "tests/api/test_strangers.py"} <= {*more[0]}


def test_cases_of_a_sanitizer_are_shared_by_the_gpus(steps, monkeypatch):
    steps.jobs, steps.gpus = 3, 2
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(on_gpu, "find_sanitizer", lambda: "compute-sanitizer")
    seen = []

    def call(command, limit, environment):
        Path(command[command.index("--log-file") + 1]).write_text("ERROR SUMMARY: 0 errors")
        at = command.index("tests/sanitize.py")
        seen.append((*command[at + 1 : at + 3], environment["CUDA_VISIBLE_DEVICES"]))
        named.append(command[at + 4 :])
        return 0

    named = []
    monkeypatch.setattr(on_gpu, "call", call)
    assert steps.run("memcheck").status == "passed"
    assert sorted(seen) == [("0", "3", "0"), ("1", "3", "1"), ("2", "3", "0")]
    assert named == [[]] * 3
    seen.clear()
    steps.before = {"memcheck": {"counts": {"errors": 0}, "failed": ["cut", "joined"]}}
    found = steps.run("memcheck")
    assert found.why == "2 that failed before were run again"
    assert sorted(seen) == [("0", "2", "0"), ("1", "2", "1")]
    assert named[3:] == [["cut", "joined"]] * 2


def test_only_tests_that_failed_are_run_again(steps, monkeypatch):
    counts = {"passed": 7, "failed": 2, "skipped": 3}
    names = ["tests/a.py::test_one", "tests/b.py::test_two[x]"]
    steps.before = {"tests": {"counts": counts, "failed": names}}
    report = f"<testsuite>{PASS}{FAIL}</testsuite>"

    def call(command, limit, environment=None):
        assert command[-2:] == names
        path = next(part for part in command if part.startswith("--junit-xml="))
        Path(path.partition("=")[2]).write_text(report)
        return int(FAIL in report)

    monkeypatch.setattr(on_gpu, "call", call)
    found = steps.run("tests")
    assert (found.status, found.counts) == ("failed", {"passed": 8, "failed": 1, "skipped": 3})
    assert len(found.failed) == 1
    report = f"<testsuite>{PASS * 2}</testsuite>"
    found = steps.run("tests")
    assert (found.status, found.counts) == ("passed", {"passed": 9, "failed": 0, "skipped": 3})


@pytest.fixture
def steps(tmp_path):
    return on_gpu.Steps(tmp_path, peers=False, limit=60, gpus=1)


def test_steps_without_a_sanitizer_or_a_second_gpu_are_not_run(steps, monkeypatch):
    monkeypatch.setattr(on_gpu, "find_sanitizer", lambda: None)
    assert steps.run("memcheck").status == "not run"
    for name in on_gpu.GROUPS["two-gpus"]:
        assert steps.run(name).why == "takes two GPUs, and here is 1"


def running(process):
    try:
        return psutil.Process(int(process)).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_step_past_its_limit_is_ended_with_its_children(monkeypatch, tmp_path):
    monkeypatch.setattr(on_gpu, "PATIENCE", 0.2)
    code = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGINT, signal.SIG_IGN);"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        f"open({str(tmp_path / 'child')!r}, 'w').write(str(child.pid)); time.sleep(60)"
    )
    assert on_gpu.call([sys.executable, "-c", code], 2) is None
    child = (tmp_path / "child").read_text()
    stop = time.monotonic() + 10
    while running(child) and time.monotonic() < stop:
        time.sleep(0.05)
    assert not running(child)
    assert on_gpu.call([sys.executable, "-c", "raise SystemExit(3)"], 60) == 3


def test_the_receipt_is_written_after_each_step(tmp_path, monkeypatch):
    monkeypatch.setattr(on_gpu, "machine", lambda: {"device": "H200", "gpus": 1})
    kept_before = []

    def pretend(self, name):
        path = tmp_path / receipt.PATH.name
        kept_before.append(set(receipt.latest(receipt.read(path))) if path.exists() else set())
        failed = name == "racecheck"
        return on_gpu.Result("failed" if failed else "passed", {"kernels": 3}, seconds=1.4)

    monkeypatch.setattr(on_gpu.Steps, "run", pretend)
    out = ["--out", str(tmp_path)]
    assert benchmarks.main(["on-gpu", *out, "--only", "memcheck", "--only", "initcheck"]) == 0
    assert benchmarks.main(["on-gpu", *out, "--only", "racecheck"]) == 1
    assert kept_before == [set(), {"memcheck"}, {"memcheck", "initcheck"}]
    found = receipt.read(tmp_path / receipt.PATH.name)
    assert found["sources"] == receipt.sources()
    results = {name: step for name, (step, _) in receipt.latest(found).items()}
    assert results["memcheck"] == {"status": "passed", "counts": {"kernels": 3}, "seconds": 1}
    assert results["racecheck"]["status"] == "failed"
    last = found["runs"][-1]["steps"]["bench-components"]
    assert last == {"status": "not run", "why": "left out by an option"}
    assert str(tmp_path) not in json.dumps(found)
