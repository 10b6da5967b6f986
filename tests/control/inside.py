"""What is fetched of the inside of a branch or a loop: of a loop the last iteration's, or all."""
import numpy

from case import Stops, case

BRANCH = 'in a branch that was not taken'
NONE = 'in a loop that had no iteration'
LAST = 'in a branch that the last iteration did not take'
SOME = 'in some iteration `t/q/a:all` was in a branch that was not taken'


def stops(words):
    raise Stops(words)


@case('''
entry main(p: bool[], x: f32[3]) -> (y: f32[3]) {
  y = if p {
    u = x * x
    yield u + 1
  } else {
    yield x
  }
}''', {'p': True, 'x': [1, 2, 3]}, {'p': False, 'x': [1, 2, 3]}, fetch={'y/u': 'f32'})
def a_value_of_a_branch(p, x):
    return (x * x + 1, x * x) if p else stops(f'`y/u` is {BRANCH}')


@case('''
entry main(x: str[]) -> (y: str[]) {
  y = if x == "a" {
    u = x + "b"
    yield u + "c"
  } else {
    v = "d" + x
    yield v
  }
}''', {'x': b'z'}, {'x': b'a'}, fetch={'y/u': 'str'})
def a_string_of_a_branch(x):
    return (b'abc', b'ab') if x == 'a' else stops(f'`y/u` is {BRANCH}')


@case('''
entry main(a: f32[]) -> (y: f32[]) {
  y = if a > 0 {
    z = if a > 10 {
      w = a * 2
      yield w - 1
    } else { yield a }
    yield z
  } else { yield 0 }
}''', {'a': -1}, {'a': 1}, {'a': 11}, fetch={'y/z/w': 'f32', 'y/z': 'f32'})
def a_value_of_a_branch_of_a_branch(a):
    return (a * 2 - 1, a * 2, a * 2 - 1) if a > 10 else stops(f'`y/z/w` is {BRANCH}')


TURNS = '''
entry main(x: f32[N], n: i64[]) -> (h: f32[N]) {
  t, h = while (t: i64[] = 0, h = x) %s {
    z = h * 2
    s = sum(z) > 20
    next t + 1, z + 1
  }
}'''


def turns(x, n):
    """(h, h of each iteration)"""
    rows = []
    for _ in range(n):
        rows.append(x)
        x = x * 2 + 1
    return x, numpy.array(rows, 'f4').reshape(n, len(x))


@case(TURNS % 't < n', {'x': [1, 2], 'n': 3}, {'x': [1], 'n': 0}, {'x': [], 'n': 2}, {'x': [1, 2, 3], 'n': 5},
      fetch={'t/h:all': 'f32', 't/z:all': 'f32', 't/s:all': 'bool', 't/t:all': 'i64'})
def all_iterations_counted_first(x, n):
    h, rows = turns(x, int(n))
    return h, rows, rows * 2, (rows * 2).sum(1) > 20, numpy.arange(n)


@case(TURNS % 't < n', {'x': [1, 2], 'n': 3}, {'x': [1], 'n': 0}, {'x': [1, 2, 3], 'n': 5},
      fetch={'t/h': 'f32', 'h/z': 'f32', 't/s': 'bool', 'h/t': 'i64'})
def the_last_iteration(x, n):
    h, rows = turns(x, int(n))
    return (h, rows[-1], rows[-1] * 2, (rows[-1] * 2).sum() > 20, n - 1) if n else stops(NONE)


@case(TURNS % 't < 4', {'x': [1, 2], 'n': 0}, {'x': [3], 'n': 0}, fetch={'t/z:all': 'f32', 't/z': 'f32', 't/h': 'f32'})
def all_of_four_iterations(x, n):
    h, rows = turns(x, 4)
    return h, rows * 2, rows[-1] * 2, rows[-1]


@case('''
entry main(x: f32[N]) -> (h: f32[]) {
  t, h = while (t: i8[] = 0, h: f32[] = 0) t < cast(N, i8) { next t + 1, h + 1 }
}''', *({'x': numpy.zeros(n)} for n in (3, 300, 200, 0)), fetch={'t/h:all': 'f32'})
def as_many_iterations_as_a_dim_in_8_bits(x):
    turns = max(int(numpy.int64(len(x)).astype('i1')), 0)
    return turns, numpy.arange(turns)


