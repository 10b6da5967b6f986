"""Gradients through regions. Most oracles are complex steps: f(x + ih) of a smooth f tells its slope to the last bits."""
import math

import numpy

from case import Stops, case


def slopes(f, *points):
    """The gradients of f, a number, at each of its arguments."""
    points, found = [numpy.asarray(point, 'c16') for point in points], []
    for i, point in enumerate(points):
        found.append(numpy.zeros(point.shape))
        for place in numpy.ndindex(point.shape):
            moved = point.copy()
            moved[place] += 1e-30j
            found[i][place] = f(*points[:i], moved, *points[i + 1:]).imag / 1e-30
    return found


X, W = [0.5, -1.25, 2], [[0.3, -0.2, 0.1], [0.5, 0.4, -0.6], [-0.1, 0.2, 0.7]]
MANY = 1000


# -- Branches ---------------------------------------------------------------------------------------------------------

@case('''
entry main(p: bool[], x: f64[3]) -> (loss: f64[], dx: f64[3]) {
  loss = if p { yield sum(x * x) } else { yield sum(sin(x)) * 2 }
  g = grad(loss, [x])
  dx = g[0]
}''', {'p': True, 'x': X}, {'p': False, 'x': X})
def grad_of_a_branch(p, x):
    return ((x * x).sum(), 2 * x) if p else (2 * numpy.sin(x).sum(), 2 * numpy.cos(x))


@case('''
entry main(p: bool[], x: f64[3], y: f64[3]) -> (dx: f64[3], dy: f64[3]) {
  a, b = if p { yield x * y, x } else { yield y * y, 3 * x }
  g = grad(sum(a * a) + sum(b), [x, y])
  dx = g[0]
  dy = g[1]
}''', {'p': True, 'x': X, 'y': [3, 2, 1]}, {'p': False, 'x': X, 'y': [3, 2, 1]})
def grad_of_captures_that_one_branch_uses(p, x, y):
    return (2 * x * y * y + 1, 2 * x * x * y) if p else (numpy.full(3, 3.0), 4 * y**3)


@case('''
entry main(x: f64[]) -> (y: f64[], dx: f64[]) {
  y = if x < -1 { yield -x } else if x < 0 { yield x * x * x } else if x == 0 { yield 7 } else { yield exp(x) }
  g = grad(y, [x])
  dx = g[0]
}''', *({'x': x} for x in (-5, -0.5, 0, 2)))
def grad_of_a_chain(x):
    return ((-x, -1) if x < -1 else (x**3, 3 * x * x) if x < 0 else (7, 0) if x == 0 else (math.exp(x), math.exp(x)))


@case('''
entry main(x: f64[3], most: f64[]) -> (y: f64[3], dx: f64[3]) {
  n = norm(x)
  y = if n > most { yield x * most / n } else { yield x }
  g = grad(sum(y * [1, 2, 3]), [x])
  dx = g[0]
}''', {'x': X, 'most': 1}, {'x': X, 'most': 9})
def grad_of_clipping(x, most):
    scaled = lambda x: x * most / numpy.sqrt((x * x).sum())
    if most > 5:
        return x, [1, 2, 3]
    return scaled(x), *slopes(lambda x: (scaled(x) * [1, 2, 3]).sum(), x)


@case('''
var v: f64[] = 3
entry main(p: bool[], x: f64[]) -> (y: f64[], dx: f64[]) {
  if p { v := v * x * x }
  y = v * x
  g = grad(y, [x])
  dx = g[0]
}''', {'p': True, 'x': 2}, {'p': False, 'x': 2}, fetch={'v': 'f64'})
def grad_ends_at_a_variable_assigned_in_a_branch(p, x):
    v = 3 * x * x if p else 3
    return v * x, v, v


@case('''
entry main(p: bool[], x: f64[3]) -> (d2: f64[3]) {
  y = if p { yield sum(x * x * x) } else { yield sum(exp(x)) }
  g = grad(y, [x])
  h = grad(sum(g[0] * g[0]), [x])
  d2 = h[0]
}''', {'p': True, 'x': X}, {'p': False, 'x': X})
def second_grad_of_a_branch(p, x):
    return 36 * x**3 if p else 2 * numpy.exp(2 * x)


# -- Loops ------------------------------------------------------------------------------------------------------------

@case('''
entry main(x: f64[3]) -> (y: f64[3], dx: f64[3]) {
  _, y = while (t = 0, y = x) t < 4 { next t + 1, y * x + 1 }
  g = grad(sum(y), [x])
  dx = g[0]
}''', {'x': X})
def grad_of_a_known_count(x):
    f = lambda x: x**5 + x**3 + x**2 + x + 1
    return f(x), 5 * x**4 + 3 * x**2 + 2 * x + 1


@case('''
entry main(x: f64[3], n: i32[]) -> (y: f64[3], dx: f64[3]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, sin(y) * x + y }
  g = grad(sum(y * y), [x])
  dx = g[0]
}''', *({'x': X, 'n': n} for n in (0, 1, 2, 7)))
def grad_of_a_fed_count(x, n):
    def f(x):
        y = x
        for _ in range(n):
            y = numpy.sin(y) * x + y
        return y
    return f(x), *slopes(lambda x: (f(x)**2).sum(), x)


@case('''
entry main(x: f64[2, 3], w: f64[3, 3], b: f64[3], n: i32[]) -> (y: f64[2, 3], dx: f64[2, 3], dw: f64[3, 3], db: f64[3]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, tanh(y @ w + b) }
  g = grad(mean(y * y), [x, w, b])
  dx = g[0]
  dw = g[1]
  db = g[2]
}''', *({'x': [X, [1, 2, 3]], 'w': W, 'b': [0.1, 0.2, 0.3], 'n': n} for n in (0, 1, 5)))
def grad_of_captures_adds_up(x, w, b, n):
    def f(x, w, b):
        for _ in range(n):
            x = numpy.tanh(x @ w + b)
        return x
    return f(x, w, b), *slopes(lambda *all: (f(*all)**2).mean(), x, w, b)


@case('''
var w: f64[3, 3] = 0.25
entry main(x: f64[2, 3], n: i32[]) -> (loss: f64[], dw: f64[3, 3]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, tanh(y @ w) + x @ w }
  loss = sum(y * y)
  g = grad(loss, [w])
  dw = g[0]
}''', *({'x': [X, [1, 2, 3]], 'n': n} for n in (0, 1, 4)))
def grad_of_a_variable_that_turns_read(x, n):
    def f(w):
        y = x
        for _ in range(n):
            y = numpy.tanh(y @ w) + x @ w
        return (y * y).sum()
    return f(numpy.full((3, 3), 0.25)), *slopes(f, numpy.full((3, 3), 0.25))


@case('''
var v: f64[] = 3
entry main(x: f64[], n: i32[]) -> (y: f64[], dx: f64[]) {
  _ = while (t = 0) t < n {
    v := v * x
    v += x
    next t + 1
  }
  y = v * v * x
  g = grad(y, [x])
  dx = g[0]
}''', *({'x': 1.5, 'n': n} for n in (0, 1, 3)))
def grad_ends_at_a_variable_that_turns_update(x, n):
    v = 3
    for _ in range(n):
        v = v * x + x
    return v * v * x, v * v


@case('''
entry main(x: f64[], n: i32[]) -> (d1: f64[], d2: f64[], d3: f64[]) {
  _, y = while (t = 0, y: f64[] = 1) t < n { next t + 1, y * x }
  a = grad(y, [x])
  d1 = a[0]
  b = grad(d1, [x])
  d2 = b[0]
  c = grad(d2, [x])
  d3 = c[0]
}''', *({'x': 1.5, 'n': n} for n in (0, 1, 2, 5)))
def higher_grads_of_a_power(x, n):
    return tuple(numpy.arange(float(n), n - k, -1).prod() * x**(float(n) - k) for k in (1, 2, 3))


