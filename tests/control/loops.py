"""`while`: how often it turns, what it carries, and how loops stand in each other and in branches."""
import numpy

from case import Stops, case


# -- How often --------------------------------------------------------------------------------------------------------

@case('''
entry main(n: i64[], x: f32[3]) -> (t: i64[], y: f32[3]) {
  t, y = while (t: i64[] = 5, y = x) t < n { next t + 1, y * 2 }
}''', *({'n': n, 'x': [1, -2, 0.5]} for n in (5, 6, 7, 15, -3)))
def zero_one_or_many_turns(n, x):
    turns = max(int(n) - 5, 0)
    return 5 + turns, x * 2.0**turns


@case('''
entry main(x: f32[]) -> (t: i32[]) {
  t = while (t = 0) t < 10 { next t + 3 }
}''', {'x': 1})
def all_is_known_while_compiling(x):
    return 12


@case('''
entry main(n: i64[]) -> (s: i64[]) {
  _, s = while (t: i64[] = 0, s: i64[] = 0) t < n { next t + 1, s + t % 7 }
}''', {'n': 1_000_000}, targets=('cpu', 'c'))
def a_million_turns(n):
    return (numpy.arange(n) % 7).sum()


@case('''
entry main(n: i64[]) -> (s: i64[]) {
  _, s = while (t: i64[] = 0, s: i64[] = 0) t < n { next t + 1, s + t % 7 }
}''', {'n': 10_000})
def ten_thousand_turns(n):
    return (numpy.arange(n) % 7).sum()


@case('''
entry main(x: f32[2]) -> (y: f32[2]) {
  y = while (y = x) false { next y + 1 }
}''', {'x': [1, 2]})
def a_condition_that_is_false(x):
    return x


@case('''
entry main(x: f32[B, 3]) -> (t: i64[], s: f32[3]) {
  t, s = while (t: i64[] = 0, s = x[0] * 0) t < B { next t + 1, s + x[t] * 2 }
}''', {'x': numpy.arange(6).reshape(2, 3)}, {'x': numpy.arange(15).reshape(5, 3)})
def as_often_as_a_dim(x):
    return len(x), 2 * x.sum(0)


@case('''
entry main(x: i32[N]) -> (t: i64[], s: i64[]) {
  u = unique(x)[0]
  t, s = while (t: i64[] = 0, s: i64[] = 0) t < shape(u)[0] { next t + 1, s * 10 + cast(u[t], i64) }
}''', {'x': [3, 1, 3, 2]}, {'x': [5]}, {'x': [9, 8, 7, 1, 2, 8, 9]})
def as_often_as_a_dim_that_the_step_computes(x):
    return len(set(x)), int(''.join(str(i) for i in sorted(set(x))))


@case('''
entry main(a: f32[], b: f32[]) -> (t: i32[], x: f32[], y: f32[]) {
  t, x, y = while (t = 0, x = a, y = b) x < y and t < 20 and not (x * 2 == y) { next t + 1, x + 1, y - 0.5 }
}''', {'a': 0, 'b': 100}, {'a': 1, 'b': 2}, {'a': 0, 'b': 9}, {'a': 3, 'b': 3})
def a_condition_of_several_carried_values(a, b):
    t, x, y = 0, a, b
    while x < y and t < 20 and not x * 2 == y:
        t, x, y = t + 1, x + 1, y - 0.5
    return t, x, y


@case('''
entry main(x: f32[N], most: f32[]) -> (y: f32[N], t: i32[]) {
  y, t = while (y = x, t = 0) any(y > most) and all(y > 0.01) { next y * 0.5, t + 1 }
}''', {'x': [1, 50, 7], 'most': 3}, {'x': [4], 'most': 8}, {'x': [0.1, 1000], 'most': 1})
def a_condition_that_reduces(x, most):
    t = 0
    while (x > most).any() and (x > 0.01).all():
        x, t = x * 0.5, t + 1
    return x, t


@case('''
fn length(n: i64[]) -> i64[] {
  t, _ = while (t: i64[] = 0, x = n) x > 1 { next t + 1, where(x % 2 == 0, x // 2, 3 * x + 1) }
  return t
}
entry main(n: i64[]) -> (first: i64[]) {
  first = while (m = n) length(m) < 30 { next m + 1 }
}''', {'n': 1}, {'n': 27}, {'n': 28})
def a_loop_in_the_condition(n):
    def length(x):
        t = 0
        while x > 1:
            t, x = t + 1, x // 2 if x % 2 == 0 else 3 * x + 1
        return t
    n = int(n)
    while length(n) < 30:
        n += 1
    return n


