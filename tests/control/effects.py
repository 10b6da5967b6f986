"""Variables that a region reads and updates, what it prints and asserts, and its random numbers."""
import numpy

from case import Stops, case

# -- Variables in branches --------------------------------------------------------------------------------------------

STEPS = [{'p': p} for p in (True, False)]


@case('''
var v: f32[] = 5
entry main(p: bool[]) -> (before: f32[], after_it: f32[]) {
  before = v
  if p { v := v * 2 + 1 }
  after_it = v
}''', *STEPS, fetch={'v': 'f32'})
def a_variable_is_assigned_in_a_branch(p):
    return 5, 11 if p else 5, 11 if p else 5


@case('''
var v: f32[2] = 5
var w: i64[] = 1
entry main(p: bool[]) -> (a: f32[2], b: i64[]) {
  if p { v += [1, 2] } else {
    w := w + 10
    v := v * 2
    v += 1
  }
  a = v * 1
  b = w
}''', *STEPS, words=['-n', '3'], fetch={'v': 'f32', 'w': 'i64'})
def both_branches_update(p):
    v, w = numpy.array([5.0, 5.0]), 1
    for _ in range(3):
        v, w = (v + [1, 2], w) if p else (v * 2 + 1, w + 10)
    return v, w, v, w


@case('''
var v: f32[] = 5
entry main(p: bool[]) -> (inside: f32[], after_it: f32[]) {
  v += 1
  inside = if p {
    v += 1
    a = v
    v := v * 10
    yield a + v
  } else { yield v }
  v += 1
  after_it = v
}''', *STEPS, fetch={'v': 'f32'})
def reads_see_the_writes_before_them(p):
    return (77, 71, 71) if p else (6, 7, 7)


@case('''
var v: f32[] = 5
entry main(p: bool[]) -> (y: f32[]) {
  y = if v > 4 { yield v } else { yield -v }
  if v > 4 and p { v := 1 }
  if v > 4 { v := 2 } else { v += 10 }
}''', *STEPS, words=['-n', '2'], fetch={'v': 'f32'})
def a_condition_that_reads_a_variable(p):
    v = 5
    for _ in range(2):
        y = v if v > 4 else -v
        v = 1 if v > 4 and p else v
        v = 2 if v > 4 else v + 10
    return y, v


@case('''
var v: f32[] = 5
entry main(x: f32[]) {
  if x > 0 {
    if x > 1 { v := x } else { v := -x }
  } else if x < -1 { v += x }
}''', *({'x': x} for x in (2, 0.5, 0, -3)), fetch={'v': 'f32'})
def a_variable_in_deep_branches(x):
    return x if x > 1 else -x if x > 0 else 5 + x if x < -1 else 5


# -- Variables in loops -----------------------------------------------------------------------------------------------

@case('''
var v: f32[] = 1
entry main(n: i32[]) -> (before: f32[], after_it: f32[]) {
  before = v
  _ = while (t = 0) t < n {
    v := v * 2 + 1
    next t + 1
  }
  after_it = v
}''', {'n': 0}, {'n': 1}, {'n': 5}, fetch={'v': 'f32'})
def a_variable_is_assigned_in_a_loop(n):
    v = 2.0**(n + 1) - 1
    return 1, v, v


@case('''
var v: i64[] = 0
entry main(n: i32[]) -> (s: i64[]) {
  _, s = while (t = 0, s: i64[] = 0) t < n {
    v += 1
    a = v
    v += 10
    next t + 1, s + a * v
  }
}''', {'n': 4}, words=['-n', '3'], fetch={'v': 'i64'})
def two_updates_a_turn(n):
    v = 0
    for _ in range(3):
        s = 0
        for _ in range(n):
            s, v = s + (v + 1) * (v + 11), v + 11
    return s, v


@case('''
var v: f32[] = 1
entry main() -> (y: f32[]) {
  while () v < 100 {
    v := v * 3
    next
  }
  y = v + 0.5
}''', fetch={'v': 'f32'})
def only_a_variable_is_carried():
    return 243.5, 243


@case('''
var v: f32[3] = 2
entry main(n: i32[]) -> (y: f32[3]) {
  _, y = while (t = 0, y = zeros(f32[3])) t < n { next t + 1, y * 0.5 + v }
  v += y
}''', {'n': 3}, words=['-n', '2'], fetch={'v': 'f32'})
def a_variable_is_only_read(n):
    v = 2.0
    for _ in range(2):
        y = 0
        for _ in range(n):
            y = y * 0.5 + v
        v += y
    return numpy.full(3, y), numpy.full(3, v)


@case('''
var a: f32[] = 1
var b: f32[] = 2
entry main(n: i32[]) {
  _ = while (t = 0) t < n {
    c = a
    a := b
    b := c
    next t + 1
  }
}''', {'n': 2}, {'n': 3}, fetch={'a': 'f32', 'b': 'f32'})
def variables_change_places(n):
    return (2, 1) if n % 2 else (1, 2)


