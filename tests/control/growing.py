"""Extents of what a loop carries, or a branch gives, that differ each time: declared with a `?`."""
import numpy

from case import Stops, case
from gradients import slopes


@case('''
entry main(x: f32[N, 2], n: i32[]) -> (h: f32[?, 2], s: f32[], rows: i64[]) {
  _, h = while (t: i32[] = 0, h: f32[?, 2] = x[:0]) t < n {
    next t + 1, concat([h, x * cast(t, f32)], axis=0)
  }
  s = sum(h * h)
  rows = tensor(shape(h)[0])
}''', {'x': [[1, 2], [3, 4]], 'n': 3}, {'x': [[1, 2]], 'n': 0}, {'x': numpy.zeros((0, 2)), 'n': 4},
      {'x': [[1, 2], [3, -4], [5, 6]], 'n': 30})
def rows_that_a_loop_appends(x, n):
    h = numpy.concatenate([x[:0], *(x * t for t in range(n))])
    return h, (h * h).sum(), len(h)


@case('''
entry main(x: i64[N]) -> (primes: i64[?], turns: i64[]) {
  turns, primes, _ = while (t: i64[] = 0, primes: i64[?] = x[:0], left: i64[?] = x) shape(left)[0] > 0 {
    next t + 1, concat([primes, left[:dynamic(1)]], axis=0), left[left % left[0] != 0]
  }
}''', {'x': range(2, 60)}, {'x': []}, {'x': [7, 7, 14]})
def a_sieve(x):
    primes, turns = [], 0
    while len(x):
        primes, x, turns = [*primes, x[0]], x[x % x[0] != 0], turns + 1
    return primes, turns


@case('''
entry main(x: f32[N], n: i64[]) -> (a: f32[?], b: f32[?], c: f32[?, ?]) {
  _, a, b, c = while (t: i64[] = 0, a: f32[?] = x, b: f32[?] = x[:dynamic(0)], c: f32[?, ?] = zeros(f32[1, 1])) t < n {
    next t + 1, concat([b, [1]], axis=0), a[:min(shape(a)[0], 3)], reshape(a, [shape(a)[0], 1]) * reshape(b, [1, shape(b)[0]])
  }
}''', {'x': [1, 2, 3, 4], 'n': 5}, {'x': [1], 'n': 1}, {'x': [1], 'n': 0})
def values_that_change_places(x, n):
    a, b, c = x, x[:0], numpy.zeros((1, 1))
    for _ in range(n):
        a, b, c = numpy.append(b, 1), a[:3], a[:, None] * b[None, :]
    return a, b, c


@case('''
entry main(n: i64[]) -> (rows: i64[?], sums: i64[?]) {
  _, rows, sums = while (t: i64[] = 0, rows: i64[?] = [1], sums: i64[?] = zeros(i64[0])) t < n {
    _, next_row = while (k: i64[] = 0, made: i64[?] = [1]) k < shape(rows)[0] {
      upper = if k + 1 < shape(rows)[0] { yield rows[k + 1] } else { yield 0 }
      next k + 1, concat([made, reshape(rows[k] + upper, [1])], axis=0)
    }
    next t + 1, next_row, concat([sums, reshape(sum(rows), [1])], axis=0)
  }
}''', {'n': 9}, {'n': 0})
def pascals_triangle(n):
    rows, sums = [1], []
    for _ in range(n):
        rows, sums = [1] + [a + b for a, b in zip(rows, rows[1:] + [0])], sums + [sum(rows)]
    return rows, sums


@case('''
entry main(x: f32[N], p: bool[]) -> (y: f32[?], rows: i64[]) {
  y: f32[?] = if p { yield x[x > 0] } else { yield concat([x, x], axis=0) }
  rows = tensor(shape(y)[0]) * 2
}''', {'x': [1, -2, 3], 'p': True}, {'x': [1, -2, 3], 'p': False}, {'x': [], 'p': True})
def a_branch_that_gives_more(x, p):
    y = x[x > 0] if p else numpy.concatenate([x, x])
    return y, 2 * len(y)


