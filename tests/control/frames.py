"""Gradients through the white paper's frames and what stands in and around them, by complex steps where f is smooth."""
import numpy

from case import Stops, case
from gradients import slopes

W, X = [[0.3, -0.2], [0.5, 0.4]], [0.5, -1.25]


def softmax(x):
    e = numpy.exp(x - x.max().real)
    return e / e.sum()


def run(f, x, n, start=0):
    for i in range(start, n):
        x = f(x, i)
    return x


# A loop of `turns` turns over h from `x`, named `name`: {body} says what `new` is of `h_in` and the turn `i_in`.
def loop(body, name='f', x='x', turns='n'):
    return f'''
  {name}_i, _ = merge(enter(0, frame="{name}"))
  {name}_h, _ = merge(enter({x}, frame="{name}"))
  {name}_p = loop_cond({name}_i < enter({turns}, frame="{name}", is_constant=true))
  _, i_in = switch({name}_i, {name}_p)
  {name}_last, h_in = switch({name}_h, {name}_p)
{body}
  next_iteration(i_in + 1, {name}_i)
  next_iteration(new, {name}_h)
  {name}_out = leave({name}_last)
'''


@case(f'var w: f64[2, 2] = {W}\nentry main(x: f64[2], n: i32[]) -> (y: f64[], dx: f64[2], dw: f64[2, 2]) {{' + loop('''
  print("turn", i_in)
  new = tanh(w @ h_in + h_in * cast(i_in, f64) * 0.2)''') + '''
  y = sum(f_out * f_out)
  dx, dw = grad(y, [x, w])
}''', *({'x': X, 'n': n} for n in (0, 1, 2, 7)), tolerance=64)
def grad_of_a_frame(x, n):
    def y(x, w):
        return (run(lambda h, i: numpy.tanh(w @ h + h * i * 0.2), x, n) ** 2).sum()
    for i in range(n):
        print('turn', i)
    return y(x, numpy.array(W)), *slopes(y, x, W)


@case('''
entry main(x: f64[2], a: f64[], n: i32[], m: i32[]) -> (y: f64[], dx: f64[2], da: f64[]) {
  i, _ = merge(enter(0, frame="f"))
  h, _ = merge(enter(x, frame="f"))
  p = loop_cond(i < enter(n, frame="f", is_constant=true))
  _, ii = switch(i, p)
  last, hh = switch(h, p)
  a_f = enter(a, frame="f", is_constant=true)
  k, _ = merge(enter(0, frame="g"))
  t, _ = merge(enter(hh, frame="g"))
  q = loop_cond(k < enter(enter(m, frame="f", is_constant=true) - ii, frame="g", is_constant=true))
  _, kk = switch(k, q)
  t_last, tt = switch(t, q)
  even = kk % 2 == 0
  no, yes = switch(tt, even)
  b, _ = merge(no * 0.5, sin(yes) * enter(a_f, frame="g", is_constant=true))
  next_iteration(kk + 1, k)
  next_iteration(b + enter(hh, frame="g", is_constant=true), t)
  done = leave(t_last)
  next_iteration(ii + 1, i)
  next_iteration(done * done, h)
  y = sum(leave(last))
  dx, da = grad(y, [x, a])
}''', *({'x': X, 'a': 0.7, 'n': n, 'm': m} for n in (0, 1, 3) for m in (0, 3)))
def grad_of_a_frame_with_branches_in_a_frame(x, a, n, m):
    def y(x, a):
        for i in range(n):
            t = x
            for k in range(m - i):
                t = (numpy.sin(t) * a if k % 2 == 0 else t * 0.5) + x
            x = t * t
        return x.sum()
    return y(x, a), *slopes(y, x, a)


@case('entry main(x: f64[2], n: i32[], p: bool[]) -> (y: f64[], dx: f64[2]) {\n  no, yes = switch(x, p)\n'
      '  turns, _ = switch(n, not p)' + loop('  new = sin(h_in)', x='yes', turns='turns') + '''
  either, _ = merge(f_out * 2, no)
  y = sum(either)
  dx = grad(y, x)
}''', *({'x': X, 'n': n, 'p': p} for n in (0, 3) for p in (True, False)))
def grad_of_a_frame_in_a_branch(x, n, p):
    def y(x):
        return (run(lambda h, i: numpy.sin(h), x, n) * 2 if p else x).sum()
    return y(x), *slopes(y, x)


THROUGH = '''fn through(x: F[N], scale: F[], more: any) { return sign(x) * scale }
gradient through(x, scale, more) -> y, dy { return dy * more[0] + more[1], sum(dy * y) / scale }
'''


@case(THROUGH + 'entry main(x: f64[2], n: i32[], p: bool[]) -> (y: f64[], dx: f64[2]) {' + loop('''
  no, yes = switch(softmax(h_in), enter(p, frame="f", is_constant=true))
  new, _ = merge(no * 3, through(yes, yes[0], [h_in, 2.0]) + h_in)''') + '''
  y = sum(f_out * f_out)
  dx = grad(y, x)
}''', *({'x': X, 'n': n, 'p': p} for n in (0, 1, 3) for p in (True, False)))
def calls_keep_their_rules(x, n, p):
    kept = [x]
    for _ in range(n):
        h = kept[-1]
        s = softmax(h)
        kept.append(numpy.sign(s) * s[0] + h if p else s * 3)
    h = kept.pop()
    y, dh = (h * h).sum(), 2 * h
    for h in reversed(kept):
        s = softmax(h)
        ds = 3 * dh
        if p:
            ds = dh * h + 2
            ds[0] += (dh * numpy.sign(s) * s[0]).sum() / s[0]
        dh = (dh if p else 0) + s * (ds - (ds * s).sum())
    return y, dh


