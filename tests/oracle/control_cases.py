"""The cases of choices and loops that are functions of functions: cond, fori, scan, map."""
from case import FLOATS, case

DEFINED = []


def program(leat, jax, define, setup='', grad='xw', **given):
    """A case for each dtype; f_ and g_ are the functions that it defines, by names of their own."""
    for dtype in FLOATS + ('i32',):
        own = f'_{len(DEFINED)}_'
        DEFINED.append(own)
        named = [text.replace('f_', f'f{own}').replace('g_', f'g{own}') for text in (leat, setup, define)]
        inputs = {name: (dtype if kind is None else kind, shape, domain) for name, (kind, shape, domain) in given.items()}
        smooth = [name for name in grad if name in inputs and dtype in FLOATS]
        case(f'loops {len(DEFINED)} {leat} {dtype}', named[0], jax, smooth, 8, named[1], named[2], **inputs)


X, W, K = (None, (5, 4), 'small'), (None, (4,), 'small'), ('i32', (5,), 'small')

# -- scan -------------------------------------------------------------------------------------------------------------

AFFINE = 'fn f_(c: T[M], x: T[M], w: T[M]) {\n  return c * w + x, c - x\n}'
SCANNED = 'lax.scan(lambda c, v: (c * w + v, c - v), np.zeros(4, x.dtype), {})'
for rows in ('x', 'x[:0]', 'x[::-1]'):
    for handed in ('w=w', 'w'):
        program('ys', f'{SCANNED.format(rows)}[1]', AFFINE,
                f'_, ys = scan(f_, zeros_like(w), {rows}, {handed})', x=X, w=W)
    program('c', f'{SCANNED.format(rows)}[0]', AFFINE, f'c, _ = scan(f_, zeros_like(w), {rows}, w)', x=X, w=W)
for part, rows in (('ys', 'x'), ('c', 'x'), ('ys', 'x[:1]')):
    program(part, f"{SCANNED.format(rows)[:-1]}, reverse=True)[{int(part == 'ys')}]", AFFINE,
            f'c, ys = scan(f_, zeros_like(w), {rows}, w, reverse=true)', x=X, w=W)
# Lists of tensors: the carry, the rows, and what is stacked.
LISTS = '''fn f_(carry: any, part: any) {
  c, n = carry
  x, k = part
  return [c + x, n + k], [n, [c * 2, x]]
}'''
JAX_LISTS = 'lax.scan(lambda p, q: ((p[0] + q[0], p[1] + q[1]), (p[1], (p[0] * 2, q[0]))), (w, np.int32(0)), (x, k))'
SETUP = 'carry, ys = scan(f_, [w, 0], [x, k])'
for leat, place in (('carry[0]', '[0][0]'), ('carry[1]', '[0][1]'), ('ys[0]', '[1][0]'), ('ys[1][0]', '[1][1][0]'),
                    ('ys[1][1]', '[1][1][1]')):
    program(leat, JAX_LISTS + place, LISTS, SETUP, '' if place in ('[0][1]', '[1][0]') else 'xw', x=X, w=W, k=K)
program('ys[0]', f'{JAX_LISTS[:-1]}, reverse=True)[1][0]', LISTS, 'carry, ys = scan(f_, [w, 0], [x, k], reverse=true)', '',
        x=X, w=W, k=K)
# A scan of scans; a scan in a loop.
program('ys', 'lax.scan(lambda c, r: (lambda t: (t[0], np.sum(t[1])))(lax.scan(lambda a, b: (a - b, a + b), c, r)),'
              ' w[0], x)[1].astype(x.dtype)',
        'fn g_(a: T[], b: T[]) {\n  return a - b, a + b\n}\n'
        'fn f_(c: T[], row: T[M]) {\n  after, ys = scan(g_, c, row)\n  return after, sum(ys)\n}',
        '_, ys = scan(f_, w[0], x)', x=X, w=W)
program('c', 'lax.fori_loop(0, 3, lambda i, c: lax.scan(lambda a, b: (b - a, a), c, x)[0], w)',
        'fn g_(a: T[M], b: T[M]) {\n  return b - a, a\n}\n'
        'fn f_(i: i32[], c: T[M], x: T[N, M]) {\n  after, _ = scan(g_, c, x)\n  return after\n}',
        'c = fori(3, f_, w, x)', x=X, w=W)

# -- fori, map, cond --------------------------------------------------------------------------------------------------

for turns in ('0', '1', '6'):
    program(f'fori({turns}, f_, x, w)', f'lax.fori_loop(0, {turns}, lambda i, c: w - c * i.astype(x.dtype), x)',
            'fn f_(i: I[], c: T[...D], w: T[M]) {\n  return w - c * cast(i, T)\n}', x=X, w=W)
program('fori(k[0] * 0 + 3, f_, [x, w])[1]', 'lax.fori_loop(0, 3, lambda i, p: (p[0] - p[1], p[1] + p[0][i]), (x, w))[1]',
        'fn f_(i: i32[], carry: any) {\n  a, b = carry\n  return [a - b, b + a[i]]\n}', x=X, w=W, k=K)
for rows in ('x', 'x[:0]'):
    program(f'map(f_, {rows}, by=w)', f'lax.map(lambda r: r[::-1] * w - r[0], {rows})',
            'fn f_(row: T[M], by: T[M]) {\n  return row[::-1] * by - row[0]\n}', x=X, w=W)
program('map(f_, [x, k])[1]', 'lax.map(lambda p: p[0] * p[1].astype(x.dtype), (x, k))',
        'fn f_(pair: any) {\n  row, n = pair\n  return n, row * cast(n, dtype(row))\n}', x=X, k=K)
program('map(map_f_, x)', 'lax.map(lambda r: lax.map(lambda v: v * v + 1, r), x)',
        'fn f_(v: T[]) {\n  return v * v + 1\n}\nfn map_f_(row: T[M]) {\n  return map(f_, row)\n}', x=X)
for sign in '<>':
    program(f'cond(sum(x) {sign} 0, f_, g_, x, w)',
            f'lax.cond(np.sum(x) {sign} 0, lambda x: x * w, lambda x: w - x, x)',
            'fn f_(x: T[...D], w: T[M]) {\n  return x * w\n}\nfn g_(x: T[...D], w: T[M]) {\n  return w - x\n}', x=X, w=W)
    program('a + b', f'sum(lax.cond(np.sum(x) {sign} 0, lambda x: (x, x[0]), lambda x: (-x, x[1]), x))',
            'fn f_(x: T[...D]) {\n  return x, x[0]\n}\nfn g_(x: T[...D]) {\n  return -x, x[1]\n}',
            f'a, b = cond(sum(x) {sign} 0, f_, g_, x)', x=X)
