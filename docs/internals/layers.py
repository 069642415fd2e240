"""Reads the package's layers and imports, and draws which layer imports which."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def layers() -> list[str]:
    """Return the layers of the import-linter contract, upper layers first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (contract,) = (one for one in contracts if one["id"] == "layers")
    return [layer for layer in contract["layers"] if not layer.startswith("(")]


def imports(folder: Path = ROOT / "dask_graphflow") -> Counter[tuple[str, str]]:
    """Return how many modules of one layer import each other layer.

    Imports inside functions count too. Imports for type checkers do not.

    Returns
    -------
    Counter
        The keys are pairs: the importing layer and the imported layer.
    """
    known = {path.stem for path in folder.iterdir()}
    ours = f"{folder.name}."
    found: Counter[tuple[str, str]] = Counter()
    for path in folder.rglob("*.py"):
        module = path.relative_to(folder.parent).with_suffix("").parts
        if len(module) < 3 and module[-1].startswith("__"):
            continue  # the package itself and its command line: they are not in a layer
        tree = ast.parse(path.read_text("utf-8"))
        imported = {name.split(".")[1] for name in _imported(tree, module) if name.startswith(ours)}
        found.update((module[1], layer) for layer in sorted(imported & known - {module[1]}))
    return found


def _imported(node: ast.AST, module: tuple[str, ...]) -> Iterator[str]:
    """Yield the full names of what is imported below a node of a module's syntax tree."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import):
            yield from (name.name for name in child.names)
        elif isinstance(child, ast.ImportFrom):
            folder = module[: -child.level] if child.level else ()
            base = ".".join([*folder, *filter(None, [child.module])])
            yield from (f"{base}.{name.name}" for name in child.names)
        yield from _imported(child, module)


def draw() -> None:
    """Draw a row for each layer, with the number of its modules that import each other layer.

    An import of a higher layer is red.
    """
    sys.path.append(str(ROOT / "docs" / "concepts"))
    import drawing

    names, found = layers(), imports()
    step, left, head = 0.34, 1.45, 0.85
    column = (drawing.WIDTH - left - 0.25) / len(names)
    axes = drawing.canvas(head + step * len(names))
    top = step * len(names)
    for row, layer in enumerate(names):
        y, x = top - step * (row + 0.5), left + column * (row + 0.5)
        drawing.box(axes, 0.7, y, 1.3, step - 0.04, layer, drawing.BLUE, fontsize=9.5)
        drawing.box(axes, x, y, column - 0.03, step - 0.04, "", drawing.BLUE)
        drawing.text(
            axes, x - 0.1, top + 0.06, layer, rotation=60, ha="left", va="bottom", fontsize=8.5
        )
        for other, imported in enumerate(names):
            if count := found[layer, imported]:
                color = drawing.INK if other > row else drawing.RED
                at = left + column * (other + 0.5)
                drawing.text(axes, at, y, str(count), color=color, fontsize=9)
        drawing.arrow(
            axes, (left - 0.06, y), (drawing.WIDTH - 0.2, y), drawing.PALE, gap=0, head=False
        )
