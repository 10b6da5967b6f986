"""The primitives of control flow: switch, merge, enter, leave, next_iteration, loop_cond, as the white paper has them."""
import numpy

from case import Stops, case

BOTH = ({'p': True, 'x': [1, 2, 3]}, {'p': False, 'x': [1, 2, 3]})
FOUR = tuple({'p': p, 'q': q, 'x': 3} for p in (True, False) for q in (True, False))


@case('''
entry main(p: bool[], x: f32[3]) -> (y: f32[3], k: i32[]) {
  f, t = switch(x, p)
  y, k = merge(f + 1, t * 2)
}''', *BOTH)
def a_diamond(p, x):
    return (x * 2, 1) if p else (x + 1, 0)


@case('''
entry main(p: bool[], x: f32[3]) -> (y: f32[3], z: f32[3], k: i32[]) {
  f, t = switch(x, p)
  a = -f
  b = exp(t)
  print("yes", sum(b - b))
  y, k = merge(b, a)
  z, _ = merge(a * 2, b * 0 + t)
}''', *BOTH)
def two_merges_of_one_switch(p, x):
    if p:
        print('yes 0.0')
    return (numpy.exp(x), x, 0) if p else (-x, -2 * x, 1)


def parity(count):
    """What is alive where an odd number of so many predicates holds, and where an even one does: 2^count cases."""
    lines = ['even0, odd0 = switch(x, p[0])']
    for i in range(1, count):
        lines += [f'odd{i}f, odd{i}t = switch(odd{i - 1}, p[{i}])', f'even{i}f, even{i}t = switch(even{i - 1}, p[{i}])',
                  f'odd{i}, _ = merge(odd{i}f, even{i}t)', f'even{i}, _ = merge(odd{i}t, even{i}f)']
    lines += [f'print("odd", odd{count - 1})', f'y, k = merge(even{count - 1} + 1, odd{count - 1} * 2)']
    return 'entry main(x: f32[], p: bool[N]) -> (y: f32[], k: i32[]) {\n  ' + '\n  '.join(lines) + '\n}'


@case(parity(40), {'p': [True] * 40, 'x': 3}, {'p': [False] * 39 + [True], 'x': 3})
def what_depends_on_many_predicates(x, p):
    if sum(p) % 2:
        print('odd 3.0')
        return 6, 1
    return 4, 0


@case('''
entry main(x: f32[], p: bool[], q: bool[]) -> (y: f32[], z: f32[]) {
  f, t = switch(x, p)
  b, _ = merge(f + 1, t * 2)
  g, u = switch(b, q)
  y, _ = merge(g / 2, u - 3)
  h, v = switch(y, p)
  z, _ = merge(h * b, v - b)
}''', *FOUR)
def diamonds_behind_each_other(x, p, q):
    b = x * 2 if p else x + 1
    y = b - 3 if q else b / 2
    return y, y - b if p else y * b


@case('''
entry main(x: f32[], p: bool[], q: bool[]) -> (y: f32[], k: i32[], j: i32[]) {
  f, t = switch(x, p)
  _, qt = switch(q, p)
  tf, tt = switch(t, qt)
  print("both", tt)
  m, k_in = merge(tf + 1, tt * 2)
  y, k = merge(f - 1, m)
  j, _ = merge(k_in + cast(m - m, i32), cast(f, i32) * 10)
}''', *FOUR)
def a_diamond_in_a_branch(x, p, q):
    if p and q:
        print('both 3.0')
    return ((x * 2 if q else x + 1), 1, int(q)) if p else (x - 1, 0, 30)


@case('''
entry main(x: f32[], p: bool[], q: bool[]) -> (y: f32[], k: i32[]) {
  f, t = switch(x, p)
  ff, ft = switch(f, q)
  tf, tt = switch(t, q)
  m, _ = merge(ft + 1, tf + 2)
  n = m * m
  print("one of them", n)
  y, k = merge(n, tt * 10, ff * 100)
}''', *FOUR)
def what_lives_where_just_one_holds(x, p, q):
    if p != q:
        n = (x + 1 if q else x + 2) ** 2
        print('one of them', n)
        return n, 0
    return (x * 10, 1) if p else (x * 100, 2)


@case('''
entry main(x: f32[], p: bool[], q: bool[]) -> (y: f32[], k: i32[]) {
  f, t = switch(x, p)
  g, u = switch(x * 2, q)
  y, k = merge(t + u, f * 10 - g, x)
}''', *FOUR)
def what_lives_where_two_switches_agree(x, p, q):
    return (x * 3, 0) if p and q else (x * 8, 1) if not p and not q else (x, 2)


@case('''
entry main(x: f32[], p: bool[], q: bool[]) -> (y: f32[], z: f32[]) {
  f, t = switch(x, p)
  a = f * 3
  g, u = switch(x, q)
  b = u + 1
  m, _ = merge(a, t)
  n, _ = merge(b, g)
  c, d = switch(m * n, p)
  y, _ = merge(c + a, d + t)
  h, i = switch(m - n, q)
  z, _ = merge(h + g, i + b)
}''', *FOUR)
def webs_that_interleave(x, p, q):
    a, b = (x if p else 3 * x), (x + 1 if q else x)
    return a * b + a, a - b + b


