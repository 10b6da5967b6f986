"""Jacobians and Hessians, of regions and in them, and what is done with them. Oracles are complex steps, too, for second
derivatives their central differences."""
import numpy

from case import case
from gradients import X, slopes


def jacobian(f, x):
    """Of a vector that f makes of one, of any dtype."""
    columns = [numpy.asarray(f(x + 1e-30j * unit)).imag / 1e-30 for unit in numpy.eye(len(x))]
    return numpy.stack(columns, -1)


def hessian(f, x, h=1e-4):
    """Of a number, by differences of fourth order."""
    first = lambda x: slopes(f, x)[0]
    return numpy.stack([(first(x - 2 * d) - 8 * first(x - d) + 8 * first(x + d) - first(x + 2 * d)) / (12 * h)
                        for d in h * numpy.eye(len(x))])


# -- Of regions -------------------------------------------------------------------------------------------------------

@case('''
entry main(x: f64[3], v: f64[3], n: i32[]) -> (j: f64[3, 3], along: f64[3], h: f64[3, 3], hv: f64[3]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, sin(y) * x[::-1] + y }
  j = jacobian(y, x)
  along = jvp(y, x, v)
  h = hessian(sum(y * y), x)
  hv = jvp(grad(sum(y * y), x), x, v)
}''', *({'x': X, 'v': [1, 0.5, -2], 'n': n} for n in (0, 4)), tolerance=1e6)
def derivatives_of_a_fed_count(x, v, n):
    def f(x):
        y = x
        for _ in range(n):
            y = numpy.sin(y) * x[::-1] + y
        return y
    j, h = jacobian(f, x), hessian(lambda x: (f(x)**2).sum(), x)
    return j, j @ v, h, h @ v


@case('''
entry main(x: f64[2], limit: f64[]) -> (j: f64[2, 2], h: f64[2, 2]) {
  y = while (y = x) sum(y) < limit { next y * x[::-1] + 1 }
  j = jacobian(y, x)
  h = hessian(sum(y), x)
}''', *({'x': [1.5, 1.25], 'limit': limit} for limit in (1, 10, 1000)), tolerance=1e7)
def derivatives_of_a_loop_that_data_ends(x, limit):
    def f(x):
        y = x
        while y.sum().real < limit:
            y = y * x[::-1] + 1
        return y
    return jacobian(f, x), hessian(lambda x: f(x).sum(), x)


@case('''
entry main(p: bool[], x: f64[N]) -> (j: f64[N, N], h: f64[N, N]) {
  y = if p { yield x * sum(x) } else { yield x[::-1] * x * x }
  j = jacobian(y, x)
  h = hessian(sum(y * y), x)
}''', *({'p': p, 'x': x} for p in (True, False) for x in ([], [0.5, 2, -1])), tolerance=1e7)
def derivatives_of_a_branch(p, x):
    if not len(x):
        return numpy.zeros((0, 0)), numpy.zeros((0, 0))
    f = lambda x: x * x.sum() if p else x[::-1] * x * x
    return jacobian(f, x), hessian(lambda x: (f(x)**2).sum(), x)


@case('''
fn step(c: f64[3], x: f64[3]) { return tanh(c * x) + x[::-1], sum(c * x) }
entry main(x: f64[T, 3], c: f64[3]) -> (h: f64[3, 3], j: f64[T, 3], back: f64[T, 3]) {
  last, ys = scan(step, c, x)
  h = hessian(sum(ys) + sum(last), c)
  j = jacobian(ys, c)
  _, zs = scan(step, c, x, reverse=true)
  back = jacobian(zs, c)
}''', {'x': numpy.sin(numpy.arange(12)).reshape(4, 3), 'c': X}, tolerance=1e6)
def derivatives_of_a_scan(x, c):
    def f(c, x):
        ys = []
        for row in x:
            ys.append((c * row).sum())
            c = numpy.tanh(c * row) + row[::-1]
        return numpy.stack(ys), c
    h = hessian(lambda c: f(c, x)[0].sum() + f(c, x)[1].sum(), c)
    return h, jacobian(lambda c: f(c, x)[0], c), jacobian(lambda c: f(c, x[::-1])[0][::-1], c)


# -- In regions -------------------------------------------------------------------------------------------------------

