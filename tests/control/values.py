"""Values of every dtype and rank, and dims that are known only while running, carried and captured."""
import numpy

from case import case

INTEGERS = ('i8', 'i16', 'i32', 'i64', 'u8', 'u16', 'u32', 'u64')


def each(dtypes, text, *runs, **more):
    """A case for each dtype, which the text names DTYPE; their oracle takes it too."""
    def add(oracle):
        for dtype in dtypes:
            def one(dtype=dtype, **feeds):
                return oracle(dtype, **feeds)
            one.__name__ = f'{oracle.__name__}_{dtype}'
            case(text.replace('DTYPE', dtype), *runs, **more)(one)
    return add


# -- Dtypes -----------------------------------------------------------------------------------------------------------

@each(INTEGERS, '''
entry main(x: DTYPE[3], n: i32[]) -> (y: DTYPE[3], most: DTYPE[]) {
  _, y, most = while (t = 0, y = x, most = max(x)) t < n {
    z = y * 5 + 3
    next t + 1, z, maximum(most, max(z))
  }
}''', {'x': [1, 2, 100], 'n': 0}, {'x': [1, 2, 100], 'n': 40})
def whole_numbers_wrap(dtype, x, n):
    most = x.max()
    for _ in range(n):
        x = x * x.dtype.type(5) + x.dtype.type(3)
        most = max(most, x.max())
    return x, most


@each(('f16', 'f32', 'f64'), '''
entry main(x: DTYPE[3], c: DTYPE[], n: i32[]) -> (y: DTYPE[3], s: DTYPE[]) {
  _, y, s = while (t = 0, y = x, s: DTYPE[] = 0) t < n { next t + 1, y * c + 0.25, s + y[0] }
}''', {'x': [1, 2, 100], 'c': 0.5, 'n': 0}, {'x': [1, 2, 100], 'c': 0.75, 'n': 6})
def floats(dtype, x, c, n):
    y, s = x.astype('f8'), 0
    for _ in range(n):
        y, s = y * float(c) + 0.25, s + y[0]
    return y, s


@case('''
entry main(x: f32[3], n: i32[]) -> (y: f32[3]) {
  c = cast(0.5, bf16)
  _, z = while (t = 0, z = cast(x, bf16)) t < n { next t + 1, z * c + 2 }
  y = cast(z, f32)
}''', {'x': [1, 2, 100], 'n': 0}, {'x': [1, 2, 128], 'n': 4})
def bf16(x, n):
    for _ in range(n):
        x = x * 0.5 + 2   # exact in 8 bits
    return x


@each(('c64', 'c128'), '''
entry main(z: DTYPE[2], c: DTYPE[], n: i32[]) -> (w: DTYPE[2], s: DTYPE[]) {
  _, w, s = while (t = 0, w = z, s = sum(z)) t < n { next t + 1, w * w + c, s * 0.5j + w[1] }
}''', {'z': [0.1 + 0.2j, -0.5], 'c': 0.25j, 'n': 0}, {'z': [0.1 + 0.2j, -0.5], 'c': 0.25j, 'n': 5})
def complex_numbers(dtype, z, c, n):
    s = z.sum()
    for _ in range(n):
        z, s = z * z + c, s * 0.5j + z[1]
    return z, s


@case('''
entry main(p: bool[4], n: i32[]) -> (q: bool[4], parity: bool[]) {
  _, q, parity = while (t = 0, q = p, parity = false) t < n { next t + 1, roll(q, 1) != p, parity != q[0] }
}''', {'p': [True, False, False, True], 'n': 0}, {'p': [True, False, False, True], 'n': 5})
def bools(p, n):
    q, parity = p, False
    for _ in range(n):
        q, parity = numpy.roll(q, 1) != p, parity != q[0]
    return q, parity


@case('''
entry main(s: str[], n: i32[]) -> (t: str[], size: i64[], upper: bool[]) {
  _, t = while (i = 0, t = "") i < n {
    word = if i % 2 == 0 { yield s } else { yield str_upper(s) }
    next i + 1, t + word + number_to_str(i) + ";"
  }
  size = str_length(t)
  upper = t > "B"
}''', {'s': 'ab', 'n': 0}, {'s': 'ab', 'n': 12}, {'s': '', 'n': 3})
def strings_are_built(s, n):
    text = ''.join(f'{s.upper() if i % 2 else s}{i};' for i in range(n))
    return text, len(text), text > 'B'