@case('''
var v: i32[] = 0
var w: i32[] = 0
entry main(n: i32[]) -> (y: i32[]) {
  _ = while (i = 0) i < n {
    _ = while (j = 0) j < i {
      v += j
      if v % 3 == 0 { w := w + v } else { w += 1 }
      next j + 1
    }
    v += 1
    next i + 1
  }
  y = v
}''', {'n': 0}, {'n': 6}, fetch={'w': 'i32'})
def variables_in_loops_in_loops(n):
    v = w = 0
    for i in range(n):
        for j in range(i):
            v += j
            w += v if v % 3 == 0 else 1
        v += 1
    return v, w


@case('''
var v: f32[4, 4] = 1
entry main(x: f32[4], n: i32[]) -> (y: f32[4]) {
  _, y = while (t = 0, y = x) t < n {
    v += y[:, None] * y[None, :] * 0.01
    next t + 1, v @ y * 0.1
  }
}''', {'x': [1, 2, 3, 4], 'n': 5}, fetch={'v': 'f32'}, tolerance=40)
def a_matrix_is_updated(x, n):
    v = numpy.ones((4, 4))
    for _ in range(n):
        v = v + numpy.outer(x, x) * 0.01
        x = v @ x * 0.1
    return x, v


@case('''
fn count(x: f32[]) -> f32[] {
  var calls: i32[] = 0
  var sum: f32[] = 0
  calls += 1
  sum += x
  return sum / cast(calls, f32)
}
entry main(x: f32[5], n: i32[]) -> (y: f32[], z: f32[]) {
  _, y = while (t = 0, y = 0.0) t < n { next t + 1, count(x[t]) as mean_so_far }
  z = count(100.0) as mean_so_far
}''', {'x': [1, 2, 6, 4, 5], 'n': 0}, {'x': [1, 2, 6, 4, 5], 'n': 3}, fetch={'mean_so_far/calls': 'i32'})
def an_instance_in_a_loop(x, n):
    return x[:n].mean() if n else 0, (x[:n].sum() + 100) / (n + 1), n + 1


@case('''
fn dense(x: f32[N, I], units: int) -> f32[N, units] {
  var w: f32[I, units] = 0.25
  var b: f32[units] = 0.5
  return tanh(x @ w + b)
}
entry main(x: f32[2, 3], n: i32[]) -> (y: f32[2, 3]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, dense(y, units=3) as cell }
}''', {'x': [[1, 2, 3], [0, 0, 1]], 'n': 4}, fetch={'cell/w': 'f32'})
def turns_share_an_instance_s_weights(x, n):
    for _ in range(n):
        x = numpy.tanh(x.sum(1, keepdims=True) * numpy.full(3, 0.25) + 0.5)
    return x, numpy.full((3, 3), 0.25)


@case('''
var v: f32[] = 1
entry main(n: i32[]) {
  _ = while (t = 0) t < n {
    v := v * 2
    next t + 1
  }
}
entry reader() -> (y: f32[]) {
  if v > 3 { v += 0.5 }
  y = v
}''', {'main/n': 3}, words=['--entry', 'main+reader'], fetch={'reader/y': 'f32', 'v': 'f32'})
def two_entries(**n):
    return 8.5, 8.5


@case('''
var v: f32[3] = 1
entry main(i: i32[], n: i32[]) -> (y: f32[3]) {
  _ = while (t = 0) t < n {
    v := scatter_set(v, (t + i) % 3, sum(v), axis=0)
    next t + 1
  }
  y = v
}''', {'i': 1, 'n': 4})
def elements_of_a_variable_are_set(i, n):
    v = numpy.ones(3)
    for t in range(n):
        v[(t + i) % 3] = v.sum()
    return v


@case('''
var v: f32[] = 8
entry main(n: i32[]) training -> (loss: f32[]) {
  _ = while (t = 0) t < n {
    square = v * v
    minimize(square, sgd, lr=0.25)
    next t + 1
  }
  loss = v
}''', {'n': 3}, fetch={'v': 'f32', 'global_step': 'i64'})
def an_optimiser_in_a_loop(n):
    return 8 * 0.5**n, 8 * 0.5**n, 1


# -- What is printed and asserted -------------------------------------------------------------------------------------

@case('''
entry main(n: i32[]) -> (t: i32[]) {
  t = while (t = 0) t < n {
    print("turn", t)
    next t + 1
  }
}''', {'n': 0}, {'n': 1}, {'n': 12})
def turns_print_in_order(n):
    for t in range(n):
        print('turn', t)
    return n


@case('''
entry main(p: bool[]) {
  if p { print("yes") } else { print("no") }
}''', *STEPS)
def a_branch_prints(p):
    print('yes' if p else 'no')
    return ()


