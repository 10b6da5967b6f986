"""Programs that somebody would write with loops and branches, from Euclid's to Kalman's."""
import math

import numpy

from case import case


# -- Whole numbers ----------------------------------------------------------------------------------------------------

@case('''
entry main(a: i64[], b: i64[]) -> (g: i64[]) {
  g, _ = while (x = a, y = b) y != 0 { next y, x % y }
}''', {'a': 48, 'b': 36}, {'a': 7, 'b': 0}, {'a': 1134903170, 'b': 1836311903})
def euclid(a, b):
    return math.gcd(int(a), int(b))


@case('''
entry main(n: i64[]) -> (steps: i64[], most: i64[]) {
  steps, _, most = while (t: i64[] = 0, x = n, most = n) x != 1 {
    y = if x % 2 == 0 { yield x // 2 } else { yield 3 * x + 1 }
    next t + 1, y, maximum(most, y)
  }
}''', {'n': 1}, {'n': 27}, {'n': 97})
def collatz(n):
    n = int(n)
    path = [n]
    while path[-1] != 1:
        path.append(path[-1] // 2 if path[-1] % 2 == 0 else 3 * path[-1] + 1)
    return len(path) - 1, max(path)


@case('''
entry main(n: i64[], m: i64[]) -> (f: i64[]) {
  _, f, _ = while (t: i64[] = 0, a: i64[] = 0, b: i64[] = 1) t < n { next t + 1, b, (a + b) % m }
}''', {'n': 0, 'm': 1000007}, {'n': 1, 'm': 1000007}, {'n': 1000, 'm': 1000007})
def fibonacci_modulo(n, m):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a % int(m)


@case('''
entry main(base: i64[], exponent: i64[], m: i64[]) -> (r: i64[]) {
  r, _, _ = while (r: i64[] = 1, b = base % m, e = exponent) e > 0 {
    s = if bit_and(e, 1) == 1 { yield r * b % m } else { yield r }
    next s, b * b % m, shift_right(e, 1)
  }
}''', {'base': 3, 'exponent': 0, 'm': 7}, {'base': 123456, 'exponent': 987654321, 'm': 1000003})
def modular_power(base, exponent, m):
    return pow(int(base), int(exponent), int(m))


@case('''
entry main(n: i32[]) -> (prime: bool[100], count: i32[]) {
  _, prime = while (p = 2, prime = iota([100]) >= 2) p * p < 100 {
    next p + 1, if_prime(p, prime)
  }
  count = sum(cast(prime[:90], i32)) + n
}
fn if_prime(p: i32[], prime: bool[100]) -> bool[100] {
  r = if prime[p] {
    _, r = while (k = p * p, r = prime) k < 100 { next k + p, scatter_set(r, k, false, axis=0) }
    yield r
  } else { yield prime }
  return r
}''', {'n': 0})
def sieve(n):
    prime = numpy.array([i > 1 and all(i % k for k in range(2, i)) for i in range(100)])
    return prime, prime[:90].sum()


@case('''
entry main(n: i64[], base: i64[]) -> (s: str[], digits: i64[]) {
  s, _, digits = while (s = "", r = n, d: i64[] = 0) r > 0 or d == 0 {
    k = r % base
    letter = if k < 10 { yield number_to_str(k) } else { yield substring("ABCDEF", 0, 1) }
    next letter + s, r // base, d + 1
  }
}''', {'n': 0, 'base': 2}, {'n': 37, 'base': 2}, {'n': 1234567, 'base': 7})
def digits_of_a_base(n, base):
    n, s = int(n), ''
    while n or not s:
        n, s = n // int(base), str(n % int(base)) + s
    return s, len(s)


@case('''
entry main(x: f32[N], key: f32[]) -> (place: i64[]) {
  place, _ = while (low: i64[] = 0, high: i64[] = N) low < high {
    middle = (low + high) // 2
    a, b = if x[middle] < key { yield middle + 1, high } else { yield low, middle }
    next a, b
  }
}''', *({'x': numpy.arange(0, n, 2), 'key': key} for n, key in ((20, 7), (20, 8), (20, -1), (19, 99), (0, 3))))
def binary_search(x, key):
    return numpy.searchsorted(x, key)


@case('''
entry main(a: str[N], b: str[M]) -> (distance: i32[]) {
  first = iota([M + 1])
  _, last = while (i = 1, row = first) i <= cast(N, i32) {
    _, done = while (j = 1, new = scatter_set(row, 0, i, axis=0)) j <= cast(M, i32) {
      change = if a[i - 1] == b[j - 1] { yield 0 } else { yield 1 }
      least = minimum(minimum(row[j] + 1, new[j - 1] + 1), row[j - 1] + change)
      next j + 1, scatter_set(new, j, least, axis=0)
    }
    next i + 1, done
  }
  distance = last[M]
}''', {'a': list('kitten'), 'b': list('sitting')}, {'a': list('flaw'), 'b': list('lawn')}, {'a': ['x'], 'b': ['x']})
def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (x != y)))
        row = new
    return row[-1]


