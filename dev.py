#!/usr/bin/env python3
"""Set up and run the project with only Python installed: demo, tests, linters, docs, distributions.

Environments are created under .venv/ when they are first needed, and again when the project's
dependencies change.
"""

import sys

# Before the other imports, so that an old Python prints this message instead of a traceback.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        f"dev.py needs Python 3.11 or newer, but {sys.executable} is {sys.version.split()[0]}. "
        "Run it with a newer Python, for example: python3.11 dev.py demo"
    )

import argparse
import hashlib
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

from benchmarks.lib import receipt

ROOT = Path(__file__).resolve().parent
STACKS = {  # files for pip besides the package
    "newest": {},
    "pinned": {"--constraint": "constraints/pinned.txt"},
    # As constraints, pip would reject addresses of packages of which the library needs an extra.
    "development": {"--requirement": "constraints/development.txt"},
}
BIN, SUFFIX = ("Scripts", ".exe") if os.name == "nt" else ("bin", "")

COMPONENTS = (
    "graphflow connected-components examples/debian12_deps.parquet --source src --target dst "
    "--output labels.parquet --overwrite"
)
SENTENCE = "python examples/say_groups.py labels.parquet"
FAST_TESTS = "not slow and not gpu and not gpu2"
# One process per core. Each starts with its share of the tests, and takes over others' when it is done.
PARALLEL = ("--numprocesses=logical", "--dist=worksteal")
LINTERS = (
    "ruff check",
    "ruff format --check",
    "mypy",
    "lint-imports",
    "codespell",
)


