"""Arrays too large to be copied in each turn, which are changed where they lie and change places: what is read of them is
what they were."""
import numpy as np

from case import case

EXTENT, WIDE = 1100, 1 << 21  # WIDE: threads share it


def hit(y, t):
    y = y.copy()
    y[t & 511] = t + 5
    return y


def program(results, carried, body):
    return f'''
fn hit(y: f32[M], t: i64[]) -> f32[M] {{
  return scatter_set(y, bit_and(t, 511), cast(t + 5, f32))
}}
entry main(n: i64[]) -> ({results}) {{
  x = cast(iota([{EXTENT}], dtype=i64), f32)
  {carried} {{
{body}
  }}
}}'''


def swapping(results, carried, body, extent=4200):
    return program(results, carried, body).replace(str(EXTENT), str(extent))


def smooth(y):
    return np.float32(0.5) * (np.roll(y, 1) + np.roll(y, -1))


def x():
    return np.arange(EXTENT, dtype=np.float32)


@case(program(f's: f32[{EXTENT}], p: f32[]', '_, s, p = while (t: i64[] = 0, y = x, p: f32[] = 0) t < n', '''
    z, c = if bit_and(t, 1) == 0 { yield hit(y, t), 2.0 } else { yield y, 3.0 }
    next t + 1, z, p + sum(y * c)'''), {'n': 0}, {'n': 3}, {'n': 8})
def the_old_array_times_what_the_branch_gives_besides(n):
    y, p = x(), 0
    for t in range(n):
        z, c = (hit(y, t), 2) if t % 2 == 0 else (y, 3)
        y, p = z, p + sum(y * c)
    return y, p


@case(program(f's: f32[{EXTENT}], p: f32[]', '_, s, p = while (t: i64[] = 0, y = x, p: f32[] = 0) t < n', '''
    old = y[t]
    z = if bit_and(t, 1) == 0 { yield hit(hit(y, t), t + 2) } else { yield hit(y, t + 1) }
    next t + 1, hit(z, t + 3), p + old + y[t + 1] * z[t + 1]'''), {'n': 0}, {'n': 3}, {'n': 8})
def elements_before_and_behind(n):
    y, p = x(), 0
    for t in range(n):
        z = hit(hit(y, t), t + 2) if t % 2 == 0 else hit(y, t + 1)
        y, p = hit(z, t + 3), p + y[t] + y[t + 1] * z[t + 1]
    return y, p


@case(program(f's: f32[{EXTENT}]', '_, s = while (t: i64[] = 0, y = x) t < n', '''
    _, z = while (u: i64[] = 0, z = y * 0.5) u < 3 { next u + 1, hit(z, t + u) + y }
    next t + 1, z'''), {'n': 0}, {'n': 3}, {'n': 8})
def an_inner_loop_that_needs_the_old_array_in_each_turn(n):
    y = x()
    for t in range(n):
        z = y * np.float32(0.5)
        for u in range(3):
            z = hit(z, t + u) + y
        y = z
    return y


@case(swapping(f'a: f32[{EXTENT}], b: f32[{EXTENT}], p: f32[]', f'_, a, b, p = while (t: i64[] = 0, a = x, b = x * 2, p: f32[] = 0) t < n', '''
    next t + 1, hit(b, t), a, p * 0.5 + a[t] - b[t + 1]'''), {'n': 0}, {'n': 1}, {'n': 8})
def two_arrays_swapped_and_changed(n):
    a, b, p = np.arange(4200, dtype=np.float32), np.arange(4200, dtype=np.float32) * 2, np.float32(0)
    for t in range(n):
        a, b, p = hit(b, t), a, p * np.float32(0.5) + a[t] - b[t + 1]
    return a, b, p


@case(swapping(f'a: f32[{EXTENT}], c: f32[{EXTENT}], p: f32[]', f'_, a, b, c, p = while (t: i64[] = 0, a = x, b = x * 2, c = x * 3, p: f32[] = 0) t < n and c[1] >= 1.0', '''
    next t + 1, c, a, b, p + sum(b[:9])'''), {'n': 0}, {'n': 1}, {'n': 2}, {'n': 3}, {'n': 8})
