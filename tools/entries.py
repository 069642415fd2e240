"""Compile a kernel to an entry that C calls, with Numba and llvmlite; see ``precompiled.c``."""

from __future__ import annotations

from typing import Any

import llvmlite.binding as ll
from llvmlite import ir
from numba.core import cgutils, codegen, config, types
from numba.core.callconv import CPUCallConv
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.np import arrayobj
from numba.np.numpy_support import as_dtype

CONTEXT = cpu_target.target_context
WORD = ir.IntType(64)
# Words of results at most, dimensions of a returned array at most, and its dtypes, as in precompiled.c.
RESULTS, DIMENSIONS, DTYPES = 24, 4, "dlLiIBf?"
# What precompiled.c provides of Numba's runtime. Nothing provides others with these prefixes.
PROVIDED = {
    "NRT_MemInfo_alloc_aligned",
    "NRT_MemInfo_call_dtor",
    "NRT_Free",
    "numba_frexp",
    "numba_ldexp",
}
RUNTIME = ("NRT_", "numba_", "Py", "_Py")


class NoEntryError(Exception):
    """A kernel cannot have an entry for some types."""


def compile_for(processor: str, cache: str) -> None:
    """Compile for this processor from now on, also if the computer has another one."""
    config.CPU_NAME, config.CPU_FEATURES, config.CACHE_DIR = processor, "", cache
    CONTEXT._internal_codegen = codegen.JITCPUCodegen("numba.exec")
    # The places of the source files are part of Numba's exceptions, and differ between computers.
    CPUCallConv.build_excinfo_struct = lambda self, kind, values, *place: (kind, values, None)


def wide(of: Any) -> Any:
    """Return a type with arrays that can be written to, so that fewer entries are compiled."""
    if isinstance(of, types.Array):
        return of.copy(readonly=False)
    if isinstance(of, types.BaseTuple):
        return types.BaseTuple.from_types([wide(item) for item in of], _class_of(of))
    return of


def _class_of(of: Any) -> Any:
    """Return the class of a named tuple, and None for other tuples."""
    return getattr(of, "instance_class", None)


@global_compiler_lock
def entry(kernel: Any, signature: tuple[Any, ...], symbol: str) -> tuple[bytes, str]:
    """Return the object code of an entry, and the kinds of its results."""
    kernel._dispatcher.compile(signature)
    compiled = kernel._dispatcher.overloads[signature]
    library = CONTEXT.codegen().create_library(symbol)
    library.add_linking_library(compiled.library)
    module = library.create_ir_module(symbol)
    returns = _define(module, compiled.fndesc, symbol)
    library.add_ir_module(module)
    library.finalize()
    return _object_code(ll.parse_assembly(str(library._final_module)), symbol), returns


def _define(module: Any, kernel: Any, symbol: str) -> str:
    """Add a function that reads the arguments, calls the kernel and stores the results."""
    kind = ir.FunctionType(ir.IntType(32), [WORD.as_pointer()] * 2)
    function = ir.Function(module, kind, symbol)
    words, out = function.args
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    convention = CONTEXT.call_conv
    callee = ir.Function(
        module, convention.get_function_type(kernel.restype, kernel.argtypes), kernel.llvm_func_name
    )
    arguments = _Arguments(builder, words)
    values = [arguments.read(of) for of in kernel.argtypes]
    status, result = convention.call_function(
        builder, callee, kernel.restype, kernel.argtypes, values
    )
    with builder.if_else(status.is_ok, likely=True) as (done, failed):
        with done:
            returns = _Results(builder, out).write(kernel.restype, result)
        with failed:
            pickled = builder.load(status.excinfoptr)
            address = builder.ptrtoint(builder.extract_value(pickled, 0), WORD)
            _put(builder, address, out, 0)
            _put(builder, builder.zext(builder.extract_value(pickled, 1), WORD), out, 1)
    builder.ret(builder.zext(builder.not_(status.is_ok), ir.IntType(32)))
    return returns