@case('''
entry main(x: f32[N], n: i32[]) -> (y: f32[?], kept: f32[]) {
  _, y, kept = while (t: i32[] = 0, y: f32[?] = x, kept: f32[] = 0) t < n {
    z: f32[?], k = if t % 2 == 0 { yield concat([y, y * 2], axis=0), sum(y) } else { yield y[y < 20], 1 }
    next t + 1, z, kept + k * cast(shape(z)[0], f32)
  }
}''', {'x': [1, 2, 3], 'n': 6}, {'x': [50], 'n': 2})
def branches_in_a_loop_that_grows(x, n):
    y, kept = x, 0
    for t in range(n):
        y, k = (numpy.concatenate([y, y * 2]), y.sum()) if t % 2 == 0 else (y[y < 20], 1)
        kept += k * len(y)
    return y, kept


@case('''
entry main(words: str[N], n: i64[]) -> (all: str[?], last: str[?]) {
  _, all, last = while (t: i64[] = 0, all: str[?] = words[:0], last: str[?] = words) t < n {
    longer = last + "-" + number_to_str(t)
    next t + 1, concat([all, longer], axis=0), longer[str_length(longer) < 6]
  }
}''', {'words': [b'a', b'bcd', b''], 'n': 4}, {'words': [b'x'], 'n': 0})
def strings_that_a_loop_appends(words, n):
    every, last = [], [word.decode() for word in words]
    for t in range(n):
        longer = [f'{word}-{t}' for word in last]
        every, last = every + longer, [word for word in longer if len(word) < 6]
    return numpy.array(every, 'S'), numpy.array(last, 'S')


