"""Extents that a body computes: each time that it runs they are others."""
import numpy

from case import Stops, case

SMALL = {'x': [3, -1, 4, 1, -5, 9, 2, 6]}


@case('''
entry main(x: f32[N], n: i32[]) -> (y: f32[], kept: i64[]) {
  _, y, kept = while (t: i32[] = 0, y: f32[] = 0, kept: i64[] = 0) t < n {
    part = x[x > cast(t, f32)]
    next t + 1, y + sum(part * part), kept * 10 + shape(part)[0]
  }
}''', {**SMALL, 'n': 9}, {**SMALL, 'n': 0}, {'x': [], 'n': 3})
def a_mask_in_a_loop(x, n):
    y, kept = 0, 0
    for t in range(n):
        y, kept = y + (x[x > t] ** 2).sum(), kept * 10 + (x > t).sum()
    return y, kept


@case('''
entry main(x: f32[N], p: bool[]) -> (y: f32[], z: f32[]) {
  y = if p { yield sum(exp(x[x > 0] / 9)) } else { yield sum(abs(x[x < 0])) }
  z = if N > 3 { yield max(x[x < 5]) } else { yield 0 }
}''', {**SMALL, 'p': True}, {**SMALL, 'p': False}, {'x': [1, 2], 'p': False})
def a_mask_in_a_branch(x, p):
    return numpy.exp(x[x > 0] / 9).sum() if p else -x[x < 0].sum(), x[x < 5].max() if len(x) > 3 else 0


@case('''
entry main(x: f32[N]) -> (t: i32[], y: f32[N]) {
  t, y = while (t: i32[] = 0, y = x) shape(y[y > 1])[0] > 1 { next t + 1, y / 2 }
}''', SMALL, {'x': [1, 1]})
def a_mask_in_a_condition(x):
    t = 0
    while (x > 1).sum() > 1:
        t, x = t + 1, x / 2
    return t, x


@case('''
entry main(x: i64[N], n: i64[]) -> (y: i64[]) {
  _, y = while (t: i64[] = 0, y: i64[] = 0) t < n {
    low = x[x > t]
    _, inner = while (u: i64[] = 0, inner: i64[] = 0) u < shape(low)[0] {
      both = low[low > low[u]]
      next u + 1, inner + sum(both) * shape(low)[0] + sum(low) * shape(both)[0]
    }
    rest = if t % 2 == 0 { yield sum(low[low % 2 == 1]) } else { yield prod(low[low < 4]) }
    next t + 1, y * 3 + inner + rest
  }
}''', {'x': [3, -1, 4, 1, -5, 9, 2, 6], 'n': 5}, {'x': [], 'n': 2}, {'x': [1, 7], 'n': 0})
def masks_in_loops_in_loops(x, n):
    y = 0
    for t in range(n):
        low, inner = x[x > t], 0
        for one in low:
            both = low[low > one]
            inner += both.sum() * len(low) + low.sum() * len(both)
        y = y * 3 + inner + (low[low % 2 == 1].sum() if t % 2 == 0 else low[low < 4].prod())
    return y


@case('''
entry main(x: f32[N, 3], n: i32[]) -> (y: f32[3], z: f32[3]) {
  _, y, z = while (t: i32[] = 0, y: f32[3] = 0, z: f32[3] = 0) t < n {
    rows = x[x[:, 0] > cast(t, f32)]
    square = rows @ transpose(rows)
    few = rows[sum(square, axis=1) > 10]
    next t + 1, y + sum(square @ rows, axis=0) / 100, z + sum(few, axis=0) + cast(shape(few)[0], f32)
  }
}''', {'x': [[k % 5, k - 4, k % 3] for k in range(9)], 'n': 5}, {'x': [[0, 1, 2]], 'n': 1})
def products_of_what_a_mask_leaves(x, n):
    y = z = numpy.zeros(3)
    for t in range(n):
        rows = x[x[:, 0] > t]
        square = rows @ rows.T
        few = rows[square.sum(axis=1) > 10]
        y, z = y + (square @ rows).sum(axis=0) / 100, z + few.sum(axis=0) + len(few)
    return y, z