@case('''
entry main(x: f32[], p: bool[]) -> (y: f32[]) {
  _, t = switch(x, p)
  y = t + 1
}''', {'x': 2, 'p': True}, {'x': 2, 'p': False})
def what_is_dead_cannot_be_fetched(x, p):
    if not p:
        raise Stops('`y` is dead: its branch was not taken')
    return x + 1


@case('''
entry main(p: bool[], x: f32[3]) -> (y: f32[3]) {
  f, t = switch(x, p)
  assert(f > 5, "too small", f)
  a = gather(t, cast(t[:1], i32) * 0 + 2)
  y, _ = merge(broadcast(a, [3]), f)
}''', {'p': True, 'x': [1, 2, 3]}, {'p': False, 'x': [6, 7, 8]}, {'p': False, 'x': [1, 2, 3]})
def what_fails_fails_where_it_is_alive(p, x):
    if p:
        return x * 0 + x[2]
    if (x <= 5).any():
        raise Stops('too small')
    return x


@case('''
var w: f32[] = 5
entry main(x: f32[], p: bool[]) -> (y: f32[], z: f32[]) {
  f, t = switch(x, p)
  z = w + 0
  w := t * 2
  w += t
  v, _ = merge(f, w)
  y = w + v
}''', {'x': 3, 'p': True}, {'x': 3, 'p': False})
def state_changes_where_it_is_alive(x, p):
    return (18, 5) if p else (8, 5)


@case('''
var w: f32[] = 5
var u: f32[] = 5
entry main(x: f32[], p: bool[], n: i32[]) -> (y: f32[], z: f32[]) {
  f, t = switch(x, p)
  v, _ = merge(f + 1, t * 3)
  i, _ = merge(enter(0, frame="f"))
  s, _ = merge(enter(x, frame="f"))
  q = loop_cond(i < enter(n, frame="f", is_constant=true))
  _, ii = switch(i, q)
  s_last, ss = switch(s, q)
  next_iteration(ii + 1, i)
  next_iteration(ss + 1, s)
  w := leave(s_last)
  w := t * 2
  u := v
  u += t
  y = w + 0
  z = u + 0
}''', {'x': 3, 'p': True, 'n': 4}, {'x': 3, 'p': False, 'n': 4}, fetch={'w': 'f32', 'u': 'f32'},
      targets=('ref', 'cpu', 'c'))  # ref reads as soon as it may
def what_is_dead_leaves_what_was_assigned_before(x, p, n):
    return (2 * x, 4 * x) * 2 if p else (x + n, x + 1) * 2


@case('''
entry main(p: bool[]) -> (y: f32[], k: i32[]) {
  f, t = switch(p, p)
  yes = identity(t)
  no = identity(f)
  a = tensor(1.0) after [yes]
  b = tensor(2.0) after [no]
  y, k = merge(a, b)
}''', {'p': True}, {'p': False})
def what_runs_after_the_dead_is_dead(p):
    return (1, 0) if p else (2, 1)


@case('''
entry main(x: f32[], p: bool[]) -> (y: f32[]) {
  q = not p
  f, t = switch(x, p)
  g, u = switch(x * 10, q)
  y, _ = merge(t + g, f - u)
}''', {'x': 3, 'p': True}, {'x': 3, 'p': False})
def a_predicate_and_its_contrary(x, p):
    return x * 11 if p else x - x * 10


@case('''
entry main(n: i32[]) -> (s: i32[], i: i32[]) {
  i_now, _ = merge(enter(0, frame="f"))
  s_now, _ = merge(enter(0, frame="f"))
  m = enter(n, frame="f", is_constant=true)
  p = loop_cond(i_now < m)
  i_last, i_in = switch(i_now, p)
  s_last, s_in = switch(s_now, p)
  next_iteration(i_in + 1, i_now)
  next_iteration(s_in + i_in, s_now)
  s = leave(s_last)
  i = leave(i_last)
}''', {'n': 0}, {'n': 1}, {'n': 100})
def a_frame(n):
    return n * (n - 1) // 2, n


@case('''
entry main(n: i32[], x: f32[]) -> (y: f32[], k: i32[]) {
  i, first = merge(enter(0, frame="f"))
  h, _ = merge(enter(x, frame="f"))
  more = i < enter(n, frame="f", is_constant=true)
  print("condition", i, first)
  p = loop_cond(more)
  _, i_in = switch(i, p)
  h_out, h_in = switch(h * 2, p)
  _, f_in = switch(first, p)
  next_iteration(i_in + 1, i)
  next_iteration(h_in + cast(f_in, f32), h)
  out = h_out + 100
  print("behind", out)
  y = leave(out)
  k = leave(first + 0 * cast(h_out, i32))
}''', {'n': 0, 'x': 1}, {'n': 3, 'x': 1})
def what_is_before_and_behind_the_condition(n, x):
    h = x
    for i in range(n):
        print('condition', i, int(i > 0))
        h = h * 2 + (i > 0)
    print('condition', n, int(n > 0))
    print('behind', h * 2 + 100)
    return h * 2 + 100, int(n > 0)