@case('''
entry main(n: i32[], x: f32[]) -> (t: i32[], y: f32[]) {
  t, y, _ = while (t = 0, y = x, go = true) go {
    z = y * 0.5
    next t + 1, z, z > 1 and t < n
  }
}''', {'n': 3, 'x': 1000}, {'n': 90, 'x': 1000}, {'n': 5, 'x': 0})
def a_flag_that_ends_it(n, x):
    t, go = 0, True
    while go:
        x = x * 0.5
        t, go = t + 1, x > 1 and t < n
    return t, x


# -- What is carried --------------------------------------------------------------------------------------------------

@case('''
entry main(x: f32[2], y: f32[2], n: i32[]) -> (a: f32[2], b: f32[2]) {
  _, a, b = while (t = 0, a = x, b = y) t < n { next t + 1, b, a }
}''', *({'x': [1, 2], 'y': [3, 4], 'n': n} for n in (0, 1, 2, 7)))
def a_swap(x, y, n):
    return (y, x) if n % 2 else (x, y)


@case('''
entry main(x: i32[3], n: i32[]) -> (a: i32[], b: i32[], c: i32[], d: i32[]) {
  _, a, b, c, d = while (t = 0, a = x[0], b = x[1], c = x[2], d = 9) t < n { next t + 1, b, c, a, a + d }
}''', *({'x': [1, 2, 3], 'n': n} for n in (1, 3, 5)))
def a_rotation(x, n):
    a, b, c, d = *x, 9
    for _ in range(n):
        a, b, c, d = b, c, a, a + d
    return a, b, c, d


@case('''
entry main(x: f32[4], w: f32[4], n: i32[]) -> (t: i32[], y: f32[4], same: f32[4], twice: f32[4]) {
  t, y, same, twice = while (t = 0, y = x, same = w, twice = w * 2) t < n { next t + 1, y + same * twice, same, twice }
}''', {'x': [1, 2, 3, 4], 'w': [0, 1, 2, 3], 'n': 3}, {'x': [1, 2, 3, 4], 'w': [0, 1, 2, 3], 'n': 0})
def carried_and_never_changed(x, w, n):
    return n, x + n * w * 2 * w, w, 2 * w


@case('''
entry main(x: f32[4], n: i32[]) -> (y: f32[4]) {
  _, y, _ = while (t = 0, y = x, unused = x * 5) t < n { next t + 1, y + 1, unused - y }
}''', {'x': [1, 2, 3, 4], 'n': 3})
def a_result_that_nobody_uses(x, n):
    return x + n


@case('''
entry main(x: f32[4], n: i32[]) -> (y: f32[4]) {
  _ = while (t = 0) t < n { next t + 1 }
  y = x * 2
}''', {'x': [1, 2, 3, 4], 'n': 3})
def a_loop_that_nobody_uses(x, n):
    return x * 2


@case('''
entry main(x: f32[4], n: i32[]) -> (y: f32[4], z: f32[4]) {
  _, y, z = while (t = 0, y = x, z = x) t < n { next t + 1, y * 2, z + 1 }
}''', {'x': [1, 2, 3, 4], 'n': 3}, {'x': [1, 2, 3, 4], 'n': 0})
def one_value_carried_twice(x, n):
    return x * 2.0**n, x + n


@case('''
entry main(x: f32[4], n: i32[]) -> (y: f32[4], z: f32[4]) {
  _, y, z = while (t = 0, y = x, z = x) t < n {
    w = y + z
    next t + 1, w, w
  }
}''', {'x': [1, 2, 3, 4], 'n': 3}, {'x': [1, 2, 3, 4], 'n': 0})
def one_value_becomes_two(x, n):
    return x * 2.0**n, x * 2.0**n


@case('''
entry main(x: f32[4], c: f32[4], n: i32[]) -> (y: f32[4]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, c }
}''', {'x': [1, 2, 3, 4], 'c': [9, 9, 9, 0], 'n': 3}, {'x': [1, 2, 3, 4], 'c': [9, 9, 9, 0], 'n': 0})
def a_captured_value_becomes_carried(x, c, n):
    return c if n else x


