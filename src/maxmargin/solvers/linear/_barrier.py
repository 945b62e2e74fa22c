r"""The passes of the interior point over its rows in play, compiled.

A row's box is one piece, or with a price ε of |β| the two pieces on either side of 0. In
every piece β is counted from both ends in units of the piece's ``width`` h,
:math:`a = (\beta - l)/h` and :math:`t = (u - \beta)/h`, and both ends have a price, s and
x; ``inner[piece]`` are a, t, s, x, all positive. With :math:`v = f + p \pm \varepsilon` a
solution has :math:`v = s - x`, :math:`as = 0` and :math:`tx = 0`. Newton's equations
towards :math:`as = tx = \mu`, less second-order terms :math:`c_a, c_t`, are

.. math:: \Delta f + \Delta a/q = g,\qquad 1/q = s/a + x/t,\qquad
          g = -v + \mu(1/a - 1/t) - (c_a/a - c_t/t),

so that a row counts in X'WX with :math:`W = \sum hq` over its pieces. Counted in units of
the box, small and large C are the same problem to all but the width × width system.

Rows are handled in blocks that stay in the cache between the products with x and the
arithmetic of the pieces, which has no branches and therefore vector instructions.
"""

from __future__ import annotations

import numpy as np

from maxmargin._jit import ASSOCIATIVE, njit
from maxmargin._jit.random import uniform
from maxmargin._jit.simd import vmax, vmin
from maxmargin.design.operator import add_row, dot_row

_BLOCK = 1 << 15  # numbers of the rows that are handled at a time


def _step(start, stop, inner, turn, by, p, f, df, low, width, price, found):
    """Go ``by`` along the direction, and sum up what the gap is made of.

    Of every piece: its part of primal − dual less ½‖w − X'β‖², its linear part of the
    dual, and its products as + tx; of the rows (Δf)².
    """
    gap, linear, products, speed = 0.0, 0.0, 0.0, 0.0
    f, df, p = f[start:stop], df[start:stop], p[start:stop]
    for k in range(f.size):
        f[k] += by * df[k]
        speed += df[k] * df[k]
    for piece in range(price.size):
        a, t = inner[piece, 0, start:stop], inner[piece, 1, start:stop]
        s, x = inner[piece, 2, start:stop], inner[piece, 3, start:stop]
        da, ds = turn[piece, 0, start:stop], turn[piece, 1, start:stop]
        dx = turn[piece, 2, start:stop]
        least, h, e = low[piece, start:stop], width[piece, start:stop], price[piece]
        for k in range(f.size):
            a[k] += by * da[k]
            t[k] -= by * da[k]
            s[k] += by * ds[k]
            x[k] += by * dx[k]
            v = f[k] + p[k] + e
            gap += h[k] * (vmax(v, 0.0) * a[k] - vmin(v, 0.0) * t[k])
            linear += (p[k] + e) * (least[k] + h[k] * a[k])
            products += a[k] * s[k] + t[k] * x[k]
    found[0], found[1], found[2], found[3] = gap, linear, products, speed


def _weigh(start, stop, inner, q, width, p, f, price, sums):
    """Of all pieces q; of all rows W, Whg for μ = 0, and what a μ of 1 adds to it."""
    weight, slope, centre = sums[0, start:stop], sums[1, start:stop], sums[2, start:stop]
    weight[:], slope[:], centre[:] = 0.0, 0.0, 0.0
    f, p = f[start:stop], p[start:stop]
    for piece in range(price.size):
        a, t = inner[piece, 0, start:stop], inner[piece, 1, start:stop]
        s, x = inner[piece, 2, start:stop], inner[piece, 3, start:stop]
        one, h, e = q[piece, start:stop], width[piece, start:stop], price[piece]
        for k in range(f.size):
            bottom, top = 1.0 / a[k], 1.0 / t[k]
            one[k] = 1.0 / (s[k] * bottom + x[k] * top)
            much = h[k] * one[k]
            weight[k] += much
            slope[k] -= much * (f[k] + p[k] + e)
            centre[k] += much * (bottom - top)