@case('''
entry main(n: i32[]) -> (s: i32[]) {
  i, _ = merge(enter(0, frame="outer"))
  s_out, _ = merge(enter(0, frame="outer"))
  n_out = enter(n, frame="outer", is_constant=true)
  p = loop_cond(i < n_out)
  _, ii = switch(i, p)
  s_last, s_in = switch(s_out, p)
  k, _ = merge(enter(0, frame="inner"))
  t, _ = merge(enter(s_in, frame="inner"))
  i_const = enter(ii, frame="inner", is_constant=true)
  q = loop_cond(k <= i_const)
  _, kk = switch(k, q)
  t_last, tt = switch(t, q)
  next_iteration(kk + 1, k)
  next_iteration(tt + kk * i_const, t)
  t_done = leave(t_last)
  next_iteration(ii + 1, i)
  next_iteration(t_done, s_out)
  s = leave(s_last)
}''', {'n': 0}, {'n': 1}, {'n': 12})
def a_frame_in_a_frame(n):
    return sum(k * i for i in range(n) for k in range(i + 1))


@case('''
entry main(n: i32[], x: f32[]) -> (y: f32[]) {
  i, _ = merge(enter(0, frame="f"))
  h, _ = merge(enter(x, frame="f"))
  p = loop_cond(i < enter(n, frame="f", is_constant=true))
  _, ii = switch(i, p)
  last, hh = switch(h, p)
  even = ii % 2 == 0
  a, b = switch(hh, even)
  print("even", b)
  c, _ = merge(a * 3, b + 1)
  next_iteration(ii + 1, i)
  next_iteration(c, h)
  y = leave(last)
}''', {'n': 0, 'x': 2}, {'n': 5, 'x': 2})
def a_diamond_in_a_frame(n, x):
    for i in range(n):
        if i % 2 == 0:
            print('even', x)
        x = x + 1 if i % 2 == 0 else x * 3
    return x


@case('''
entry main(n: i32[], x: f32[], p: bool[]) -> (y: f32[]) {
  f, t = switch(x, p)
  i, _ = merge(enter(cast(t * 0, i32), frame="f"))
  h, _ = merge(enter(t, frame="f"))
  q = loop_cond(i < enter(n, frame="f", is_constant=true))
  _, ii = switch(i, q)
  last, hh = switch(h, q)
  print("turn", ii)
  next_iteration(ii + 1, i)
  next_iteration(hh * 2, h)
  y, _ = merge(f - 1, leave(last) + 1)
}''', {'n': 4, 'x': 3, 'p': True}, {'n': 4, 'x': 3, 'p': False})
def a_frame_in_a_diamond(n, x, p):
    for i in range(n if p else 0):
        print('turn', i)
        x = x * 2
    return x + 1 if p else x - 1


@case('''
entry main(n: i32[]) -> (same: bool[]) {
  i, _ = merge(enter(0, frame="f"))
  least, _ = merge(enter(1.0, frame="f"))
  most, _ = merge(enter(0.0, frame="f"))
  p = loop_cond(i < enter(n, frame="f", is_constant=true))
  _, ii = switch(i, p)
  a_last, aa = switch(least, p)
  b_last, bb = switch(most, p)
  z = uniform(0, 1, seed=3, out=f32[])
  r = z + cast(ii, f32) * 0
  next_iteration(ii + 1, i)
  next_iteration(minimum(aa, r), least)
  next_iteration(maximum(bb, r), most)
  same = leave(a_last) == leave(b_last)
}''', {'n': 0}, {'n': 60})
def constants_are_of_no_frame(n):
    return n > 0  # made of constants alone z is one number


@case('''
entry main(n: i32[]) -> (k: i32[]) {
  i, _ = merge(enter(cast(n * 0, i64), frame="f"))
  least, _ = merge(enter(1.0, frame="f"))
  most, _ = merge(enter(0.0, frame="f"))
  p = loop_cond(i < enter(cast(n, i64), frame="f", is_constant=true))
  _, ii = switch(i, p)
  a_last, aa = switch(least, p)
  b_last, bb = switch(most, p)
  bits = random_bits([4], count=ii - ii, seed=1)
  r = mean(cast(bits, f32) / 4294967296.0)
  next_iteration(ii + 1, i)
  next_iteration(minimum(aa, r), least)
  next_iteration(maximum(bb, r), most)
  k = cast(leave(a_last) < 0.3, i32) + cast(leave(b_last) > 0.7, i32)
}''', {'n': 0}, {'n': 200})
def each_iteration_has_its_own_random_numbers(n):
    return 2 * (n > 0)