@case('''
entry main(n: i32[]) -> (y: f32[3]) {
  _, y = while (t = 0, y = zeros(f32[3])) t < n { next t + 1, ones(f32[3]) * 4 }
}''', {'n': 0}, {'n': 2})
def constants_are_carried(n):
    return numpy.full(3, 4.0 * bool(n))


@case('''
entry main(n: i32[]) -> (x: f32[], i: i64[], p: bool[], s: str[]) {
  _, x, i, p, s = while (t = 0, x: f32[] = 1, i: i64[] = 2, p: bool[] = false, s: str[] = "-") t < n {
    next t + 1, 0.5, 7, true, "done"
  }
}''', {'n': 0}, {'n': 1}, {'n': 3})
def literals_take_the_carried_dtype(n):
    return (0.5, 7, True, 'done') if n else (1, 2, False, '-')


@case('''
entry main(x: f32[2], n: i32[]) -> (y: f32[2]) {
  t, y = while (t = 0, y = x) t < n {
    x = y * y
    t1 = t + 1
    next t1, x - y
  }
}''', {'x': [1.5, 2], 'n': 3})
def names_of_the_body_hide_those_outside(x, n):
    for _ in range(n):
        x = x * x - x
    return x


@case('''
entry main(x: f32[2, 3], y: f32[3, 2], n: i32[]) -> (a: f32[2, 3], b: f32[3, 2], m: f32[2, 2]) {
  _, a, b, m = while (t = 0, a = x, b = y, m = x @ y) t < n {
    next t + 1, transpose(b), transpose(a), (m + a @ b) * 0.1
  }
}''', {'x': [[1, 2, 3], [4, 5, 6]], 'y': [[1, 0], [2, 1], [3, 5]], 'n': 4})
def transposes_change_places(x, y, n):
    m = x @ y
    for _ in range(n):
        x, y, m = y.T, x.T, (m + x @ y) * 0.1
    return x, y, m


@case('''
entry main(x: f32[0, 3], n: i32[]) -> (y: f32[0, 3], s: f32[3]) {
  _, y, s = while (t = 0, y = x, s = zeros(f32[3])) t < n { next t + 1, y * 2, s + sum(y, axis=0) + 1 }
}''', {'x': numpy.zeros((0, 3)), 'n': 3})
def no_elements_are_carried(x, n):
    return x, numpy.full(3, float(n))


@case('''
entry main(x: f64[2, 1, 3, 2], n: i32[]) -> (y: f64[2, 1, 3, 2], r: f64[3]) {
  _, y, r = while (t = 0, y = x, r = x[0, 0, :, 0]) t < n { next t + 1, flip(y, [0]) + r[:, None], sum(y, axis=[0, 1, 3]) }
}''', {'x': numpy.arange(12).reshape(2, 1, 3, 2), 'n': 3})
def four_axes_are_carried(x, n):
    r = x[0, 0, :, 0]
    for _ in range(n):
        x, r = x[::-1] + r[:, None], x.sum((0, 1, 3))
    return x, r


# -- Loops in loops ---------------------------------------------------------------------------------------------------

@case('''
entry main(n: i32[], m: i32[]) -> (s: i32[], k: i32[]) {
  _, s, k = while (i = 0, s = 0, k = 0) i < n {
    _, a, b = while (j = 0, s = s, k = k) j < m { next j + 1, s + i * j, k + 1 }
    next i + 1, a, b
  }
}''', {'n': 4, 'm': 5}, {'n': 0, 'm': 5}, {'n': 4, 'm': 0}, {'n': 1, 'm': 1})
def two_deep(n, m):
    return sum(i * j for i in range(n) for j in range(m)), n * m


@case('''
entry main(n: i32[]) -> (s: i32[], k: i32[]) {
  _, s, k = while (i = 0, s = 0, k = 0) i < n {
    _, a, b = while (j = i, s = s, k = k) j < n {
      _, c, d = while (l = j, s = s, k = k) l <= i + j { next l + 1, s + i * j - l, k + 1 }
      next j + 1, c, d
    }
    next i + 1, a, b
  }
}''', {'n': 0}, {'n': 1}, {'n': 6})
def three_deep(n):
    turns = [(i, j, l) for i in range(n) for j in range(i, n) for l in range(j, i + j + 1)]
    return sum(i * j - l for i, j, l in turns), len(turns)