@case('''
entry main(x: f64[B, 2], p: bool[]) -> (y: f64[B, 2, 2], dx: f64[B, 2]) {
  y = if p { yield map(local, x) } else { yield zeros(f64[B, 2, 2]) }
  dx = grad(sum(y * y), x)
}
fn local(x: f64[2]) -> f64[2, 2] { return jacobian(stack([x[0] * x[1], sin(x[1]) * x[0] * x[0]]), x) }
''', *({'x': [[0.5, 1], [2, -1], [0, 3]], 'p': p} for p in (True, False)), {'x': numpy.zeros((0, 2)), 'p': True})
def jacobians_of_rows(x, p):
    def local(x):
        a, b = x
        return numpy.array([[b, a], [2 * a * numpy.sin(b), a * a * numpy.cos(b)]])
    if not p or not len(x):
        return numpy.zeros((len(x), 2, 2)), 0 * x
    return numpy.stack([local(row) for row in x]), slopes(lambda x: sum((local(row)**2).sum() for row in x), x)[0]


@case('''
entry main(x: f64[3], n: i32[]) -> (near: bool[], random: bool[]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, y * (uniform(0, 1, out=f64[3]) + 0.5) }
  j = jacobian(y, x)
  near = max(abs(j @ x - y)) < 1e-12
  random = any(abs(j @ ones(f64[3]) - 1) > 0.01)
}''', {'x': [1, 2, 3], 'n': 5})
def a_jacobian_has_the_random_numbers_of_the_turns(x, n):
    return True, True


@case('''
var w: f64[2] = 0.5
entry main(x: f64[N]) -> (j: f64[N, 2], h: f64[2, 2], along: f64[N], at: f64[2]) {
  y = w[0] * exp(w[1] * x)
  j = jacobian(y, w)
  along = jvp(y, w, [1, -1])
  h = hessian(sum(y), [w])[0][0]
  w := w + 1
  at = w
}''', {'x': [0, 1, 2.5]})
def jacobians_of_a_variable(x):
    w = numpy.full(2, 0.5)
    j = jacobian(lambda w: w[0] * numpy.exp(w[1] * x), w)
    e = numpy.exp(w[1] * x)
    h = [[0, (x * e).sum()], [(x * e).sum(), (w[0] * x * x * e).sum()]]
    return j, h, j @ [1, -1], w + 1


# -- What they are for ------------------------------------------------------------------------------------------------

@case('''
fn rosenbrock(x: f64[N]) -> f64[] { return sum(100 * square(x[1:] - square(x[:-1])) + square(1 - x[:-1])) }
entry main(start: f64[N]) -> (x: f64[N], t: i32[]) {
  x, t, _ = while (x = start, t = 0, g = grad(rosenbrock(start), start)) norm(g) > 1e-9 and t < 50 {
    y = rosenbrock(x)
    z = x - solve(hessian(y, x), grad(y, x))
    next z, t + 1, grad(rosenbrock(z), z)
  }
}''', {'start': [-1.2, 1]}, {'start': [1, 1, 1]}, {'start': [1.1, 0.9, 0.8, 1.2]}, tolerance=1e3)
def newton_on_rosenbrock(start):
    def first(x):
        g = numpy.zeros(len(x))
        g[:-1] += -400 * x[:-1] * (x[1:] - x[:-1]**2) - 2 * (1 - x[:-1])
        g[1:] += 200 * (x[1:] - x[:-1]**2)
        return g

    def second(x):
        h = numpy.zeros((len(x), len(x)))
        for i in range(len(x) - 1):
            h[i, i] += 1200 * x[i]**2 - 400 * x[i + 1] + 2
            h[i, i + 1] = h[i + 1, i] = -400 * x[i]
            h[i + 1, i + 1] += 200
        return h
    x, t = start, 0
    while numpy.linalg.norm(first(x)) > 1e-9 and t < 50:
        x, t = x - numpy.linalg.solve(second(x), first(x)), t + 1
    return x, t


