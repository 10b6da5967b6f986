"""The cases of vjp, jvp, jacobian and hessian, whose own gradients are derivatives of higher order."""
from case import FLOATS, case

DEFINED = []


def program(leat, jax, setup='', define='', grad='', dtypes=FLOATS, tolerance=16, **given):
    """A case for each dtype; f_ is a function that it defines, by a name of its own."""
    for dtype in dtypes:
        own = f'f_{len(DEFINED)}_d'
        DEFINED.append(own)
        inputs = {name: (dtype if kind is None else kind, shape, domain) for name, (kind, shape, domain) in given.items()}
        case(f'derivatives {len(DEFINED)} {leat} {dtype}', leat.replace('f_', own), jax, tuple(grad), tolerance,
             setup.replace('f_', own), define.replace('f_', own), **inputs)


X, W, V, U = (None, (3,), 'unit'), (None, (2, 3), 'unit'), (None, (3,), 'small'), (None, (2,), 'small')
A, S = (None, (3, 3), 'unit'), (None, (), 'unit')

# A function of x and w in both languages, and its name.
TANH = ('tanh(w @ x) * x[0]', 'np.tanh(w @ x) * x[0]')
LINEAR = ('w @ x', 'w @ x')
CHOICE = ('where(x > 0, x * x, sin(x))[:2]', 'np.where(x > 0, x * x, np.sin(x))[:2]')
SOLVED = ('solve(w @ transpose(w) + eye(2, dtype=dtype(w)), x[:2])', 'np.linalg.solve(w @ w.T + np.eye(2, dtype=w.dtype), x[:2])')
TURNS = ('fori(3, f_, x, w)[:2]', 'lax.fori_loop(0, 3, lambda i, c: np.sin(c) * (w[0] @ c) + c, x)[:2]',
         'fn f_(i: I[], c: T[M], w: T[K, M]) {\n  return sin(c) * (w[0] @ c) + c\n}')
ROWS = ('ys', 'lax.scan(lambda c, r: (np.tanh(c * r) + r, np.sum(c * r)), x, w, reverse=True)[1]',
        'fn f_(c: T[M], r: T[M]) {\n  return tanh(c * r) + r, sum(c * r)\n}', '_, ys = scan(f_, x, w, reverse=true)\n')
BRANCH = ('y', 'lax.cond(np.sum(x) > 0, lambda: np.exp(x) * x, lambda: x * x * x)[:2]', '',
          'z = if sum(x) > 0 {\n  yield exp(x) * x\n} else {\n  yield x * x * x\n}\ny = z[:2]\n')

for body in (TANH, LINEAR, CHOICE, SOLVED, TURNS, ROWS, BRANCH):
    leat, jax, define, before = (*body, '', '')[:4]
    y, f = f'{before}y_ = {leat}', f'lambda x: {jax}'
    program('vjp(y_, x, u)', f'jax.vjp({f}, x)[1](u)[0]', y, define, 'xu', x=X, w=W, u=U)
    program('jvp(y_, x, v)', f'jax.jvp({f}, (x,), (v,))[1]', y, define, 'xv', x=X, w=W, v=V)
    program('jacobian(y_, x)', f'jax.jacobian({f})(x)', y, define, 'x', x=X, w=W)
    program('hessian(sum(y_ * y_), x)', f'jax.hessian(lambda x: np.sum(({jax}) ** 2))(x)', y, define, tolerance=64, x=X, w=W)
# Rows, columns, and shapes with several axes.
for y in ('x * s', 's * x * x', 'stack([s, s * s])', 'outer(x, x) * s', 'x[:0] * s'):
    f = f'lambda s: {y.replace("stack", "np.stack").replace("outer", "np.outer")}'
    program('jacobian(y_, s)', f'jax.jacobian({f})(s)', f'y_ = {y}', grad='s', x=X, s=S)
program('jacobian(w @ x, w)', 'jax.jacobian(lambda w: w @ x)(w)', x=X, w=W)
program('jacobian(tanh(a) @ a, a)', 'jax.jacobian(lambda a: np.tanh(a) @ a)(a)', grad='a', a=A)
program('hessian(sum(tanh(a) @ a), a)', 'jax.hessian(lambda a: np.sum(np.tanh(a) @ a))(a)', tolerance=64, a=A)
# Lists.
BOTH = 'lambda x, w: np.sum(np.tanh(w @ x) * x[:2])'
for i, k in ((0, 0), (0, 1), (1, 0), (1, 1)):
    program(f'h_[{i}][{k}]', f'jax.hessian({BOTH}, (0, 1))(x, w)[{i}][{k}]', 'h_ = hessian(sum(tanh(w @ x) * x[:2]), [x, w])',
            tolerance=64, x=X, w=W)
    program(f'j_[{i}][{k}]', f'jax.jacobian(lambda x, w: (w @ x, x[1]), (0, 1))(x, w)[{i}][{k}]',
            'j_ = jacobian([w @ x, x[1]], [x, w])', x=X, w=W)
program('jvp(w @ x, [x, w], [v, w])', 'jax.jvp(lambda x, w: w @ x, (x, w), (v, w))[1]', grad='xwv', x=X, w=W, v=V)
program('jvp([w @ x, x], x, v)[1]', 'jax.jvp(lambda x: (w @ x, x * 1), (x,), (v,))[1][1]', x=X, w=W, v=V)
program('vjp([w @ x, sin(x)], x, [u, v])', 'jax.vjp(lambda x: (w @ x, np.sin(x)), x)[1]((u, v))[0]', grad='xuv',
        x=X, w=W, u=U, v=V)
# Derivatives in loops, and of derivatives.
program('map(f_, w)', 'lax.map(lambda r: jax.jacobian(lambda x: np.outer(x, x) @ np.sin(x))(r), w)',
        define='fn f_(r: T[M]) {\n  return jacobian(outer(r, r) @ sin(r), r)\n}', grad='w', w=W)
program('fori(2, f_, x)', 'lax.fori_loop(0, 2, lambda i, c: jax.jvp(lambda x: np.sin(x) * x[0], (c,), (c,))[1], x)',
        define='fn f_(i: I[], c: T[M]) {\n  return jvp(sin(c) * c[0], c, c)\n}', grad='x', x=X)
program('jacobian(hessian(prod(x) * x[0], x), x)', 'jax.jacobian(jax.hessian(lambda x: np.prod(x) * x[0]))(x)', x=X)
program('jvp(grad(sum(tanh(w @ x)), x), x, v)', 'jax.jvp(jax.grad(lambda x: np.sum(np.tanh(w @ x))), (x,), (v,))[1]',
        grad='xv', x=X, w=W, v=V)
# Of complex numbers that of a holomorphic function.
Z = (None, (3,), 'unit')
program('jacobian(z[:2] * z * exp(z[0]) , z)'.replace('z[:2] * z', 'z[:2] * z[1]'),
        'jax.jacobian(lambda z: z[:2] * z[1] * np.exp(z[0]), holomorphic=True)(z)', dtypes=('c64', 'c128'), z=Z)
program('jvp(z * exp(z[0]), z, v)', 'jax.jvp(lambda z: z * np.exp(z[0]), (z,), (v,))[1]', dtypes=('c64', 'c128'), z=Z, v=Z)
program('jvp(abs(z), z, v)', 'jax.jvp(lambda z: np.abs(z), (z,), (v,))[1]', dtypes=('c64', 'c128'), z=Z, v=Z)