@case('''
entry main(x: f32[3], n: i32[]) -> (y: f32[3]) {
  scale = sum(x)
  _, y = while (i = 0, y = x) i < n {
    half = y * 0.5
    _, z = while (j = 0, z = half) j < i + 1 { next j + 1, z + half / scale + x }
    next i + 1, z - y
  }
}''', {'x': [1, 2, 3], 'n': 4})
def the_inner_loop_reads_all_that_is_around(x, n):
    scale, y = x.sum(), x
    for i in range(n):
        half = z = y * 0.5
        for _ in range(i + 1):
            z = z + half / scale + x
        y = z - y
    return y


@case('''
entry main(x: f32[3], n: i32[]) -> (y: f32[3], z: f32[3]) {
  t, y = while (t = 0, y = x) t < n { next t + 1, y + 1 }
  _, z = while (u = 0, z = y) u < t * 2 { next u + 1, z * 0.5 + y }
}''', {'x': [1, 2, 3], 'n': 4}, {'x': [1, 2, 3], 'n': 0})
def one_loop_after_the_other(x, n):
    y = z = x + n
    for _ in range(2 * n):
        z = z * 0.5 + y
    return y, z


@case('''
entry main(x: f32[3], n: i32[]) -> (s: f32[3]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, y + 1 }
  _, z = while (t = 0, z = x) t < n + 1 { next t + 1, z * 2 }
  s = y - z
}''', {'x': [1, 2, 3], 'n': 4})
def two_loops_beside_each_other(x, n):
    return x + n - x * 2.0**(n + 1)


@case('''
entry main(n: i32[]) -> (s: i32[]) {
  _, s = while (i = 0, s = 0) i < n {
    _, a = while (j = 0, a = 0) j < i { next j + 1, a + j }
    _, b = while (j = 0, b = a) j < 3 { next j + 1, b + a + j }
    next i + 1, s + b
  }
}''', {'n': 6})
def two_loops_in_a_loop(n):
    s = 0
    for i in range(n):
        a = sum(range(i))
        s += a + 3 * a + 3
    return s


@case('''
fn power(x: T[...D], n: i32[]) -> T[...D] {
  _, y = while (t = 0, y = x * 0 + 1) t < n { next t + 1, y * x }
  return y
}
entry main(a: f32[2], b: i64[], n: i32[]) -> (y: f32[2], z: i64[], w: f32[2]) {
  y = power(a, n)
  z = power(b, n + 1)
  w = power(power(a, 2), n) - y
}''', {'a': [1.5, -2], 'b': 3, 'n': 4})
def a_function_with_a_loop_called_often(a, b, n):
    return a**n, b**(n + 1), a**(2 * n) - a**n


@case('''
fn twice(f: fn, x: f32[]) -> f32[] {
  _, y = while (t = 0, y = x) t < 2 { next t + 1, f(y) }
  return y
}
fn more(x: f32[]) -> f32[] { return x * 3 + 1 }
fn often(x: f32[]) -> f32[] { return twice(more, x) - x }
entry main(x: f32[]) -> (y: f32[]) {
  y = twice(often, x)
}''', {'x': 2})
def functions_with_loops_in_loops(x):
    for _ in range(2):
        x = (x * 3 + 1) * 3 + 1 - x
    return x


@case('''
entry main(x: f32[3], n: i32[]) -> (y: f32[3], a: f32[3], b: f32[3]) {
  for i in 0..3 {
    _, z[i] = while (t = 0, y = x) t < n + i { next t + 1, y + i }
  }
  y = z[0] + z[2]
  a = z[1]
  b = z[2]
}''', {'x': [1, 2, 3], 'n': 2})
def a_family_of_loops(x, n):
    y = [x + i * (n + i) for i in range(3)]
    return y[0] + y[2], y[1], y[2]


@case('''
entry main(x: f32[4], n: i32[]) -> (y: f32[4]) {
  _, y = while (t = 0, y = x) t < n {
    h[0] = y
    for i in 0..3 { h[i+1] = h[i] * 0.5 + i + x }
    next t + 1, h[3]
  }
}''', {'x': [1, 2, 3, 4], 'n': 3})
def a_family_in_a_loop(x, n):
    y = x
    for _ in range(n):
        for i in range(3):
            y = y * 0.5 + i + x
    return y


