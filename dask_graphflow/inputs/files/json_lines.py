"""JSON Lines files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.json as pa_json

from .lines import BYTE_ORDER_MARK, CORRECT_LINE, LONGEST, BadLine, Lines, row_at

DEEP = 1000  # objects and lists that Arrow parses inside of each other


@dataclass(frozen=True)
class JsonLines(Lines):
    """One JSON object per line, whose keys are the names of the columns."""

    def begin(self, content: bytes) -> tuple[JsonLines, bytes]:
        """Nothing comes before the first record."""
        return self, content.removeprefix(BYTE_ORDER_MARK)

    def parse(self, content: bytes, types: Mapping[str, pa.DataType] | None) -> pa.Table:
        """Return columns; objects and lists are left out."""
        _check(content)
        schema = None if types is None else pa.schema(types.items())
        try:
            return pa_json.read_json(
                pa.BufferReader(content or b"\n"),
                pa_json.ReadOptions(use_threads=False, block_size=min(len(content) + 2, LONGEST)),
                pa_json.ParseOptions(
                    explicit_schema=schema,
                    unexpected_field_behavior="infer" if schema is None else "ignore",
                ),
            )
        except pa.ArrowException as error:
            raise _bad_line(content, str(error)) from error


def _check(content: bytes) -> None:
    """Check what Arrow does not. Null lines and deep objects would end the process."""
    if not content.isascii():
        try:
            content.decode()
        except UnicodeDecodeError as error:
            row = row_at(content, error.start)
            raise BadLine(
                f"{content[error.start : error.end]!r} is not UTF-8", row, CORRECT_LINE
            ) from error
    lines = content.count(b"}\n{") + 1
    is_one_per_line = content[:1] + content[-2:] == b"{}\n" and content.count(b"\n") == lines
    if is_one_per_line and content.count(b"{") == lines and b"[" not in content:
        return  # flat objects, as in most files
    row = 0
    for line in map(bytes.strip, content.splitlines()):
        row += bool(line)
        if line and not (line.startswith(b"{") and line.endswith(b"}")):
            raise BadLine("is not a JSON object, as every line must be", row, CORRECT_LINE)
        if len(line) > DEEP and line.count(b"[") + line.count(b"{") > DEEP:
            _check_line(line, row)


def _check_line(line: bytes, row: int) -> None:
    try:
        json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = f"JSON parse error: {str(error).replace('line 1 ', '')}"
        raise BadLine(reason, row, CORRECT_LINE) from error


def _bad_line(content: bytes, reason: str) -> BadLine:
    """Return the error of the first line that is not JSON; otherwise Arrow's reason."""
    found = re.search(r" in row (\d+)", reason)
    if found is None:
        return BadLine(reason)
    row = int(found[1]) + 1
    lines = [line for line in content.splitlines() if line.strip()]
    try:
        for number, line in enumerate(lines[:row], start=1):
            _check_line(line, number)  # a line with two objects makes rows and lines differ
    except BadLine as error:
        return error
    return BadLine(reason.replace(found[0], "").rstrip("."), row)