@case('''
entry main(weight: i32[N], value: i64[N]) -> (best: i64[]) {
  _, table = while (i: i64[] = 0, table = zeros(i64[21])) i < N {
    w = weight[i]
    _, more = while (room = 20, new = table) room >= w {
      next room - 1, scatter_max(new, room, table[room - w] + value[i], axis=0)
    }
    next i + 1, more
  }
  best = table[20]
}''', {'weight': [5, 8, 3, 7, 9], 'value': [10, 40, 30, 50, 55]}, {'weight': [21], 'value': [5]})
def knapsack(weight, value):
    best = 0
    for chosen in range(2**len(weight)):
        bits = [i for i in range(len(weight)) if chosen >> i & 1]
        if weight[bits].sum() <= 20:
            best = max(best, value[bits].sum())
    return best


# -- Numbers ----------------------------------------------------------------------------------------------------------

@case('''
entry main(x: f64[]) -> (root: f64[], t: i32[]) {
  root, t = while (r = x * 0.5 + 0.5, t = 0) abs(r * r - x) > 1e-12 * x { next (r + x / r) * 0.5, t + 1 }
}''', {'x': 2}, {'x': 1}, {'x': 1e6})
def newton_s_square_root(x):
    r, t = x * 0.5 + 0.5, 0
    while abs(r * r - x) > 1e-12 * x:
        r, t = (r + x / r) * 0.5, t + 1
    return r, t


@case('''
fn f(x: f64[]) -> f64[] { return cos(x) - x * x }
entry main(start: f64[]) -> (root: f64[], t: i32[]) {
  root, t, _ = while (x = start, t = 0, step: f64[] = 1) abs(step) > 1e-9 and t < 50 {
    g = grad(f(x), [x])
    change = f(x) / g[0]
    next x - change, t + 1, change
  }
}''', {'start': 1}, {'start': 7})
def newton_by_gradients(start):
    x, t, step = float(start), 0, 1
    while abs(step) > 1e-9 and t < 50:
        step = (math.cos(x) - x * x) / (-math.sin(x) - 2 * x)
        x, t = x - step, t + 1
    return x, t


@case('''
entry main(low: f64[], high: f64[]) -> (middle: f64[], t: i32[]) {
  a, b, t = while (a = low, b = high, t = 0) b - a > 1e-10 {
    m = (a + b) * 0.5
    c, d = if m * m * m < 20 { yield m, b } else { yield a, m }
    next c, d, t + 1
  }
  middle = (a + b) / 2
}''', {'low': 0, 'high': 20}, {'low': 1, 'high': 1})
def bisection(low, high):
    a, b, t = low, high, 0
    while b - a > 1e-10:
        m = (a + b) * 0.5
        a, b = (m, b) if m**3 < 20 else (a, m)
        t += 1
    return (a + b) / 2, t


@case('''
entry main(a: f64[4, 4], x: f64[4], n: i32[]) -> (eigenvalue: f64[], v: f64[4]) {
  _, v = while (t = 0, v = x) t < n {
    w = a @ v
    next t + 1, w / norm(w)
  }
  eigenvalue = sum(v * (a @ v))
}''', {'a': [[4, 1, 0, 0], [1, 3, 1, 0], [0, 1, 2, 1], [0, 0, 1, 1]], 'x': [1, 1, 1, 1], 'n': 200})
def power_iteration(a, x, n):
    values, vectors = numpy.linalg.eigh(a)
    return values[-1], vectors[:, -1] * numpy.sign(vectors[:, -1].sum())


@case('''
entry main(a: f64[5, 5], b: f64[5]) -> (x: f64[5], t: i32[]) {
  start = zeros(f64[5])
  x, r, _, t = while (x = start, r = b, p = b, t = 0) sum(r * r) > 1e-22 and t < 20 {
    ap = a @ p
    alpha = sum(r * r) / sum(p * ap)
    s = r - alpha * ap
    next x + alpha * p, s, s + sum(s * s) / sum(r * r) * p, t + 1
  }
}''', {'a': numpy.diag([1.0, 2, 3, 4, 5]) + 0.5, 'b': [1, 2, 0, -1, 3]}, {'a': numpy.eye(5), 'b': numpy.zeros(5)},
      tolerance=1e4)
