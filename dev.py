#!/usr/bin/env python3
"""Set up and run the project with nothing but Python: the demo, the tests, the linters.

Environments are made under .venv/ when first needed, and again when what they are made from has
changed.
"""

import sys

# Before the other imports, so that an old Python gets this sentence and no traceback.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        f"dev.py needs Python 3.11 or newer, and {sys.executable} is {sys.version.split()[0]}. "
        "Run it with a newer one, for example: python3.11 dev.py demo"
    )

import argparse
import hashlib
import os
import subprocess
import tomllib
from pathlib import Path

from benchmarks import receipt

ROOT = Path(__file__).resolve().parent
CONSTRAINTS = {"newest": [], "pinned": ["constraints/pinned.txt"]}
BIN, SUFFIX = ("Scripts", ".exe") if os.name == "nt" else ("bin", "")

DEMO = (
    "graphflow components examples/debian12_deps.parquet --source src --target dst "
    "--output labels.parquet --overwrite"
)
FAST_TESTS = "not slow and not gpu and not gpu2"
LINTERS = (
    "ruff check",
    "ruff format --check",
    "mypy",
    "lint-imports",
    "codespell",
)


def fingerprint(stack: str) -> str:
    """Hash what an environment is made from; its own place too, as it cannot be moved."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    parts = [str(ROOT), repr(project["build-system"]), repr(project["project"])]
    parts += [(ROOT / file).read_text("utf-8") for file in CONSTRAINTS[stack]]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def environment(stack: str, extra: str = "") -> Path:
    """Return the programs' folder of an environment that has the package and `extra`.

    The stamp says what is installed and is written last: without it nothing is taken for finished.
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
    constraints = [f"--constraint={file}" for file in CONSTRAINTS[stack]]
    set_up(stack, *pip, *constraints, "--editable", package)
    stamp.write_text("\n".join([wanted, *extras]))
    return programs


def set_up(stack: str, *command: str) -> None:
    """Run one step of the set-up, and end here if it fails."""
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if code:
        sys.exit(
            f"dev.py: could not set up .venv/{stack}: this command ended with exit code {code}, "
            f"and its output above says why:\n  {' '.join(command)}\n"
            "It needs Python's venv module (on Debian and Ubuntu the package python3-venv) and a "
            "package index that pip can reach. Put that right and run the same command again."
        )


def run(programs: Path, program: str, *arguments: str) -> int:
    """Show a command, run it in the repository's root, and return its exit code."""
    print("+", program, *(f'"{a}"' if " " in a else a for a in arguments), flush=True)
    command = [programs / f"{program}{SUFFIX}", *arguments]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def demo() -> int:
    """Find the connected components of Debian's packages."""
    return run(environment("newest"), *DEMO.split())


def test(stack: str, arguments: list[str]) -> int:
    """Run the tests that need neither a GPU nor patience; later arguments win."""
    return run(environment(stack, "test"), "pytest", "-m", FAST_TESTS, *arguments)


def lint() -> int:
    """Run every linter, and name those that found something."""
    programs = environment("newest", "lint")
    failed = [linter for linter in LINTERS if run(programs, *linter.split())]
    print(f"Failed: {', '.join(failed)}" if failed else "All linters passed")
    return 1 if failed else 0


def docs() -> int:
    """Build the site; a warning, a page whose code fails, and a link that leads nowhere fail it."""
    programs = environment("newest", "docs")
    built = "docs/_build/html"
    sphinx = (
        f"--quiet --fail-on-warning --keep-going --jobs auto -d docs/_build/doctrees docs {built}"
    )
    return run(programs, "sphinx-build", *sphinx.split()) or run(
        programs, "python", "docs/check_links.py", built
    )


def main() -> int:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("demo", help="set up and run the main job on a real graph, examples/")
    tests = commands.add_parser(
        "test",
        help="set up and run the tests",
        usage="dev.py test [-h] [--stack newest|pinned] [PYTEST ARGUMENT ...]",
        epilog=f'pytest runs with -m "{FAST_TESTS}" and whatever arguments you add, '
        "for example: python3 dev.py test -m slow -x",
        allow_abbrev=False,
    )
    tests.add_argument(
        "--stack",
        choices=sorted(CONSTRAINTS),
        default="newest",
        help="newest: the newest releases (the default); pinned: constraints/pinned.txt",
    )
    commands.add_parser("lint", help="set up and run " + ", ".join(LINTERS))
    commands.add_parser("docs", help="set up and build the site, into docs/_build/html")
    commands.add_parser("receipt", help="say whether the kernels are those last tested on a GPU")
    commands.add_parser("release", help="the same; fails unless all of it passed on them")

    options, rest = parser.parse_known_args()
    if rest and options.command != "test":
        parser.error(f"{options.command} takes no arguments: {' '.join(rest)}")
    if options.command == "test":
        return test(options.stack, rest)
    if options.command == "receipt":
        return receipt.show()
    if options.command == "release":
        return receipt.check_release()
    return {"demo": demo, "docs": docs, "lint": lint}[options.command]()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
