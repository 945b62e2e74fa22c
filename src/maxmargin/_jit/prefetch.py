"""A hint to the processor that an element will be read soon."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from maxmargin._jit import intrinsic, types


@intrinsic
def prefetch(typingctx, array, offset):
    """Load the cache line of element ``offset`` of a contiguous array.

    The program itself reads nothing, so the element need not exist.
    """

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        index = context.cast(builder, args[1], sig.args[1], types.intp)
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        hint = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte] + 3 * [word])
        )
        pointer = builder.bitcast(builder.gep(data, [index]), byte)
        builder.call(hint, [pointer, word(0), word(3), word(1)])  # read, keep, data
        return context.get_dummy_value()

    return types.none(array, offset), codegen