@case('''
entry main(n: i32[]) {
  _ = while (t = 0) t < n {
    if t % 3 == 1 { print("one", t) } else if t % 3 == 2 { print("two", t * t) }
    next t + 1
  }
}''', {'n': 10})
def branches_print_in_a_loop(n):
    for t in range(n):
        if t % 3:
            print(*('one', t) if t % 3 == 1 else ('two', t * t))
    return ()


@case('''
var v: i64[] = 3
entry main(n: i32[]) {
  _ = while (t = 0) t < n {
    _ = while (u = 0) u < 2 {
      v += 1
      print("v", v, t, u)
      next u + 1
    }
    next t + 1
  }
}''', {'n': 3})
def deep_turns_print_in_order(n):
    for t in range(n):
        for u in range(2):
            print('v', 4 + 2 * t + u, t, u)
    return ()


@case('''
entry main(x: i32[], n: i32[]) -> (y: i32[]) {
  t, y = while (t = 0, y = x) t < n {
    print("y", y)
    assert(y < 50, "too large", y, t)
    next t + 1, y * 2
  }
}''', {'x': 1, 'n': 5}, {'x': 1, 'n': 50}, {'x': 60, 'n': 1}, {'x': 60, 'n': 0})
def an_assertion_in_a_turn(x, n):
    for t in range(n):
        print('y', x)
        if x >= 50:
            raise Stops(f'too large: {x}, {t}')
        x = x * 2
    return x


@case('''
entry main(x: f32[3], i: i32[], n: i32[]) -> (s: f32[]) {
  _, s = while (t = 0, s = 0.0) t < n { next t + 1, s + x[t + i] }
}''', {'x': [1, 2, 3], 'i': 0, 'n': 3}, {'x': [1, 2, 3], 'i': 1, 'n': 3}, {'x': [1, 2, 3], 'i': 99, 'n': 0})
def an_index_that_leaves_its_range_in_a_turn(x, i, n):
    if i + n > 3 and n:
        raise Stops('index 3 is out of range for an axis of 3')
    return x[i:i + n].sum()


@case('''
entry main(p: bool[], x: f32[]) -> (y: f32[]) {
  y = if p {
    assert(x > 0, "not positive", x)
    yield x
  } else { yield -x }
}''', *({'p': p, 'x': x} for p in (True, False) for x in (2, -2)))
def an_assertion_in_a_branch(p, x):
    if p and x < 0:
        raise Stops('not positive: -2.0')
    return x if p else -x


@case('''
entry main(x: f32[], n: i32[]) -> (y: f32[]) {
  _, y = while (t = 0, y = x) t < n { next t + 1, check_finite(y * y, message="it overflows") }
}''', {'x': 2, 'n': 3}, {'x': 2, 'n': 30})
def a_check_of_the_library_in_a_turn(x, n):
    if n > 6:
        raise Stops('it overflows')
    return 2.0**2**n


@case('''
var v: i32[] = 1
entry main(n: i32[]) {
  _ = while (t = 0) t < n {
    v := v * 2
    assert(v < 10, "v", v)
    next t + 1
  }
}''', {'n': 3}, {'n': 9}, fetch={'v': 'i32'})
def a_failing_turn(n):
    if n > 3:
        raise Stops('v: 16')
    return 8


# -- Random numbers ---------------------------------------------------------------------------------------------------

KINDS = '''
fn kinds(x: T[N]) -> i64[] {
  return shape(unique(x)[0])[0]
}'''


@case(KINDS + '''
entry main(n: i32[]) -> (distinct: i64[], within: bool[], middle: bool[]) {
  _, all_of = while (t = 0, a = zeros(f32[200])) t < n { next t + 1, scatter_set(a, t, uniform(0, 1, out=f32[]), axis=0) }
  distinct = kinds(all_of)
  within = all(all_of >= 0) and all(all_of < 1)
  middle = abs(mean(all_of) - 0.5) < 0.1
}''', {'n': 200})
def turns_draw_their_own_numbers(n):
    return n, True, True


@case(KINDS + '''
entry main(n: i32[]) -> (distinct: i64[]) {
  _, all_of = while (t = 0, a = zeros(f32[10, 20])) t < 10 {
    _, row = while (u = 0, b = zeros(f32[20])) u < 20 { next u + 1, scatter_set(b, u, uniform(0, 1, out=f32[]), axis=0) }
    next t + 1, scatter_set(a, t, row, axis=0)
  }
  distinct = kinds(reshape(all_of, [200]))
}''', {'n': 1})
def turns_of_turns_draw_their_own_numbers(n):
    return 200


