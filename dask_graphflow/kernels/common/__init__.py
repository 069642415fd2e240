"""Kernels that are being moved."""

from __future__ import annotations

from typing import Any

CommonKernels = Any