@case('''
entry main(n: i32[], m: i32[]) -> (found: i32[]) {
  i, _ = merge(enter(0, frame="outer"))
  least, _ = merge(enter(1.0, frame="outer"))
  most, _ = merge(enter(0.0, frame="outer"))
  n_out = enter(n, frame="outer", is_constant=true)
  m_out = enter(m, frame="outer", is_constant=true)
  p = loop_cond(i < n_out)
  _, ii = switch(i, p)
  a_last, a_in = switch(least, p)
  b_last, b_in = switch(most, p)
  k, _ = merge(enter(0, frame="inner"))
  a, _ = merge(enter(a_in, frame="inner"))
  b, _ = merge(enter(b_in, frame="inner"))
  m_in = enter(m_out, frame="inner", is_constant=true)
  q = loop_cond(k < m_in)
  _, kk = switch(k, q)
  a_done, aa = switch(a, q)
  b_done, bb = switch(b, q)
  r = mean(cast(random_bits([4], count=cast(kk - kk, i64), seed=1), f32) / 4294967296.0)
  next_iteration(kk + 1, k)
  next_iteration(minimum(aa, r), a)
  next_iteration(maximum(bb, r), b)
  next_iteration(ii + 1, i)
  next_iteration(leave(a_done), least)
  next_iteration(leave(b_done), most)
  found = cast(leave(a_last) < 0.3, i32) + cast(leave(b_last) > 0.7, i32)
}''', {'n': 0, 'm': 3}, {'n': 200, 'm': 1}, {'n': 1, 'm': 200})
def each_iteration_of_each_frame_has_its_own_random_numbers(n, m):
    return 2 * (n > 0)


@case('''
entry main(n: i32[], x: f32[]) -> (y: f32[], k: i32[]) {
  y, k = if x > 0 {
    f, t = switch(x, n > 2)
    m, j = merge(f + 1, t * 2)
    yield m, j
  } else {
    i, _ = merge(enter(0, frame="f"))
    h, _ = merge(enter(x, frame="f"))
    p = loop_cond(i < enter(n, frame="f", is_constant=true))
    i_last, ii = switch(i, p)
    last, hh = switch(h, p)
    next_iteration(ii + 1, i)
    next_iteration(hh - 1, h)
    yield leave(last), leave(i_last)
  }
}''', *({'n': n, 'x': x} for n in (1, 5) for x in (3, -3)))
def webs_in_an_if(n, x):
    return ((x * 2, 1) if n > 2 else (x + 1, 0)) if x > 0 else (x - n, n)


@case('''
fn clipped(x: f32[], p: bool[]) -> f32[] {
  f, t = switch(x, p)
  y, _ = merge(f, t / 2)
  return y
}
entry main(n: i32[], x: f32[]) -> (y: f32[]) {
  _, y = while (t = 0, h = x) t < n {
    next t + 1, clipped(h + 1, h > 4)
  }
}''', {'n': 0, 'x': 1}, {'n': 9, 'x': 1})
def a_web_in_a_while(n, x):
    for _ in range(n):
        x = (x + 1) / 2 if x > 4 else x + 1
    return x


@case('''
entry main(p: bool[], x: f32[4]) -> (y: f32[4]) {
  f, t = switch(x, p)
  on "/device:cpu:1" { a = t * 2 }
  on "/device:cpu:2" { b = f + 1 }
  on "/device:cpu:1" { c = a + t }
  y, _ = merge(b, c)
}''', {'p': True, 'x': [1, 2, 3, 4]}, {'p': False, 'x': [1, 2, 3, 4]}, words=['--devices', '3'], targets=('cpu', 'c'))
def a_web_on_three_devices(p, x):
    return x * 3 if p else x + 1


@case('''
entry main(x: f32[], p: bool[], q: bool[]) -> (y: f32[], k: i32[]) {
  f, t = switch(x, p)
  on "/device:cpu:1" { ff, ft = switch(f, q) }
  tf, tt = switch(t, q)
  on "/device:cpu:2" {
    a = ft + 1
    m, _ = merge(a, tf + 2)
    n = m * m
  }
  on "/device:cpu:1" { b = tt * 10 }
  y, k = merge(n, b, ff * 100)
}''', *FOUR, words=['--devices', '3'], targets=('cpu', 'c'))
def what_is_no_region_on_three_devices(x, p, q):
    return ((x + 1 if q else x + 2) ** 2, 0) if p != q else (x * 10, 1) if p else (x * 100, 2)


@case('''
entry main(n: i32[], x: f32[]) -> (y: f32[]) {
  i, _ = merge(enter(0, frame="f"))
  h, _ = merge(enter(x, frame="f"))
  p = loop_cond(i < enter(n, frame="f", is_constant=true))
  _, ii = switch(i, p)
  last, hh = switch(h, p)
  on "/device:cpu:1" { a = hh * 2 }
  next_iteration(ii + 1, i)
  next_iteration(a - 1, h)
  y = leave(last)
}''', {'n': 0, 'x': 3}, {'n': 6, 'x': 3}, words=['--devices', '2'], targets=('cpu', 'c'))
def a_frame_on_two_devices(n, x):
    for _ in range(n):
        x = x * 2 - 1
    return x