@case('''
entry main(x: f64[3], w: f64[3, 3], n: i32[]) -> (d2: f64[3, 3]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, tanh(y @ w) }
  g = grad(sum(y * y), [w])
  h = grad(sum(g[0] * g[0]), [w])
  d2 = h[0]
}''', *({'x': X, 'w': W, 'n': n} for n in (0, 1, 3)), tolerance=1e6)
def second_grad_of_weights(x, w, n):
    def first(w):
        def f(w):
            y = x
            for _ in range(n):
                y = numpy.tanh(y @ w)
            return (y * y).sum()
        return (slopes(f, w)[0]**2).sum()
    found, h = numpy.zeros((3, 3)), 1e-4
    for place in numpy.ndindex(3, 3):
        step = numpy.zeros((3, 3))
        step[place] = h
        ends = [first(w + k * step) for k in (-2, -1, 1, 2)]
        found[place] = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
    return found


@case('''
entry main(x: f64[3], n: i32[], m: i32[]) -> (y: f64[3], dx: f64[3]) {
  _, y = while (i = 0, y = x) i < n {
    half = y * 0.5
    _, z = while (j = 0, z = half) j < m + i { next j + 1, sin(z) + half * x }
    next i + 1, z * y
  }
  g = grad(sum(y), [x])
  dx = g[0]
}''', *({'x': X, 'n': n, 'm': m} for n, m in ((0, 2), (3, 0), (2, 3))))
def grad_of_loops_in_loops(x, n, m):
    def f(x):
        y = x
        for i in range(n):
            half = z = y * 0.5
            for _ in range(m + i):
                z = numpy.sin(z) + half * x
            y = z * y
        return y
    return f(x), *slopes(lambda x: f(x).sum(), x)


@case('''
entry main(x: f64[3], w: f64[], n: i32[]) -> (y: f64[3], dx: f64[3], dw: f64[]) {
  _, y = while (t = 0, y = x) t < n {
    z = if sum(y) > 1 { yield y * w } else if t % 2 == 0 { yield y + x } else { yield exp(y * 0.1) }
    next t + 1, z
  }
  g = grad(sum(y * y), [x, w])
  dx = g[0]
  dw = g[1]
}''', *({'x': X, 'w': 0.25, 'n': n} for n in (0, 1, 2, 9)))
def grad_of_branches_in_loops(x, w, n):
    def f(x, w):
        y = x
        for t in range(n):
            y = y * w if y.sum().real > 1 else y + x if t % 2 == 0 else numpy.exp(y * 0.1)
        return y
    return f(x, w), *slopes(lambda x, w: (f(x, w)**2).sum(), x, w)


@case('''
entry main(p: bool[], x: f64[3], n: i32[]) -> (dx: f64[3]) {
  y = if p {
    _, z = while (t = 0, z = x) t < n { next t + 1, z * x }
    yield sum(z)
  } else { yield sum(x) }
  g = grad(y, [x])
  dx = g[0]
}''', *({'p': p, 'x': X, 'n': n} for p in (True, False) for n in (0, 3)))
def grad_of_loops_in_branches(p, x, n):
    return (n + 1) * x**n if p else numpy.ones(3)


@case('''
entry main(x: f64[], limit: f64[]) -> (y: f64[], t: i32[], dx: f64[]) {
  y, t = while (y = x, t = 0) y < limit { next y * x + 1, t + 1 }
  g = grad(y, [x])
  dx = g[0]
}''', *({'x': 1.5, 'limit': limit} for limit in (1, 10, 1000)))
def grad_of_a_loop_that_data_ends(x, limit):
    def f(x):
        y = x
        while y.real < limit:
            y = y * x + 1
        return y
    t, y = 0, x
    while y < limit:
        y, t = y * x + 1, t + 1
    return f(x), t, *slopes(f, x)


@case('''
entry main(x: f64[T, 2], w: f64[2], i: i32[3]) -> (y: f64[2], dx: f64[T, 2], dw: f64[2]) {
  _, y = while (t: i64[] = 0, y = w) t < T { next t + 1, tanh(y * w + x[t]) + x[i[t % 3]] }
  g = grad(sum(y), [x, w])
  dx = g[0]
  dw = g[1]
}''', {'x': [[0.1, 0.2], [-0.5, 1], [0.7, 0], [1, 2]], 'w': [0.5, -0.25], 'i': [1, 0, 1]},
      {'x': numpy.zeros((0, 2)), 'w': [0.5, -0.25], 'i': [1, 0, 1]})
def grad_of_rows_that_turns_read(x, w, i):
    def f(x, w):
        y = w
        for t in range(len(x)):
            y = numpy.tanh(y * w + x[t]) + x[i[t % 3]]
        return y
    return f(x, w), *slopes(lambda x, w: f(x, w).sum(), x, w)


@case('''
entry main(x: f64[3], y: f64[3], n: i32[]) -> (dx: f64[3], dy: f64[3]) {
  _, a, b, same = while (t = 0, a = x, b = y, same = x * y) t < n { next t + 1, b, a * same, same }
  g = grad(sum(a) + 2 * sum(b * same), [x, y])
  dx = g[0]
  dy = g[1]
}''', *({'x': X, 'y': [3, 2, 1], 'n': n} for n in (0, 1, 4)))
def grad_of_a_swap(x, y, n):
    def f(x, y):
        a, b, same = x, y, x * y
        for _ in range(n):
            a, b = b, a * same
        return a.sum() + 2 * (b * same).sum()
    return tuple(slopes(f, x, y))


@case('''
entry main(x: f64[3], n: i32[]) -> (dx: f64[3], dz: f64[3]) {
  z = x * x
  _, y = while (t = 0, y = z) t < n { next t + 1, stop_gradient(y) * z + y * 2 }
  g = grad(sum(y), [x, z])
  dx = g[0]
  dz = g[1]
}''', *({'x': X, 'n': n} for n in (0, 1, 3)))
def grad_that_a_turn_stops(x, n):
    z = y = x * x
    dz = numpy.ones(3)
    for _ in range(n):
        y, dz = y * z + y * 2, y + 2 * dz
    return dz * 2 * x, dz


@case('''
entry main(x: f64[3], w: f64[3], n: i32[]) -> (dx: f64[3], dw: f64[3]) {
  _, y, k, flag = while (t = 0, y = x, k = 1, flag = false) t < n {
    next t + 1, where(flag, y * w, y + w) * cast(k, f64), k + t, not flag
  }
  g = grad(sum(y), [x, w])
  dx = g[0]
  dw = g[1]
}''', *({'x': X, 'w': [3, 2, 1], 'n': n} for n in (0, 4)))
def grad_past_integers_and_bools(x, w, n):
    def f(x, w):
        y, k, flag = x, 1, False
        for t in range(n):
            y, k, flag = (y * w if flag else y + w) * k, k + t, not flag
        return y.sum()
    return tuple(slopes(f, x, w))


@case('''
entry main(x: f64[3], w: f64[3], n: i32[]) -> (dx: f64[3]) {
  _, y, unused = while (t = 0, y = x, unused = w) t < n { next t + 1, y * 2, unused * y }
  g = grad(sum(y), [x])
  dx = g[0]
}''', *({'x': X, 'w': [3, 2, 1], 'n': n} for n in (0, 4)))
def grad_of_one_result_of_two(x, w, n):
    return numpy.full(3, 2.0**n)


@case(f'''
entry main(x: f64[]) -> (y: f64[], dx: f64[]) {{
  _, y = while (t = 0, y = x) t < {MANY} {{ next t + 1, y + 0.001 * sin(y * x) }}
  g = grad(y, [x])
  dx = g[0]
}}''', {'x': 1.25}, tolerance=1000)
def grad_of_many_turns(x):
    def f(x):
        y = x
        for _ in range(MANY):
            y = y + 0.001 * numpy.sin(y * x)
        return y
    return f(x), *slopes(f, x)


@case('''
fn power(x: f64[...D], n: i32[]) -> f64[...D] {
  _, y = while (t = 0, y = x * 0 + 1) t < n { next t + 1, y * x }
  return y
}
entry main(a: f64[3], n: i32[]) -> (da: f64[3]) {
  y = power(a, n) + power(power(a, 2), n)
  g = grad(sum(y), [a])
  da = g[0]
}''', *({'a': X, 'n': n} for n in (0, 1, 4)))
def grad_of_a_function_called_often(a, n):
    n = float(n)
    return (n * a**(n - 1) if n else 0 * a) + (2 * n * a**(2 * n - 1) if n else 0 * a)