def _fill(rows, at, start, stop, sums, scaling, part):
    """√W·x of all rows, and two more columns, which make the right sides when squared."""
    weight, slope, centre = sums[0, start:stop], sums[1, start:stop], sums[2, start:stop]
    d = part.shape[1] - 2
    for k in range(weight.size):
        root = np.sqrt(weight[k])
        row = part[k]
        row[:] = 0.0
        add_row(rows, at[start + k], root, row, scaling)
        row[d], row[d + 1] = slope[k] / root, centre[k] / root


def _draw(start, stop, at, norms, sums, unit, seed, chosen, drawn):
    """Rows by lot: each with probability W‖x‖²/unit, and W over that probability.

    Their X'WX is that of all rows on average. Returns how many, from ``start`` on.
    """
    count = 0
    for k in range(start, stop):
        share = vmin(sums[0, k] * norms[at[k]] / unit, 1.0)
        if uniform(seed, at[k]) < share:
            chosen[start + count] = at[k]
            drawn[0, start + count] = sums[0, k] / share
            count += 1
    return count


def _sides(rows, at, start, stop, sums, scaling, slope, centre):
    """The two right sides, where X'WX is not made of all rows."""
    for k in range(start, stop):
        add_row(rows, at[k], sums[1, k], slope, scaling)
        add_row(rows, at[k], sums[2, k], centre, scaling)


def _curve(rows, at, start, stop, sums, v, scaling, out):
    """Out += X'WXv."""
    for k in range(start, stop):
        i = at[k]
        add_row(rows, i, sums[0, k] * dot_row(rows, i, v, scaling), out, scaling)


def _back(rows, at, start, stop, u, scaling, out):
    """Out += X'u."""
    for k in range(start, stop):
        if u[k] != 0.0:
            add_row(rows, at[k], u[k], out, scaling)