def conjugate_gradients(a, b):
    steps = 5 if b.any() else 0
    return numpy.linalg.solve(a, b), steps


@case('''
entry main(y0: f64[2], dt: f64[], n: i32[]) -> (y: f64[2], time: f64[]) {
  _, y, time = while (i = 0, y = y0, time: f64[] = 0) i < n {
    next i + 1, y + dt * stack([y[1], -y[0]]), time + dt
  }
}''', {'y0': [1, 0], 'dt': 0.01, 'n': 100})
def euler_s_steps(y0, dt, n):
    z = complex(*y0) * (1 - 1j * dt)**n  # of z = y0 + i y1 the derivative is -i z
    return [z.real, z.imag], dt * n


@case('''
fn f(t: f64[], y: f64[2]) -> f64[2] { return stack([y[1], (1 - y[0] * y[0]) * y[1] - y[0] + 0.1 * t]) }
entry main(y0: f64[2], h: f64[], n: i32[]) -> (y: f64[2], t: f64[]) {
  _, y, t = while (i = 0, y = y0, t: f64[] = 0) i < n {
    a = f(t, y)
    b = f(t + h / 2, y + a * (h / 2))
    c = f(t + h / 2, y + b * (h / 2))
    d = f(t + h, y + c * h)
    next i + 1, y + (a + 2 * b + 2 * c + d) * (h / 6), t + h
  }
}''', {'y0': [2, 0], 'h': 0.05, 'n': 60}, {'y0': [2, 0], 'h': 0.05, 'n': 0})
def runge_kutta(y0, h, n):
    f = lambda t, y: numpy.array([y[1], (1 - y[0]**2) * y[1] - y[0] + 0.1 * t])
    y, t = y0, 0
    for _ in range(n):
        a = f(t, y)
        b = f(t + h / 2, y + a * h / 2)
        c = f(t + h / 2, y + b * h / 2)
        d = f(t + h, y + c * h)
        y, t = y + (a + 2 * b + 2 * c + d) * h / 6, t + h
    return y, t


@case('''
entry main(y0: f64[], until: f64[]) -> (y: f64[], accepted: i32[], refused: i32[]) {
  _, y, _, accepted, refused = while (t: f64[] = 0, y = y0, h: f64[] = 0.5, a = 0, r = 0) t < until {
    k = minimum(h, until - t)
    one = y - k * y * y
    middle = y - k * 0.5 * y * y
    two = middle - k * 0.5 * middle * middle
    u, z, l, b, s = if abs(two - one) < 1e-4 {
      yield t + k, 2 * two - one, h * 1.5, a + 1, r
    } else {
      yield t, y, h * 0.5, a, r + 1
    }
    next u, z, l, b, s
  }
}''', {'y0': 3, 'until': 2}, {'y0': 3, 'until': 0})
def steps_of_their_own_size(y0, until):
    t, y, h, a, r = 0.0, float(y0), 0.5, 0, 0
    while t < until:
        k = min(h, until - t)
        one, middle = y - k * y * y, y - k * 0.5 * y * y
        two = middle - k * 0.5 * middle * middle
        if abs(two - one) < 1e-4:
            t, y, h, a = t + k, 2 * two - one, h * 1.5, a + 1
        else:
            h, r = h * 0.5, r + 1
    return y, a, r


@case('''
entry main(z: f64[N, 1], q: f64[], r: f64[]) -> (x: f64[2], p: f64[2, 2]) {
  f = tensor([[1.0, 1.0], [0.0, 1.0]])
  a = cast(f, f64)
  h = a[:1] * 0 + [[1, 0]]
  t, x, p = while (t: i64[] = 0, x = zeros(f64[2]), p = a * 0 + [[10, 0], [0, 10]]) t < N {
    x1 = a @ x
    p1 = a @ p @ transpose(a) + q * eye(2, dtype=f64)
    s = h @ p1 @ transpose(h) + r
    k = p1 @ transpose(h) / s
    next t + 1, x1 + k @ (z[t] - h @ x1), p1 - k @ h @ p1
  }
}''', {'z': [[1.1], [1.9], [3.2], [4.0], [5.1]], 'q': 0.01, 'r': 0.5}, {'z': numpy.zeros((0, 1)), 'q': 0.01, 'r': 0.5})
def kalman_filter(z, q, r):
    a, h = numpy.array([[1.0, 1], [0, 1]]), numpy.array([[1.0, 0]])
    x, p = numpy.zeros(2), numpy.eye(2) * 10
    for one in z:
        x, p = a @ x, a @ p @ a.T + q * numpy.eye(2)
        k = p @ h.T @ numpy.linalg.inv(h @ p @ h.T + r)
        x, p = x + k @ (one - h @ x), p - k @ h @ p
    return x, p