@case('''
var last: f32[3] = 0
entry main(n: i32[]) -> (same: bool[]) {
  _, a = while (t = 0, a = zeros(f32[3])) t < n { next t + 1, a + normal(out=f32[3]) }
  same = any(a == last)
  last := a
}''', {'n': 4}, words=['-n', '3'])
def steps_draw_their_own_numbers(n):
    return False


@case('''
fn draw(n: i32[]) -> f32[] {
  _, a = while (t = 0, a = 0.0) t < n { next t + 1, a * 2 + uniform(0, 1, seed=7, out=f32[]) }
  return a
}
entry main(n: i32[]) -> (same: bool[], other: bool[]) {
  a = draw(n)
  b = draw(n)
  same = a == a
  other = a != b
}''', {'n': 4})
def calls_draw_their_own_numbers(n):
    return True, True


@case('''
var s: i64[] = 2
entry main(a: i64[]) -> (y: i64[]) {
  t = a + 3 on "/device:cpu:1"
  s := t
  _, _, y = while (r = s, k: i64[] = 0, u: i64[] = 0) k < 2 {
    next 0, 3, k - r
  }
}''', {'a': 11}, words=['--devices', '2'], targets=('cpu', 'c'))
def a_loop_begins_with_what_another_device_assigned(a):
    return -(a + 3)


@case('''
var w: f32[] = 2
entry main(x: f32[], n: i32[]) -> (y: f32[]) {
  y = if n > 0 {
    print("first", x)
    z = x * 2
    a = w + x after [z]
    yield a
  } else { yield x }
}''', {'x': 1, 'n': 1}, {'x': 1, 'n': 0})
def a_variable_is_first_read_after_something_in_a_branch(x, n):
    if n > 0:
        print('first', x)
    return 2 + x if n > 0 else x


@case('''
var count: i64[] = 3
entry main(a: i64[]) -> (y: i64[]) {
  old = count
  if count > a { count := a }
  _ = while (t = 0) t < 2 {
    count := count + old * a
    next t + 1
  }
  y = count
}''', {'a': 2}, {'a': 5}, fetch={'count': 'i64'})
def a_loop_reads_what_a_variable_was_and_is(a):
    count = min(3, a) + 2 * 3 * a
    return count, count


# -- Where all is decided while compiling -----------------------------------------------------------------------------

@case('''
fn never(t: i32[]) {
  print("asked", t)
  return tensor(false)
}
entry main(n: i32[]) -> (s: i32[]) {
  s = while (t = n) never(t) { next t + 1 }
}''', {'n': 3})
def a_condition_that_never_holds_prints(n):
    print('asked', n)
    return n


@case('''
fn never(t: i32[]) {
  assert(t > 0, "asked too soon")
  return tensor(false)
}
entry main(n: i32[]) -> (s: i32[]) {
  s = while (t = n) never(t) { next t + 1 }
}''', {'n': 1}, {'n': 0})
def a_condition_that_never_holds_asserts(n):
    if n <= 0:
        raise Stops('asked too soon')
    return n


@case('''
entry main(n: i64[], i: i64[]) -> (z: f32[]) {
  t = while (t: i64[] = 0) t < n {
    print("turn", t)
    next t + 1
  }
  z = if tensor(true) {
    print("behind", i)
    yield 1.0
  } else { yield 0.0 } after [t]
}''', {'n': 0, 'i': 5}, {'n': 3, 'i': 5})
def what_a_decided_branch_prints_is_behind_what_the_if_is_after(n, i):
    for t in range(n):
        print('turn', t)
    print('behind', i)
    return 1


@case('''
entry main(n: i64[], x: f32[3], i: i64[]) -> (z: f32[]) {
  t = while (t: i64[] = 0) t < n {
    print("turn", t)
    next t + 1
  }
  z = if tensor(true) { yield x[i] } else { yield 0.0 } after [t]
}''', {'n': 3, 'x': [1, 2, 3], 'i': 1}, {'n': 3, 'x': [1, 2, 3], 'i': 7})
def what_fails_in_a_decided_branch_is_behind_what_the_if_is_after(n, x, i):
    for t in range(n):
        print('turn', t)
    if i > 2:
        raise Stops('index 7 is out of range')
    return x[i]


# -- What a print looks like ------------------------------------------------------------------------------------------

@case('''
entry main(x: i64[2, 2], v: i64[3]) {
  print("a matrix", x, v)
}''', {'x': [[1, 2], [3, 4]], 'v': [5, 6, 7]})
def a_matrix_begins_a_line_and_a_vector_does_not(x, v):
    print(f'a matrix\n{x} {v}')


@case('''
entry main(x: f64[2, 1, 2], y: i64[1, 1]) {
  print("two", y, x)
}''', {'x': [[[1.5, 2]], [[3, 4]]], 'y': [[1]]})
def each_matrix_begins_a_line(x, y):
    print('two\n[[1]]\n[[[1.5 2.0]]\n\n [[3.0 4.0]]]')