@case('''
entry main(x: f64[B, 3], n: i32[]) -> (dx: f64[B, 3]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, sin(y) + x * sum(y) / 10 }
  g = grad(sum(y * y), [x])
  dx = g[0]
}''', *({'x': numpy.linspace(-1, 1, 3 * b).reshape(b, 3), 'n': n} for b, n in ((2, 3), (5, 2), (0, 2), (3, 0))))
def grad_with_a_fed_dim(x, n):
    def f(x):
        y = x
        for _ in range(n):
            y = numpy.sin(y) + x * y.sum() / 10
        return (y * y).sum()
    return slopes(f, x)[0]


@case('''
entry main(a: f64[], n: i32[]) -> (root: f64[], da: f64[]) {
  _, root = while (t = 0, x: f64[] = 1) t < n {
    g = grad(x * x * x / 3 - a * x, [x])
    h = grad(g[0], [x])
    next t + 1, x - g[0] / h[0]
  }
  g = grad(root, [a])
  da = g[0]
}''', {'a': 2, 'n': 3}, {'a': 2, 'n': 0})
def grad_through_newton_s_gradients(a, n):
    def f(a):
        x = 1
        for _ in range(n):
            x = x - (x * x - a) / (2 * x)
        return x + 0 * a
    return f(a), *slopes(f, a)


@case('''
entry main(z: c64[2], n: i32[]) -> (loss: f32[], dz: c64[2]) {
  _, w = while (t = 0, w = z) t < n { next t + 1, w * w * 0.5 + z }
  loss = sum(real(w) * real(w) + imag(w))
  g = grad(loss, [z])
  dz = g[0]
}''', *({'z': [0.1 + 0.2j, -0.5 + 0.3j], 'n': n} for n in (0, 3)), tolerance=40)
def grad_of_complex_turns(z, n):
    def f(re, im):
        for_re, for_im = re, im
        for _ in range(n):
            for_re, for_im = (for_re * for_re - for_im * for_im) * 0.5 + re, for_re * for_im + im
        return (for_re * for_re + for_im).sum()
    d = slopes(f, z.real, z.imag)
    return f(z.real, z.imag), d[0] - 1j * d[1]


@case('''
var table: f32[5, 2] = 0.5
entry main(i: i32[T], n: i32[]) -> (dt: f32[5, 2]) {
  _, y = while (t = 0, y = zeros(f32[2])) t < n { next t + 1, tanh(y + table[i[t]] * 2) }
  g = grad(sum(y), [table])
  dt = g[0] * 1
}''', *({'i': [3, 0, 3, 1], 'n': n} for n in (0, 2, 4)))
def grad_of_a_table_s_rows(i, n):
    def f(table):
        y = numpy.zeros(2)
        for t in range(n):
            y = numpy.tanh(y + table[i[t]] * 2)
        return y.sum()
    return slopes(f, numpy.full((5, 2), 0.5))[0]


# -- Inside of bodies, where the count is not known -------------------------------------------------------------------