@case('''
entry main(x: f32[N]) -> (y: f32[N], same: bool[]) {
  _, y, _ = while (t: i64[] = 0, y = zeros(f32[N]), sum = 0.0) t < N {
    s = sum + x[t]
    next t + 1, scatter_set(y, t, s, axis=0), s
  }
  same = all(y == cumsum(x))
}''', {'x': numpy.arange(9) - 3.5}, {'x': []})
def prefix_sums(x):
    return numpy.cumsum(x), True


@case('''
entry main(x: f32[N]) -> (y: f32[N], rounds: i32[]) {
  y, rounds, _ = while (y = x, t = 0, moved = i64_of(N) > 1) moved {
    even = iota([N]) % 2 == t % 2
    right = where(iota([N]) < cast(N, i32) - 1, roll(y, -1), inf)
    left = where(iota([N]) > 0, roll(y, 1), -inf)
    z = where(even, minimum(y, right), maximum(y, left))
    next z, t + 1, any(z != y) or t < 1 or any(z[:N - 1] > z[1:])
  }
}''', {'x': [3, 1, 2, 9, -4, 7]}, {'x': [1]}, {'x': [2, 1]})
def odd_even_sort(x):
    y, t, moved = x, 0, len(x) > 1
    while moved:
        z = y.copy()
        for i in range(t % 2, len(x) - 1, 2):
            if z[i] > z[i + 1]:
                z[i], z[i + 1] = z[i + 1], z[i]
        moved = (z != y).any() or t < 1 or (z[:-1] > z[1:]).any()
        y, t = z, t + 1
    return numpy.sort(x), t


@case('''
entry main(c: c64[H, W], most: i32[]) -> (turns: i32[H, W]) {
  _, _, turns = while (t = 0, z = c * 0, turns = zeros(i32[H, W])) t < most and any(abs(z) <= 2) {
    inside = abs(z) <= 2
    next t + 1, where(inside, z * z + c, z), turns + cast(inside, i32)
  }
}''', {'c': [[0, 1, 0.3 + 0.5j], [-1, 2j, -2]], 'most': 20}, {'c': [[3]], 'most': 20})
def mandelbrot(c, most):
    turns = numpy.zeros(c.shape, int)
    for place, one in numpy.ndenumerate(c):
        z, t = 0, 0
        while t < most and abs(z) <= 2:
            z, t = z * z + one, t + 1
        turns[place] = t
    return turns