def fingerprint(stack: str) -> str:
    """Return a hash of the dependencies and the folder, because an environment cannot be moved."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    parts = [str(ROOT), repr(project["build-system"]), repr(project["project"])]
    parts += [(ROOT / file).read_text("utf-8") for file in STACKS[stack].values()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def environment(stack: str, extra: str = "") -> Path:
    """Return the folder of programs of an environment with the package and `extra`; create it if needed.

    The stamp file says what is installed. It is written last, so an environment without it is incomplete.
    """
    env = ROOT / ".venv" / stack
    programs = env / BIN
    python = programs / f"python{SUFFIX}"
    stamp = env / "dev-stamp"
    wanted = fingerprint(stack)
    made, *extras = stamp.read_text().splitlines() if stamp.exists() else [""]
    fresh = made != wanted or not python.exists()
    if not fresh and (not extra or extra in extras):
        return programs

    print(f"Setting up {env} (once; a minute or two) ...", flush=True)
    stamp.unlink(missing_ok=True)
    if fresh:
        extras = []
        set_up(stack, sys.executable, "-m", "venv", "--clear", str(env))
    if extra:
        extras.append(extra)
    package = f".[{','.join(extras)}]" if extras else "."
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    files = [f"{option}={file}" for option, file in STACKS[stack].items()]
    set_up(stack, *pip, *files, "--editable", package)
    stamp.write_text("\n".join([wanted, *extras]))
    return programs


def set_up(stack: str, *command: str) -> None:
    """Run one step of the setup, and exit if it fails."""
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if code:
        sys.exit(
            f"dev.py: could not set up .venv/{stack}. This command failed with exit code {code}; "
            f"see its output above:\n  {' '.join(command)}\n"
            "The setup needs Python's venv module (on Debian and Ubuntu: the package python3-venv) and a "
            "package index that pip can reach. Fix the problem and run the same command again."
        )


def run(programs: Path, program: str, *arguments: str) -> int:
    """Print a command, run it in the root of the repository, and return its exit code."""
    print("+", program, *(f'"{a}"' if " " in a else a for a in arguments), flush=True)
    command = [programs / f"{program}{SUFFIX}", *arguments]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def demo() -> int:
    """Group the packages of Debian by their dependencies, and say what was found."""
    programs = environment("newest")
    return run(programs, *COMPONENTS.split()) or run(programs, *SENTENCE.split())


def test(stack: str, arguments: list[str]) -> int:
    """Run the fast tests that need no GPU on all cores; later arguments override earlier ones."""
    return run(environment(stack, "test"), "pytest", *PARALLEL, "-m", FAST_TESTS, *arguments)


def lint() -> int:
    """Run every linter, and print the names of the linters that failed."""
    programs = environment("newest", "lint")
    failed = [linter for linter in LINTERS if run(programs, *linter.split())]
    print(f"Failed: {', '.join(failed)}" if failed else "All linters passed")
    return 1 if failed else 0


def generate(arguments: list[str]) -> int:
    """Write what is made from the declarations of the algorithms."""
    return run(environment("newest"), "python", "tools/generate.py", *arguments)


def docs() -> int:
    """Build the site; fail on warnings, failing code, broken links and pictures without text."""
    programs = environment("newest", "docs")
    built = "docs/_build/html"
    sphinx = (
        f"--quiet --fail-on-warning --keep-going --jobs auto -d docs/_build/doctrees docs {built}"
    )
    return run(programs, "sphinx-build", *sphinx.split()) or run(
        programs, "python", "docs/check_site.py", built
    )


def build() -> int:
    """Build the wheel and the sdist into dist/, check them, and use each in a new environment."""
    programs = environment("newest", "release")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    return (
        run(programs, "python", "-m", "build", "--quiet")  # the wheel is built from the sdist
        or run(programs, "twine", "check", "--strict", *map(str, (ROOT / "dist").iterdir()))
        or run(programs, "python", "tools/check_distributions.py", "dist")
    )


def wheel() -> int:
    """Build a wheel with compiled kernels for this platform into dist/, and compare it with Numba."""
    programs = environment("newest", "release")
    for earlier in (ROOT / "dist").glob("*-abi3-*.whl"):
        earlier.unlink()
    os.environ["GRAPHFLOW_PRECOMPILE"] = "1"
    return run(programs, "python", "-m", "build", "--quiet", "--wheel") or run(
        programs, "python", "tools/check_wheel.py", "dist"
    )


def main() -> int:
    """Run the given command."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser(
        "demo", help="group the packages of the graph in examples/, and say what was found"
    )
    tests = commands.add_parser(
        "test",
        help="run the tests on all cores (about 15 minutes on two)",
        usage="dev.py test [-h] [--stack newest|pinned|development] [PYTEST ARGUMENT ...]",
        epilog=f'Runs pytest {" ".join(PARALLEL)} -m "{FAST_TESTS}", followed by your arguments. '
        "For example: python3 dev.py test -m slow -x, or -n 0 --pdb for a debugger",
        allow_abbrev=False,
    )
    tests.add_argument(
        "--stack",
        choices=list(STACKS),
        default="newest",
        help="newest (the default): the newest releases; pinned: the oldest supported versions; "
        "development: Dask from its main branch",
    )
    commands.add_parser("lint", help="run " + ", ".join(LINTERS))
    commands.add_parser("docs", help="build the documentation site into docs/_build/html")
    generated = commands.add_parser(
        "generate", help="write the type stubs and the help of the commands from the declarations"
    )
    generated.add_argument(
        "--check", action="store_true", help="only say which files are out of date"
    )
    commands.add_parser(
        "receipt", help="show whether the kernels are the ones last tested on a GPU"
    )
    commands.add_parser("build", help="build the wheel and the sdist, check them and try them")
    commands.add_parser("wheel", help="build a wheel with compiled kernels for this platform")
    commands.add_parser("release", help="fail unless every step passed on a GPU with these kernels")

    options, rest = parser.parse_known_args()
    if rest and options.command != "test":
        parser.error(f"{options.command} takes no arguments: {' '.join(rest)}")
    if options.command == "test":
        return test(options.stack, rest)
    if options.command == "generate":
        return generate(["--check"] if options.check else [])
    if options.command == "receipt":
        return receipt.show()
    if options.command == "release":
        return receipt.check_release()
    commands_alone = {"build": build, "demo": demo, "docs": docs, "lint": lint, "wheel": wheel}
    return commands_alone[options.command]()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