@case(TURNS % 't < N', {'x': [1, 2], 'n': 0}, {'x': [], 'n': 0}, {'x': [1, 2, 3], 'n': 0}, fetch={'t/z:all': 'f32'})
def as_many_iterations_as_a_dim(x, n):
    h, rows = turns(x, len(x))
    return h, rows * 2


@case(TURNS % 't < 9 and max(h) < 30', {'x': [1, 2], 'n': 0}, {'x': [40], 'n': 0}, {'x': [1, 2, 3], 'n': 0},
      fetch={'t/z:all': 'f32'})
def fewer_iterations_than_a_bound(x, n):
    count = 0
    while count < 9 and turns(x, count)[0].max() < 30:
        count += 1
    h, rows = turns(x, count)
    return h, rows * 2


@case('''
entry main(n: i64[]) -> (s: f32[]) {
  t, s = while (t: i64[] = 0, s: f32[] = 1) t < n {
    q = if s < 10 {
      a = s * 3
      print("turn", t)
      yield a
    } else {
      b = s + 1
      yield b
    }
    next t + 1, q
  }
}''', {'n': 0}, {'n': 2}, {'n': 4}, fetch={'t/q/a:all': 'f32', 't/q:all': 'f32'})
def all_of_a_branch_in_a_loop(n):
    s, rows, taken = numpy.float32(1), [], True
    for t in range(int(n)):
        taken = taken and s < 10
        if s < 10:
            print('turn', t)
        s = s * 3 if s < 10 else s + 1
        rows.append(s)
    return (s, rows, rows) if taken else stops(SOME)


@case('''
entry main(n: i64[]) -> (s: f32[]) {
  t, s = while (t: i64[] = 0, s: f32[] = 1) t < n {
    q = if s > 2 {
      a = s + 1
      yield a
    } else { yield s * 3 }
    next t + 1, q
  }
}''', {'n': 3}, fetch={'t/q/a:all': 'f32'})
def the_first_iteration_has_no_value(n):
    stops(SOME)


@case('''
entry main(n: i64[]) -> (s: f32[]) {
  t, s = while (t: i64[] = 0, s: f32[] = 1) t < n {
    q = if s < 10 {
      a = s * 3
      yield a
    } else { yield s + 1 }
    next t + 1, q
  }
}''', {'n': 0}, {'n': 4}, {'n': 2}, fetch={'t/q/a': 'f32'})
def the_last_of_a_branch_in_a_loop(n):
    return (9, 9) if n == 2 else stops(LAST)


NESTED = '''
entry main(x: f32[N], n: i64[]) -> (s: f32[N]) {
  i, s = while (i: i64[] = 0, s = x) i < n {
    j, r = while (j: i64[] = 0, r = s) j < %s {
      v = r + cast(i * 10 + j, f32)
      next j + 1, v
    }
    next i + 1, r * 0.5
  }
}'''


def nested(x, n, inner):
    every = []
    for i in range(int(n)):
        every.append([])
        for j in range(inner(i)):
            x = x + numpy.float32(i * 10 + j)
            every[-1].append(x)
        x = x * numpy.float32(0.5)
    return x, every


@case(NESTED % '3', {'x': [1, 2], 'n': 2}, {'x': [1, 2], 'n': 0}, {'x': [], 'n': 2}, fetch={'i/j/v:all': 'f32'})
def all_of_all_iterations(x, n):
    s, every = nested(x, n, lambda i: 3)
    return s, numpy.array(every, 'f4').reshape(int(n), 3, len(x))


@case(NESTED % 'N', {'x': [1, 2], 'n': 2}, {'x': [1, 2, 3], 'n': 1}, fetch={'i/j/v:all': 'f32', 'i/j/v': 'f32'})
def all_of_all_of_a_dim(x, n):
    s, every = nested(x, n, lambda i: len(x))
    return s, every, every[-1][-1]