@case('''
graph g(fast: bool = true)
entry main(x: f32[], n: i32[]) -> (y: f32[]) {
  _, y = while (t = 0, y = x) t < n {
    step = if fast { yield 4.0 } else { yield 1.0 }
    if not fast { print("slow") }
    next t + 1, y + step
  }
}''', {'x': 1, 'n': 3})
def a_compile_time_if_in_a_loop(x, n):
    return x + 4 * n


@case('''
graph g(loops: bool = true, count: int = 3)
entry main(x: f32[], n: i32[]) -> (y: f32[]) {
  if loops {
    _, y = while (t = 0, y = x) t < n { next t + count, y + 1 }
  } else {
    y = x
  }
}''', {'x': 1, 'n': 7})
def a_loop_in_a_compile_time_if(x, n):
    return x + 3


# -- Steps around a loop ----------------------------------------------------------------------------------------------

@case('''
entry main(n: i32[]) -> (y: f32[3]) {
  x = zeros(f32[3])
  step = x + 1
  _, z = while (t = 0, z = x) t < n { next t + 1, z + step }
  y = z * 2
}''', {'n': 3, 'x': [1, 2, 3]}, {'n': 3, 'step': [1, 2, 5]}, {'n': 3, 'z': [5, 6, 7]}, {'n': 0})
def feeds_around_a_loop(n, x=numpy.zeros(3), step=None, z=None):
    step = x + 1 if step is None else step
    return 2 * (x + n * step if z is None else z)


@case('''
entry main(x: f32[3], n: i32[]) -> (y: f32[3]) {
  before = x * 2
  t, z = while (t = 0, z = before) t < n { next t + 1, z + before }
  behind = z - 1
  y = behind * 2
}''', {'x': [1, 2, 3], 'n': 3}, {'x': [1, 2, 3], 'n': 0}, fetch={'before': 'f32', 'behind': 'f32', 't': 'i32', 'z': 'f32'})
def fetches_around_a_loop(x, n):
    z = 2 * x * (n + 1)
    return 2 * (z - 1), 2 * x, z - 1, n, z


@case('''
entry main(x: f32[3], n: i32[]) -> (y: f32[3]) {
  _, z = while (t = 0, z = x) t < n { next t + 1, z + 1 }
  a = sum(z)
  _, w = while (t = 0, w = z) t < n { next t + 1, w + a }
  y = softmax(w) @ [1, 2, 3] * z
}''', {'x': [0, 1, 2], 'n': 3})
def kernels_between_loops(x, n):
    z = x + n
    w = z + n * z.sum()
    p = numpy.exp(w - w.max())
    return p / p.sum() @ [1, 2, 3] * z


@case('''
entry main(x: f32[], n: i32[]) -> (y: f32[]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, y * 1.5 + 1 }
}''', {'x': 1, 'n': 3}, words=['-n', '5'])
def five_steps(x, n):
    for _ in range(n):
        x = x * 1.5 + 1
    return x


@case('''
entry main(x: f32[8], n: i32[]) -> (y: f32[8]) {
  on "/device:cpu:0" {
    _, y = while (t = 0, y = x) t < n {
      z = y * 0.5 on "/device:cpu:0"
      next t + 1, z + x
    }
  }
}''', {'x': numpy.arange(8), 'n': 3})
def on_a_device(x, n):
    y = x
    for _ in range(n):
        y = y * 0.5 + x
    return y


@case('''
entry main(x: f32[1000, 100], n: i32[]) -> (y: f32[1000, 100], s: f32[]) {
  _, y, s = while (t = 0, y = x, s = sum(x)) t < n {
    z = tanh(y) + x * 0.25
    next t + 1, z, s * 0.5 + sum(z) / 1000
  }
}''', {'x': numpy.linspace(-2, 2, 100000).reshape(1000, 100) ** 2 - 1, 'n': 6}, tolerance=100)
def enough_elements_for_threads(x, n):
    x = x.astype('f8')
    y, s = x, x.sum()
    for _ in range(n):
        y = numpy.tanh(y) + x * 0.25
        s = s * 0.5 + y.sum() / 1000
    return y, s


@case('''
fn filled(out: type) {
  _, x = while (t = 0, x = zeros(out)) t < 5 { next t + 1, x * 2 + 1 }
  return x
}
var v: f32[2] = filled()
entry main(x: f32[2]) -> (y: f32[2]) {
  y = v + x
}''', {'x': [1, 2]})
def an_initialiser_loops(x):
    return x + 31


