"""Functions that fill the boxes of messages; see :mod:`~dask_graphflow.comm.outbox` for their contents."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind


class OutboxKernels(Protocol):
    """What :mod:`.outbox.host` and :mod:`.outbox.device` can do."""

    def room(self, size: int) -> Any:
        """Return `size` uninitialized bytes."""

    def take(self, column: Any, at: Any, out: Any) -> None:
        """Write the entries of a column at the indices `at` to `out`."""

    def to_marks(self, at: Any, size: int) -> Any:
        """Return indices below `size` as a bitmap of bytes, with the lowest bit of each byte first."""

    def from_marks(self, marks: Any, size: int) -> Any:
        """Return the indices of a bitmap in ascending order."""


# Maximum entries of a device that are packed on the host. Copying these there takes as long as a launch.
HOST_ENTRIES = 1 << 12

of: Callable[[Any], OutboxKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: OutboxKernels = host
    _device: OutboxKernels = device