@case('''
entry main(x: f32[], p: bool[]) -> (y: f32[], z: f32[]) {
  i = x * 3
  q = i > 5
  f, t = switch(x, p)
  _, u = switch(t, q)
  n, _ = merge(u * 2, i)
  g, v = switch(n, p)
  y, _ = merge(g, v + 1)
  a, b = switch(n, n > 5)
  z, _ = merge(a, b / 2, f)
}''', *({'x': x, 'p': p} for x in (1, 2) for p in (True, False)))
def what_decides_inside_is_there_before(x, p):
    n = x * 2 if p and x * 3 > 5 else x * 3
    return (n + 1 if p else n), (n / 2 if n > 5 else n)


@case('''
var w: i32[] = 5
entry main(n: i32[]) -> (s: i32[], before: i32[], behind: i32[]) {
  before = w + 0
  i, _ = merge(enter(0, frame="f"))
  p = loop_cond(i < enter(n, frame="f", is_constant=true))
  last, again = switch(i, p)
  print("was", w + again)
  w := w * 2 + again
  in_turn = identity(again)
  w += 1 after [in_turn]
  print("is", w, again)
  next_iteration(again + 1, i)
  s = leave(last)
  behind = w + 0
  w += 100
}''', {'n': 0}, {'n': 4}, fetch={'w': 'i32'})
def a_frame_changes_a_variable(n):
    w = 5
    for i in range(n):
        print('was', w + i)
        w = w * 2 + i + 1
        print('is', w, i)
    return n, 5, w, w + 100


@case('''
var w: i32[] = 1
var most: i32[] = 40
entry main(n: i32[]) -> (s: i32[], w_now: i32[]) {
  i, _ = merge(enter(n, frame="f"))
  w += i
  print("asked", w, i)
  p = loop_cond(w < most + 0 * i)
  last, again = switch(i, p)
  now, _ = merge(last * 10, again)
  print("now", now)
  most := most - again
  next_iteration(again + 1, i)
  s = leave(last)
  w_now = w * 1000 + most
}''', {'n': 1}, {'n': 100})
def the_condition_changes_a_variable(n):
    w, most = 1, 40
    while True:
        w += n
        print('asked', w, n)
        if w >= most:
            print('now', n * 10)
            return n, w * 1000 + most
        print('now', n)
        most -= n
        n += 1


@case('''
var even: f32[2] = 1
var odd: f32[2] = -1
entry main(n: i32[], x: f32[2]) -> (y: f32[2]) {
  i, _ = merge(enter(0, frame="f"))
  h, _ = merge(enter(x, frame="f"))
  p = loop_cond(i < enter(n, frame="f", is_constant=true))
  _, ii = switch(i, p)
  last, hh = switch(h, p)
  a, b = switch(hh, ii % 2 == 0)
  even := even * b
  odd += a
  assert(odd < 100, "too large", a)
  c, _ = merge(a + odd, b - even)
  next_iteration(ii + 1, i)
  next_iteration(c, h)
  y = leave(last) + odd * even
}''', {'n': 0, 'x': [1, 2]}, {'n': 1, 'x': [1, 2]}, {'n': 4, 'x': [1, 2]}, {'n': 4, 'x': [200, 2]})
def what_is_dead_changes_no_variable_in_a_frame(n, x):
    even, odd = numpy.float32([1, 1]), numpy.float32([-1, -1])
    for i in range(n):
        if i % 2 == 0:
            even = even * x
            x = x - even
        else:
            odd = odd + x
            x = x + odd
        if (odd >= 100).any():
            raise Stops('too large')
    return x + odd * even


@case('''
var w: i32[] = 0
entry main(n: i32[]) -> (s: i32[], z: i32[]) {
  i, _ = merge(enter(0, frame="outer"))
  p = loop_cond(i < enter(n, frame="outer", is_constant=true))
  i_last, ii = switch(i, p)
  print("outer", w, ii)
  k, _ = merge(enter(ii, frame="inner"))
  w += k
  q = loop_cond(k < 3)
  k_last, kk = switch(k, q)
  in_turn = identity(kk)
  w := w * 2 after [in_turn]
  print("inner", w, kk)
  next_iteration(kk + 1, k)
  k_done = leave(k_last)
  w := w - k_done
  next_iteration(ii + 1, i)
  s = leave(i_last)
  z = w + 0
}''', {'n': 0}, {'n': 6})
def frames_in_each_other_change_one_variable(n):
    w = 0
    for i in range(n):
        print('outer', w, i)
        k = i
        while True:
            w += k
            if k >= 3:
                break
            w *= 2
            print('inner', w, k)
            k += 1
        w -= k
    return n, w


@case('''
var a: f32[] = 1
var b: f32[] = 2
var step: f32[] = 0.5
entry main(n: i32[], x: f32[], p: bool[]) -> (y: f32[]) {
  _, t = switch(x, p)
  step := step * 2
  i, _ = merge(enter(cast(t * 0, i32), frame="f"))
  q = loop_cond(i < enter(n, frame="f", is_constant=true))
  _, ii = switch(i, q)
  in_turn = identity(ii)
  old = identity(a) after [in_turn]
  a := b + step after [in_turn]
  b := old
  next_iteration(ii + 1, i)
  step := step * 3
  j, _ = merge(enter(0, frame="g"))
  r = loop_cond(j < 2)
  _, jj = switch(j, r)
  a += -step * cast(jj, f32)
  next_iteration(jj + 1, j)
  y = a * 10 + b
}''', *({'n': n, 'x': 1, 'p': p} for n in (0, 3) for p in (True, False)))
def frames_behind_each_other_change_variables(n, x, p):
    a, b, step = 1, 2, 1
    for _ in range(n if p else 0):
        a, b = b + step, a
    return (a - 3 * step) * 10 + b


