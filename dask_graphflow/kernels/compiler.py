"""How Numba compiles kernels: with fewer passes, and without counting references.

Most of a first call in a new process is the time of the compiler. LLVM's time depends on the code that
it gets, and the time of Numba's own passes on their number and on the statements of a kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

_WRAPPER = "_ZN7cpython"  # the start of the names of wrappers
_UNUSED = {
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.LiteralUnroll,
    untyped_passes.LiteralPropagationSubPipelinePass,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    typed_passes.DumpParforDiagnostics,
}


class _Code(JITCodeLibrary):  # type: ignore[misc]
    """Code that does not count references, which LLVM optimizes once.

    Numba would optimize each function, then the module, remove what counts references, and start again.
    """

    def add_ir_module(self, module: Any) -> None:
        """Add code, and let LLVM leave wrappers for Python as they are.

        Wrappers are a third of all instructions, and run once per call.
        """
        for function in module.functions:
            if function.name.startswith(_WRAPPER):
                function.attributes.add("noinline")
                function.attributes.add("optnone")
        super().add_ir_module(module)

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class _InnerCode(_Code):
    """Code that is only linked into other code. LLVM optimizes it and emits instructions there."""

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironments(self._codegen)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _WithoutEnvironments:
    """Numba's code generator, for code that is not in memory and has no place for Python's objects."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler with another kind of code, and without passes that would find nothing to do.

    Kernels have no closures, no expressions of whole arrays and no calls that depend on literals.
    """

    code: type[JITCodeLibrary] = _Code

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        pipelines: list[Any] = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [one for one in pipeline.passes if one[0] not in _UNUSED]
            pipeline.finalize()  # again, because the list has changed
        return pipelines

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """Compile a function."""
        library = self.code(self.state.targetctx.codegen(), function.__qualname__)
        library.enable_object_caching()
        self.state.library = library
        return super().compile_extra(function)


class InnerKernelCompiler(KernelCompiler):
    """The compiler of functions that only kernels call."""

    code = _InnerCode
