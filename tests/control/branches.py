"""`if`: which branch runs, what it yields, and how branches and loops stand in each other."""
import numpy

from case import Stops, case

BOTH = ({'p': True, 'x': [1, 2, 3]}, {'p': False, 'x': [1, 2, 3]})


@case('''
entry main(p: bool[], x: f32[3]) -> (y: f32[3]) {
  y = if p { yield x * 2 } else { yield x + 1 }
}''', *BOTH)
def one_result(p, x):
    return x * 2 if p else x + 1


@case('''
entry main(p: bool[], x: f32[3]) -> (a: f32[3], b: f32[], c: i32[]) {
  a, b, c = if p {
    y = x * x
    yield y, sum(y), argmax(y)
  } else {
    z = -x
    yield z + 1, 4.5, argmax(z)
  }
}''', *BOTH)
def three_results(p, x):
    return (x * x, (x * x).sum(), 2) if p else (1 - x, 4.5, 0)


@case('''
entry main(x: f32[]) -> (y: f32[], k: i32[]) {
  y, k = if x < -1 { yield -x, 1 } else if x < 0 { yield x * 10, 2 } else if x == 0 { yield 7, 3 } else { yield x * x, 4 }
}''', *({'x': x} for x in (-5, -0.5, 0, 3)))
def an_else_if_chain(x):
    return (-x, 1) if x < -1 else (x * 10, 2) if x < 0 else (7, 3) if x == 0 else (x * x, 4)


@case('''
entry main(a: f32[], b: f32[]) -> (y: f32[]) {
  y = if a > b {
    d = a - b
    z = if d > 10 { yield d } else {
      w = if d > 5 { yield d * 2 } else { yield d * 3 + a }
      yield w - b
    }
    yield z + 1
  } else {
    yield if_not(a, b)
  }
}
fn if_not(a: f32[], b: f32[]) -> f32[] {
  y = if a == b { yield 0.5 } else { yield b - a }
  return y
}''', *({'a': a, 'b': b} for a, b in ((20, 1), (9, 1), (3, 1), (1, 1), (1, 4))))
def three_deep_branches(a, b):
    d = a - b
    if a > b:
        return (d if d > 10 else (d * 2 if d > 5 else d * 3 + a) - b) + 1
    return 0.5 if a == b else b - a


@case('''
entry main(p: bool[], x: f32[3]) -> (y: f32[3], z: f32[3]) {
  y, z = if p { yield x, x } else { yield x, x * 2 }
}''', *BOTH)
def what_is_captured_is_yielded(p, x):
    return x, x if p else x * 2


@case('''
entry main(p: bool[], x: f32[3]) -> (y: f32[3], z: f32[3]) {
  w = x + 1
  y, z = if p { yield x, w } else { yield w, x }
}''', *BOTH)
def a_swap_by_condition(p, x):
    return (x, x + 1) if p else (x + 1, x)


@case('''
entry main(p: bool[]) -> (y: f32[2], z: i64[], s: str[]) {
  y, z, s = if p { yield [1.0, 2.0], cast(5, i64), "yes" } else { yield zeros(f32[2]), cast(6, i64), "no" }
}''', {'p': True}, {'p': False})
def constants_are_yielded(p):
    return ([1, 2], 5, 'yes') if p else ([0, 0], 6, 'no')


@case('''
entry main(p: bool[], x: f64[3]) -> (y: f64[], z: f64[3]) {
  y, z = if p { yield 1, x } else { yield x[0] * 0.1, 0 * x }
}''', *BOTH)
def a_literal_takes_the_dtype_of_the_other(p, x):
    return (1, x) if p else (x[0] * 0.1, 0 * x)


@case('''
entry main(p: bool[], x: f32[3]) -> (y: f32[3]) {
  y, _ = if p { yield x * 2, sum(x) } else { yield x + 1, max(x) }
}''', *BOTH)
def a_branch_s_result_that_nobody_uses(p, x):
    return x * 2 if p else x + 1


@case('''
entry main(x: f32[N]) -> (y: f32[]) {
  y = if N > 3 { yield sum(x) } else { yield prod(x) }
}''', {'x': [1, 2, 3]}, {'x': [1, 2, 3, 4]}, {'x': []})
def a_condition_of_a_dim(x):
    return x.sum() if len(x) > 3 else x.prod()