def three_arrays_in_a_circle(n):
    a = np.arange(4200, dtype=np.float32)
    a, b, c, p = a, a * 2, a * 3, 0
    for t in range(n):
        a, b, c, p = c, a, b, p + np.sum(b[:9])
    return a, c, p


@case(swapping(f'a: f32[{EXTENT}], b: f32[{EXTENT}]', '_, a, b = while (t: i64[] = 0, a = x * 0.125, b = x * 0.25) t < n', '''
    next t + 1, 0.5 * (roll(a, 1) + roll(a, -1)), a''', WIDE), {'n': 0}, {'n': 1}, {'n': 5}, words=['--threads', '3'])
def a_stencil_of_several_threads(n):
    a = np.arange(WIDE, dtype=np.float32) * np.float32(0.125)
    b = a * 2
    for t in range(n):
        a, b = smooth(a), a
    return a, b


# What an inner loop rotates is carried around it; the outer one prints, so that each turn is a task.
@case(swapping(f'a: f32[{EXTENT}], b: f32[{EXTENT}]', '_, a, b = while (t: i64[] = 0, a = x, b = x * 2) t < n', '''
    print("turn", t, a[3])
    p, q = if t % 3 == 1 { yield b, a } else { yield a, b }
    _, r, s = while (u: i64[] = 0, r = p, s = q) u < t { next u + 1, 0.5 * (roll(r, 1) + roll(r, -1)), r }
    next t + 1, s, hit(r, t)'''), {'n': 0}, {'n': 1}, {'n': 7})
def swaps_in_a_branch_and_an_inner_loop(n):
    a, b = np.arange(4200, dtype=np.float32), np.arange(4200, dtype=np.float32) * 2
    for t in range(n):
        print('turn', t, a[3])
        p, q = (b, a) if t % 3 == 1 else (a, b)
        for u in range(t):
            p, q = smooth(p), p
        a, b = q, hit(p, t)
    return a, b


# The arrays' size is bound in the body around, in each turn anew.
@case('''
entry main(n: i64[], x: f32[N]) -> (s: f32[]) {
  _, s = while (t: i64[] = 0, s: f32[] = 0) t < n {
    y = x[:dynamic(t * 3 + 2)]
    _, a, b = while (u: i64[] = 0, a = y, b = y * 2) u < t { next u + 1, b, a + 1 }
    next t + 1, s + sum(a * b)
  }
}''', {'n': 0, 'x': np.arange(40)}, {'n': 1, 'x': np.arange(40)}, {'n': 11, 'x': np.arange(40) % 7})
def swaps_of_what_has_another_size_in_each_turn(n, x):
    s = np.float32(0)
    for t in range(n):
        a, b = x[:t * 3 + 2], x[:t * 3 + 2] * 2
        for u in range(t):
            a, b = b, a + 1
        s += np.sum(a * b)
    return s


# What is read by one task ends before one slot is written, not before the other, of a pool of a loop that is a task by
# itself: the pool lies elsewhere. With sizes known only while running, too.
def several_tasks(extent):
    return f'''
entry main(n: i64[], x: f32[{extent}]) -> (y: f32[4200], z: f32[4200]) {{
  o = cumsum(concat([x, x], axis=0))
  a = if o[5] > 100.0 {{
    print("above")
    yield cumsum(o)[:4200]
  }} else {{
    yield cumsum(-o)[:4200]
  }}
  _, y, z = while (t: i64[] = 0, y = a, z = cumsum(x)[:4200]) t < n {{
    print("turn", t)
    next t + 1, z, roll(y, 1)
  }}
}}'''


FEW = (np.arange(4200) % 5 == 0).astype('f4')


def pool_of_several_tasks(n, x):
    o = np.cumsum(np.concatenate([x, x]))
    y, z = np.cumsum(-o)[:4200], np.cumsum(x)[:4200]
    for t in range(n):
        print('turn', t)
        y, z = z, np.roll(y, 1)
    return y, z


for extent in '4200', 'N':
    pool_of_several_tasks.__name__ = f'pool_of_several_tasks_{extent}'
    case(several_tasks(extent), {'n': 0, 'x': FEW}, {'n': 3, 'x': FEW})(pool_of_several_tasks)
