"""Draw the picture of the README, docs/_static/readme.png: `python docs/readme_picture.py`."""

from __future__ import annotations

import pathlib

import matplotlib as mpl
import pandas as pd

import dask_graphflow as gf

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parent / "examples" / "debian12_deps.parquet"
PICTURE = HERE / "_static" / "readme.png"


def main() -> None:
    mpl.use("agg")
    from matplotlib import pyplot

    deps = pd.read_parquet(EXAMPLE)
    ends = {"source": "src", "target": "dst"}
    needed = deps[deps.kind != "Recommends"]
    # The same file for the same graph, whoever draws it.
    with mpl.rc_context({"font.family": "DejaVu Sans"}):
        figure, (left, right) = pyplot.subplots(
            1, 2, figsize=(10, 4.6), width_ratios=[4, 5], layout="constrained"
        )
        gf.plot.components(gf.connected_components(deps, **ends), ax=left)
        left.set_title(f"Debian 12: {left.get_title(loc='left')}", fontsize=11, loc="left")
        left.set_xlabel("size of a component (packages)")
        gf.plot.neighborhood(needed, "nginx", **ends, hops=2, ax=right)
        right.set_title("What nginx needs, and what that needs", fontsize=11, loc="left")
        figure.savefig(PICTURE, dpi=120, metadata={"Software": None}, pil_kwargs={"optimize": True})
        pyplot.close(figure)
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
