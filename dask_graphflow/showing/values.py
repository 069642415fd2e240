"""Values of options in error messages."""

from __future__ import annotations

LONGEST = 300  # characters
BITS = 1_000  # Python writes no whole number of more than about 14,000 bits


def shown(value: object) -> str:
    """Return a value as text that is not too long for an error message.

    Examples
    --------
    >>> shown("pul")
    "'pul'"
    >>> shown(10**400)
    'a whole number of 1,329 bits'
    """
    if isinstance(value, int) and value.bit_length() > BITS:
        return f"a whole number of {value.bit_length():,} bits"
    try:
        text = repr(value)
    except ValueError:  # a list of such numbers
        return f"a {type(value).__name__}"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