@case('''
var seen: i64[] = 0
entry main(x: i64[N]) -> (steps: i64[?], seen_now: i64[]) {
  steps, _ = while (steps: i64[?] = zeros(i64[0]), y: i64[?] = x) any(y > 1) {
    seen += shape(y)[0]
    next concat([steps, reshape(max(y), [1])], axis=0), where(y % 2 == 0, y // 2, 3 * y + 1)[y > 1]
  }
  seen_now = seen
}''', {'x': [6, 1, 7, 2]}, {'x': [1]})
def state_beside_what_grows(x):
    steps, seen = [], 0
    while (x > 1).any():
        seen += len(x)
        steps.append(x.max())
        x = numpy.where(x % 2 == 0, x // 2, 3 * x + 1)[x > 1]
    return steps, seen


@case('''
entry main(x: f32[N, 2], n: i32[]) -> (y: f32[]) {
  _, h = while (t: i32[] = 0, h: f32[?, 2] = x) t < n { next t + 1, h[:shape(h)[0] - 2] }
  y = sum(h)
}''', {'x': [[1, 2]] * 6, 'n': 2}, {'x': [[1, 2]] * 5, 'n': 3})
def what_shrinks_below_none(x, n):
    if len(x) < 2 * n:
        raise Stops('elements')
    return x[2 * n:].sum()


@case('''
entry main(x: f32[N], n: i32[]) -> (y: f32[], first: f32[]) {
  _, h = while (t: i32[] = 0, h: f32[?] = x) t < n { next t + 1, concat([h, zeros(f32[shape(h)[0]]) + 1], axis=0) }
  a = h[h > 0]
  _, y = while (t: i64[] = 0, y: f32[] = 0) t < shape(a)[0] { next t + 1, y * 0.5 + a[t] }
  first = h[0] + cast(shape(h)[0], f32)
}''', {'x': [1, -2, 3], 'n': 4}, {'x': [1], 'n': 0})
def what_has_grown_is_used(x, n):
    for _ in range(n):
        x = numpy.concatenate([x, numpy.ones(len(x))])
    y = 0
    for one in x[x > 0]:
        y = y * 0.5 + one
    return y, x[0] + len(x)


@case('''
entry main(x: f32[N], n: i64[]) -> (total: i64[]) {
  _, total = while (t: i64[] = 0, total: i64[] = 0) t < n {
    _, h = while (k: i64[] = 0, h: f32[?] = x) k < t % 7 { next k + 1, concat([h, x], axis=0) }
    next t + 1, total + shape(h)[0]
  }
}''', {'x': [1, 2], 'n': 2000}, targets=('cpu', 'ref'))
def a_loop_that_grows_often(x, n):
    return sum(len(x) * (t % 7 + 1) for t in range(n))


@case('''
entry main(x: f32[N], n: i64[]) -> (y: f32[], z: f32[?], rows: i64[]) {
  on "/device:cpu:1" {
    _, h = while (k: i64[] = 0, h: f32[?] = x) k < n { next k + 1, concat([h, h * 0.5], axis=0) }
  }
  on "/device:cpu:0" {
    y = sum(h[h > 0.5])
    rows = tensor(shape(h)[0])
    z: f32[?] = if n > 2 { yield x } else { yield h }
  }
}''', {'x': [1, -2, 3], 'n': 3}, {'x': [1], 'n': 0}, words=['--devices', '2'])
def what_grows_on_another_device(x, n):
    h = x
    for _ in range(n):
        h = numpy.concatenate([h, h * 0.5])
    return h[h > 0.5].sum(), x if n > 2 else h, len(h)


@case('''
entry main(x: f32[N], n: i64[]) -> (h: f32[?]) {
  _, h = while (k: i64[] = 0, h: f32[?] = x) k < n {
    g = h * 2 on "/device:cpu:1"
    f = g + 1 on "/device:cpu:0"
    next k + 1, concat([f, x], axis=0)
  }
}''', {'x': [1], 'n': 2}, words=['--devices', '2'])
def what_grows_on_two_devices(x, n):
    raise Stops('error: this is put elsewhere and needs how much grows in `main/while_loop`, which only')


@case('''
entry main(x: f32[N, 2], n: i32[]) -> (h: f32[?, 2], s: f32[], rows: i64[], c: f32[2]) {
  _, h, c = while (t: i32[] = 0, h: f32[?, 2] = x[:0], c = zeros(f32[2])) t < n {
    a = sin(x * cast(t, f32)) on "/device:cpu:1"
    b = cos(a) + c on "/device:cpu:2"
    next t + 1, concat([h, b], axis=0), sum(b, axis=0)
  }
  s = sum(h * h) on "/device:cpu:1"
  rows = tensor(shape(h)[0])
}''', {'x': [[1, 2], [3, 4]], 'n': 3}, {'x': numpy.zeros((0, 2)), 'n': 4}, {'x': [[1, 2]], 'n': 0}, {'x': [[1, -2]], 'n': 70},
      words=['--devices', '3'], tolerance=100)
def rows_that_come_from_other_devices(x, n):
    h, c = [x[:0]], numpy.zeros(2)
    for t in range(n):
        h.append(numpy.cos(numpy.sin(x * t)) + c)
        c = h[-1].sum(0)
    h = numpy.concatenate(h)
    return h, (h * h).sum(), len(h), c


@case('''
entry main(x: f64[N], w: f64[N], n: i64[]) -> (s: f64[], dx: f64[N], dw: f64[N]) {
  _, h, rows = while (t: i64[] = 0, h = x, rows: f64[?, N] = zeros(f64[0, N])) t < n {
    a = sin(h * w) on "/device:cpu:1"
    b = cos(a) + h * 0.5 on "/device:cpu:2"
    next t + 1, b, concat([rows, reshape(a * b, [1, N])], axis=0)
  }
  s = sum(rows * rows) + sum(h)
  dx, dw = grad(s, [x, w])
}''', {'x': [0.5, -1.25], 'w': [0.75, 0.5], 'n': 7}, {'x': [0.5], 'w': [0.75], 'n': 0}, {'x': [], 'w': [], 'n': 3},
      words=['--devices', '3'], tolerance=100)
def gradients_through_rows_of_other_devices(x, w, n):
    def total(x, w):
        s, h = 0, x
        for _ in range(n):
            a = numpy.sin(h * w)
            h = numpy.cos(a) + h * 0.5
            s += (a * h * a * h).sum()
        return s + h.sum()
    return total(x, w), *slopes(total, x, w)


@case('''
entry main(x: f32[N], p: bool[]) -> (y: f32[], dx: f32[N]) {
  z: f32[?], w = if p { yield x[x > 0] * 2, 3.0 } else { yield concat([x, x * x], axis=0), sum(x) }
  y = sum(z * z) * w
  dx = grad(y, x)
}''', {'x': [1, -2, 3], 'p': True}, {'x': [1, -2, 3], 'p': False}, {'x': [-1], 'p': True})
def gradients_through_a_branch_that_gives_more(x, p):
    if p:
        return 12 * (x[x > 0] ** 2).sum(), 24 * numpy.maximum(x, 0)
    squares = (x ** 2 + x ** 4).sum()
    return squares * x.sum(), (2 * x + 4 * x ** 3) * x.sum() + squares


@case('''
fn collatz(n: i64[]) {
  path, _ = while (path: i64[?] = reshape(n, [1]), m = n) m > 1 {
    k = if m % 2 == 0 { yield m // 2 } else { yield 3 * m + 1 }
    next concat([path, reshape(k, [1])], axis=0), k
  }
  return path
}
entry main(n: i64[]) -> (top: i64[], path: i64[?]) {
  print(reshape(n, [1, 1]))
  path = collatz(n)
  print(reshape(path, [1, shape(path)[0]]))
  top = max(path)
}''', {'n': 27}, {'n': 1})
def what_begins_as_a_reshaped_feed(n):
    path = [int(n)]
    while path[-1] > 1:
        path.append(path[-1] // 2 if path[-1] % 2 == 0 else 3 * path[-1] + 1)
    print(f'[[{n}]]')
    print('[[' + ' '.join(f'{one:>{max(len(str(k)) for k in path)}}' for one in path) + ']]')
    return max(path), path


@case('''
entry main(n: i64[]) -> (total: i64[], rows: i64[]) {
  _, h = while (t: i64[] = 0, h: i64[?] = zeros(i64[0])) t < n { next t + 1, concat([h, reshape(t * t, [1])], axis=0) }
  total = sum(h)
  rows = tensor(shape(h)[0])
}''', {'n': 1000000}, {'n': 0}, targets=('cpu',))
def a_million_numbers_are_appended(n):
    return (numpy.arange(n) ** 2).sum(), n


@case('''
entry main(x: f32[N, 3], n: i64[]) -> (twice: f32[?, 3], before: f32[?, 3], wide: f32[2, ?], sums: f32[?]) {
  _, twice, before, wide, sums = while (t: i64[] = 0, twice: f32[?, 3] = x, before: f32[?, 3] = x[:0],
                                        wide: f32[2, ?] = zeros(f32[2, 0]), sums: f32[?] = zeros(f32[0])) t < n {
    more = concat([before, x * cast(t, f32)], axis=0)
    both = concat([sums, reshape(sum(more) + sum(twice), [1])], axis=0)
    next t + 1, concat([twice, twice], axis=0), concat([x, more], axis=0), concat([wide, x[:2, :1]], axis=1), both
  }
}''', {'x': [[1, 2, 3], [4, 5, 6]], 'n': 5}, {'x': [[1, 2, 3], [4, 5, 6], [7, 8, 9]], 'n': 0})
def all_ways_to_join(x, n):
    twice, before, wide, sums = x, x[:0], numpy.zeros((2, 0)), []
    for t in range(n):
        more = numpy.concatenate([before, x * t])
        sums.append(more.sum() + twice.sum())
        twice, before = numpy.concatenate([twice, twice]), numpy.concatenate([x, more])
        wide = numpy.concatenate([wide, x[:2, :1]], axis=1)
    return twice, before, wide, numpy.array(sums)


@case('''
entry main(x: f32[N], n: i64[]) -> (y: f32[], z: f32[?]) {
  _, h, g = while (k: i64[] = 0, h: f32[?] = x, g: f32[?] = x) k < n { next k + 1, concat([h, x]), concat([g, x * 2, x]) }
  _, y = while (k: i64[] = 0, y: f32[] = 0) k < n {
    a = h * 2 on "/device:cpu:1"
    b = sum(g * 2) + sum(a) on "/device:cpu:1"
    c = y + b on "/device:cpu:0"
    next k + 1, c
  }
  z = g + 1 on "/device:cpu:1"
}''', {'x': [1, -2, 4], 'n': 3}, {'x': [1], 'n': 0}, words=['--devices', '2'])
def two_that_grow_on_another_device(x, n):
    g = numpy.concatenate([x] + [numpy.concatenate([x * 2, x])] * int(n))
    return n * (2 * g.sum() + 2 * (n + 1) * x.sum()), g + 1


# -- Gradients --------------------------------------------------------------------------------------------------------

GROWN = '''
fn grown(x: f64[N], w: f64[2, N], n: i64[]) {
  _, h, all, turns, words = while (t: i64[] = 0, h = sin(x), all: f64[?, N] = w, turns: i64[?] = zeros(i64[0]), words: str[?] = [""]) t < n {
    rows = stack([h * w[1], h * h, x])
    turn, word = t[None], number_to_str(t)[None]
    next t + 1, sin(h * x) + w[0], concat([all, rows], axis=0), concat([turns, turn], axis=0), concat([words, word], axis=0)
  }
  return sum(all * all) + sum(h * cast(sum(turns) + sum(str_length(words)), f64))
}
'''
GROWN_FEEDS = [{'x': [0.5, -1.25, 2], 'w': [[0.3, -0.2, 0.1], [0.5, 0.4, -0.6]], 'n': n} for n in (0, 1, 40)]


def grown(x, w, n):
    h, total, words = numpy.sin(x), (w * w).sum(), 0
    for t in range(n):
        total = total + sum((row * row).sum() for row in (h * w[1], h * h, x))
        h, words = numpy.sin(h * x) + w[0], words + t + len(str(t))
    return total + (h * words).sum()


def turned(f, n, x, v):
    """Of the first gradient along v, by x: differences of fourth order of complex steps."""
    along = lambda x: (slopes(f, x)[0] * v).sum()
    return [(along(x - 2 * d) - 8 * along(x - d) + 8 * along(x + d) - along(x + 2 * d)) / 12e-4 for d in 1e-4 * numpy.eye(n)]


@case(GROWN + '''
entry main(x: f64[3], w: f64[2, 3], n: i64[]) -> (y: f64[], dx: f64[3], dw: f64[2, 3], d2: f64[3]) {
  y = grown(x, w, n)
  dx, dw = grad(y, [x, w])
  d2 = grad(sum(dx * w[1]), x)
}''', *GROWN_FEEDS, tolerance=1e6)
def gradients_through_what_a_loop_appends(x, w, n):
    return (grown(x, w, n), *slopes(lambda x, w: grown(x, w, n), x, w), turned(lambda x: grown(x, w, n), 3, x, w[1]))


@case(GROWN + '''
entry main(x: f64[3], w: f64[2, 3], n: i64[]) -> (y: f64[], dx: f64[3], dw: f64[2, 3]) {
  y = grown(x, w, n)
  dx, dw = grad(y, [x, w])
}''', *GROWN_FEEDS, tolerance=1e4, words=['--memory-limit', '1'])
def gradients_through_what_is_appended_under_a_limit(x, w, n):
    return grown(x, w, n), *slopes(lambda x, w: grown(x, w, n), x, w)


# A chunk of its turns is reversed at a time there, and what is appended in a turn is where it would be without chunks.
@case(GROWN + '''
entry main(x: f64[3], w: f64[2, 3], n: i64[]) -> (s: f64[], ds: f64[3], dx: f64[3], d2: f64[3]) {
  _, s = while (k: i64[] = 0, s: f64[] = 0) k < 2 { next k + 1, s + grown(x / (1 + cast(k, f64)), w, n + k) }
  ds = grad(s, x)
  y = grown(x, w, n)
  g = grad(y, x)
  _, dx, d2 = while (k: i64[] = 0, dx = zeros(f64[3]), d2 = zeros(f64[3])) k < 2 {
    next k + 1, dx + grad(y, x), d2 + grad(sum(g * w[1]), x)
  }
}''', *GROWN_FEEDS, tolerance=1e6)
def gradients_in_bodies_through_what_is_appended(x, w, n):
    s = lambda x: grown(x, w, n) + grown(x / 2, w, n + 1)
    return (s(x), *slopes(s, x), 2 * slopes(lambda x: grown(x, w, n), x)[0],
            2 * numpy.array(turned(lambda x: grown(x, w, n), 3, x, w[1])))


@case('''
entry main(x: f64[2], limit: f64[], p: bool[]) -> (rows: i64[], dx: f64[2], table: f64[9, 2], dt: f64[2]) {
  _, h, table, all = while (s: f64[] = 0, h = x, table = zeros(f64[9, 2]), all: f64[?, 2] = zeros(f64[0, 2])) s < limit {
    i = cast(s, i64) % 9
    step = if p { yield h * h + 1 } else { yield sin(h) + 2 }
    next s + sum(step), step * x, scatter_add(table, i, step), concat([all, table[i][None] * h], axis=0)
  }
  rows = tensor(shape(all)[0])
  dx = grad(sum(all * all) + sum(h), x)
  dt = grad(sum(table * table) + sum(all[shape(all)[0] // 2:]), x)
}''', *({'x': [0.5, 0.25], 'limit': limit, 'p': p} for limit in (-1, 1, 30) for p in (True, False)), tolerance=1e5)
def gradients_through_what_data_let_grow(x, limit, p):
    def run(x):
        s, h, table, rows = 0, x, numpy.zeros((9, 2), x.dtype), []
        while numpy.real(s) < limit:
            i, step = int(numpy.real(s)) % 9, h * h + 1 if p else numpy.sin(h) + 2
            rows.append(table[i] * h)
            table = table.copy()
            table[i] += step
            s, h = s + step.sum(), step * x
        return h, table, numpy.array(rows, x.dtype).reshape(-1, 2)
    def first(x):
        h, _, rows = run(x)
        return (rows * rows).sum() + h.sum()
    def second(x):
        _, table, rows = run(x)
        return (table * table).sum() + rows[len(rows) // 2:].sum()
    _, table, rows = run(x)
    return len(rows), *slopes(first, x), table, *slopes(second, x)


@case('''
entry main(x: f64[2], w: f64[], n: i64[]) -> (all: f64[?], dx: f64[2], dw: f64[]) {
  _, h, all = while (t: i64[] = 0, h = x, all: f64[?] = x) t < n {
    next t + 1, sin(h) * w, concat([all, h * h, x * w, reshape(sum(h), [1])])
  }
  dx, dw = grad(sum(all * all * all) + sum(h), [x, w])
}''', *({'x': [0.5, -1.25], 'w': 1.5, 'n': n} for n in (0, 1, 30)), tolerance=1e5)
def gradients_through_several_parts_that_a_turn_appends(x, w, n):
    def run(x, w):
        h, parts = x, [x]
        for _ in range(n):
            h, parts = numpy.sin(h) * w, [*parts, h * h, x * w, [h.sum()]]
        return h, numpy.concatenate(parts)
    def loss(x, w):
        h, parts = run(x, w)
        return (parts * parts * parts).sum() + h.sum()
    return run(x, w)[1], *slopes(loss, x, w)


# What the loop keeps for one gradient, or for the text, is kept for all; of what a turn sets at its number, and reads, nothing is.
KEPT = '''
fn kept(x: f64[2], w: f64[2], n: i64[]) {
  _, h, own, past, table = while (t: i64[] = 0, h = x, own: f64[?, 2] = zeros(f64[0, 2]), past = zeros(f64[9, 2]) + x, table = zeros(f64[9, 2])) t < n {
    now = scatter_set(past, t, h * w)
    seen = sum(now * past[(t * 7) % 9], axis=0) / 9
    next t + 1, sin(h + seen) + w * now[(t * 5) % 9], concat([own, h[None]]), now, scatter_add(table, (t * 4) % 9, h * w)
  }
  return sum(h * w), sum(h * h * h) + sum(own * own) + sum(past * table)
}
'''
KEPT_FEEDS = [{'x': [0.5, -1.25], 'w': [0.75, 0.5], 'n': n} for n in (0, 1, 9)]


def kept(x, w, n):
    h, own, past, table = x, [], numpy.array([x] * 9), numpy.zeros((9, 2), (x * w).dtype)
    for t in range(n):
        now, table = past.astype((x * w).dtype), table.copy()
        now[t] = h * w
        seen = (now * past[t * 7 % 9]).sum(0) / 9
        table[t * 4 % 9] += h * w
        own.append(h)
        h, past = numpy.sin(h + seen) + w * now[t * 5 % 9], now
    return (h * w).sum(), (h ** 3).sum() + sum((row * row).sum() for row in own) + (past * table).sum()


@case(KEPT + '''
entry main(x: f64[2], w: f64[2], n: i64[]) -> (y: f64[], z: f64[], dy: f64[2], dz: f64[2], dw: f64[2], d2: f64[2], e2: f64[2]) {
  y, z = kept(x, w, n)
  dy = grad(y, x)
  dz, dw = grad(z, [x, w])
  d2 = grad(sum(dy * w), x)
  e2 = grad(sum(dz * w), x)
}''', *KEPT_FEEDS, tolerance=1e6)
def gradients_by_what_is_kept_already(x, w, n):
    return (*kept(x, w, n), *slopes(lambda x: kept(x, w, n)[0], x), *slopes(lambda x, w: kept(x, w, n)[1], x, w),
            turned(lambda x: kept(x, w, n)[0], 2, x, w), turned(lambda x: kept(x, w, n)[1], 2, x, w))


@case(KEPT.replace('t < n', 't < n and t < 9') + '''
entry main(x: f64[2], w: f64[2], n: i64[]) -> (y: f64[], dy: f64[2], dz: f64[2], dw: f64[2], d2: f64[2]) {
  y, z = kept(x, w, n)
  dy = grad(y, x)
  dz, dw = grad(z, [x, w])
  d2 = grad(sum(dy * w), x)
}''', *KEPT_FEEDS, tolerance=1e6, words=['--memory-limit', '1'])
def gradients_by_what_is_kept_already_under_a_limit(x, w, n):
    return (kept(x, w, n)[0], *slopes(lambda x: kept(x, w, n)[0], x), *slopes(lambda x, w: kept(x, w, n)[1], x, w),
            turned(lambda x: kept(x, w, n)[0], 2, x, w))


@case(KEPT + '''
entry main(x: f64[2], w: f64[2], n: i64[]) -> (s: f64[], ds: f64[2], dz: f64[2]) {
  _, s = while (k: i64[] = 0, s: f64[] = 0) k < 2 {
    y, z = kept(x * cast(k, f64), w, n)
    next k + 1, s + y * z
  }
  ds = grad(s, w)
  y, z = kept(x, w, 9)
  _, dz = while (k: i64[] = 0, dz = zeros(f64[2])) k < 2 { next k + 1, dz + grad(z, x) + grad(y, x) }
}''', *KEPT_FEEDS, tolerance=1e9)
def gradients_in_bodies_by_what_is_kept_already(x, w, n):
    def s(w):
        total = 0
        for k in range(2):
            y, z = kept(x * k, w, n)
            total = total + y * z
        return total
    return s(w), *slopes(s, w), 2 * (slopes(lambda x: kept(x, w, 9)[0] + kept(x, w, 9)[1], x)[0])
