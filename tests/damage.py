"""Damages a saved graph in many ways, and reports what loading it does. Run in a process that may crash.

The first argument is the folder of a saved graph. The second says what is changed:

- "bytes": each byte of each file in turn.
- "forged": the same, and the checksums are made to fit.
- "entries": each entry of the manifest by values that it must not have.
- "forged entries": the same, and the checksum of the manifest is made to fit.

Before each change, a line with its description is printed. So the last line shows what caused a crash. The
last line of a run without a crash is the number of changes that were noticed, as JSON.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import zlib
from collections import Counter
from pathlib import Path

import dask

import dask_graphflow as gf
from dask_graphflow.storage.checksums import BLOCK

HOSTILE = [None, True, -1, 2**40, 2**70, 0.5, "", "../graph.json", [], {}, [[[None] * 3] * 3]]


def answers(folder, *, deep):
    """Return the contents of a saved graph; with `deep`, also call functions that use its indices."""
    g = gf.load_graph(folder, shards=2)
    found = g.edges().compute().to_dict("list"), g.num_vertices, g.num_edges, g.directed
    if deep:
        for call in (g.degrees, g.triangle_count, g.core_number, g.connected_components):
            call().compute()
    return found


def forged(about, folder):
    """Return a manifest with the checksums of the files and its own."""
    for one in [*about["ranges"], about["grains"]]:
        data = (folder / one["file"]).read_bytes()
        one["checksums"] = [zlib.crc32(data[at : at + BLOCK]) for at in range(0, len(data), BLOCK)]
    return sealed(about)


def sealed(about):
    """Return a manifest with its own checksum."""
    entries = {name: value for name, value in about.items() if name != "checksum"}
    return entries | {"checksum": zlib.crc32(json.dumps(entries, sort_keys=True).encode())}


def changed_bytes(folder, step, *, fix):
    """Change one byte after another; yield a description of each change while it lasts."""
    manifest = folder / "graph.json"
    about = manifest.read_text()
    for path in sorted(folder.iterdir()):
        if fix and path == manifest:
            continue
        whole = path.read_bytes()
        for at in range(0, len(whole), step):
            changed = bytes([whole[at] ^ 1 << at % 8])
            path.write_bytes(whole[:at] + changed + whole[at + 1 :])
            if fix:
                manifest.write_text(json.dumps(forged(json.loads(about), folder)))
            yield f"byte {at} of {path.name}"
        path.write_bytes(whole)
        manifest.write_text(about)


def changed_entries(folder, *, fix):
    """Change one entry of the manifest after another; yield a description of each change while it lasts."""
    manifest = folder / "graph.json"
    text = manifest.read_text()
    good = json.loads(text)
    places = [(good, name) for name in good]
    places += [(part, name) for part in (good["grains"], good["ranges"][0]) for name in part]
    for part, name in places:
        own = part[name]
        for value in HOSTILE:
            part[name] = value
            manifest.write_text(json.dumps(sealed(good) if fix and name != "checksum" else good))
            yield f"{name} = {value!r}"
        part[name] = own
    manifest.write_text(text)


def main(path, what, step):
    """Make all changes, and count which are noticed."""
    faulthandler.enable()
    dask.config.set(scheduler="sync")
    folder, fix = Path(path), "forged" in what
    wanted = answers(folder, deep=True)
    changes = (
        changed_entries(folder, fix=fix)
        if "entries" in what
        else changed_bytes(folder, step, fix=fix)
    )
    seen = Counter()
    for change in changes:
        print(change, flush=True)  # noqa: T201 - for the parent process
        try:
            found = answers(folder, deep=fix)
        except gf.GraphflowError as error:
            seen[type(error).__name__] += 1
        else:
            assert fix or found == wanted, f"another answer after {change}"
            seen["right" if found == wanted else "other"] += 1
    print(json.dumps(seen))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    sys.stdout.flush()
    os._exit(0)  # without the time that NumPy, Arrow and Dask take to end
