"""Arrays too large to be copied in each turn, which are changed where they lie: what is read of them is what they were."""
import numpy as np

from case import case

EXTENT = 1100


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