def _predict(
    rows, at, start, stop, inner, q, width, p, f, price, dw, scaling, df, out, found
):
    """The direction towards μ = 0: how far it may go, and what it does to second order.

    ``out`` += X'(hq(c_a/a − c_t/t)); found[0] is the largest decrease relative to what
    there is, found[1] the sum of the second-order terms.
    """
    block = max(16, _BLOCK // out.size)
    second = np.empty(block)
    worst, total = 1.0, 0.0
    for begin in range(start, stop, block):
        end = min(stop, begin + block)
        move, extra = df[begin:end], second[: end - begin]
        for k in range(move.size):
            move[k] = dot_row(rows, at[begin + k], dw, scaling)
            extra[k] = 0.0
        now, past = f[begin:end], p[begin:end]
        for piece in range(price.size):
            a, t = inner[piece, 0, begin:end], inner[piece, 1, begin:end]
            s, x = inner[piece, 2, begin:end], inner[piece, 3, begin:end]
            one, h, e = q[piece, begin:end], width[piece, begin:end], price[piece]
            for k in range(move.size):
                bottom, top = 1.0 / a[k], 1.0 / t[k]
                da = -one[k] * (now[k] + past[k] + e + move[k])
                low, high = da * bottom, da * top
                # Δs = −s(1 + Δa/a), Δx = −x(1 − Δa/t)
                down, up = -da * s[k] * (1.0 + low), da * x[k] * (1.0 - high)
                total += down + up
                worst = vmax(worst, vmax(vmax(-low, high), vmax(1.0 + low, 1.0 - high)))
                extra[k] += h[k] * one[k] * (down * bottom - up * top)
        for k in range(move.size):
            add_row(rows, at[begin + k], extra[k], out, scaling)
    found[0], found[1] = worst, total


def _correct(
    rows, at, start, stop, inner, turn, q, width, p, f, price, dw, mu, trust, scaling, df,
    out, found,
):  # fmt: skip
    """The direction towards ``mu``, with ``trust`` in second-order terms of ``df``.

    Leaves its Δf in ``df``, its Δa, Δs, Δx in ``turn``; ``out`` += X'Δβ; found[0] as in
    :func:`_predict`.
    """
    block = max(16, _BLOCK // out.size)
    rise, fresh = np.empty(block), np.empty(block)
    worst = 0.0
    for begin in range(start, stop, block):
        end = min(stop, begin + block)
        old, move, change = df[begin:end], fresh[: end - begin], rise[: end - begin]
        for k in range(move.size):
            move[k] = dot_row(rows, at[begin + k], dw, scaling)
            change[k] = 0.0
        now, past = f[begin:end], p[begin:end]
        for piece in range(price.size):
            a, t = inner[piece, 0, begin:end], inner[piece, 1, begin:end]
            s, x = inner[piece, 2, begin:end], inner[piece, 3, begin:end]
            da, ds = turn[piece, 0, begin:end], turn[piece, 1, begin:end]
            dx, one = turn[piece, 2, begin:end], q[piece, begin:end]
            h, e = width[piece, begin:end], price[piece]
            for k in range(move.size):
                bottom, top = 1.0 / a[k], 1.0 / t[k]
                v = now[k] + past[k] + e
                first = -one[k] * (v + old[k])
                down = mu + trust * first * s[k] * (1.0 + first * bottom)
                up = mu - trust * first * x[k] * (1.0 - first * top)
                moved = one[k] * (down * bottom - up * top - v - move[k])
                da[k] = moved
                ds[k] = (down - s[k] * moved) * bottom - s[k]
                dx[k] = (up + x[k] * moved) * top - x[k]
                change[k] += h[k] * moved
                worst = vmax(worst, vmax(-moved * bottom, moved * top))
                worst = vmax(worst, vmax(-ds[k] / s[k], -dx[k] / x[k]))
        for k in range(move.size):
            old[k] = move[k]
            add_row(rows, at[begin + k], change[k], out, scaling)
    found[0] = worst


def _decided(m, inner, p, f, df, price, pace, calm, most, far):
    """far[k]: whether row k is where it will stay; returns how many are.

    All its pieces are within ``most`` of the end that their v asks for, and v is farther
    from 0 than ``pace``, and than ``calm`` times the row's own last move.
    """
    count = 0
    for k in range(m):
        room = vmax(pace, calm * abs(df[k]))
        sure = True
        for piece in range(price.size):
            v = f[k] + p[k] + price[piece]
            low, high = inner[piece, 0, k] < most, inner[piece, 1, k] < most
            sure = sure and ((low and v > room) or (high and -v > room))
        far[k] = sure
        count += sure
    return count


def _leave(m, far, at, p, low, width, f, inner, beta, gone, shift):
    """Rows that are ``far`` go to the ends of their boxes and out of play, in place.

    ``beta`` takes the ends, ``gone`` and ``shift`` who went and how much β changed by it;
    returns how many are left.
    """
    left, out = 0, 0
    for k in range(m):
        if far[k]:
            end, now = 0.0, 0.0
            for piece in range(low.shape[0]):
                a, t = inner[piece, 0, k], inner[piece, 1, k]
                near = 0.0 if a < t else width[piece, k]
                end += low[piece, k] + near
                now += low[piece, k] + width[piece, k] * a
            beta[at[k]] = end
            gone[out], shift[out] = at[k], end - now
            out += 1
        else:
            at[left], p[left], f[left] = at[k], p[k], f[k]
            for piece in range(low.shape[0]):
                low[piece, left], width[piece, left] = low[piece, k], width[piece, k]
                for part in range(4):
                    inner[piece, part, left] = inner[piece, part, k]
            left += 1
    return left


step = njit(_step, fastmath=set(ASSOCIATIVE))
weigh = njit(_weigh, fastmath=set(ASSOCIATIVE))
fill = njit(_fill)
draw = njit(_draw)
sides = njit(_sides)
curve = njit(_curve)
back = njit(_back)
predict = njit(_predict, fastmath=set(ASSOCIATIVE))
correct = njit(_correct, fastmath=set(ASSOCIATIVE))
decided = njit(_decided)
leave = njit(_leave)