@case('''
entry main(x: str[N], n: i32[]) -> (y: str[N], longest: i64[]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, y + "-" + x }
  longest = max(str_length(y))
}''', {'x': ['a', 'bc', ''], 'n': 3}, {'x': ['q'], 'n': 0})
def string_tensors_are_carried(x, n):
    y = ['-'.join([one.decode()] * (n + 1)) for one in x]
    return y, max(map(len, y))


@case('''
entry main(p: bool[], i: i8[2], u: u64[], h: f16[], d: f64[2, 2], c: c64[], s: str[], n: i32[]) -> (
    y: f64[2, 2], z: c64[], w: i8[2], v: u64[], g: f16[], r: str[]) {
  _, y, z, w, v, g, r = while (t = 0, y = d, z = c, w = i, v = u, g = h, r = s) t < n {
    next t + 1, where(p, y + d, y - d), z * c, w + i, v * u + 1, g + h, r + s
  }
}''', *({'p': p, 'i': [1, -100], 'u': 2**63 + 1, 'h': 0.5, 'd': [[1, 2], [3, 4]], 'c': 1j, 's': 'xy', 'n': 3}
        for p in (True, False)))
def captures_of_many_dtypes(p, i, u, h, d, c, s, n):
    y, z, w, v, g, r = d, c, i, u, h, s
    for _ in range(n):
        y, z, w, v, g, r = y + d if p else y - d, z * c, w + i, v * u + numpy.uint64(1), g + h, r + s
    return y, z, w, v, g, r


@case('''
entry main(p: bool[], i: i8[2], u: u64[], h: f16[], d: f64[2, 2], c: c64[], s: str[]) -> (
    y: f64[2, 2], z: c64[], w: i8[2], v: u64[], g: f16[], r: str[], b: bool[]) {
  y, z, w, v, g, r, b = if p { yield d + d, c * c, i, u + 1, h, s + s, i[0] > 0 } else { yield d, c, i * 2, u, h + h, s, p }
}''', *({'p': p, 'i': [1, -100], 'u': 2**63 + 1, 'h': 0.5, 'd': [[1, 2], [3, 4]], 'c': 1j, 's': 'xy'}
        for p in (True, False)))
def branches_of_many_dtypes(p, i, u, h, d, c, s):
    if p:
        return d + d, c * c, i, int(u) + 1, h, s * 2, True
    return d, c, i * numpy.int8(2), u, h + h, s, False


@case('''
entry main(a: f32[], b: f32[3], c: f32[2, 3], d: f32[2, 1, 3], n: i32[]) -> (y: f32[2, 2, 3], s: f32[]) {
  _, y, s = while (t = 0, y = zeros(f32[2, 2, 3]), s = a) t < n {
    next t + 1, y * a + b + c + d, s + sum(y) / (1 + sum(c))
  }
}''', {'a': 0.5, 'b': [1, 2, 3], 'c': [[1, 2, 3], [4, 5, 6]], 'd': [[[1, 0, 1]], [[0, 2, 0]]], 'n': 4})
def captures_of_many_ranks(a, b, c, d, n):
    y, s = numpy.zeros((2, 2, 3)), a
    for _ in range(n):
        y, s = y * a + b + c + d, s + y.sum() / (1 + c.sum())
    return y, s


# -- Dims that are known only while running ---------------------------------------------------------------------------

@case('''
entry main(x: f32[B, 3], w: f32[3, 3], n: i32[]) -> (y: f32[B, 3], s: f32[3]) {
  _, y, s = while (t = 0, y = x, s = zeros(f32[3])) t < n { next t + 1, tanh(y @ w) + x, s + sum(y, axis=0) }
}''', *({'x': numpy.linspace(-1, 1, 3 * b).reshape(b, 3), 'w': [[0.1, 0.2, 0.3], [-0.5, 0, 1], [1, 1, 0]], 'n': n}
        for b, n in ((0, 2), (1, 3), (2, 0), (5, 4))))
def a_fed_dim_is_carried(x, w, n):
    y, s = x, numpy.zeros(3)
    for _ in range(n):
        y, s = numpy.tanh(y @ w) + x, s + y.sum(0)
    return y, s