@case(NESTED % '2 - i', {'x': [1, 2], 'n': 2}, {'x': [1, 2], 'n': 3}, fetch={'i/j/v': 'f32', 'i/r:all': 'f32'})
def the_last_of_the_last_iteration(x, n):
    if n == 3:
        stops(NONE)
    s, every = nested(x, n, lambda i: 2 - i)
    return s, every[-1][-1], [[*rows][-1] for rows in every]


@case('''
entry main(p: bool[], x: f32[N]) -> (y: f32[N]) {
  y = if p {
    t, h = while (t: i32[] = 0, h = x) t < 3 {
      z = h * 2
      next t + 1, z
    }
    yield h
  } else { yield x }
}''', {'p': True, 'x': [1, 2]}, {'p': False, 'x': [1, 2]}, fetch={'y/t/z': 'f32', 'y/t': 'i32'})
def a_loop_in_a_branch(p, x):
    return (x * 8, x * 8, 3) if p else stops('in a branch that')


@case('''
entry main(w: f32[], n: i64[]) -> (l: f32[], d: f32[]) {
  t, h = while (t: i64[] = 0, h = w) t < n {
    k = h * w
    twice = k
    next t + 1, twice + 1
  }
  l = h * h
  d = grad(l, [w])[0]
}''', {'w': 2, 'n': 1}, {'w': 0.5, 'n': 3}, fetch={'t/k:all': 'f32', 't/h:all': 'f32', 't/twice': 'f32', 'h/k': 'f32'})
def a_loop_that_gradients_go_through(w, n):
    h, slope, before, inside = w, 1.0, [], []
    for _ in range(int(n)):
        before.append(h)
        inside.append(h * w)
        h, slope = h * w + 1, slope * w + h
    return h * h, 2 * h * slope, inside, before, inside[-1], inside[-1]


@case('''
entry main(w: f32[]) -> (d: f32[]) {
  t, h = while (t = 0, h = w) t < 3 {
    k = h * w
    next t + 1, k + 1
  }
  d = grad(h, w)
}''', {'w': 0.5}, fetch={'h/k': 'f32', 'h/k:all': 'f32'})
def a_loop_of_known_turns_that_gradients_go_through(w):
    h, slope, inside = w, 1.0, []
    for _ in range(3):
        inside.append(h * w)
        h, slope = h * w + 1, slope * w + h
    return slope, inside[-1], inside


@case('''
entry main(n: i64[]) -> (t: i64[]) {
  var kept: f32[2] = 1
  t = while (t: i64[] = 0) t < n {
    kept += 1
    sum_of = sum(kept)
    next t + 1
  }
}''', {'n': 1}, {'n': 3}, fetch={'t/sum_of:all': 'f32', 't/sum_of': 'f32'})
def what_is_read_of_a_variable(n):
    return n, [2 * (2 + i) for i in range(int(n))], 2 * (n + 1)


@case('''
entry main(x: f32[2], n: i64[]) -> (h: f32[2]) {
  t, h = while (t: i64[] = 0, h = x) t < n {
    z = h * 2 on "/device:cpu:1"
    q = if z[0] > 5 {
      a = z + 1 on "/device:cpu:1"
      yield a
    } else { yield z }
    next t + 1, q
  }
}''', {'x': [1, 2], 'n': 1}, {'x': [3, 1], 'n': 3}, words=('--devices', '2'),
      fetch={'t/z:all': 'f32', 't/q/a': 'f32'}, targets=('cpu', 'ref'))
def on_two_devices(x, n):
    rows, taken = [], False
    for _ in range(int(n)):
        rows.append(x * 2)
        taken = x[0] * 2 > 5
        x = x * 2 + 1 if taken else x * 2
    return (x, rows, x) if taken else stops(LAST)


@case('''
entry main(x: f32[]) -> (y: f32[]) {
  p = if x > 0 {
    u = x * 2
    yield u
  } else { yield x }
  y = p + 1
}''', {'x': 1, 'p': 5}, fetch={'p/u': 'f32'})
def inside_of_what_is_fed(x, p):
    return p + 1, x * 2


# -- A region runs whole: what it assigns, it has assigned -------------------------------------------------------------