@case('''
entry main(x: i32[N], n: i32[]) -> (counts: i64[], last: i64[N]) {
  _, counts, last = while (t: i32[] = 0, counts: i64[] = 0, last: i64[N] = -1) t < n {
    values, places, inverse = unique(x // (t + 1))[:3]
    found = flatnonzero(x % (t + 2) == 0)
    next t + 1, counts * 7 + shape(values)[0] + sum(found) * 3, gather(cast(values, i64), inverse) + shape(found)[0]
  }
}''', {'x': [7, 6, 5, 1, 0, 12, 7, 30], 'n': 4}, {'x': [4], 'n': 1})
def unique_and_nonzero_in_a_loop(x, n):
    counts, last = 0, numpy.full(len(x), -1)
    for t in range(n):
        values, inverse = numpy.unique(x // (t + 1), return_inverse=True)
        found = numpy.nonzero(x % (t + 2) == 0)[0]
        counts, last = counts * 7 + len(values) + found.sum() * 3, values[inverse] + len(found)
    return counts, last


@case('''
entry main(x: str[N], n: i32[]) -> (y: str[], last: i64[N]) {
  _, y, last = while (t: i32[] = 0, y = "", last: i64[N] = 0) t < n {
    values, places, inverse, counts = unique(str_replace(x, number_to_str(t), ""))
    next t + 1, y + str_join(values, ",") + number_to_str(sum(places * counts)), last * 5 + inverse
  }
}''', {'x': [b'b0', b'1b', b'', b'b', b'10', b'0', b'b'], 'n': 3}, {'x': [b'2'], 'n': 3}, {'x': [], 'n': 1})
def unique_of_strings_in_a_loop(x, n):
    y, last = b'', numpy.zeros(len(x), int)
    for t in range(n):
        left = [one.replace(b'%d' % t, b'') for one in x]
        values = sorted(set(left))
        y += b','.join(values) + b'%d' % sum(left.index(one) * left.count(one) for one in values)
        last = last * 5 + numpy.array([values.index(one) for one in left], int)
    return y, last


@case('''
entry main(x: str[N], n: i32[]) -> (y: str[]) {
  _, y = while (t: i32[] = 0, y = "") t < n {
    long = x[str_length(x) > cast(t, i64)]
    last = if shape(long)[0] > 0 { yield long[shape(long)[0] - 1] + "!" } else { yield "-" }
    next t + 1, y + last + number_to_str(shape(long)[0] * 1)
  }
}''', {'x': [b'one', b'seventeen', b'', b'two'], 'n': 4}, {'x': [b''], 'n': 2})
def strings_that_a_mask_leaves(x, n):
    y = ''
    for t in range(n):
        long = [one for one in map(bytes.decode, x) if len(one.encode()) > t]
        y += (long[-1] + '!' if long else '-') + str(len(long))
    return y


@case('''
var total: f32[] = 0
var seen: i64[] = 0
entry main(x: f32[N], n: i32[]) -> (y: f32[], k: i64[]) {
  _ = while (t: i32[] = 0) t < n {
    part = x[x > cast(t, f32)]
    total += sum(part)
    seen += shape(part)[0]
    next t + 1
  }
  y = total
  k = seen
}''', {**SMALL, 'n': 4}, {**SMALL, 'n': 0})
def state_that_a_mask_changes(x, n):
    return sum((x[x > t].sum() for t in range(n)), 0.0), sum((x > t).sum() for t in range(n))


@case('''
entry main(x: f32[N], n: i32[]) -> (y: f32[]) {
  _, y = while (t: i32[] = 0, y: f32[] = 0) t < n {
    part = x[x > cast(t, f32)]
    next t + 1, y + sum(part[2:] * part[:shape(part)[0] - 2])
  }
}''', {**SMALL, 'n': 4}, {**SMALL, 'n': 0}, {**SMALL, 'n': 7})
def a_check_of_what_each_turn_leaves(x, n):
    y = 0
    for t in range(n):
        part = x[x > t]
        if len(part) < 2:
            raise Stops('elements')
        y += (part[2:] * part[:-2]).sum()
    return y


@case('''
entry main(x: f32[N], n: i32[]) -> (y: f32[]) {
  _, y = while (t: i32[] = 0, y: f32[] = 0) t < n {
    part = x[x > cast(t, f32)]
    more = if t < 4 { yield sum(part[:shape(part)[0] - 2]) } else { yield sum(part) }
    next t + 1, y + more
  }
}''', {**SMALL, 'n': 9}, {**SMALL, 'n': 1}, {'x': [3, 2, 1], 'n': 3})
def a_check_in_a_branch_of_what_each_turn_leaves(x, n):
    y = 0
    for t in range(n):
        part = x[x > t]
        if t < 4 and len(part) < 2:
            raise Stops('elements')
        y += part[:-2].sum() if t < 4 else part.sum()
    return y


@case('''
entry main(x: f32[N], n: i32[]) -> (y: f32[], z: f32[]) {
  _, y = while (t: i32[] = 0, y: f32[] = 0) t < n { next t + 1, y + sum(x[x > cast(t, f32)]) }
  _, z = while (t: i32[] = 0, z: f32[] = 0) t < n { next t + 1, z + sum(x[x < cast(t, f32)]) }
}''', {**SMALL, 'n': 9}, {**SMALL, 'n': 1})
def masks_in_two_loops(x, n):
    return sum((x[x > t].sum() for t in range(n)), 0.0), sum((x[x < t].sum() for t in range(n)), 0.0)


@case('''
entry main(x: f32[N], n: i64[]) -> (y: f32[], few: f32[]) {
  part = x[x > 0]
  _, y = while (t: i64[] = 0, y: f32[] = 0) t < n {
    both = part[part > cast(t, f32)]
    next t + 1, y + sum(concat([part, both], axis=0)) + cast(shape(part)[0] * shape(both)[0], f32)
  }
  few = sum(part[part < 3])
}''', {**SMALL, 'n': 5}, {'x': [-1], 'n': 2})
def a_mask_of_a_mask_of_outside(x, n):
    part, y = x[x > 0], 0
    for t in range(n):
        both = part[part > t]
        y += part.sum() + both.sum() + len(part) * len(both)
    return y, part[part < 3].sum()


@case('''
entry main(n: i64[]) -> (y: i64[]) {
  _, y = while (t: i64[] = 0, y: i64[] = 0) t < n {
    next t + 1, y + sum(iota([dynamic(t), 2 * dynamic(t % 3)], axis=0, dtype=i64))
  }
}''', {'n': 40}, {'n': 0})
def extents_from_numbers(n):
    return sum(t * (t - 1) // 2 * 2 * (t % 3) for t in range(n))


@case('''
entry main(n: i64[]) -> (y: i64[]) {
  _, y = while (t: i64[] = 3, y: i64[] = 0) t > n { next t - 1, y + sum(iota([dynamic(t)], axis=0, dtype=i64)) }
}''', {'n': 0}, {'n': -4})
def an_extent_below_none(n):
    if n < -1:
        raise Stops('dim ')
    return sum(t * (t - 1) // 2 for t in range(n + 1, 4))


@case('''
fn share(row: f32[N]) {
  return sum(row[row > 0]) / cast(shape(row[row < 0])[0] + 1, f32)
}
entry main(x: f32[N, 2]) -> (y: f32[]) {
  y = sum(map(share, x))
}''', {'x': [[1, -1], [-2, -3], [4, 5], [6, -7], [0, 0]]})
def a_mask_in_a_map(x):
    return sum(row[row > 0].sum() / ((row < 0).sum() + 1) for row in x)


@case('''
entry main(x: f32[N], n: i32[]) -> (y: f32[], t: i64[]) {
  t, y = while (t: i64[] = 0, y: f32[] = 0) t < 50000 {
    next t + 1, y + cast(shape(x[x > cast(t % 10, f32)])[0], f32)
  }
}''', {**SMALL, 'n': 5}, targets=('cpu',))
def a_mask_in_a_long_loop(x, n):
    return sum((x > t % 10).sum() for t in range(50000)), 50000


# -- Gradients --------------------------------------------------------------------------------------------------------

@case('''
entry main(x: f32[N], w: f32[], n: i32[]) -> (y: f32[], dx: f32[N], dw: f32[]) {
  _, y = while (t: i32[] = 0, y: f32[] = 0) t < n {
    part = x[x > cast(t, f32)]
    next t + 1, y * 0.5 + sum(part * part) * w
  }
  dx, dw = grad(y, [x, w])
}''', {**SMALL, 'w': 0.5, 'n': 6}, {**SMALL, 'w': 2, 'n': 0}, {'x': [], 'w': 1, 'n': 2})
def gradients_through_a_mask_in_a_loop(x, w, n):
    y, dx, dw = 0, numpy.zeros(len(x)), 0
    for t in range(n):
        kept = numpy.where(x > t, x, 0)
        y, dx, dw = y * 0.5 + (kept ** 2).sum() * w, dx * 0.5 + 2 * kept * w, dw * 0.5 + (kept ** 2).sum()
    return y, dx, dw


@case('''
entry main(x: f32[N, 3], w: f32[3, 2], n: i32[]) -> (y: f32[], dx: f32[N, 3], dw: f32[3, 2]) {
  _, y = while (t: i32[] = 0, y: f32[] = 0) t < n {
    rows = x[x[:, 0] > cast(t, f32)]
    next t + 1, y + sum(tanh(rows @ w))
  }
  dx, dw = grad(y, [x, w])
}''', {'x': [[k % 5, k - 4, k % 3] for k in range(9)], 'w': [[0.1, -0.2], [0.3, 0], [0.2, 0.1]], 'n': 5},
      {'x': [[0, 1, 2]], 'w': [[1, 1]] * 3, 'n': 1})
def gradients_of_products_of_what_a_mask_leaves(x, w, n):
    y, dx, dw = 0, numpy.zeros(x.shape), numpy.zeros(w.shape)
    for t in range(n):
        keep = x[:, 0] > t
        h = numpy.tanh(x[keep] @ w)
        y += h.sum()
        dx[keep] += (1 - h * h) @ w.T
        dw += x[keep].T @ (1 - h * h)
    return y, dx, dw


@case('''
entry main(x: f32[N], p: bool[]) -> (y: f32[], dx: f32[N], second: f32[N]) {
  y = if p {
    part = x[x > 0]
    yield sum(part * part * part)
  } else {
    _, s = while (t: i64[] = 0, s: f32[] = 0) t < N { next t + 1, s + sum(exp(x[x < cast(t, f32)])) }
    yield s
  }
  dx = grad(y, x)
  second = grad(sum(dx), x)
}''', {'x': [3, -1, 0.5, -5], 'p': True}, {'x': [3, -1, 0.5, -5], 'p': False}, tolerance=64)
def gradients_twice_through_masks_in_branches(x, p):
    if p:
        return (x[x > 0] ** 3).sum(), 3 * numpy.where(x > 0, x, 0) ** 2, 6 * numpy.where(x > 0, x, 0)
    dx = sum(numpy.where(x < t, numpy.exp(x), 0) for t in range(len(x)))
    return dx.sum(), dx, dx


@case('''
entry main(x: f32[N], n: i32[]) -> (y: f32[]) {
  t, y = while (t: i32[] = 0, y: f32[] = 0) t < n {
    part = x[x > cast(t, f32)]
    kept = sum(cast(part > -9, i64))
    s = sum(part)
    next t + 1, y + s
  }
}''', {**SMALL, 'n': 4}, fetch={'t/s:all': 'f32', 't/kept': 'i64'})
def values_inside_beside_what_a_mask_leaves(x, n):
    sums = [x[x > t].sum() for t in range(n)]
    return sum(sums), sums, (x > n - 1).sum()
