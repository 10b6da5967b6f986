"""Checks of dims in bodies: what a body needs of dims ends the step when that body runs, never before."""
import numpy

from case import Stops, case


def lengths(*pairs, **others):
    return [{'x': range(1, n + 1), 'm': range(1, m + 1), **others} for n, m in pairs]


@case('''
entry main(p: bool[], x: f32[N], m: f32[M]) -> (y: f32[]) {
  y = if p { yield sum(x[M:]) } else { yield sum(m) }
}''', *lengths((2, 3), (4, 3), (3, 3), p=False), *lengths((4, 3), (2, 3), p=True))
def a_check_in_a_branch(p, x, m):
    if p and len(x) < len(m):
        raise Stops('program.leat:2:24): axis 0 would have -M + N = -1 elements')
    return x[len(m):].sum() if p else m.sum()


@case('''
entry main(n: i32[], x: f32[N], m: f32[M]) -> (y: f32[]) {
  _, y = while (t = 0, y: f32[] = 0) t < n { next t + 1, y + sum(exp(x[M:] - 1) * 2) }
}''', *lengths((2, 3), n=0), *lengths((4, 3), n=2), *lengths((2, 3), n=2))
def a_check_in_a_loop(n, x, m):
    if n and len(x) < len(m):
        raise Stops('program.leat:2:70): axis 0 would have -M + N = -1 elements')
    return n * 2 * numpy.exp(x[len(m):] - 1).sum()


@case('''
entry main(n: i32[], x: f32[N], m: f32[M]) -> (y: f32[]) {
  s = sum(x)
  _, y = while (t = 0, y: f32[] = 0) t < n {
    next t + 1, y + sum(sort(sin(iota([2 * N - M], axis=0, dtype=f32) * s)))
  }
}''', *lengths((1, 3), (4, 3), n=0), *lengths((4, 3), (1, 3), n=2))
def what_does_not_vary_in_a_loop_is_checked_with_it(n, x, m):
    if n and 2 * len(x) < len(m):
        raise Stops('axis 0 would have -M + 2*N = -1 elements')
    return n * numpy.sin(numpy.arange(2 * len(x) - len(m)) * x.sum()).sum()


@case('''
entry main(p: bool[], x: f32[N], m: f32[M]) -> (y: f32[]) {
  y = if p { yield sum(x + m) } else { yield sum(m) }
}''', *lengths((2, 3), (9, 3), p=False), *lengths((3, 3), (2, 3), p=True))
def dims_that_must_be_equal_in_a_branch(p, x, m):
    if p and len(x) != len(m):
        raise Stops('program.leat:2:24): axis 0: M = 3 and N = 2 differ')
    return (x + m).sum() if p else m.sum()


@case('''
entry main(x: f32[N]) -> (y: f32[], z: f32[]) {
  y = if N > 0 { yield max(x) } else { yield -1 }
  z = if N > 2 { yield sum(x[N - 3:N - 1] * x[1:N - 1]) } else { yield -2 }
}''', *({'x': range(n)} for n in (0, 1, 4)))
def a_condition_that_guards_what_it_is_about(x):
    return x.max() if len(x) else -1, sum(x[-3:-1] * x[1:-1]) if len(x) > 2 else -2