ASIDE = '''
var v: f32[] = 0
var w: f32[] = 7
entry aside(p: bool[]) -> (y: f32[], t: f32[], u: f32[]) {
  y = if p {
    $v += 10
    a = $v * 1
    $v := a * 2
    print("taken", a)
    yield a + 1
  } else { yield 1 }
  t, _ = while (s = 0.0, i = 0) i < 3 {
    $v += 1
    k = $v * 1
    next s + k, i + 1
  }
  $w := y
  z = if p { yield 3.0 } else { yield 4.0 }
  $w := z
  u = z + 1
}
entry main(x: f32[]) -> (h: f32[]) { h = x + 1 }'''


@case(ASIDE, {'x': 1, 'aside/p': True}, fetch={'aside/y/a': 'f32', 'v': 'f32', 'w': 'f32'})
def a_value_of_a_branch_that_assigns(**feeds):
    print('taken 10.0')
    return 2, 10, 20, 7


@case(ASIDE, {'x': 1, 'aside/p': True}, {'x': 1, 'aside/p': False}, fetch={'aside/y': 'f32', 'v': 'f32', 'w': 'f32'})
def the_result_of_a_branch_that_assigns(**feeds):
    if feeds['aside/p']:
        print('taken 10.0')
        return 2, 11, 20, 7
    return 2, 1, 0, 7


@case(ASIDE, {'x': 1, 'aside/p': True}, fetch={'aside/t/k': 'f32', 'v': 'f32', 'w': 'f32'})
def a_value_of_a_loop_that_assigns(**feeds):
    print('taken 10.0')
    return 2, 23, 23, 7


@case(ASIDE, {'x': 1, 'aside/p': True}, fetch={'aside/u': 'f32', 'v': 'f32', 'w': 'f32'})
def what_a_text_assigns_is_no_part_of_the_region(**feeds):
    return 2, 4, 0, 7


TWO = numpy.array([3, 1], 'i4')


@case('''
entry main(x: f32[4]) -> (z: f32[], both: f32[2]) {
  v, i = top_k(x, 2)
  z = sum(v) * 10 + cast(sum(i), f32)
  both = v
}''', {'x': [4, 1, 3, 2]}, {'x': [4, 1, 3, 2], 'v': [7, 8]}, {'x': [4, 1, 3, 2], 'main/i': TWO},
      {'x': [4, 1, 3, 2], 'v': [7, 8], 'main/i': TWO}, {'x': [4, 1, 3, 2], 'main/i': TWO, 'v': [7, 8]})
def results_of_one_node_are_fed(x, v=None, **fed):
    v, i = numpy.sort(x)[:-3:-1] if v is None else v, fed.get('main/i', numpy.array([0, 2]))
    return v.sum() * 10 + i.sum(), v


@case('''
entry main(x: f32[], n: i64[]) -> (z: f32[]) {
  t, y, w = while (t: i64[] = 0, y = x, w = x) t < n { next t + 1, y * 2, w + y }
  a, b = if n > 1 { yield y, w } else { yield w, y }
  z = y + w * 10 + cast(t, f32) * 100 + a * 1000 + b * 10000
}''', {'x': 1, 'n': 3}, {'x': 1, 'n': 3, 'main/y': 9}, {'x': 1, 'n': 1, 'w': 5, 'main/t': numpy.array(7)},
      {'x': 1, 'n': 3, 'w': 5, 'main/y': 6, 'main/t': numpy.array(7)}, {'x': 1, 'n': 3, 'a': 2, 'main/b': 3},
      {'x': 1, 'n': 3, 'b': 2, 'main/w': 3})
def results_of_regions_are_fed(x, n, **fed):
    fed = {name.split('/')[-1]: value for name, value in fed.items()}
    y = w = x
    for _ in range(int(n)):
        y, w = y * 2, w + y
    y, w, t = fed.get('y', y), fed.get('w', w), fed.get('t', n)
    a, b = (y, w) if n > 1 else (w, y)
    return y + w * 10 + t * 100 + fed.get('a', a) * 1000 + fed.get('b', b) * 10000


GROWING = '''
entry main(r: f32[N], n: i64[], p: bool[]) -> (h: f32[?]) {
  o, h = while (o: i64[] = 0, g: f32[?] = r) o < n {
    a = o + 5
    e: f32[?] = if p {
      d = a * 2
      yield g[g > 0]
    } else { yield concat([g, r], axis=0) }
    _, f = while (k: i64[] = 0, f: f32[?] = r) k < 2 {
      c = k + a
      next k + 1, concat([f, r], axis=0)
    }
    s = sum(e) + sum(f)
    next o + 1, concat([g, r], axis=0)
  }
}'''