@case('''
entry main(x: f32[3], i: i32[3]) -> (y: f32[], z: f32[]) {
  y = if all(i >= 0) and all(i < 3) { yield sum(gather(x, i)) } else { yield nan }
  z = if i[0] != 0 { yield cast(6 // i[0], f32) } else { yield -1 }
}''', {'x': [1, 2, 3], 'i': [2, 2, 0]}, {'x': [1, 2, 3], 'i': [0, 3, 1]}, {'x': [1, 2, 3], 'i': [-3, 0, 1]})
def what_would_fail_stands_in_a_branch(x, i):
    inside = (i >= 0).all() and (i < 3).all()
    return x[i].sum() if inside else numpy.nan, int(6 / i[0]) if i[0] else -1


@case('''
entry main(p: bool[], i: i32[], x: f32[3]) -> (y: f32[]) {
  y = if p { yield x[i] } else { yield 0.5 }
}''', {'p': False, 'i': 7, 'x': [1, 2, 3]}, {'p': True, 'i': 1, 'x': [1, 2, 3]}, {'p': True, 'i': 7, 'x': [1, 2, 3]})
def only_the_branch_that_runs_fails(p, i, x):
    if p and i > 2:
        raise Stops('index 7 is out of range for an axis of 3')
    return x[i] if p else 0.5


@case('''
entry main(p: bool[], n: i32[], x: f32[3]) -> (y: f32[3], k: i32[]) {
  y, k = if p {
    t, z = while (t = 0, z = x) t < n { next t + 1, z * 2 }
    yield z, t
  } else {
    t, z = while (t = 10, z = x) t > n { next t - 1, z + 1 }
    yield z, t
  }
}''', *({**one, 'n': n} for one in BOTH for n in (0, 3)))
def loops_in_branches(p, n, x):
    return (x * 2.0**n, n) if p else (x + 10 - n, n)


@case('''
entry main(n: i32[], x: f32[3]) -> (y: f32[3]) {
  _, y = while (t = 0, y = x) t < n {
    z = if t % 2 == 0 { yield y * 2 } else { yield y + x }
    next t + 1, z
  }
}''', *({'n': n, 'x': [1, 2, 3]} for n in (0, 1, 2, 5)))
def a_branch_in_a_loop(n, x):
    y = x
    for t in range(n):
        y = y * 2 if t % 2 == 0 else y + x
    return y


@case('''
entry main(n: i32[]) -> (three: i32[], five: i32[], both: i32[], text: str[]) {
  _, three, five, both, text = while (t = 1, a = 0, b = 0, c = 0, s = "") t <= n {
    d, e, f, said = if t % 15 == 0 {
      yield a, b, c + 1, "FizzBuzz"
    } else if t % 5 == 0 {
      yield a, b + 1, c, "Buzz"
    } else if t % 3 == 0 {
      yield a + 1, b, c, "Fizz"
    } else {
      yield a, b, c, number_to_str(t)
    }
    next t + 1, d, e, f, s + said + " "
  }
}''', {'n': 0}, {'n': 31})
def a_chain_in_a_loop(n):
    turns = range(1, int(n) + 1)
    said = ['FizzBuzz' if t % 15 == 0 else 'Buzz' if t % 5 == 0 else 'Fizz' if t % 3 == 0 else str(t) for t in turns]
    return said.count('Fizz'), said.count('Buzz'), said.count('FizzBuzz'), ''.join(word + ' ' for word in said)


@case('''
entry main(n: i32[]) -> (s: i32[]) {
  _, s = while (t = 0, s = 0) t < n {
    a = if t % 2 == 1 {
      _, b = while (u = 0, r = s) u < t {
        c = if u % 3 == 0 { yield r + t } else { yield r - 1 }
        next u + 1, c
      }
      yield b
    } else { yield s + 1 }
    next t + 1, a
  }
}''', {'n': 0}, {'n': 2}, {'n': 12})
def branches_in_loops_in_branches_in_loops(n):
    s = 0
    for t in range(n):
        s = sum([t if u % 3 == 0 else -1 for u in range(t)], s) if t % 2 else s + 1
    return s


