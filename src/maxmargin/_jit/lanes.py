"""Sweeps that find an extremum together with its place, sixteen numbers at a time.

A loop that keeps the least value and its index does not vectorise. Here each of sixteen
lanes keeps the best of its own numbers (those at k, k + 16, k + 32, …) and the number of
its block; the caller finds the best of the sixteen. Every machine has sixteen lanes (LLVM
splits a vector that is too wide), so that ties have the same winner everywhere.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core.errors import TypingError

from maxmargin._jit import intrinsic, types

LANES = 16
_FAR = 1e30  # beyond all values: the masks add as much for points that may not move


def _require(work: Any, *arrays: Any) -> None:
    """Raise if an array is not contiguous, or has another dtype."""
    if any(one.layout != "C" or one.dtype != work for one in arrays):
        given = ", ".join(map(str, arrays))
        raise TypingError(f"lanes want contiguous arrays of {work}: {given}")  # noqa: EM102


class _Sweep:
    """A loop over blocks of sixteen numbers of several arrays, in LLVM's instructions."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self._context, self._builder = context, builder
        self._types, self._args = signature.args, args

    def vector(self, dtype: Any) -> Any:
        """Return the type of sixteen numbers."""
        return ir.VectorType(self._context.get_value_type(dtype), LANES)

    def constant(self, dtype: Any, value: float) -> Any:
        """Return sixteen copies of a constant."""
        return ir.Constant(self.vector(dtype), [value] * LANES)

    def splat(self, scalar: Any) -> Any:
        """Return sixteen copies of a computed number."""
        builder, vector = self._builder, ir.VectorType(scalar.type, LANES)
        undefined = ir.Constant(vector, ir.Undefined)
        first = builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(first, undefined, zeros)

    def place(self, number: int, block: Any) -> Any:
        """Return a pointer to one block of the array that is argument ``number``."""
        builder, array = self._builder, self._types[number]
        made = self._context.make_array(array)(self._context, builder, self._args[number])
        start = builder.mul(block, ir.Constant(block.type, LANES))
        pointer = builder.gep(made.data, [start])
        return builder.bitcast(pointer, self.vector(array.dtype).as_pointer())

    def load(self, number: int, block: Any) -> Any:
        """Read one block of an array."""
        size = 4 if self._types[number].dtype == types.float32 else 8
        return self._builder.load(self.place(number, block), align=size)

    def store(self, value: Any, number: int, block: Any) -> None:
        """Write one block of an array, in the dtype of the array."""
        wanted = self.vector(self._types[number].dtype)
        size = 4 if self._types[number].dtype == types.float32 else 8
        if value.type != wanted:
            value = self._builder.fpext(value, wanted)
        self._builder.store(value, self.place(number, block), align=size)

    def fused(self, a: Any, b: Any, c: Any) -> Any:
        """Return a·b + c with one rounding."""
        bits = 32 if isinstance(a.type.element, ir.FloatType) else 64
        call = cgutils.get_or_insert_function(
            self._builder.module,
            ir.FunctionType(a.type, [a.type] * 3),
            f"llvm.fma.v{LANES}f{bits}",
        )
        return self._builder.call(call, [a, b, c])

    def largest(self, a: Any, b: Any) -> Any:
        """Return the larger number of every lane; b where one is NaN."""
        builder = self._builder
        return builder.select(builder.fcmp_ordered(">", a, b), a, b)

    def loop(self, blocks: Any, kept: list[Any], body: Any) -> list[Any]:
        """Do ``kept = body(block, kept)`` for every block; return the last ``kept``."""
        builder = self._builder
        entry = builder.block
        head, inside, done = (
            builder.append_basic_block(f"lanes.{name}") for name in ("head", "in", "end")
        )
        builder.branch(head)
        builder.position_at_end(head)
        block = builder.phi(blocks.type)
        block.add_incoming(ir.Constant(blocks.type, 0), entry)
        now = [builder.phi(one.type) for one in kept]
        for one, first in zip(now, kept, strict=True):
            one.add_incoming(first, entry)
        builder.cbranch(builder.icmp_signed("<", block, blocks), inside, done)
        builder.position_at_end(inside)
        for one, following in zip(now, body(block, now), strict=True):
            one.add_incoming(following, inside)
        block.add_incoming(builder.add(block, ir.Constant(blocks.type, 1)), inside)
        builder.branch(head)
        builder.position_at_end(done)
        return now