def grown(r, n, p):
    g, rows = r, []
    for o in range(int(n)):
        e = g[g > 0] if p else numpy.concatenate([g, r])
        rows.append((o + 5, (o + 5) * 2, [o + 5, o + 6], e.sum() + r.sum() * 3))
        g = numpy.concatenate([g, r])
    return g, *map(numpy.array, zip(*rows))


@case(GROWING, {'r': [1, -2, 3], 'n': 2, 'p': True}, {'r': [5], 'n': 4, 'p': True},
      fetch={'o/a:all': 'i64', 'o/e/d:all': 'i64', 'o/f/c:all': 'i64', 'o/s:all': 'f32'})
def values_in_what_grows(r, n, p):
    return grown(r, n, p)


@case(GROWING, {'r': [1, -2, 3], 'n': 2, 'p': True}, {'r': [5], 'n': 4, 'p': False}, fetch={'o/a': 'i64', 'o/s': 'f32', 'o/f/c': 'i64'})
def the_last_values_in_what_grows(r, n, p):
    h, a, _, c, s = grown(r, n, p)
    return h, a[-1], s[-1], c[-1][-1]


@case('''
fn inner(i: i64[], c: f32[3], k: f32[], x: f32[N, 3], m: bool[N]) {
  y, z = if i % 2 < 1 { yield c * k, sum(x[m]) } else { yield c + k, sum(tanh(x[m])) }
  return sin(y + z)
}
entry main(x: f32[N, 3], m: bool[N], v: f32[3], s: f32[], n: i64[]) -> (d: f32[]) {
  _, h = while (t: i64[] = 0, c = v) t < n {
    a = fori(n, inner, c, s, x, m)
    p, q = if s > 0 { yield c * s, tanh(x) } else { yield c, x }
    next t + 1, sin(p + a)
  }
  d = grad(sum(h), s)
}''', {'x': [[1, 2, 3], [4, 5, 6]], 'm': [True, False], 'v': [1, 2, 3], 's': 0.5, 'n': 2},
      fetch={'h/a:all': 'f32', 'h/p:all': 'f32', 'h/q:all': 'f32', 'h/c:all': 'f32'}, tolerance=1e4)
def several_of_all_iterations_beside_a_gradient(x, m, v, s, n):
    def run(s):
        c, rows = v.astype('f8'), []
        for _ in range(int(n)):
            a = c
            for i in range(int(n)):
                y, z = (a * s, x[m].astype('f8').sum()) if i % 2 < 1 else (a + s, numpy.tanh(x[m].astype('f8')).sum())
                a = numpy.sin(y + z)
            rows.append((a, c * s, numpy.tanh(x.astype('f8')), c))
            c = numpy.sin(c * s + a)
        return c.sum(), rows
    s = s.astype('f8')
    return (run(s + 1e-5)[0] - run(s - 1e-5)[0]) / 2e-5, *map(numpy.array, zip(*run(s)[1]))


@case('''
entry main(x: f32[], n: i64[]) -> (l: f32[], d: f32[]) {
  t, l = while (t: i64[] = 0, l = x) t < n {
    y = if t < 5 {
      u = l * 2
      _, w = while (k: i64[] = 0, w = u) k < 2 {
        v = w * 3
        next k + 1, v
      }
      yield w
    } else { yield l }
    next t + 1, y
  }
  d = grad(l, x)
}''', {'x': 1, 'n': 1}, {'x': 0.5, 'n': 3}, fetch={'t/y/u': 'f32', 'l/y/w/v': 'f32', 't/y/u:all': 'f32', 't/y/w/k:all': 'i64'})
def in_regions_of_a_loop_that_a_gradient_goes_through(x, n):
    all_u = [x * 18.0 ** t * 2 for t in range(int(n))]
    return x * 18.0 ** n, 18.0 ** n, all_u[-1], all_u[-1] * 9, all_u, [[0, 1]] * int(n)