@case('''
fn model(w: f64[2], x: f64[N]) -> f64[N] { return w[0] * (1 - exp(-w[1] * x)) }
entry main(x: f64[N], y: f64[N], steps: i32[]) -> (w: f64[2], dy: f64[2, N]) {
  first: f64[2] = [1, 0.5]
  _, w = while (t = 0, w = first) t < steps {
    r = model(w, x) - y
    j = jacobian(r, w)
    next t + 1, w - solve(transpose(j) @ j + 1e-3 * eye(2, dtype=f64), transpose(j) @ r)
  }
  dy = jacobian(w, y)
}''', {'x': [0.5, 1, 2, 4, 8], 'y': [0.7, 1.3, 1.9, 2.6, 2.9], 'steps': 6}, {'x': [1], 'y': [1], 'steps': 1}, tolerance=1e4)
def gauss_newton(x, y, steps):
    def f(y):
        w = numpy.array([1, 0.5])
        for _ in range(steps):
            e = numpy.exp(-w[1] * x)
            r, j = w[0] * (1 - e) - y, numpy.stack([1 - e, w[0] * x * e], 1)
            w = w - numpy.linalg.solve(j.T @ j + 1e-3 * numpy.eye(2), j.T @ r)
        return w
    return f(y), jacobian(f, y)


@case('''
fn slope(y: f64[2], k: f64[]) -> f64[2] { return stack([y[1], k * (1 - y[0] * y[0]) * y[1] - y[0]]) }
entry main(y0: f64[2], k: f64[], h: f64[], n: i32[]) -> (y: f64[2], by_start: f64[2, 2], by_k: f64[2], dk: f64[]) {
  _, y = while (t = 0, y = y0) t < n {
    a = slope(y, k)
    b = slope(y + h / 2 * a, k)
    c = slope(y + h / 2 * b, k)
    d = slope(y + h * c, k)
    next t + 1, y + h / 6 * (a + 2 * b + 2 * c + d)
  }
  by_start = jacobian(y, y0)
  by_k = jvp(y, k, 1)
  dk = grad(sum(y * y), k)
}''', *({'y0': [2, 0], 'k': 1.5, 'h': 0.05, 'n': n} for n in (0, 1, 60)), tolerance=1e3)
def runge_kutta_differentiated(y0, k, h, n):
    def f(y, k):
        slope = lambda y: numpy.array([y[1], k * (1 - y[0]**2) * y[1] - y[0]])
        for _ in range(n):
            a = slope(y)
            b = slope(y + h / 2 * a)
            c = slope(y + h / 2 * b)
            y = y + h / 6 * (a + 2 * b + 2 * c + slope(y + h * c))
        return y
    by_k = jacobian(lambda k: f(y0, k[0]), numpy.array([k]))[:, 0]
    return f(y0, k), jacobian(lambda y: f(y, k), y0), by_k, 2 * f(y0, k) @ by_k


@case('''
entry main(y0: f64[], k: f64[], until: f64[]) -> (y: f64[], dy0: f64[], dk: f64[], d2k: f64[]) {
  _, y, _ = while (t: f64[] = 0, y = y0, h: f64[] = 0.5) t < until {
    s = stop_gradient(minimum(h, until - t))
    one = y - s * k * y * y
    middle = y - s * 0.5 * k * y * y
    two = middle - s * 0.5 * k * middle * middle
    u, z, l = if abs(two - one) < 1e-3 { yield t + s, 2 * two - one, h * 1.5 } else { yield t, y, h * 0.5 }
    next u, z, l
  }
  dy0, dk = grad(y, [y0, k])
  d2k = hessian(y, k)
}''', {'y0': 3, 'k': 0.75, 'until': 2}, {'y0': 3, 'k': 0.75, 'until': 0}, tolerance=1e7)
def steps_of_their_own_size_differentiated(y0, k, until):
    def f(y, k):
        t, h = 0.0, 0.5
        while t < until:
            s = min(h, until - t)
            one, middle = y - s * k * y * y, y - s * 0.5 * k * y * y
            two = middle - s * 0.5 * k * middle * middle
            t, y, h = (t + s, 2 * two - one, h * 1.5) if abs((two - one).real) < 1e-3 else (t, y, h * 0.5)
        return y + 0 * k
    return f(y0, k), *slopes(f, y0, k), hessian(lambda k: f(y0, k[0]), numpy.array([k]))[0, 0]


