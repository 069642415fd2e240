"""Where the records of a CSV file end.

A quoted cell can contain line breaks, so a line break ends a record only outside quotes. Whether it is
outside depends on everything before it. Like Arrow's parser, :func:`borders` takes a quote for the
beginning of a quoted cell only at the beginning of a cell. Elsewhere, it is a character like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dask_graphflow.kernels.compiling import compiled

PIECE_BYTES = 16 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
QUOTE, LINE_FEED, CARRIAGE_RETURN = b'"\n\r'
# What the last byte was: the end of a cell or record, part of a cell, part of a quoted cell, a quote in a
# quoted cell, or a carriage return.
CELL_END, IN_CELL, IN_QUOTES, QUOTE_IN_QUOTES, AFTER_RETURN = range(5)


def borders(stream: Any, separator: str, every: int) -> Iterator[tuple[int, bool]]:
    """Yield positions in a stream of bytes at which records begin, and the end of the stream.

    Parameters
    ----------
    stream : file of bytes
    separator : str
    every : int
        Minimum number of bytes between two positions, and before the first one.

    Yields
    ------
    position : int
    in_quotes : bool
        Whether this is the end of the stream, and a quote is not closed there.
    """
    state, last, base = CELL_END, 0, 0
    while piece := stream.read(PIECE_BYTES):
        content = np.frombuffer(piece, np.uint8)
        at = len(BYTE_ORDER_MARK) if base == 0 and piece.startswith(BYTE_ORDER_MARK) else 0
        while at < len(content):
            at, state, begins = _advance(content, at, state, ord(separator), last + every - base)
            if begins:
                last = base + at
                yield last, False
        base += len(content)
    yield base, state == IN_QUOTES


@compiled
def _advance(content, at, state, separator, least):  # type: ignore[no-untyped-def]
    """Return the first position from `least` on at which a record begins, the state there, and True.

    If there is no such position, return the end of the content, the state there, and False.
    """
    while at < len(content):
        byte = content[at]
        if state == AFTER_RETURN and byte != LINE_FEED:
            state = CELL_END
            if at >= least:
                return at, state, True
        at += 1
        if state == IN_QUOTES:
            if byte == QUOTE:
                state = QUOTE_IN_QUOTES
        elif byte == QUOTE and state in (CELL_END, QUOTE_IN_QUOTES):
            state = IN_QUOTES
        elif byte == LINE_FEED:
            state = CELL_END
            if at >= least:
                return at, state, True
        elif byte == CARRIAGE_RETURN:
            state = AFTER_RETURN
        elif byte == separator:
            state = CELL_END
        else:
            state = IN_CELL
    return at, state, False