@case('''
entry main(x: f32[N], m: f32[M]) -> (y: f32[], z: f32[]) {
  y = if M > 0 { yield sum(max(reshape(x, [N // M, M]), axis=1)) } else { yield -1 }
  z = if M > 0 { yield sum(ones(f32[N // M])) } else { yield -2 }
}''', *lengths((4, 0), (0, 0), (6, 3), (4, 3)))
def a_division_by_a_dim(x, m):
    if len(m) and len(x) % len(m):
        raise Stops('program.leat:2:32): axis 0: N = 4 and M*(N // M) = 3 differ')
    return (x.reshape(-1, len(m)).max(axis=1).sum(), len(x) // len(m)) if len(m) else (-1, -2)


@case('''
entry main(x: f32[N], m: f32[M]) -> (y: f32[]) {
  y = if N == M * M * 1000000 {
    a = reshape(x, [M * 1000, M * 1000])
    yield sum(a @ a)
  } else { yield sum(m) }
}''', *lengths((2, 3), (0, 0), (3, 300)))
def what_would_take_too_much_memory(x, m):
    return 0 if len(x) == len(m) == 0 else m.sum()


@case('''
entry main(p: bool[], q: bool[], x: f32[N], m: f32[M]) -> (y: f32[]) {
  _, y = while (t = 0, y = 0.5) t < 3 {
    z = if p {
      s = sum(x[M:])
      print("in", s)
      a = if q { yield sum(x[M:] + x[N - 2:]) } else { yield s }
      yield a
    } else {
      print("out", t)
      b = if q { yield 2 * sum(m[N:]) } else { yield 0.25 }
      yield b
    }
    next t + 1, y + z
  }
}''', *({**one, 'p': p, 'q': q} for one in lengths((2, 3), (5, 3)) for p in (True, False) for q in (True, False)))
def checks_in_bodies_in_bodies(p, q, x, m):
    y, n, k = numpy.float32(0.5), len(x), len(m)
    for t in range(3):
        if p and n < k:
            raise Stops('program.leat:4:15): axis 0 would have -M + N = -1 elements')
        if p:
            print('in', x[k:].sum())
            y += (x[k:] + x[n - 2:]).sum() if q else x[k:].sum()
        else:
            print('out', t)
            if q and k < n:
                raise Stops('program.leat:10:32): axis 0 would have M - N = -2 elements')
            y += 2 * m[n:].sum() if q else 0.25
    return y


@case('''
entry main(x: f32[N], m: f32[M]) -> (y: f32[], k: i64[]) {
  z = x[x > 1]
  k = size(z)
  y = if sum(m) > 2 { yield sum(z * m) } else { yield -1 }
}''', *lengths((4, 1), (3, 2), (5, 2)))
def an_extent_that_the_step_has_found(x, m):
    z = x[x > 1]
    if m.sum() > 2 and len(z) != len(m):
        raise Stops('program.leat:4:33): axis 0: ?1 = 4 and M = 2 differ')
    return (z * m).sum() if m.sum() > 2 else -1, len(z)


@case('''
entry main(p: bool[], x: f32[N], m: f32[M]) -> (y: f32[], g: f32[N]) {
  y = if p { yield sum(square(x[M:])) } else { yield sum(x * 3) }
  g = grad(y, x)
}''', *lengths((2, 3), (4, 3), p=False), *lengths((4, 3), (2, 3), p=True))
def the_gradient_of_a_branch_with_a_check(p, x, m):
    if p and len(x) < len(m):
        raise Stops('axis 0 would have -M + N = -1 elements')
    one = numpy.where(numpy.arange(len(x)) >= len(m), 2 * x, 0)
    return (numpy.square(x[len(m):]).sum(), one) if p else (x.sum() * 3, 0 * x + 3)


@case('''
entry main(k: f32[K], x: f32[N], m: f32[M], u: f32[99, 99]) -> (g: f32[]) {
  t, h = while (t: i64[] = 0, h: f32[] = 0) t < K {
    a = iota([2 * N - M, 99], axis=0, dtype=f32) * (h + k[t])
    next t + 1, h + sum(a @ u)
  }
  g = sum(grad(h, u))
}''', *({**one, 'k': k, 'u': numpy.ones((99, 99))} for one in lengths((3, 2), (1, 3)) for k in ([], [1e-7, 2e-7])),
      tolerance=100)
def what_a_gradient_adds_up_behind_a_loop(k, x, m, u):
    rows = 2 * len(x) - len(m)
    if len(k) and rows < 0:
        raise Stops('axis 0 would have -M + 2*N = -1 elements')
    h, g, each, a = 0, 0, numpy.arange(rows).sum() * 99.0**2, numpy.float64(k)
    for value in a:  # dh/du, in all
        g, h = g + each * (h + value) + g * each, h + each * (h + value)
    return g