@case('''
entry main(world: i32[6, 6], n: i32[]) -> (y: i32[6, 6], alive: i32[]) {
  _, y = while (t = 0, y = world) t < n {
    row = y + roll(y, 1, axis=0) + roll(y, -1, axis=0)
    around = row + roll(row, 1, axis=1) + roll(row, -1, axis=1) - y
    next t + 1, where(around == 3 or around == 2 and y == 1, 1, 0)
  }
  alive = sum(y)
}''', *({'world': numpy.pad([[0, 1, 0], [0, 0, 1], [1, 1, 1]], ((0, 3), (0, 3))), 'n': n} for n in (0, 1, 9)))
def game_of_life(world, n):
    for _ in range(n):
        around = sum(numpy.roll(world, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - world
        world = ((around == 3) | (around == 2) & (world == 1)).astype(int)
    return world, world.sum()


@case('''
entry main(edges: f32[N, N]) -> (d: f32[N, N]) {
  _, d = while (k: i64[] = 0, d = edges) k < N { next k + 1, minimum(d, d[:, k][:, None] + d[k, :][None, :]) }
}''', {'edges': [[0, 3, 9, 99], [3, 0, 1, 8], [9, 1, 0, 2], [99, 8, 2, 0]]}, {'edges': [[0]]})
def shortest_paths(edges):
    d, n = edges.copy(), len(edges)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return d


@case('''
entry main(x: f32[N]) -> (top: f32[], total: f32[]) {
  _, top, total = while (t: i64[] = 0, top = x[0] * 0 - inf, total = 0.0) t < N {
    new = maximum(top, x[t])
    next t + 1, new, total * exp(top - new) + exp(x[t] - new)
  }
}''', {'x': [1, 5, -2, 7, 3]}, {'x': [80, -80]})
def softmax_in_one_pass(x):
    return x.max(), numpy.exp(x - x.max()).sum()


@case('''
entry main(x: f32[N], start: f32[2]) -> (centres: f32[2], turns: i32[]) {
  centres, turns, _ = while (c = start, t = 0, moved = true) moved and t < 20 {
    near = abs(x - c[0]) < abs(x - c[1])
    first = sum(where(near, x, 0)) / maximum(sum(cast(near, f32)), 1)
    second = sum(where(near, 0, x)) / maximum(sum(cast(not near, f32)), 1)
    new = stack([first, second])
    next new, t + 1, any(abs(new - c) > 1e-6)
  }
}''', {'x': [1, 1.5, 2, 8, 9, 10], 'start': [0, 3]})
def two_means(x, start):
    return [1.5, 9], 3


@case('''
entry main(x: f64[8, 2], y: f64[8], n: i32[]) -> (w: f64[2], loss: f64[]) {
  _, w = while (t = 0, w = zeros(f64[2])) t < n {
    g = grad(mean(square(x @ w - y)), [w])
    next t + 1, w - 0.1 * g[0]
  }
  loss = mean(square(x @ w - y))
}''', {'x': numpy.stack([numpy.linspace(-1, 1, 8), numpy.ones(8)], 1), 'y': numpy.linspace(-1, 1, 8) ** 2, 'n': 25})
def gradient_descent(x, y, n):
    w = numpy.zeros(2)
    for _ in range(n):
        w = w - 0.1 * 2 / 8 * x.T @ (x @ w - y)
    return w, ((x @ w - y)**2).mean()


@case('''
entry main(coefficients: f64[N], x: f64[]) -> (y: f64[]) {
  _, y = while (i: i64[] = 0, y: f64[] = 0) i < N { next i + 1, y * x + coefficients[i] }
}''', {'coefficients': [1, -2, 0.5, 3], 'x': 1.25}, {'coefficients': [], 'x': 3})
def horner(coefficients, x):
    return numpy.polyval(coefficients, x) if len(coefficients) else 0


@case('''
entry main(a: f64[2, 2], n: i64[]) -> (p: f64[2, 2]) {
  p, _, _ = while (p = eye(2, dtype=f64), b = a, e = n) e > 0 {
    q = if e % 2 == 1 { yield p @ b } else { yield p }
    next q, b @ b, e // 2
  }
}''', *({'a': [[1, 1], [1, 0]], 'n': n} for n in (0, 1, 10, 45)))
def matrix_power(a, n):
    return numpy.linalg.matrix_power(a, n)


@case('''
entry main(x: f32[B, T, 2], h0: f32[B, 3], w: f32[2, 3], u: f32[3, 3], size: i32[B]) -> (h: f32[B, 3]) {
  _, h = while (t = 0, h = h0) t < max(size) {
    z = tanh(x[:, t, :] @ w + h @ u)
    next t + 1, where((t < size)[:, None], z, h)
  }
}''', {'x': numpy.sin(numpy.arange(24)).reshape(3, 4, 2), 'h0': numpy.zeros((3, 3)), 'size': [4, 1, 3],
       'w': [[0.5, -1, 0.2], [0.3, 0.1, 1]], 'u': [[0.1, 0.2, 0], [0, -0.5, 1], [0.3, 0.3, 0.3]]})
def a_recurrent_net(x, h0, w, u, size):
    h = h0.copy()
    for b, count in enumerate(size):
        for t in range(count):
            h[b] = numpy.tanh(x[b, t] @ w + h[b] @ u)
    return h


@case('''
entry main(x: str[]) -> (y: str[], pairs: i64[]) {
  y, pairs, _ = while (y = x, k: i64[] = 0, found = str_find(x, "()")) found >= 0 {
    z = str_replace(y, "()", "")
    next z, k + (str_length(y) - str_length(z)) // 2, str_find(z, "()")
  }
}''', {'x': '((()())())()'}, {'x': '())('}, {'x': ''})
def brackets(x):
    pairs = 0
    while '()' in x:
        y = x.replace('()', '')
        pairs += (len(x) - len(y)) // 2
        x = y
    return x, pairs