@case('''
entry main(z: f64[N], q: f64[], r: f64[]) -> (likely: f64[], dq: f64[], dr: f64[], dz: f64[N], h: f64[2, 2]) {
  a: f64[2, 2] = [[1, 1], [0, 1]]
  ten: f64[2, 2] = [[10, 0], [0, 10]]
  _, _, _, likely = while (t: i64[] = 0, x = zeros(f64[2]), p = ten, l: f64[] = 0) t < N {
    x1 = a @ x
    p1 = a @ p @ transpose(a) + q * eye(2, dtype=f64)
    s = p1[0, 0] + r
    e = z[t] - x1[0]
    k = p1[:, 0] / s
    next t + 1, x1 + k * e, p1 - outer(k, p1[0]), l - 0.5 * (log(s) + e * e / s)
  }
  dq, dr, dz = grad(likely, [q, r, z])
  b = hessian(likely, [q, r])
  h = stack([stack(b[0]), stack(b[1])])
}''', {'z': [1.1, 1.9, 3.2, 4.0, 5.1], 'q': 0.01, 'r': 0.5}, {'z': [3], 'q': 0.1, 'r': 2}, tolerance=1e7)
def kalman_filter_differentiated(z, q, r):
    def f(z, q, r):
        a = numpy.array([[1.0, 1], [0, 1]])
        x, p, likely = numpy.zeros(2), numpy.eye(2) * 10, 0 * q
        for one in z:
            x, p = a @ x, a @ p @ a.T + q * numpy.eye(2)
            s, e, k = p[0, 0] + r, one - x[0], p[:, 0] / (p[0, 0] + r)
            x, p, likely = x + k * e, p - numpy.outer(k, p[0]), likely - 0.5 * (numpy.log(s) + e * e / s)
        return likely
    dz, dq, dr = slopes(f, z, q, r)
    return f(z, q, r), dq, dr, dz, hessian(lambda b: f(z, b[0], b[1]), numpy.array([q, r]))


@case('''
fn weights(out: type) { return 0.5 * cos(cast(reshape(iota([size(out)]), shape(out)), dtype(out))) }
fn net(x: f64[B, S, 2], n: i32[B]) -> f64[B] {
  h = gru(x, units=3, init=weights, lengths=n) as cell
  y = dense(h[:, -1], units=1, init=weights) as out
  return y[:, 0]
}
entry main(x: f64[B, T, 2], n: i32[B], y: f64[B]) -> (looped: f64[5], unrolled: f64[5], curve: f64[5]) {
  fixed = ensure_shape(x, shape=[3, 4, 2])
  _, looped, unrolled = while (t = 0, a = zeros(f64[5]), b = zeros(f64[5])) t < 5 {
    loss = mean(square((net(x, n) as looped) - y))
    minimize(loss, sgd, lr=0.5)
    known = mean(square((net(fixed, ensure_shape(n, shape=[3])) as unrolled) - ensure_shape(y, shape=[3])))
    minimize(known, sgd, lr=0.5)
    next t + 1, scatter_set(a, t, loss, axis=0), scatter_set(b, t, known, axis=0)
  }
  curve = looped
}''', {'x': numpy.sin(numpy.arange(24)).reshape(3, 4, 2), 'n': [4, 1, 3], 'y': [1, -1, 0.5]}, tolerance=1e3)
def lengths_that_vary_train_as_unrolled(x, n, y):
    sizes = [(2, 9), (3, 9), (9,), (3,), (3, 1), (1,)]
    start = lambda shape: 0.5 * numpy.cos(numpy.arange(numpy.prod(shape))).reshape(shape)
    at = [start(shape) if len(shape) == 2 else numpy.zeros(shape) for shape in sizes]
    sigmoid = lambda v: 1 / (1 + numpy.exp(-v))

    def loss(w, u, b, v, o, c):
        total = 0
        for row, count, want in zip(x, n, y):
            h = numpy.zeros(3)
            for one in row[:count]:
                from_x, from_h = numpy.split(one @ w + b, 3), numpy.split(h @ u, 3)
                reset, update = sigmoid(from_x[0] + from_h[0]), sigmoid(from_x[1] + from_h[1])
                h = update * h + (1 - update) * numpy.tanh(from_x[2] + reset * (from_h[2] + v))
            total = total + ((h @ o + c)[0] - want)**2 / len(x)
        return total
    curve = []
    for _ in range(5):
        curve.append(loss(*at))
        at = [a - 0.5 * g for a, g in zip(at, slopes(loss, *at))]
    return curve, curve, curve