@case('''
x = [1.0, 2.0]
_, y = while (t = 0, y = x) t < 5 { next t + 1, y * 2 + 1 }
entry main(z: f32[2]) -> (w: f32[2]) {
  w = z + 1
}''', {'z': [1, 2]}, fetch={'y': 'f32'})
def a_loop_outside_of_entries(z):
    return z + 1, [63, 95]


@case('''
entry main(x: f32[2]) -> (y: f32[2]) {
  _, y = while (t = 0, y = x) t < 3 { next t + 1, y + 1 }
}
entry second(x: f32[2]) -> (y: f32[2]) {
  _, y = while (t = 0, y = x) t < 4 { next t + 1, y * 2 }
}''', {'main/x': [1, 2], 'second/x': [3, 4]}, words=['--entry', 'main+second'], fetch={'second/y': 'f32'})
def loops_of_two_entries(**x):
    return x['main/x'] + 3, x['second/x'] * 16


@case('''
entry main(x: f32[2], n: i32[]) -> (y: f32[2]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, y + 1 }
}''', {'x': [1, 2], 'n': 100}, words=['--threads', '1'])
def one_thread(x, n):
    return x + n


@case('''
entry main(x: f32[2], n: i32[]) -> (y: f32[2], z: f32[2]) {
  h = x * 3
  _, y = while (t = 0, y = x) t < n {
    h = y + 1
    next t + 1, h * 0.5
  }
  z = h + y
}''', {'x': [1, 2], 'n': 3})
def a_name_of_the_body_ends_with_it(x, n):
    y = x
    for _ in range(n):
        y = (y + 1) * 0.5
    return y, 3 * x + y


@case('''
fn step(x: f32[2], k: f32[]) -> f32[2] { return x * k + 1 }
fn often(x: f32[2], n: i32[], f: fn, ...) -> f32[2] {
  _, y = while (t = 0, y = x) t < n { next t + 1, f(y, ...) }
  return y
}
entry main(x: f32[2], n: i32[], k: f32[]) -> (y: f32[2]) {
  y = often(x, n, step, k=k)
}''', {'x': [1, 2], 'n': 3, 'k': 0.5})
def a_function_is_passed_on(x, n, k):
    for _ in range(n):
        x = x * k + 1
    return x


# -- What need not be done in each turn -------------------------------------------------------------------------------

@case('''
entry main(x: f64[N], rows: f64[N, 3], n: i64[], j: i64[]) -> (y: f64[N], m: f64[3, 3], still: f64[N], far: f64[]) {
  square = zeros(f64[3, 3])
  _, y, m, still, far, _ = while (t: i64[] = 0, y = x, m = square, still = x, far: f64[] = 0, dead = x) t < n {
    e = exp(x) * 0.5
    k, z = while (k: i64[] = 0, z = y) k < 2 { next k + 1, z * cos(x) + tanh(y + e) }
    next t + 1, z + sum(e), m + transpose(rows) @ rows, still, gather(e, j), sin(dead)
  }
}''', *({'x': numpy.arange(700) / 700, 'rows': numpy.arange(2100).reshape(700, 3) / 2100, 'n': n, 'j': j}
        for n, j in ((0, 900), (1, 3), (4, 699), (2, 700))))
def what_does_not_vary(x, rows, n, j):
    y, m, far, e = x, numpy.zeros((3, 3)), 0, numpy.exp(x) * 0.5
    if n and j >= 700:
        raise Stops('index 700 is out of range for an axis of 700')
    for _ in range(n):
        z = y
        for _ in range(2):
            z = z * numpy.cos(x) + numpy.tanh(y + e)
        y, m, far = z + e.sum(), m + rows.T @ rows, e[j]
    return y, m, x, far


@case('''
entry main(x: f32[4], n: i32[]) -> (y: f32[4], z: f32[4]) {
  small = shape_of(x)[0] < 8
  _, y = while (t = 0, y = x) t < n {
    y_1, same = if small { print("small", t)
      yield y * 2, x } else { yield exp(y), x }
    _, never = while (u = 0, never = y_1) not small { next u + 1, never + 1 }
    next t + 1, never + same
  }
  z = if small { yield y } else { yield x }
}''', {'x': [1, 2, 3, 4], 'n': 0}, {'x': [1, 2, 3, 4], 'n': 2})
def what_is_decided(x, n):
    y = x
    for t in range(n):
        print('small', t)
        y = y * 2 + x
    return y, y