@case('''
var w: f32[2] = 0
entry main(n: i32[], x: f32[2]) -> (first: f32[], loss: f32[]) {
  i, _ = merge(enter(0, frame="steps"))
  worst, _ = merge(enter(0.0, frame="steps"))
  x_in = enter(x, frame="steps", is_constant=true)
  p = loop_cond(i < enter(n, frame="steps", is_constant=true))
  _, ii = switch(i, p)
  out, so_far = switch(worst, p)
  turn = identity(ii)
  now = identity(x_in) after [turn]
  error = sum(square(w - now))
  minimize(error, sgd, lr=0.25)
  next_iteration(ii + 1, i)
  next_iteration(maximum(so_far, error), worst)
  first = leave(out)
  loss = sum(square(w - x))
}'''.replace('fn rate(n: int) -> float { return 0.25 }\n', '').replace('0.25', '0.25'), {'n': 0, 'x': [1, 2]}, {'n': 5, 'x': [1, 2]})
def a_frame_trains(n, x):
    w, errors = numpy.zeros(2, numpy.float32), [0]
    for _ in range(n):
        errors.append(((w - x) ** 2).sum())
        w = w - 0.25 * 2 * (w - x)
    return max(errors), ((w - x) ** 2).sum()


@case('''
var w: f32[] = 2
entry main(x: f32[], p: bool[]) -> (y: f32[], z: f32[]) {
  f, t = switch(x, p)
  taken = identity(t)
  a = w + 1 after [taken]
  z = w * 2
  y, _ = merge(f, a)
}''', {'x': 5, 'p': True}, {'x': 5, 'p': False})
def what_is_read_after_the_dead_is_read_elsewhere(x, p):
    return 3 if p else x, 4


@case('''
entry main(x: f64[], p: bool[]) -> (y: f64[], g: f64[], h: f64[]) {
  f, t = switch(x, p)
  y, _ = merge(f + 1, t * t * t)
  g = grad(y, [x])[0]
  h = grad(g, [x])[0]
}''', {'x': 3, 'p': True}, {'x': 3, 'p': False})
def gradients_of_a_diamond(x, p):
    return (x ** 3, 3 * x ** 2, 6 * x) if p else (x + 1, 1, 0)


@case('''
entry main(x: f64[3], z: f64[3], p: bool[], q: bool[]) -> (gx: f64[3], gz: f64[3]) {
  f, t = switch(x, p)
  g, u = switch(z, q)
  both = t * u * x
  either, _ = merge(both, z * z, x)
  last, k = merge(g - z, either * 2)
  gx, gz = vjp(last * (cast(k, f64) + 1), [x, z], z)
}''', *({'x': [1, 2, 3], 'z': [4, 5, 7], 'p': p, 'q': q} for p in (True, False) for q in (True, False)))
def gradients_where_branches_meet(x, z, p, q):
    if not q:
        return x * 0, x * 0
    return (8 * x * z * z, 4 * x * x * z) if p else (x * 0, 8 * z * z)


@case('''
var w: f64[] = 2
entry main(x: f64[], p: bool[], n: i32[]) -> (y: f64[], g: f64[], dw: f64[]) {
  _, z = while (t = 0, h = x) t < n {
    f, t_in = switch(h, (h > 2) == p)
    m, _ = merge(sin(f) * w, t_in * t_in)
    next t + 1, m + x
  }
  f, t = switch(z, p)
  taken = identity(t)
  both = w * 3 after [taken]
  y, _ = merge(both * t, f + w)
  g = grad(y, [x])[0]
  dw = grad(y, [w])[0]
}''', *({'x': x, 'p': p, 'n': n} for x in (0.5, 1.5) for p in (True, False) for n in (0, 3)))
def gradients_through_webs_in_loops(x, p, n):
    z, dz, dw, w = x, 1, 0, 2
    for _ in range(n):
        if (z > 2) == p:
            z, dz, dw = z * z, 2 * z * dz, 2 * z * dw
        else:
            z, dz, dw = numpy.sin(z) * w, numpy.cos(z) * w * dz, numpy.sin(z) + numpy.cos(z) * w * dw
        z, dz = z + x, dz + 1
    return (3 * w * z, 3 * w * dz, 3 * z + 3 * w * dw) if p else (z + w, dz, dw + 1)