@case('''
fn larger(a: T[...D], b: T[...D]) -> T[...D] {
  y = if sum(a) > sum(b) { yield a } else { yield b }
  return y
}
entry main(x: f32[3], y: f32[3], i: i64[2]) -> (a: f32[3], b: i64[2]) {
  a = larger(x * 2, larger(y, x))
  b = larger(i, i * 2)
}''', {'x': [1, 2, 3], 'y': [9, 0, 0], 'i': [1, 2]}, {'x': [1, 2, 3], 'y': [9, 9, 0], 'i': [-1, -2]})
def a_function_with_a_branch(x, y, i):
    larger = lambda a, b: a if a.sum() > b.sum() else b
    return larger(x * 2, larger(y, x)), larger(i, i * 2)


@case('''
entry main(p: bool[], q: bool[], x: f32[3]) -> (y: f32[3]) {
  a = if p { yield x * 2 } else { yield x }
  b = if q { yield a + 1 } else { yield a }
  y = if p and q { yield a * b } else { yield a - b }
}''', *({'p': p, 'q': q, 'x': [1, 2, 3]} for p in (True, False) for q in (True, False)))
def one_branch_after_the_other(p, q, x):
    a = x * 2 if p else x
    b = a + 1 if q else a
    return a * b if p and q else a - b


@case('''
entry main(p: bool[], x: f32[3]) -> (a: f32[3], b: f32[3]) {
  for i in 0..3 { z[i] = if p { yield x * i } else { yield x + i } }
  a = z[0] + z[1]
  b = z[2]
}''', *BOTH)
def a_family_of_branches(p, x):
    return (x, x * 2) if p else (2 * x + 1, x + 2)


@case('''
graph g(deep: bool = true)
entry main(p: bool[], x: f32[3]) -> (y: f32[3]) {
  y = if p {
    if deep { z = x * 3 } else { z = x }
    yield z
  } else {
    for i in 0..2 { w[i] = x - i }
    yield w[0] + w[1]
  }
}''', *BOTH)
def compile_time_words_in_branches(p, x):
    return x * 3 if p else 2 * x - 1


@case('''
entry main(p: bool[], x: f32[3]) -> (y: f32[3]) {
  q = p and x[0] > 0
  y = if q { yield x * 2 } else { yield x + 1 }
}''', {'p': True, 'x': [1, 2, 3]}, {'p': True, 'x': [-1, 2, 3]}, {'p': False, 'x': [1, 2, 3]},
      {'p': False, 'x': [1, 2, 3], 'q': True})
def a_condition_that_is_fed(p, x, q=None):
    return x * 2 if (q if q is not None else p and x[0] > 0) else x + 1


@case('''
entry main(p: bool[], x: f32[N]) -> (y: f32[N], n: i64[]) {
  y, n = if p { yield x[::-1], N } else { yield sort(x), N - 1 }
}''', *BOTH)
def dims_in_branches(p, x):
    return (x[::-1], 3) if p else (numpy.sort(x), 2)


@case('''
entry main(p: bool[], x: f32[40, 40], b: f32[40]) -> (y: f32[40]) {
  y = if p {
    l = cholesky(x @ transpose(x) + eye(40))
    yield triangular_solve(l, b[:, None], lower=true)[:, 0]
  } else {
    yield softmax(x @ b) + sum(x, axis=0)
  }
}''', *({'p': p, 'x': numpy.sin(numpy.arange(1600)).reshape(40, 40), 'b': numpy.cos(numpy.arange(40))}
        for p in (True, False)), tolerance=1000)
def heavy_ops_in_branches(p, x, b):
    x, b = x.astype('f8'), b.astype('f8')
    if p:
        return numpy.linalg.solve(numpy.linalg.cholesky(x @ x.T + numpy.eye(40)), b)
    z = numpy.exp(x @ b - (x @ b).max())
    return z / z.sum() + x.sum(0)


@case('''
entry main(p: bool[], x: f32[3]) -> (y: f32[3]) {
  z = if true { yield x * 2 } else { yield x + 1 }
  y = if p { yield z } else { yield x }
}''', *BOTH)
def a_condition_that_is_known(p, x):
    return x * 2 if p else x
