"""Check the wheel and the sdist in a folder, and use each of them in a new environment.

``python3 dev.py build`` runs it after building them.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("dask_graphflow", "_graphflow_cli", "_graphflow_networkx")
EXAMPLE = "import dask_graphflow as gf; print(gf.datasets.debian12_deps())"
RELATIVE_LINK = re.compile(r'(?:\]\(|(?:src|srcset|href)=")(?!https?:|#)[^)"]*')


def missing_files(wheel: zipfile.ZipFile) -> list[str]:
    """Return the files of the packages that are not in the wheel."""
    files = (path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file())
    ours = {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}
    return sorted(ours - {*wheel.namelist()})


def relative_links(wheel: zipfile.ZipFile) -> list[str]:
    """Return the links of the description that work in the repository only."""
    metadata = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return RELATIVE_LINK.findall(wheel.read(metadata).decode())


def install_and_use(wheel: Path, sdist: Path) -> None:
    """Find the components of the example with each distribution, away from the repository."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        programs = Path(folder, "Scripts" if sys.platform == "win32" else "bin")
        pip = (programs / "python", "-m", "pip", "install", "--quiet")
        # The dependencies are installed once, with the wheel.
        for distribution in ([wheel], ["--force-reinstall", "--no-deps", sdist]):
            subprocess.run([*pip, *distribution], cwd=folder, check=True)
            find = [programs / "python", "-c", EXAMPLE]
            found = subprocess.run(find, cwd=folder, check=True, capture_output=True, text=True)
            components = [programs / "graphflow", "connected-components", found.stdout.strip()]
            subprocess.run(
                [*components, "--overwrite", "-o", "out.parquet"], cwd=folder, check=True
            )


def main() -> None:
    """Check the distributions in the folder that the command line names."""
    folder = Path(sys.argv[1]).resolve()
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as content:
        if missing := missing_files(content):
            sys.exit(
                f"{wheel.name} lacks {len(missing)} files: {missing}. Include them in pyproject.toml"
            )
        if links := relative_links(content):
            sys.exit(
                f"{len(links)} links of the description do not work on PyPI: {links}. "
                "Make them absolute by a substitution in pyproject.toml"
            )
    install_and_use(wheel, sdist)
    print(f"{wheel.name} and {sdist.name} can be installed and used")


if __name__ == "__main__":
    main()