@case('''
var w: f64[] = 2
var v: f64[] = 5
entry main(x: f64[], p: bool[]) training -> (y: f64[], g: f64[], d: f64[]) {
  f, t = switch(x, p)
  loss = square(t - w) + v * 0
  minimize(loss, momentum, lr=0.5)
  y, _ = merge(loss, f)
  gt, gd = grad(loss, [x, v])
  g, _ = merge(gt, x * 100)
  d, _ = merge(gd + 1, x * 200)
}''', {'x': 3, 'p': True}, {'x': 3, 'p': False}, fetch={'w': 'f64', 'w/momentum/m': 'f64'})
def what_is_dead_trains_nothing(x, p):
    return ((x - 2) ** 2, 2 * (x - 2), 1, 3, -2) if p else (x, x * 100, x * 200, 2, 0)


@case('''
var v: i64[] = 1
entry main(n: i64[], s: i64[], p: bool[]) -> (i_last: i64[], s_last: i64[], v_last: i64[]) {
  n_in = enter(n, frame="while", is_constant=true)
  p_in = enter(p, frame="while", is_constant=true)
  i, _ = merge(enter(n * 0, frame="while"))
  t, _ = merge(enter(s, frame="while"))
  more = loop_cond(i < n_in)
  i_exit, i_true = switch(i, more)
  t_exit, t_true = switch(t, more)
  i_body = identity(i_true)
  t_body = identity(t_true)
  two = tensor(2) after [i_body]
  even = i_body % cast(two, i64) == 0
  even_f, even_t = switch(even, even)
  then = identity(even_t)
  otherwise = identity(even_f)
  one = tensor(1) after [then]
  v += cast(one, i64)
  _, t_then = switch(t_body, even)
  a = t_then + v

  t_else, _ = switch(t_body, even)
  i_else, _ = switch(i_body, even)
  zero = tensor(0) after [otherwise]
  i_inner = enter(i_else, frame="while/cond/while", is_constant=true)
  p_inner = enter(p_in, frame="while/cond/while", is_constant=true)
  j, _ = merge(enter(cast(zero, i64), frame="while/cond/while"))
  u, _ = merge(enter(t_else, frame="while/cond/while"))
  inner = loop_cond(j < i_inner)
  _, j_true = switch(j, inner)
  u_exit, u_true = switch(u, inner)
  j_body = identity(j_true)
  u_no, u_yes = switch(u_true, p_inner)
  v := v * 2 - j_body
  picked, _ = merge(u_no * 3, u_yes - v)
  next_iteration(j_body + 1, j)
  next_iteration(picked, u)
  chosen, _ = merge(leave(u_exit), a)

  next_iteration(i_body + 1, i)
  next_iteration(chosen, t)
  i_last = leave(i_exit)
  s_last = leave(t_exit)

  k, _ = merge(enter(s, frame="beside"))
  n_beside = enter(n, frame="beside", is_constant=true)
  go = loop_cond(k < n_beside)
  _, k_true = switch(k, go)
  k_body = identity(k_true)
  print("beside", k_body, v)
  next_iteration(k_body + 1, k)
  v_last = v + 0
}''', *({'n': n, 's': s, 'p': p} for n in (0, 5) for s in (-1, 3) for p in (True, False)))
def what_tensorflow_makes_of_while_and_cond(n, s, p):
    v, t = 1, int(s)
    for i in range(n):
        if i % 2 == 0:
            v += 1
            t += v
            continue
        for j in range(i):
            v = v * 2 - j
            t = t - v if p else t * 3
    for k in range(s, n):
        print('beside', k, v)
    return n, t, v


@case('''
var w: f32[] = 1
entry main(x: f32[], p: bool[], n: i32[]) -> (y: f32[]) {
  y = if n > 0 {
    f, t = switch(x, p)
    w := t * 2
    w += f
    yield w + 0
  } else { yield x }
  _ = while (i = 0) i < n {
    _, late = switch(w, i > 1)
    w := late + 10
    next i + 1
  }
}''', *({'x': 3, 'p': p, 'n': n} for p in (True, False) for n in (0, 4)), fetch={'w': 'f32'})
def what_is_dead_changes_no_variable_in_a_body(x, p, n):
    w = 1 if n == 0 else x * 2 if p else 1 + x
    return x if n == 0 else w, w + 10 * max(n - 2, 0)


@case('''
var w: i32[] = 100
entry main(n: i32[]) -> (s: i32[], k: i32[]) {
  i, index = merge(enter(n, frame="f"))
  h, _ = merge(enter(n * 0, frame="f"))
  a = if i > 5 {
    print("big", i)
    yield i * 2
  } else { yield i }
  odd, even = switch(a, i % 2 == 0)
  print("even", even)
  b = if even > 2 {
    print("more", even)
    yield even + 1
  } else { yield even }
  j, _ = merge(enter(a, frame="inner"))
  q = loop_cond(j < 9)
  j_last, j_again = switch(j, q)
  print("inner", j_again)
  w += -j_again
  next_iteration(j_again + 4, j)
  c = leave(j_last)
  either, _ = merge(b, odd)
  p = loop_cond(c + either < 24)
  _, again = switch(i, p)
  h_last, h_again = switch(h, p)
  _, a_again = switch(a, p)
  c_last, c_again = switch(c, p)
  _, index_again = switch(index, p)
  print("body", a_again, c_again, index_again)
  next_iteration(again + 1, i)
  next_iteration(h_again + c_again, h)
  s = leave(h_last * 1000 + c_last + either * 0)
  k = leave(c_last + w)
}''', {'n': 0}, {'n': 4}, {'n': 20})
def what_is_done_before_the_condition_is_done_once(n):
    w, h, i, index = 100, 0, int(n), 0
    while True:
        a = i
        if i > 5:
            print('big', i)
            a = i * 2
        either = a
        if i % 2 == 0:
            print('even', a)
            if a > 2:
                print('more', a)
                either = a + 1
        c = a
        while c < 9:
            print('inner', c)
            w -= c
            c += 4
        if c + either >= 24:
            return h * 1000 + c, c + w
        print('body', a, c, index)
        h, i, index = h + c, i + 1, 1


