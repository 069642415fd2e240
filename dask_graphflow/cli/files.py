"""The files that a command reads."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any

import click

from dask_graphflow.graph.edgelist import default_ends
from dask_graphflow.inputs.files.find import EXTENSIONS, find_files, format_of
from dask_graphflow.inputs.files.read_edges import read_edges

from .output import Output

STDIN = "-"


class Files:
    """Reads files as lazy frames.

    Parameters
    ----------
    out : Output
        Gets to know the files, so that it does not replace any of them.
    format, columns, header, dtype, blocksize
        How to read the edges; see :func:`.read_edges`.
    text_ids : bool
        Whether ids in text files are text.
    """

    def __init__(
        self,
        out: Output,
        *,
        format: str | None,
        columns: list[str] | None,
        header: bool | None,
        dtype: dict[str, str],
        text_ids: bool,
        blocksize: int | None,
    ) -> None:
        self._out = out
        self._text_ids = text_ids
        self._format = format
        self._dtype = dtype
        self._options = {"columns": columns, "header": header, "blocksize": blocksize}

    def edges(self, paths: Sequence[str], ids: Sequence[str] = ()) -> Any:
        """Return the edges in files; `ids` are the columns with ids, which must exist to be text."""
        found = [self._stdin() if path == STDIN else path for path in paths]
        options = {**self._options, "format": self._format, "dtype": self._dtype}
        frame = self._read(found, options)
        texts = [
            name for name in ids or default_ends(list(frame.columns)) or () if name in frame.columns
        ]
        return self._read(found, options, texts) if self._text_ids and texts else frame

    def frame(self, path: str, ids: int | None) -> Any:
        """Return a frame that an option names. Its first `ids` columns contain ids; None is all."""
        found = [path.removeprefix("@")]
        frame = self._read(found, {})
        return self._read(found, {}, list(frame.columns[:ids])) if self._text_ids else frame

    def _read(self, paths: list[str], options: dict[str, Any], texts: Sequence[str] = ()) -> Any:
        files = find_files(paths)
        self._out.keep(files)
        is_text = (options.get("format") or format_of(files)) != "parquet"
        dtype = options.get("dtype", {}) | (dict.fromkeys(texts, "str") if is_text else {})
        return read_edges(paths, **{**options, "dtype": dtype or None})

    def _stdin(self) -> str:
        """Copy standard input to a file, so that it can be read in blocks by any process."""
        if self._format is None:
            raise click.UsageError("- needs --format, because standard input has no extension.")
        path = self._out.scratch / f"standard-input{EXTENSIONS[self._format][0]}"
        if not path.exists():
            with path.open("wb") as sink:
                shutil.copyfileobj(sys.stdin.buffer, sink)
        return os.fspath(path)