@intrinsic
def sweep_lanes(typingctx, F, step, row_i, row_j, up, low, blocks, lanes):
    """Do ``F += step·(row_i − row_j)``; find min(F + up), its block and max(F + low).

    ``lanes`` gets the three of every lane, sixteen of each. All arrays have one dtype.
    """
    signature = types.void(F, F.dtype, row_i, row_j, up, low, types.intp, lanes)
    work = F.dtype
    _require(work, F, row_i, row_j, up, low, lanes)

    def codegen(context, builder, sig, args):
        sweep = _Sweep(context, builder, sig, args)
        step = sweep.splat(args[1])

        def body(block, kept):
            least, where, most = kept
            change = builder.fsub(sweep.load(2, block), sweep.load(3, block))
            value = sweep.fused(step, change, sweep.load(0, block))
            sweep.store(value, 0, block)
            rise = builder.fadd(value, sweep.load(4, block))
            better = builder.fcmp_ordered("<", rise, least)
            number = sweep.splat(builder.sitofp(block, context.get_value_type(work)))
            return [
                builder.select(better, rise, least),
                builder.select(better, number, where),
                sweep.largest(builder.fadd(value, sweep.load(5, block)), most),
            ]

        start = [sweep.constant(work, value) for value in (_FAR, 0.0, -_FAR)]
        for number, found in enumerate(sweep.loop(args[6], start, body)):
            sweep.store(found, 7, ir.Constant(args[6].type, number))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def partner_lanes(
    typingctx, F, price, span, row, diagonal, own, unit, floor, low, blocks, lanes
):
    """Find the largest g²/a of every lane; ``lanes`` gets g², a and its block.

    g = max((F + low − price)·span, 0) and a = max(own + diagonal·unit − 2·row·unit,
    floor), in float32: twice as many fit in a register. Quotients are compared by
    products, for divisions would take most of the time.
    """
    single = types.float32
    signature = types.void(
        F, F.dtype, F.dtype, row, diagonal, single, F.dtype, single, low, types.intp,
        lanes,
    )  # fmt: skip
    _require(F.dtype, F, row, diagonal, low, lanes)

    def codegen(context, builder, sig, args):
        sweep = _Sweep(context, builder, sig, args)
        price, span, own, unit, floor = (
            sweep.splat(args[number]) for number in (1, 2, 5, 6, 7)
        )
        short = sweep.vector(single)
        zero = sweep.constant(single, 0.0)

        def brief(value):
            return value if value.type == short else builder.fptrunc(value, short)

        def body(block, kept):
            square, curvature, where = kept
            above = builder.fsub(
                builder.fadd(sweep.load(0, block), sweep.load(8, block)), price
            )
            g = sweep.largest(brief(builder.fmul(above, span)), zero)
            both = builder.fadd(own, brief(builder.fmul(sweep.load(4, block), unit)))
            value = brief(builder.fmul(sweep.load(3, block), unit))
            a = sweep.fused(sweep.constant(single, -2.0), value, both)
            a = sweep.largest(a, floor)
            gg = builder.fmul(g, g)
            better = builder.fcmp_ordered(
                ">", builder.fmul(gg, curvature), builder.fmul(square, a)
            )
            number = sweep.splat(builder.sitofp(block, short.element))
            return [
                builder.select(better, gg, square),
                builder.select(better, a, curvature),
                builder.select(better, number, where),
            ]

        start = [sweep.constant(single, value) for value in (-1.0, 1.0, 0.0)]
        for number, found in enumerate(sweep.loop(args[9], start, body)):
            sweep.store(found, 10, ir.Constant(args[9].type, number))
        return context.get_dummy_value()

    return signature, codegen