@case('''
entry main(n: i32[]) -> (x: f32[?], y: i32[]) {
  i, _ = merge(enter(0, frame="f"))
  p = loop_cond(i < enter(n, frame="f", is_constant=true))
  last, again = switch(i, p)
  next_iteration(again + 1, i)
  x = zeros(f32[dynamic(leave(last))])
  a, _ = merge(enter(0, frame="f"))
  a_last, a_again = switch(a, p)
  b, _ = merge(enter(a_again, frame="g"))
  b_last, b_again = switch(b, loop_cond(b < 70))
  next_iteration(b_again + 7, b)
  next_iteration(leave(b_last) - 60, a)
  y = leave(a_last)
}''', {'n': 0}, {'n': 4})
def constants_behind_what_leaves(n):
    a = 0
    for _ in range(n):
        while a < 70:
            a += 7
        a -= 60
    return numpy.zeros(n, numpy.float32), numpy.int32(a)


@case('''
entry main(n: i32[], x: f32[A], y: f32[B], z: f32[?]) -> (h: f32[?]) {
  t, _ = merge(enter(0, frame="f"))
  again = loop_cond(t < enter(n, frame="f", is_constant=true))
  t_last, t_again = switch(t, again)
  next_iteration(t_again + 1, t)
  k, _ = merge(enter(x, frame="f"))
  k_last, k_again = switch(k, again)
  odd = t_again % 2 == 1
  even_y, _ = switch(enter(y, frame="f", is_constant=true), odd)
  _, odd_z = switch(enter(z, frame="f", is_constant=true), odd)
  either, _ = merge(even_y, odd_z)
  next_iteration(either + k_again[0], k)
  h = leave(k_last)
}''', {'n': 0, 'x': [1, 2], 'y': [3], 'z': [3]}, {'n': 3, 'x': [1, 2], 'y': [3, 4], 'z': [5, 6]},
      {'n': 3, 'x': [1, 2], 'y': [3, 4, 5], 'z': [5, 6]}, {'n': 3, 'x': [1, 2], 'y': [3, 4], 'z': [5]})
def dims_that_a_step_tells_to_be_equal(n, x, y, z):
    h = x
    for t in range(n):
        either = z if t % 2 else y
        if len(either) != len(x):
            raise Stops
        h = either + h[0]
    return h


# -- A completed step of an entry that trains counts, whatever is dead --------------------------------------------------

@case('''
var v: f32[] = 1
var w: f32[] = 0
entry main(p: bool[], x: f32[]) training -> (y: f32[]) {
  f, t = switch($v * x, p)
  assert(t > 5, "too small", t)
  print("taken", t)
  $w += t
  y, _ = merge(f, t + 1)
  $v += 1
}''', {'p': False, 'x': 2}, {'p': True, 'x': 9}, words=['-n', '2'],
      fetch={'v': 'f32', 'w': 'f32', 'global_step': 'i64'})
def a_step_counts_with_dead_effects(p, x):
    v, w = 1, 0
    for _ in range(2):
        y = v * x + p
        if p:
            print('taken', float(v * x))
            w += v * x
        v += 1
    return y, v, w, 2


@case('''
entry main(n: i32[]) training -> (y: i32[]) {
  i, _ = merge(enter(0, frame="turns"))
  p = loop_cond(i < enter(n, frame="turns", is_constant=true))
  last, again = switch(i, p)
  print("turn", again)
  next_iteration(again + 1, i)
  y = leave(last)
}''', {'n': 3}, {'n': 0}, words=['-n', '2'], fetch={'global_step': 'i64'})
def a_step_counts_once_behind_a_frame_that_prints(n):
    for _ in range(2):
        for i in range(n):
            print('turn', i)
    return n, 2


@case('''
var v: i64[] = 0
entry main(p: bool[]) training -> (y: i64[]) {
  f, t = switch(1, p)
  $global_step += cast(t, i64) * 10
  y = $global_step
  $v := y
}''', {'p': False}, {'p': True}, words=['-n', '25'], fetch={'global_step': 'i64'})
def a_step_counts_beside_a_dead_count(p):
    step = 0
    for _ in range(25):
        y = step + 10 * p
        step = y + 1
    return y, step