class _Arguments:
    """Arguments that are read from words, one after another."""

    def __init__(self, builder: Any, words: Any) -> None:
        self._builder, self._words, self._count = builder, words, 0

    def read(self, of: Any) -> Any:
        """Return the next argument, of the given type."""
        builder = self._builder
        if of == types.none:
            return CONTEXT.get_dummy_value()
        if isinstance(of, types.Array):
            return self._array(of)
        if isinstance(of, types.BaseTuple):
            return CONTEXT.make_tuple(builder, of, [self.read(item) for item in of])
        word = self._word()
        if isinstance(of, types.Boolean):
            return builder.icmp_unsigned("!=", word, ir.Constant(WORD, 0))
        if isinstance(of, types.Float):
            double = builder.bitcast(word, ir.DoubleType())
            return double if of.bitwidth == 64 else builder.fptrunc(double, ir.FloatType())
        if isinstance(of, types.Integer):
            return word if of.bitwidth == 64 else builder.trunc(word, ir.IntType(of.bitwidth))
        raise NoEntryError(f"takes {of}")

    def _word(self) -> Any:
        place = self._builder.gep(self._words, [ir.Constant(WORD, self._count)])
        self._count += 1
        return self._builder.load(place)

    def _array(self, of: Any) -> Any:
        builder, dtype = self._builder, CONTEXT.get_data_type(of.dtype)
        if of.layout != "C" or not of.aligned:
            raise NoEntryError(f"takes {of}")
        data = builder.inttoptr(self._word(), dtype.as_pointer())
        shape = [self._word() for _ in range(of.ndim)]
        size = ir.Constant(WORD, CONTEXT.get_abi_sizeof(dtype))
        strides = [size]
        for length in shape[:0:-1]:
            strides.insert(0, builder.mul(strides[0], length))
        array = arrayobj.make_array(of)(CONTEXT, builder)
        arrayobj.populate_array(
            array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None
        )
        return array._getvalue()


class _Results:
    """Words to which results are written, one after another."""

    def __init__(self, builder: Any, words: Any) -> None:
        self._builder, self._words, self._count = builder, words, 0

    def write(self, of: Any, value: Any) -> str:
        """Write a result of the given type; return its kind, as in precompiled.c."""
        builder = self._builder
        if of == types.none:
            return "n"
        if isinstance(of, types.Array):
            return self._array(of, value)
        if isinstance(of, types.BaseTuple) and not _class_of(of):
            items = zip(of, cgutils.unpack_tuple(builder, value), strict=True)
            return f"({''.join([self.write(*item) for item in items])})"
        if isinstance(of, types.Float) and of.bitwidth == 64:
            return self._word("d", builder.bitcast(value, WORD))
        if isinstance(of, types.Boolean):
            return self._word("?", builder.zext(value, WORD))
        if isinstance(of, types.Integer):
            extend = builder.sext if of.signed else builder.zext
            word = value if of.bitwidth == 64 else extend(value, WORD)
            return self._word("q" if of.signed else "Q", word)
        raise NoEntryError(f"returns {of}")

    def _word(self, kind: str, word: Any) -> str:
        if self._count == RESULTS:
            raise NoEntryError(f"returns more than {RESULTS} words")
        _put(self._builder, word, self._words, self._count)
        self._count += 1
        return kind

    def _array(self, of: Any, value: Any) -> str:
        kind = str(as_dtype(of.dtype).char)
        if of.layout != "C" or of.ndim > DIMENSIONS or kind not in DTYPES:
            raise NoEntryError(f"returns {of}")
        array = arrayobj.make_array(of)(CONTEXT, self._builder, value)
        for pointer in (array.meminfo, array.data):
            self._word(kind, self._builder.ptrtoint(pointer, WORD))
        for length in cgutils.unpack_tuple(self._builder, array.shape):
            self._word(kind, length)
        return f"{kind}{of.ndim}"


def _put(builder: Any, word: Any, out: Any, at: int) -> None:
    builder.store(word, builder.gep(out, [ir.Constant(WORD, at)]))


def _object_code(module: Any, symbol: str) -> bytes:
    """Return the object code of a module without what its entry does not use."""
    for one in [*module.functions, *module.global_variables]:
        if not one.is_declaration and one.name != symbol:
            one.linkage = "internal"
    machine = ll.Target.from_triple(ll.get_process_triple()).create_target_machine(
        cpu=config.CPU_NAME, features="", opt=3, reloc="pic", codemodel="default"
    )
    passes = ll.create_pass_builder(machine, ll.create_pipeline_tuning_options(speed_level=1))
    passes.getModulePassManager().run(module, passes)
    for one in module.functions:
        if one.is_declaration and one.name.startswith(RUNTIME) and one.name not in PROVIDED:
            raise NoEntryError(f"calls {one.name}")
    return machine.emit_object(module)
