"""Every CUDA kernel compiles for every GPU generation that RAPIDS supports. This takes no GPU.

NVRTC, the compiler that CuPy calls too, comes from the package ``nvidia-cuda-nvrtc`` and is called
through ctypes.
"""

from __future__ import annotations

import ast
import ctypes
import importlib
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

import dask_graphflow.kernels
from dask_graphflow.exceptions import BackendError
from dask_graphflow.kernels import sources

NEWEST = 120
# By default the oldest generation, which has the fewest features.
GENERATIONS = [
    75,
    *(pytest.param(generation, marks=pytest.mark.slow) for generation in (80, 86, 89, 90, 100)),
    pytest.param(NEWEST, marks=pytest.mark.slow),
]
FOLDER = Path(dask_graphflow.kernels.__file__).parent


def options_for(generation: int) -> tuple[str, ...]:
    """Return the options to compile for a GPU generation; all but the newest take a seventh of the time.

    What a generation lacks, the compiler says before it optimizes. So it is enough to optimize for one of
    them, which is done with the options that CuPy compiles with. CuPy adds the first one itself. Without
    it, some versions of NVRTC reject generic lambdas.
    """
    fast = () if generation == NEWEST else ("--Ofast-compile=max",)
    device = "--device-as-default-execution-space"
    return (device, *sources.OPTIONS, f"--gpu-architecture=sm_{generation}", *fast)


class Nvrtc:
    """The part of NVRTC's C interface that the tests need, with errors as exceptions."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def _call(self, function: str, *arguments: object) -> None:
        code = getattr(self._library, function)(*arguments)
        if code:
            raise RuntimeError(f"{function}: {self._library.nvrtcGetErrorString(code).decode()}")

    def compile(
        self, source: str, name: str, options: tuple[str, ...], expressions: tuple[str, ...]
    ) -> tuple[list[str], int, str]:
        """Return the kernels' names in the machine code, its size in bytes, and the log."""
        program = ctypes.c_void_p()
        self._call(
            "nvrtcCreateProgram",
            ctypes.byref(program),
            source.encode(),
            name.encode(),
            0,
            None,
            None,
        )
        try:
            for expression in expressions:
                self._call("nvrtcAddNameExpression", program, expression.encode())
            given = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
            try:
                self._call("nvrtcCompileProgram", program, len(options), given)
            except RuntimeError as error:
                raise RuntimeError(f"{error}\n{self._log(program)}") from None
            lowered = []
            for expression in expressions:
                found = ctypes.c_char_p()
                self._call("nvrtcGetLoweredName", program, expression.encode(), ctypes.byref(found))
                assert found.value is not None
                lowered.append(found.value.decode())
            size = ctypes.c_size_t()
            self._call("nvrtcGetCUBINSize", program, ctypes.byref(size))
            return lowered, size.value, self._log(program)
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))

    def _log(self, program: ctypes.c_void_p) -> str:
        size = ctypes.c_size_t()
        self._call("nvrtcGetProgramLogSize", program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        self._call("nvrtcGetProgramLog", program, log)
        return log.value.decode()


def _library_files() -> Iterator[Path]:
    for package in ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12"):
        try:
            listed = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            continue
        for file in listed:
            if file.name.startswith("libnvrtc.so") or file.name.startswith("nvrtc64_"):
                yield Path(str(file.locate()))


@pytest.fixture(scope="module")
def nvrtc() -> Nvrtc:
    library = next(_library_files(), None)
    if library is None:
        message = "NVRTC is missing; pip install nvidia-cuda-nvrtc"
        if sys.platform == "linux":
            pytest.fail(message)
        pytest.skip(message)
    return Nvrtc(library)


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("name", sources.KERNELS)
def test_kernels_compile_for_every_generation(nvrtc: Nvrtc, name: str, generation: int) -> None:
    lowered, size, log = nvrtc.compile(
        sources.source(name), name, options_for(generation), sources.KERNELS[name]
    )
    assert len(set(lowered)) == len(sources.KERNELS[name])
    assert size > 0
    assert not log, f"the compiler warns:\n{log}"


def test_a_wrong_kernel_does_not_compile_and_the_log_says_where(nvrtc: Nvrtc) -> None:
    wrong = sources.source("forest.cu") + "\n__global__ void wrong() { undeclared(); }\n"
    with pytest.raises(RuntimeError, match=r'identifier "undeclared" is undefined'):
        nvrtc.compile(wrong, "wrong.cu", sources.OPTIONS, ())


def test_every_source_file_is_listed_and_every_header_is_pasted() -> None:
    assert sorted(path.name for path in FOLDER.rglob("*.cu")) == sorted(sources.KERNELS)
    headers = [path.name for path in FOLDER.rglob("*.cuh")]
    assert len(headers) == len(set(headers))
    for name in sources.KERNELS:
        assert not re.search("^ *#include", sources.source(name), re.MULTILINE)


def test_every_kernel_that_the_device_module_launches_is_listed() -> None:
    listed = {e.partition("<")[0] for names in sources.KERNELS.values() for e in names}
    calls = [
        node
        for path in FOLDER.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    calls = [call for call in calls if call.args and isinstance(call.args[0], ast.Constant)]
    instances = [call for call in calls if call.func.id == "instance"]
    names = {ast.literal_eval(call.args[0]) for call in instances}
    for call in calls:
        if call.func.id in ("launch", "launch_blocks", "launch_resident", "launch_gang"):
            names.add(call.args[0].value)
    assert names == listed
    arity = {e.partition("<")[0]: e.count(",") + 1 for e in sum(sources.KERNELS.values(), ())}
    for call in instances:
        assert len(call.args) - 1 == arity[ast.literal_eval(call.args[0])]


def test_without_cupy_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.delitem(sys.modules, "dask_graphflow.kernels.common.device", raising=False)
    with pytest.raises(BackendError, match=r'pip install "dask-graphflow\[cuda13\]"'):
        importlib.import_module("dask_graphflow.kernels.common.device")