@case('''
entry main(x: f32[B, T], m: f32[T, B]) -> (y: f32[B], k: i64[]) {
  t, y = while (t: i64[] = 0, y = zeros(f32[B])) t < T { next t + 1, y * 0.5 + x[:, t] + m[t, :] / T }
  k = t * B + T
}''', *({'x': numpy.arange(b * t).reshape(b, t), 'm': numpy.ones((t, b))} for b, t in ((2, 5), (3, 1), (4, 0))))
def two_fed_dims(x, m):
    y = numpy.zeros(len(x))
    for t in range(len(m)):
        y = y * 0.5 + x[:, t] + m[t] / len(m)
    return y, x.size + len(m)


@case('''
entry main(x: f32[B], n: i32[]) -> (y: f32[2 * B + 1]) {
  _, y = while (t = 0, y = zeros(f32[2 * B + 1])) t < n { next t + 1, concat([x, y[B:B + 1], y[:B]], axis=0) + 1 }
}''', {'x': [1, 2, 3], 'n': 3}, {'x': [], 'n': 2}, {'x': [7], 'n': 1})
def an_expression_of_dims_is_carried(x, n):
    b = len(x)
    y = numpy.zeros(2 * b + 1)
    for _ in range(n):
        y = numpy.concatenate([x, y[b:b + 1], y[:b]]) + 1
    return y


@case('''
entry main(x: f32[B], p: bool[]) -> (y: f32[B], z: f32[B + 2], n: i64[]) {
  y, z, n = if p { yield x * 2, pad(x, 0, before=[1], after=[1]), B * B } else { yield x + B, concat([x, [1.0, 2.0]]), B }
}''', *({'x': numpy.arange(b), 'p': p} for b in (0, 3) for p in (True, False)))
def fed_dims_in_branches(x, p):
    b = len(x)
    return (x * 2, numpy.pad(x, 1), b * b) if p else (x + b, numpy.append(x, [1, 2]), b)


@case('''
entry main(x: f32[N], n: i32[]) -> (s: f32[], c: i64[]) {
  kept = x[x > 0]
  _, s, _ = while (t = 0, s = 0.0, y = kept) t < n { next t + 1, s + sum(y) / 2, y * kept }
  c = shape(kept)[0]
}''', {'x': [1, -2, 3, 0.5], 'n': 3}, {'x': [-1], 'n': 2}, {'x': [2, 2], 'n': 0})
def an_extent_that_the_step_computes_is_captured(x, n):
    kept = y = x[x > 0]
    s = 0
    for _ in range(n):
        s, y = s + y.sum() / 2, y * kept
    return s, len(kept)


@case('''
entry main(x: f32[N]) -> (y: f32[N]) {
  _, y = while (t: i64[] = 0, y = zeros(f32[N])) t < N {
    next t + 1, scatter_set(y, t, sum(x[:dynamic(t + 1)]), axis=0)
  }
}''', {'x': [1, -2, 3, 0.5]}, {'x': []})
def an_extent_that_each_turn_computes(x):
    return numpy.cumsum(x)


@case('''
entry main(x: i32[N], n: i32[]) -> (kinds: i64[]) {
  _, kinds, _ = while (t = 0, kinds: i64[] = 0, y = x) t < n {
    u = unique(y)[0]
    next t + 1, kinds * 10 + shape(u)[0], y // 2
  }
}''', {'x': [7, 6, 5, 1, 0, 12], 'n': 4}, {'x': [3], 'n': 0})
def what_has_an_unknown_extent_in_a_body(x, n):
    kinds = 0
    for _ in range(n):
        kinds, x = kinds * 10 + len(set(x)), x // 2
    return kinds


@case('''
fn halves(x: T[2 * H]) -> T[H] { return x[:H] - x[H:] }
entry main(x: f32[B], n: i32[]) -> (y: f32[B]) {
  _, y = while (t = 0, y = x) t < n {
    h = halves(concat([y, x], axis=0))
    next t + 1, h * 0.5
  }
}''', {'x': [1, -2, 3, 0.5], 'n': 3})
def generic_dims_in_a_body(x, n):
    y = x
    for _ in range(n):
        y = (y - x) * 0.5
    return y


@case('''
entry main(x: f32[A], y: f32[C], n: i32[]) -> (z: f32[A]) {
  _, z = while (t = 0, z = x) t < n { next t + 1, z + y }
}''', {'x': [1, 2], 'y': [3, 4], 'n': 2})
def two_dims_that_must_be_equal(x, y, n):
    return x + n * y