def next_chunk(end, begin, used):
    """As the library's: 16 slots, chunks of 16."""
    count, free = end - begin, 15 - used
    far = max(count - 16, 0)
    steps = min(far, max(3 * count // (free + 4), 16)) if free else far
    last = count - steps <= 16
    return begin + steps, (count - steps) * last, used - (steps == 0) if last else used + 1


@case('''
entry main(n: i64[]) -> (left: i64[], again: i64[], most: i64[], used: i64[]) {
  left, used, most, again, at = while (left = n, used: i64[] = 1, most: i64[] = 1, again: i64[] = 0,
                                       at = zeros(i64[16])) left > 0 {
    from = at[used - 1]
    c = next_chunk(left, from, used, 16, 16)
    next left - c[1], c[2], maximum(most, c[2]), again + c[0] - from + c[1], scatter_set(at, stack([used]), stack([c[0]]))
  }
}''', *({'n': n} for n in (1, 16, 17, 100, 1000, 30000, 1000000)))
def iterations_done_again_for_a_gradient(n):
    left, kept, most, again = int(n), [0], 1, 0
    while left:
        to, done, used = next_chunk(left, kept[-1], len(kept))
        again += to - kept[-1] + done
        kept = kept[:used] if used <= len(kept) else [*kept, to]
        left, most = left - done, max(most, used)
    assert most <= 15 and again <= n * (1 if n <= 16 else 2 if n <= 100 else 3 if n <= 1000 else 5 if n <= 30000 else 12)
    return left, again, most, len(kept)


@case('''
entry main(x: f64[3], w: f64[3], n: i32[]) -> (y: f64[3], dx: f64[3], dw: f64[3]) {
  _, y, dx, dw = while (k = 0, y = x, dx = x, dw = w) k < 2 {
    _, z = while (t = 0, z = y) t < n + k { next t + 1, sin(z) * w * cos(cast(t, f64)) + x }
    g = grad(sum(z * z), [y, w])
    next k + 1, z, g[0], g[1]
  }
}''', *({'x': X, 'w': [0.9, -1, 0.5], 'n': n} for n in (0, 1, 15, 16, 40, 300)))
def grad_in_a_turn(x, w, n):
    def f(y, w):
        for t in range(count):
            y = numpy.sin(y) * w * numpy.cos(t) + x
        return y
    y = x
    for count in n, n + 1:
        slope = slopes(lambda y, w: (f(y, w)**2).sum(), y, w)
        y = f(y, w)
    return y, *slope


@case('''
entry main(x: f64[], n: i32[]) -> (y: f64[], dx: f64[]) {
  _, y, dx = while (k = 0, y: f64[] = 0, dx: f64[] = 0) k < 1 {
    _, z = while (t = 0, z: f64[] = 1) t < n + k { next t + 1, z * x }
    g = grad(z, [x])
    next k + 1, z, g[0]
  }
}''', *({'x': 1, 'n': n} for n in (255, 256, 1000000)), targets=('cpu',))
def grad_in_a_turn_of_many(x, n):
    return 1, n


@case('''
entry main(x: f64[3], n: i32[]) -> (d2: f64[3]) {
  _, d2 = while (k = 0, d2 = x) k < 1 {
    _, y = while (t = 0, y = x) t < n + k { next t + 1, y * x }
    g = grad(sum(y), [x])
    h = grad(sum(g[0]), [x])
    next k + 1, h[0]
  }
}''', *({'x': X, 'n': n} for n in (0, 1, 20)), targets=('cpu', 'ref'))
def second_grad_in_a_turn(x, n):
    return (n + 1) * n * x**max(float(n) - 1, 0)


@case('''
entry main(x: f64[1, 1, 1, 1, 1, 1, 2, 3], n: i32[]) -> (dx: f64[1, 1, 1, 1, 1, 1, 2, 3]) {
  _, y, said = while (t = 0, y = x, said = "-") t < n {
    next t + 1, where(said == "odd", y * 2, y) * x, where(t % 2 == 0, "odd", "even")
  }
  g = grad(sum(y), [x])
  dx = g[0]
}''', *({'x': numpy.reshape([X, [3, 2, 1]], (1, 1, 1, 1, 1, 1, 2, 3)), 'n': n} for n in (0, 1, 4)))
def grad_past_strings_and_eight_dims(x, n):
    return (n + 1) * x**n * 2**(n // 2)


@case('''
entry main(x: f64[1, 1, 1, 1, 1, 1, B, 3], n: i32[]) -> (dx: f64[1, 1, 1, 1, 1, 1, B, 3]) {
  _, dx = while (k = 0, dx = x) k < 1 {
    _, y, said = while (t = 0, y = x, said = "-") t < n + k {
      next t + 1, where(said == "odd", y * 2, y) * x, where(t % 2 == 0, "odd", "even")
    }
    g = grad(sum(y), [x])
    next k + 1, g[0]
  }
}''', *({'x': numpy.reshape([X, [3, 2, 1]], (1, 1, 1, 1, 1, 1, 2, 3)), 'n': n} for n in (0, 4)))
def grad_in_a_turn_past_strings_and_eight_dims(x, n):
    return (n + 1) * x**n * 2**(n // 2)


# -- Under a limit of memory: the rows of all turns would take 2 MB, of the numbers of a turn 2 kB --------------------

def steep(x, n):
    for _ in range(int(n)):
        x = numpy.sin(x) * 1.25 + 0.1 * x * x
    return x


@case('''
entry main(x: f64[256], p: f64[]) -> (y: f64[256], dx: f64[256]) {
  _, y = while (t = 0, y = x) t < 1000 and p > 0 { next t + 1, sin(y) * 1.25 + 0.1 * y * y }
  g = grad(sum(y), [x])
  dx = g[0]
}''', {'x': numpy.linspace(-1, 1, 256), 'p': 1}, {'x': numpy.linspace(-1, 1, 256), 'p': -1},
      words=['--memory-limit', '1'], tolerance=1000)
def grad_in_less_memory_of_a_known_count(x, p):
    n = 1000 if p > 0 else 0
    return steep(x, n), steep(x + 1e-30j, n).imag / 1e-30


@case('''
entry main(x: f64[256], n: i64[]) -> (y: f64[256], dx: f64[256]) {
  _, y = while (t: i64[] = 0, y = x) t < n { next t + 1, sin(y) * 1.25 + 0.1 * y * y }
  g = grad(sum(y), [x])
  dx = g[0]
}''', *({'x': numpy.linspace(-1, 1, 256), 'n': n} for n in (0, 1000)), words=['--memory-limit', '1'], tolerance=1000)
def grad_in_less_memory_of_a_fed_count(x, n):
    return steep(x, n), steep(x + 1e-30j, n).imag / 1e-30


# -- Rows of a table that turns read stay rows ------------------------------------------------------------------------

TABLE = numpy.linspace(-1, 1, 10).reshape(5, 2)


def looked_up(table, rows, turns):
    y = numpy.zeros(2)
    for t in range(int(turns)):
        y = numpy.tanh(y + table[rows[t]].sum(0) * [2, 1])
    return y.sum()


ROWS = [[3, 0], [0, 4], [3, 3], [1, 0]]


@case('''
entry main(table: f64[5, 2], i: i32[T, 2]) -> (loss: f64[], dt: f64[5, 2], seen: i32[2 * T]) {
  _, y = while (t: i64[] = 0, y = zeros(f64[2])) t < T { next t + 1, tanh(y + sum(table[i[t]], axis=0) * [2, 1]) }
  loss = sum(y)
  g = grad(loss, [table])[0]
  static_assert(is_rows(g), "sparse")
  dt = g * 1
  seen = row_indices(g)
}''', {'table': TABLE, 'i': ROWS}, {'table': TABLE, 'i': numpy.zeros((0, 2))})
def grad_of_rows_is_rows(table, i):
    f = lambda table: looked_up(table, i, len(i))
    return f(table), *slopes(f, table), i.reshape(-1)


@case('''
entry main(table: f64[5, 2], i: i32[4, 2], n: i32[]) -> (dt: f64[5, 2], count: i64[]) {
  _, y = while (t = 0, y = zeros(f64[2])) t < n { next t + 1, tanh(y + sum(table[i[t]], axis=0) * [2, 1]) }
  g = grad(sum(y), [table])[0]
  static_assert(is_rows(g), "sparse")
  dt = g * 1
  count = cast(size(row_indices(g)), i64)
}''', *({'table': TABLE, 'i': ROWS, 'n': n} for n in (0, 1, 4)))
def grad_of_rows_that_are_counted(table, i, n):
    return *slopes(lambda table: looked_up(table, i, n), table), 2 * n


@case('''
entry main(table: f64[5, 2], i: i32[4, 2], p: f64[]) -> (dt: f64[5, 2]) {
  _, y = while (t = 0, y = zeros(f64[2])) t < 4 and sum(y) < p { next t + 1, tanh(y + sum(table[i[t]], axis=0) * [2, 1]) }
  g = grad(sum(y), [table])[0]
  static_assert(not is_rows(g), "some turns may be none")
  dt = g * 1
}''', *({'table': TABLE, 'i': ROWS, 'p': p} for p in (9, 0.5, -9)))
def grad_of_rows_of_turns_that_may_be_none(table, i, p):
    def f(table):
        y = numpy.zeros(2)
        for t in range(4):
            if y.sum().real >= p:
                break
            y = numpy.tanh(y + table[i[t]].sum(0) * [2, 1])
        return y.sum()
    return slopes(f, table)[0]


@case('''
entry main(table: f64[5, 2], i: i32[4, 2]) -> (dt: f64[5, 2], same: bool[], d2: f64[5, 2]) {
  _, total = while (k = 0, total: f64[] = 0) k < 3 {
    _, y = while (t = 0, y = zeros(f64[2])) t < 4 { next t + 1, tanh(y + sum(table[i[t]], axis=0) * [2, 1]) }
    next k + 1, total + sum(y) * cast(k, f64)
  }
  g = grad(total, [table])[0]
  static_assert(is_rows(g), "sparse")
  dt = g * 1
  h = grad(sum(dt), [table])[0]
  d2 = h * 1
  same = size(row_indices(g)) == 24
}''', {'table': TABLE, 'i': ROWS}, tolerance=1e7)
def grad_of_rows_of_loops_in_loops(table, i):
    first = lambda table: slopes(lambda table: 3 * looked_up(table, i, 4), table)[0]
    found, h = numpy.zeros((5, 2)), 1e-4
    for place in numpy.ndindex(5, 2):
        step = numpy.zeros((5, 2))
        step[place] = h
        ends = [first(table + k * step).sum() for k in (-2, -1, 1, 2)]
        found[place] = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
    return first(table), True, found


def chosen(table, i, p):
    y = numpy.zeros(2)
    for row, yes in zip(i, p):
        if yes:
            y = numpy.tanh(y + table[row].sum(0) * [2, 1])
        elif row[0] == 3:
            y = y * table[row[1]]
    return y


CHOSEN = '''
  _, y = while (t: i64[] = 0, y = zeros(f64[2])) t < T {
    z = if p[t] {
      yield tanh(y + sum(table[i[t]], axis=0) * [2, 1])
    } else {
      w = if i[t, 0] == 3 { yield y * table[i[t, 1]] } else { yield y }
      yield w
    }
    next t + 1, z
  }
'''
TURNS = [[1, 2], [3, 4], [9, 9], [4, 1], [3, 1]]


@case('''
entry main(table: f64[5, 2], i: i32[T, 2], p: bool[T]) -> (dt: f64[5, 2], scaled: f64[5, 2], count: i64[], last: i32[], d2: f64[5, 2]) {'''
+ CHOSEN + '''
  g = grad(sum(y * y), [table])[0]
  static_assert(is_rows(g), "sparse")
  dt = g * 1
  scaled = g / cast(iota(shape(table), axis=0), f64)
  count = cast(size(row_indices(g)), i64)
  last = if count == 0 { yield cast(-1, i32) } else { yield gather(row_indices(g), maximum(count - 1, 0), axis=0) }
  h = grad(sum(dt), [table])[0]
  d2 = h * 1
}''', *({'table': TABLE, 'i': TURNS, 'p': p} for p in ([True, False, False, True, False], [False, False, False, False, True],
                                                       [True, True, False, True, True])),
      {'table': TABLE, 'i': [[7, 7]], 'p': [False]}, tolerance=1e9)
def grad_of_rows_that_branches_read(table, i, p):
    first = lambda table: slopes(lambda table: (chosen(table, i, p)**2).sum(), table)[0]
    dt, found, h = first(table), numpy.zeros((5, 2)), 1e-4
    read = [[int(row[1])] if not yes else [int(row[0]), int(row[1])] for row, yes in zip(i, p) if yes or row[0] == 3][::-1]
    for place in numpy.ndindex(5, 2):
        step = numpy.zeros((5, 2))
        step[place] = h
        ends = [first(table + k * step).sum() for k in (-2, -1, 1, 2)]
        found[place] = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
    scaled = numpy.array([0 * dt[0], *(dt[k] / k for k in range(1, 5))])
    return dt, scaled, sum(map(len, read)), read[-1][-1] if read else -1, found


@case('''
entry main(table: f64[5, 2], u: f64[V, 2], i: i32[T, 2], p: bool[]) -> (a: f64[5, 2], b: f64[V, 2], c: f64[5, 2], d: f64[5, 2], e: f64[5, 2]) {
  x = if p { yield table[i[0]] } else { yield table[i[1]] * 2 }
  a = grad(sum(x * x), [table])[0] * 1
  y = if p { yield u[i[0]] } else { yield u[i[1]] * 2 }
  of_u = grad(sum(y * y), [u])[0]
  static_assert(is_rows(of_u), "which may have no row 0")
  b = of_u
  z = if p { yield table[i[0, 0]] } else { yield sum(table * table, axis=0) }
  c = grad(sum(z * z), [table])[0]
  _, s = while (k = 0, s: f64[] = 0) k < 3 {
    _, y = while (t: i64[] = 0, y = zeros(f64[2])) t < T {
      z = if i[t, 0] > k { yield tanh(y + table[i[t, 1]]) } else { yield y }
      next t + 1, z + table[i[t, 1]] * 0.5
    }
    next k + 1, s + sum(y)
  }
  of_all = grad(s, [table])[0]
  static_assert(is_rows(of_all), "of a loop in a loop")
  d = of_all
  _, e = while (t: i64[] = 0, e = zeros(f64[5, 2])) t < T {
    z = if p { yield table[i[t]] } else { yield table[i[t, 1]] * ones(f64[2, 2]) }
    inside = grad(sum(z * z) + sum(table[i[0]]), [table])[0]
    static_assert(not is_rows(inside), "a dim would be computed here")
    next t + 1, e * 2 + inside
  }
}''', *({'table': TABLE, 'u': TABLE, 'i': ROWS, 'p': p} for p in (True, False)))
def grad_of_rows_of_all_kinds_of_branches(table, u, i, p):
    x = lambda table: ((table[i[0]] if p else table[i[1]] * 2)**2).sum()
    z = lambda table: ((table[i[0, 0]] if p else (table * table).sum(0))**2).sum()
    def s(table):
        total = 0
        for k in range(3):
            y = numpy.zeros(2)
            for row in i:
                y = (numpy.tanh(y + table[row[1]]) if row[0] > k else y) + table[row[1]] * 0.5
            total = total + y.sum()
        return total
    e = numpy.zeros((5, 2))
    for row in i:
        e = e * 2 + slopes(lambda table: ((table[row] if p else table[row[1]] * numpy.ones((2, 2)))**2).sum() + table[i[0]].sum(), table)[0]
    return slopes(x, table)[0], slopes(x, u)[0], slopes(z, table)[0], slopes(s, table)[0], e


@case('''
entry main(table: f64[5, 2], m: bool[T, 5], p: bool[T]) -> (dt: f64[5, 2]) {
  _, y = while (t: i64[] = 0, y = zeros(f64[2])) t < T {
    z = if p[t] { yield tanh(y + sum(table[m[t]], axis=0)) } else { yield y + table[1] }
    next t + 1, z
  }
  dt = grad(sum(y), [table])[0]
}''', {'table': TABLE, 'm': [[True, False, False, True, False], [True] * 5, [False, True, True, False, False]], 'p': [True, False, True]})
def grad_of_rows_that_a_mask_chooses_in_a_branch(table, m, p):
    def f(table):
        y = numpy.zeros(2)
        for mask, yes in zip(m, p):
            y = numpy.tanh(y + table[mask].sum(0)) if yes else y + table[1]
        return y.sum()
    return slopes(f, table)[0]


@case('''
var table: f64[5, 2] = 0.5
entry main(i: i32[T, 2], p: bool[T]) training -> (loss: f64[]) {''' + CHOSEN + '''
  loss = sum(y * y)
  minimize(loss, momentum, lr=0.1)
}''', {'i': TURNS, 'p': [True, False, False, True, False]}, words=['-n', '3'],
      fetch={'table': 'f64'}, tolerance=100)
def rows_of_branches_are_trained(i, p):
    table, velocity = numpy.full((5, 2), 0.5), numpy.zeros((5, 2))
    f = lambda table: (chosen(table, i, p)**2).sum()
    for _ in range(3):
        loss = f(table)
        velocity = 0.9 * velocity + slopes(f, table)[0]
        table = table - 0.1 * velocity
    return loss, table


@case('''
var table: f64[5, 2] = 0.5
entry main(i: i32[4, 2], n: i32[]) training -> (loss: f64[]) {
  _, y = while (t = 0, y = zeros(f64[2])) t < n { next t + 1, tanh(y + sum(table[i[t]], axis=0) * [2, 1]) }
  loss = sum(y)
  minimize(loss, adagrad, lr=0.1)
}''', {'i': [[3, 0], [3, 0], [3, 3], [1, 0]], 'n': 3}, words=['-n', '3'], fetch={'table': 'f64'}, tolerance=100)
def rows_of_a_loop_are_trained(i, n):
    table, squares = numpy.full((5, 2), 0.5), numpy.zeros((5, 2))
    for _ in range(3):
        loss, slope = looked_up(table, i, n), slopes(lambda table: looked_up(table, i, n), table)[0]
        squares = squares + slope**2
        table = table - 0.1 * slope / (numpy.sqrt(squares) + 1e-10)
    return loss, table


# -- Nets -------------------------------------------------------------------------------------------------------------

@case('''
var w: f32[2, 3] = uniform(-1, 1, seed=3)
var u: f32[3, 3] = uniform(-1, 1, seed=4)
fn cell(x: f32[B, 2], h: f32[B, 3]) -> f32[B, 3] { return tanh(x @ w + h @ u) }
entry main(x: f32[4, 5, 2], n: i32[]) -> (same: bool[], near: bool[], some: bool[]) {
  h0 = zeros(f32[4, 3])
  _, h = while (t = 0, h = h0) t < n { next t + 1, cell(x[:, t, :], h) }
  k[0] = h0
  for t in 0..5 { k[t+1] = cell(x[:, t, :], k[t]) }
  a = grad(mean(h * h), [w, u])
  b = grad(mean(k[5] * k[5]), [w, u])
  same = max(abs(h - k[5])) < 1e-6
  near = max(abs(a[0] - b[0])) < 1e-6 and max(abs(a[1] - b[1])) < 1e-6
  some = max(abs(a[0])) > 0.001 and max(abs(a[1])) > 0.001
}''', {'x': numpy.sin(numpy.arange(40)).reshape(4, 5, 2), 'n': 5})
def a_recurrent_net_is_its_unrolled_text(x, n):
    return True, True, True


@case('''
var w: f64[3, 3] = 0.25
entry main(x: f64[2, 3], n: i32[]) training -> (loss: f64[]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, tanh(y @ w) + x }
  loss = mean(y * y)
  minimize(loss, sgd, lr=0.5)
}''', {'x': [X, [1, 2, 3]], 'n': 3}, words=['-n', '4'], fetch={'w': 'f64'}, tolerance=100)
def weights_of_a_loop_are_trained(x, n):
    def f(w):
        y = x
        for _ in range(n):
            y = numpy.tanh(y @ w) + x
        return (y * y).mean()
    w = numpy.full((3, 3), 0.25)
    for _ in range(4):
        loss = f(w)
        w = w - 0.5 * slopes(f, w)[0]
    return loss, w


@case('''
fn layer(h: f64[2, 3]) -> f64[2, 3] {
  var w: f64[3, 3] = 0.25
  var b: f64[3] = 0.5
  return tanh(h @ w + b)
}
entry main(x: f64[2, 3], n: i32[]) training -> (loss: f64[]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, layer(y) as cell }
  loss = mean(square(y - 0.25))
  minimize(loss, momentum, lr=0.5)
}''', {'x': [X, [1, 2, 3]], 'n': 3}, words=['-n', '3'], fetch={'cell/w': 'f64', 'cell/b': 'f64'}, tolerance=100)
def an_instance_of_a_loop_is_trained(x, n):
    def f(w, b):
        y = x
        for _ in range(n):
            y = numpy.tanh(y @ w + b)
        return ((y - 0.25)**2).mean()
    at, speed = [numpy.full((3, 3), 0.25), numpy.full(3, 0.5)], [0, 0]
    for _ in range(3):
        loss = f(*at)
        speed = [0.9 * s + g for s, g in zip(speed, slopes(f, *at))]
        at = [a - 0.5 * s for a, s in zip(at, speed)]
    return loss, *at


@case('''
entry main(x: f32[2, 4, 3], n: i32[]) -> (same: bool[], near: bool[], some: bool[]) {
  h0 = zeros(f32[2, 5])
  _, h = while (t = 0, h = h0) t < n { next t + 1, gru_cell(x[:, t, :], h) as cell }
  k[0] = h0
  for t in 0..4 { k[t+1] = gru_cell(x[:, t, :], k[t]) as cell }
  weights = variables("cell")
  a = grad(mean(square(h)), weights)
  b = grad(mean(square(k[4])), weights)
  for i in 0..len(weights) { off[i] = max(abs(a[i] - b[i])) }
  same = max(abs(h - k[4])) < 1e-6
  near = max(stack(off)) < 1e-6
  some = max(abs(a[0])) > 0.0001
}''', {'x': numpy.sin(numpy.arange(24)).reshape(2, 4, 3), 'n': 4})
def a_cell_of_the_library_is_its_unrolled_text(x, n):
    return True, True, True


@case('''
entry main(x: f32[3], n: i32[]) -> (near: bool[], random: bool[]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, y * (uniform(0, 1, out=f32[3]) + 0.5) }
  g = grad(sum(y), [x])
  near = max(abs(g[0] * x - y)) < 1e-5
  random = any(abs(g[0] - 1) > 0.01)
}''', {'x': [1, 2, 3], 'n': 5})
def grad_has_the_random_numbers_of_the_turns(x, n):
    return True, True


@case('''
entry main(x: f64[3], n: i32[]) -> (dx: f64[3]) {
  _, y = while (t = 0, y = x) t < n {
    print("turn", t)
    assert(all(y < 100), "too large")
    next t + 1, y * x
  }
  g = grad(sum(y), [x])
  dx = g[0]
}''', {'x': [1, 2, 3], 'n': 3}, {'x': [1, 2, 3], 'n': 0}, {'x': [1, 2, 300], 'n': 1})
def grad_leaves_effects_as_they_are(x, n):
    for t in range(n):
        print('turn', t)
        if x[2] > 100:
            raise Stops('too large')
    return (n + 1) * x**n


# -- Counters: they are not kept but computed -------------------------------------------------------------------------

@case('''
entry main(x: f64[3], first: i32[], n: i32[]) -> (g: f64[3]) {
  _, _, _, _, y = while (t = 0, a = first, b: u8[] = 250, c: i8[] = 100, y = x) t < n {
    next t + 1, a + 3, b - 2, c + 9, y * x + cast(a, f64) * x * cast(t, f64) + cast(b, f64) * y - cast(c, f64) * x
  }
  g = grad(sum(y), [x])[0]
}''', *({'x': X, 'first': first, 'n': n} for first, n in ((5, 6), (-4, 1), (0, 0))))
def what_counts_is_computed_backwards(x, first, n):
    def f(x):
        y = x
        for t in range(int(n)):
            c = (100 + 9 * t + 128) % 256 - 128
            y = y * x + (int(first) + 3 * t) * x * t + (250 - 2 * t) * y - c * x
        return y.sum()
    return slopes(f, x)[0]


# -- What is tried first, and taken back --------------------------------------------------------------------------------

OUTER = '''
fn of_map(p: f64[3], y: f64[3], o: f64[3]) { return grad(sum(y * y), o) * p }
fn of_scan(c: f64[3], p: f64[3], y: f64[3], o: f64[3]) { return of_map(p, y, o) + c, sum(c) }
fn of_fori(i: i64[], c: f64[3], y: f64[3], o: f64[3]) { return of_map(c, y, o) * cast(i + 1, f64) }
fn of_both(c: f64[3], y: f64[3], o: f64[3]) { return of_map(c, y, o) }
fn neither(c: f64[3], y: f64[3], o: f64[3]) { return c + y + o }
entry main(x: f64[N, 3], o: f64[3], n: i64[]) -> (a: f64[3], b: f64[3], c: f64[3], d: f64[3], e: f64[3], f: f64[?]) {
  _, y = while (t: i64[] = 0, y = o) t < n { next t + 1, sin(y) }
  a = sum(map(of_map, x, y, o), axis=0)
  b, _ = scan(of_scan, o, x, y, o)
  c = fori(n, of_fori, o, y, o)
  d = cond(n > 1, of_both, neither, o, y, o)
  _, e = while (t: i64[] = 0, e = o) t < n {
    z, _ = scan(of_scan, e, x, y, o)
    next t + 1, sum(map(of_map, x, y, o), axis=0) + z * 0.5
  }
  _, f = while (t: i64[] = 0, f: any = o) t < n {
    next t + 1, concat([f, grad(sum(y * y), o)], axis=0)
  }
}'''


@case(OUTER, {'x': [[1, 2, 3], [1, 0, 1]], 'o': [1, 2, 3], 'n': 2}, {'x': [[1, 2, 3]], 'o': [0.5, 0.1, 2], 'n': 1},
      {'x': [[1, 2, 3]], 'o': [0.5, 0.1, 2], 'n': 0}, tolerance=64)
def through_an_outer_loop_in_functions_that_loops_call(x, o, n):
    n, y, slope = int(n), o, numpy.ones(3)
    for _ in range(n):
        y, slope = numpy.sin(y), slope * numpy.cos(y)
    g = 2 * y * slope
    a = (g * x).sum(0)
    c, e, f = o, o, o
    for i in range(n):
        c = g * c * (i + 1)
        e = a + (e + a) * 0.5
        f = numpy.concatenate([f, g])
    return a, o + a, c, g * o if n > 1 else o + y + o, e, f


@case('''
var w: f32[5, 2] = [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]
fn f(x: f32[], g: f32[5, 2]) { return sum(sin(g)) * x }
entry main(i: i32[3], p: bool[], x: f32[2]) -> (a: f32[5, 2], b: f32[2], c: f32[5, 2]) {
  g = grad(sum(square(gather(w, i))), [w])
  a = if p { yield sin(g[0]) } else { yield cos(g[0]) }
  b = map(f, x, g[0])
  c = exp(g[0] * 0.1)
}''', {'i': [1, 2, 1], 'p': True, 'x': [1, 2]}, {'i': [0, 0, 0], 'p': False, 'x': [1, 2]})
def rows_that_are_made_a_tensor_in_regions(i, p, x):
    w, g = numpy.arange(1, 11, dtype='f4').reshape(5, 2), numpy.zeros((5, 2), 'f4')
    numpy.add.at(g, i, 2 * w[i])
    return (numpy.sin if p else numpy.cos)(g), numpy.sin(g).sum() * x, numpy.exp(g * numpy.float32(0.1))


@case('''
fn twice(_i: i32[], x: f32[3]) { return x * 2 }
fn net(x: f32[3]) {
  var w: f32[3] = fori(3, twice, tensor([1.0, 2.0, 3.0]))
  var v: f32[3] = softplus(0.0)
  return w * x + 0 * v
}
entry main(x: f32[3]) -> (y: f32[3]) { y = (net(x) as n) + (net(x) as n) }''', {'x': [1, 2, 3]})
def an_initialiser_with_a_loop_in_two_calls(x):
    return numpy.array([16, 32, 48]) * x


# -- An effect happens once, however often a gradient does a loop again --------------------------------------------------

@case('''
var seen: i64[] = 0
fn shown(i: i64[], x: f64[]) {
  y = if x > 0.2 {
    print("of", i)
    seen += 1
    yield sin(x)
  } else { yield x * 1.1 }
  assert(y < 9, "too large", y)
  return y
}
entry main(x: f64[], n: i64[]) -> (l: f64[], d: f64[], dd: f64[], v: f64[]) {
  _, l = while (t: i64[] = 0, l = x) t < n and l < 5 {
    a = if n > 1 {
      print("in", t)
      b = fori(n, shown, l)
      if t == 1 { print("second", t + cast(b * 0, i64)) }
      yield b + cos(l)
    } else { yield l * l }
    next t + 1, a
  }
  d = grad(l, x)
  dd = grad(d, x)
  v = jvp(l, x, 2.0)
}''', {'x': 0.3, 'n': 2}, {'x': 0.1, 'n': 3}, {'x': 0.5, 'n': 1}, fetch={'seen': 'i64', 'l/t:all': 'i64'}, tolerance=1e9)
def prints_where_a_gradient_does_a_loop_again(x, n):
    n, seen, turns = int(n), 0, []

    def run(x, said):
        nonlocal seen
        seen = 0
        turns.clear()
        t, l = 0, x
        while t < n and l < 5:
            turns.append(t)
            a = l * l
            if n > 1:
                said(f'in {t}')
                b = l
                for i in range(n):
                    if b > 0.2:
                        said(f'of {i}')
                        seen, b = seen + 1, numpy.sin(b)
                    else:
                        b = b * 1.1
                if t == 1:
                    said(f'second {t}')
                a = b + numpy.cos(l)
            t, l = t + 1, a
        return l

    def quiet(x):
        return run(x, lambda _: None)
    d = (quiet(x + 1e-5) - quiet(x - 1e-5)) / 2e-5
    dd = (quiet(x + 2e-4) - 2 * quiet(x) + quiet(x - 2e-4)) / 4e-8
    l = run(x, print)
    return l, d, dd, 2 * d, seen, turns


@case('''
entry main(x: f64[], n: i64[]) -> (l: f64[], d: f64[]) {
  _, l = while (t: i64[] = 0, l = x) t < n {
    a = if l > 0 {
      assert(l < 1, "not below 1", l)
      yield l * 1.5
    } else { yield l }
    next t + 1, a
  }
  d = grad(l, x)
}''', {'x': 0.3, 'n': 2}, {'x': 0.3, 'n': 9})
def an_assert_where_a_gradient_does_a_loop_again(x, n):
    l = x
    for _ in range(int(n)):
        if l >= 1:
            raise Stops('not below 1')
        l = l * 1.5
    return l, 1.5 ** n


# -- What the loss does not depend on ------------------------------------------------------------------------------------

@case('''
entry main(s: f64[], x: f64[], n: i64[]) -> (b: f64[], d: f64[], e: f64[], f: f64[], g: f64[], h: f64[]) {
  _, a, b = while (t: i64[] = 0, a = x, b = x) t < n { next t + 1, sin(a * s), b * 0.5 }
  d = grad(b, s)
  _, a2, b2 = while (t: i64[] = 0, a = x, b = x) t < n {
    _, p, q = while (t: i64[] = 0, p = a, q = b) t < 2 {
      u, v = if n > 1 { yield sqrt(p * s), q * 0.5 } else { yield p / s, q * 0.25 }
      next t + 1, u, v
    }
    next t + 1, p, q
  }
  e = grad(b2, s)
  f = grad(b2, x)
  y = jvp(b2, x, b2)
  g = grad(y * y, s)
  _, i, j, k = while (t: i64[] = 0, i = x, j = x, k = x) t < n { next t + 1, log(i * s), sin(k), k * x }
  h = grad(j, x)
}''', {'s': numpy.nan, 'x': 1, 'n': 3}, {'s': numpy.nan, 'x': 0.5, 'n': 1}, {'s': 0, 'x': 0.5, 'n': 2}, tolerance=1e7)
def no_nan_of_what_the_loss_does_not_depend_on(s, x, n):
    n, factor = int(n), 0.25 if n > 1 else 0.0625

    def j(x):
        j = k = x
        for _ in range(n):
            j, k = numpy.sin(k), k * x
        return j
    return x * 0.5 ** n, 0, 0, factor ** n, 0, (j(x + 1e-6) - j(x - 1e-6)) / 2e-6


# -- Variables that the region assigns ------------------------------------------------------------------------------------

ASSIGNED = '''
var w: f64[3] = [0.5, -1, 2]
fn step(i: i64[], c: f64[3], x: f64[3]) {
  $w += x * 0.25
  return c + sin($w) * x
}
entry main(x: f64[3], n: i64[], p: bool[]) -> (l: f64[], dx: f64[3], dw: f64[3], dl: f64[3], last: f64[3]) {
  a = sum(w * x)
  w := w * 2 + x
  b = sum(w * w * x)
  if p { w := sin(w) }
  c = sum(w * x)
  _, d, dl = while (t: i64[] = 0, d: f64[] = 0, dl = zeros(f64[3])) t < n {
    r = sum(w * x)
    w := w + x * r
    y, z = if sum(w) > 0.5 {
      w := w * 0.5
      yield sum(w * w), sum(x * w)
    } else {
      q = sum(w * 3)
      w := x
      yield q, sum(w)
    }
    m = sum(w * w) + r * 2 + y
    next t + 1, d + sin(r + y) * z + sum(w), dl + grad(m, w)
  }
  e = sum(fori(n, step, x, x))
  last = w
  f = sum(last * last)
  l = a + b + c + d + e + f
  dx, dw = grad(l, [x, w])
}'''


def assigned(x, n, p, tap):
    """What is read of w has `tap` in its slope, what is assigned has none."""
    w, dl = numpy.array([0.5, -1, 2]), numpy.zeros(3)
    read, taken = (lambda: w + tap), (lambda value: numpy.real(value))
    l = (read() * x).sum()
    w = taken(read() * 2 + x)
    l = l + (read() * read() * x).sum()
    if p:
        w = taken(numpy.sin(w))
    l = l + (read() * x).sum()
    for _ in range(int(n)):
        r = (read() * x).sum()
        inner = 2 * taken(x)
        w = taken(read() + x * r)
        if w.sum() > 0.5:
            w = taken(w * 0.5)
            y, z = (read() * read()).sum(), (x * read()).sum()
            inner = inner + 2 * w
        else:
            y = (read() * 3).sum()
            w = taken(x)
            z, inner = read().sum(), inner + 3
        dl = dl + inner + 2 * w
        l = l + numpy.sin(r + y) * z + read().sum()
    e = x
    for _ in range(int(n)):
        w = taken(read() + x * 0.25)
        e = e + numpy.sin(read()) * x
    last = read()
    return l + e.sum() + (last * last).sum(), dl, w


@case(ASSIGNED, {'x': [1, 2, 0.5], 'n': 3, 'p': True}, {'x': [-1, 0.25, 0.5], 'n': 2, 'p': False},
      {'x': [0.1, 0.25, -0.5], 'n': 0, 'p': True}, fetch={'w': 'f64'}, tolerance=1e3)
def of_variables_that_regions_assign(x, n, p):
    units = 1e-30j * numpy.eye(3)
    l, dl, w = assigned(x, n, p, 0)
    return (l, [assigned(x + unit, n, p, 0)[0].imag / 1e-30 for unit in units],
            [assigned(x, n, p, unit)[0].imag / 1e-30 for unit in units], dl, w, w)


@case('''
fn rounded(x: f64[3]) { return stop_gradient(floor(x + 0.5)) }
gradient rounded(x) -> y, dy { return dy * 2 }
entry main(x: f64[3], n: i64[]) -> (l: f64[], d: f64[3], e: f64[3]) {
  _, h, k = while (t: i64[] = 0, h = x, k = x) t < n {
    b, c = if n > 2 { yield rounded(h) * 1.5, h } else { yield h, rounded(k) }
    next t + 1, b, c
  }
  l = sum(h)
  d = grad(l, x)
  e = grad(sum(k * k), x)
}''', {'x': [1.2, 2, 0.5], 'n': 3}, {'x': [1.2, 2, 0.5], 'n': 2})
def a_rule_through_what_stops_gradients_in_a_loop(x, n):
    h, k, n = x, x, int(n)
    for _ in range(n):
        h, k = (numpy.floor(h + 0.5) * 1.5, h) if n > 2 else (h, numpy.floor(k + 0.5))
    one = numpy.ones(3)
    return h.sum(), 3.0 ** n * one if n > 2 else one, 2 * k * (3.0 ** (n - 1) if n > 2 else 2.0 ** n)


# -- Arrays that are changed in a few places --------------------------------------------------------------------------
# A turn keeps what it changes of them, and is undone backwards.

LONG = numpy.sin(numpy.arange(90) * 0.7) + 1.5
PLACES = [[3, 4, 3], [4, 4, 80], [3, 9, 9], [89, 0, 3]]


def changed(x, i, turns):
    y = x.copy()
    for t in range(turns):
        at = i[t % len(i)]
        new = [numpy.sin(y[place]) * y[at[0]] + k for k, place in enumerate(at)]
        for place, value in zip(at, new):  # of equal places the last one stays
            y[place] = value
        for place in at:
            y[place] = y[place] + 0.1 * new[0]
        y[t] = y[t] * y[t + 1]
    return y


CHANGED = '''
    at = i[t % 4]
    new = sin(y[at]) * y[at[0]] + cast(iota([3]), f64)
    z = scatter_add(scatter_set(y, at, new), at, 0.1 * new[0] * ones(f64[3]))
    w = scatter_mul(z, t, z[t + 1])
'''


@case('''
entry main(x: f64[90], i: i32[4, 3], n: i64[]) -> (y: f64[90], dx: f64[90], dn: f64[90]) {
  _, y = while (t: i64[] = 0, y = x) t < n {''' + CHANGED + '''
    next t + 1, w
  }
  dx = grad(sum(y * y), x)
  _, _, z = while (t: i64[] = 0, more = true, y = x) more {''' + CHANGED + '''
    next t + 1, t + 1 < n and w[0] < 1000, w
  }
  dn = grad(sum(z * z), x)
}''', *({'x': LONG, 'i': PLACES, 'n': n} for n in (1, 4, 40)), tolerance=1e3)
def grad_of_an_array_that_is_changed(x, i, n):
    dx, = slopes(lambda x: (changed(x, i, n)**2).sum(), x)
    return changed(x, i, n), dx, dx


# In a region chunks of turns are reversed, and under a limit of memory.
@case('''
entry main(x: f64[N], i: i32[4, 3], n: i64[], p: bool[]) -> (dx: f64[N], ds: f64[N]) {
  s = if p {
    _, y = while (t: i64[] = 0, y = x) t < n {''' + CHANGED + '''
      next t + 1, w
    }
    yield sum(y * y)
  } else {
    yield sum(x)
  }
  dx = grad(s, x)
  _, l = while (k = 0, l: f64[] = 0) k < 2 {
    _, y = while (t: i64[] = 0, y = x * cast(k + 1, f64)) t < n {''' + CHANGED + '''
      next t + 1, w
    }
    next k + 1, l * 0.5 + sum(y * y)
  }
  ds = grad(l, x)
}''', {'x': LONG, 'i': PLACES, 'n': 70, 'p': True}, {'x': LONG, 'i': PLACES, 'n': 0, 'p': True},
      {'x': LONG, 'i': PLACES, 'n': 3, 'p': False}, tolerance=1e4)
def grad_of_an_array_that_is_changed_in_a_region(x, i, n, p):
    once = lambda x: (changed(x, i, n)**2).sum()
    dx, = slopes(lambda x: once(x) if p else x.sum(), x)
    return dx, slopes(lambda x: once(x) * 0.5 + once(2 * x), x)[0]


@case('''
entry main(x: f64[4, 20], u: f64[4, 2]) -> (dx: f64[4, 20], du: f64[4, 2], d2: f64[4, 20]) {
  _, y = while (t = 0, y = x) t < 9 {
    at = iota([2], dtype=i32) + cast(t, i32)
    next t + 1, scatter_set(y, at, sin(gather(y, at + 1, axis=1)) * u, axis=1)
  }
  dx, du = grad(sum(y * y), [x, u])
  d2 = grad(sum(dx * dx), x)
}''', {'x': numpy.cos(numpy.arange(80) * 0.3).reshape(4, 20), 'u': numpy.arange(8).reshape(4, 2) * 0.3}, tolerance=1e8)
def grad_of_columns_that_are_changed(x, u):
    def f(x, u):
        y = numpy.array(x, numpy.result_type(x, u))
        for t in range(9):
            y[:, t:t + 2] = numpy.sin(y[:, t + 1:t + 3]) * u
        return (y * y).sum()
    first = lambda x: slopes(lambda x: f(x, u), x)[0]
    found, h = numpy.zeros(x.shape), 1e-4
    for place in numpy.ndindex(*x.shape):
        step = numpy.zeros(x.shape)
        step[place] = h
        ends = [(first(x + k * step)**2).sum() for k in (-2, -1, 1, 2)]
        found[place] = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
    return (*slopes(f, x, u), found)


@case('''
entry main(n: i64[]) -> (d: f64[]) {
  x = cast(iota([100000]), f64) / 100000 + 0.5
  _, y, _ = while (t: i64[] = 1, y = x, table = x) t < n {
    next t + 1, scatter_set(y, t, sin(y[t - 1]) * table[t]), table
  }
  d = grad(sum(y), x)[99999]
}''', {'n': 100000}, memory=400, targets=('cpu',), tolerance=1e3)
def grad_of_an_array_that_is_changed_keeps_the_changes(n):
    x = numpy.arange(100000) / 100000 + 0.5
    before = x[0]
    for t in range(1, n - 1):
        before = math.sin(before) * x[t]
    return math.sin(before)


# -- Rows that are sliced ---------------------------------------------------------------------------------------------

TALL = numpy.cos(numpy.arange(160) * 0.9).reshape(80, 2)


@case('''
entry main(x: f64[80, 2], u: f64[N], n: i64[]) -> (dx: f64[80, 2], du: f64[N], di: f64[80, 2], dy: f64[80, 2]) {
  _, h = while (t: i64[] = 0, h: f64[] = 0.5) t < n {
    next t + 1, sin(h * x[3, 1]) + sum(x[10:4:-3]) * u[-2] + sum(x[0] * x[1] * x[3]) + u[1]
  }
  dx, du = grad(h, [x, u])
  _, l = while (k: i64[] = 0, l: f64[] = 0) k < 3 {
    _, h = while (t: i64[] = 0, h: f64[] = 0.5) t < 2 + k {
      z = if bit_and(t, 1) == 0 { yield sin(h * x[3, 1]) } else { yield h + x[7, 0] }
      next t + 1, z
    }
    next k + 1, l + h * x[k, 0]
  }
  di = grad(l, x)
  _, y = while (t: i64[] = 0, y = x) t < n { next t + 1, scatter_add(y, t, sin(y[3] * y[t])) }
  dy = grad(sum(y * y), x)
}''', *({'x': TALL, 'u': [0.3, 0.5, 0.7], 'n': n} for n in (0, 1, 6)), {'x': TALL, 'u': [0.3, 0.5], 'n': 3}, tolerance=1e3)
def grad_of_sliced_rows(x, u, n):
    def f(x, u):
        h = 0.5
        for _ in range(n):
            h = numpy.sin(h * x[3, 1]) + x[10:4:-3].sum() * u[-2] + (x[0] * x[1] * x[3]).sum() + u[1]
        return h + 0 * x[0, 0] * u[0]
    def inner(x):
        l = 0
        for k in range(3):
            h = 0.5
            for t in range(2 + k):
                h = h + x[7, 0] if t & 1 else numpy.sin(h * x[3, 1])
            l = l + h * x[k, 0]
        return l
    def carried(x):
        y = x.copy()
        for t in range(n):
            y[t] = y[t] + numpy.sin(y[3] * y[t])
        return (y * y).sum()
    return (*slopes(f, x, u), *slopes(inner, x), *slopes(carried, x))


@case('''
entry main(n: i64[]) -> (d: f64[]) {
  x = cast(iota([50000]), f64)[:, None] * ones(f64[2]) / 50000
  _, h = while (t: i64[] = 0, h: f64[] = 0.5) t < n { next t + 1, sin(h) + sum(x[3] * x[49999]) / cast(n, f64) }
  d = sum(grad(h, x))
}''', {'n': 1000000}, memory=120, targets=('cpu',), tolerance=1e7)
def grad_of_sliced_rows_is_added_in_place(n):
    a, b, h, dh = 3 / 50000, 49999 / 50000, 0.5, 0
    for _ in range(n):
        h, dh = math.sin(h) + 2 * a * b / n, math.cos(h) * dh + 2 * (a + b) / n
    return dh