@case('''
entry main(x: f64[2], p: bool[]) -> (y: f64[], dt: f64[2], dx: f64[2]) {
  no, yes = switch(x * x, p)
  t = sin(yes)
  either, _ = merge(no, t * t * yes)
  y = sum(either)
  now, then = grad(y, [t, x])
  dt, _ = merge(now, x * 0)
  dx = then
}''', {'x': X, 'p': True}, {'x': X, 'p': False})
def grad_of_what_may_be_dead(x, p):
    def y(x, t=None):
        t = numpy.sin(x * x) if t is None else t
        return (t * t * x * x if p else x * x).sum()
    dt = slopes(lambda t: y(x, t), numpy.sin(x * x))[0] if p else x * 0
    return y(x), dt, *slopes(y, x)


@case('''
entry main(x: f64[2], p: bool[]) -> (dt: f64[2]) {
  _, yes = switch(x, p)
  dt = grad(sum(yes * yes), x)
}''', {'x': X, 'p': True}, {'x': X, 'p': False})
def grads_of_what_is_dead_are(x, p):
    if not p:
        raise Stops('`dt` is dead: its branch was not taken')
    return 2 * x


@case('entry main(x: f64[2], n: i32[]) -> (g: f64[2], h: f64[2]) {' + loop('  new = sin(h_in) * h_in') + '''
  g = grad(sum(f_out), x)
  h = grad(sum(g), x)
}''', *({'x': X, 'n': n} for n in (0, 1, 3)))
def grad_of_a_grad_of_a_frame(x, n):
    def g(x):
        dx = numpy.ones(2)
        for _ in range(n):
            x, dx = numpy.sin(x) * x, (numpy.sin(x) + x * numpy.cos(x)) * dx
        return dx
    return g(x), *slopes(lambda x: g(x).sum(), x)


@case(f'var w: f64[2, 2] = {W}\nentry main(x: f64[2], n: i32[]) training -> (y: f64[]) {{'
      + loop('  new = tanh(w @ h_in)') + '''
  y = sum(square(f_out - 1))
  minimize(y, sgd, lr=0.5)
}''', {'x': X, 'n': 0}, {'x': X, 'n': 4}, fetch={'w': 'f64'})
def a_frame_is_trained(x, n):
    def y(w):
        return ((run(lambda h, i: numpy.tanh(w @ h), x, n) - 1) ** 2).sum()
    w = numpy.array(W)
    return y(w), w - 0.5 * slopes(y, w)[0]


@case('entry main(x: f64[2], n: i32[]) -> (y: f64[2], dx: f64[2]) {\n  _, a = while (t = 0, a = x) t < 2 {'
      + loop('  new = sin(h_in) + h_in', x='a').replace('\n  ', '\n    ') + '''
    next t + 1, f_out * x
  }
  y = a
  dx = grad(sum(y), x)
}''', *({'x': X, 'n': n} for n in (0, 1, 3)))
def grad_of_a_frame_in_a_while(x, n):
    def y(x):
        return run(lambda a, i: run(lambda h, i: numpy.sin(h) + h, a, n) * x, x, 2)
    return y(x), *slopes(lambda x: y(x).sum(), x)


@case('entry main(x: f64[2], n: i32[]) -> (near: bool[], moved: bool[]) {' + loop('''
  new = h_in * cast(uniform(0, 1, out=f32[2]) + 0.5, f64)''') + '''
  dx = grad(sum(f_out), x)
  near = all(abs(dx * x - f_out) < 1e-12)
  moved = any(abs(dx - 1) > 0.001)
}''', {'x': X, 'n': 0}, {'x': X, 'n': 5})
def random_numbers_are_the_same_in_the_gradient(x, n):
    return True, n > 0


@case('''
entry main(x: f64[2], n: i32[], m: i32[]) -> (y: f64[2]) {
  i, _ = merge(enter(0, frame="f"))
  h, _ = merge(enter(x, frame="f"))
  p = loop_cond(i < enter(n, frame="f", is_constant=true))
  _, ii = switch(i, p)
  last, hh = switch(h, p)
  now = identity(hh)
  k, _ = merge(enter(0, frame="g"))
  t, _ = merge(enter(now, frame="g"))
  q = loop_cond(k < enter(enter(m, frame="f", is_constant=true), frame="g", is_constant=true))
  _, kk = switch(k, q)
  t_last, tt = switch(t, q)
  next_iteration(kk + 1, k)
  next_iteration(sin(tt) * enter(now, frame="g", is_constant=true), t)
  g = grad(sum(leave(t_last)), now)
  next_iteration(ii + 1, i)
  next_iteration(now + 0.1 * g, h)
  y = leave(last)
}''', *({'x': X, 'n': n, 'm': m} for n in (0, 2) for m in (0, 3)))
def grad_in_a_turn_of_a_frame(x, n, m):
    for _ in range(n):
        x = x + 0.1 * slopes(lambda a: run(lambda h, i, a=a: numpy.sin(h) * a, a, m).sum(), x)[0]
    return x
