"""The cases of element-wise ops, movement, reductions, products and windows; library_cases.py has the rest."""
import re

from case import FLOATS, INTEGERS, binary, case, unary

# -- Arithmetic, comparison, logic ------------------------------------------------------------------------------------

ALL = FLOATS + INTEGERS
binary('add', 'x + y', dtypes=ALL)
binary('sub', 'x - y', dtypes=ALL)
binary('mul', 'x * y', dtypes=ALL)
binary('div', 'x / y', dtypes=FLOATS)
binary('maximum', 'maximum(x, y)', 'np.maximum(x, y)', dtypes=ALL)
binary('minimum', 'minimum(x, y)', 'np.minimum(x, y)', dtypes=ALL)
for sign in ('==', '!=', '<', '<=', '>', '>='):
    word = {'==': 'equal', '!=': 'not_equal', '<': 'less', '<=': 'less_equal', '>': 'greater', '>=': 'greater_equal'}
    binary(word[sign], f'x {sign} y', domain='small', dtypes=('f32', 'f64', 'i8', 'u64'), grad=False)
for word, sign in (('and', '&'), ('or', '|')):
    case(f'logical_{word}', f'x {word} y', f'x {sign} y', x=('bool', (3, 5), 'any'), y=('bool', (5,), 'any'))
case('logical_not', 'not x', '~x', x=('bool', (3, 5), 'any'))
unary('neg', 'np.negative', dtypes=ALL)
unary('abs', dtypes=ALL)
unary('sqrt', domain='positive')
unary('floor', grad=False)
unary('exp', tolerance=2)
unary('log', domain='positive', tolerance=2)
unary('tanh', tolerance=2)
case('where', 'where(p, x, y)', 'np.where(p, x, y)', ('x', 'y'),
     p=('bool', (3, 1), 'any'), x=('f32', (3, 4), 'any'), y=('f32', (4,), 'any'))

# -- Shape and movement -----------------------------------------------------------------------------------------------

case('reshape', 'reshape(x, [4, -1])', 'np.reshape(x, (4, -1))', ('x',), x=('f32', (2, 3, 4), 'any'))
case('transpose', 'transpose(x, perm=[2, 0, 1])', 'np.transpose(x, (2, 0, 1))', ('x',), x=('f64', (2, 3, 4), 'any'))
for text in ('x[1]', 'x[-1]', 'x[:, 1:3]', 'x[::2, ::3]', 'x[1:1]', 'x[:, None, 2]'):
    case(f'slice_{text}', text, None, ('x',), x=('f32', (4, 7), 'any'))
case('concat', 'concat([x, y, x], axis=1)', 'np.concatenate([x, y, x], axis=1)', ('x', 'y'),
     x=('f32', (3, 2), 'any'), y=('f32', (3, 4), 'any'))
case('pad', 'pad(x, 0, before=[1, 0], after=[2, 3])', 'np.pad(x, ((1, 2), (0, 3)))', ('x',), x=('f32', (3, 4), 'any'))
for axis in (0, 1):
    case(f'gather_{axis}', f'gather(x, i, axis={axis})', f'np.take(x, i, axis={axis})', ('x',),
         x=('f32', (5, 5), 'any'), i=('i32', (2, 3), 'index'))
case('scatter_add', 'scatter_add(x, i, u, axis=0)', 'x.at[i].add(u)', ('x', 'u'),
     x=('f32', (5, 2), 'any'), i=('i64', (6,), 'index'), u=('f32', (6, 2), 'any'))
case('one_hot', 'one_hot(i, 5)', 'jax.nn.one_hot(i, 5, dtype=np.float32)', i=('i32', (4,), 'index'))
case('iota', 'iota([3, 4], axis=1, dtype=f32) + x', 'lax.broadcasted_iota(np.float32, (3, 4), 1) + x',
     x=('f32', (), 'any'))

# Of a matrix x, a cube c, a vector v, in both languages.
MOVES = [
    ('flatten(c)', 'c.ravel()'), ('expand_dims(x, -1)', 'np.expand_dims(x, -1)'),
    ('squeeze(c[:, :1])', 'np.squeeze(c[:, :1])'), ('squeeze(c[:1, :1], axis=-2)', 'np.squeeze(c[:1, :1], axis=-2)'),
    ('swapaxes(c, 0, -1)', 'np.swapaxes(c, 0, -1)'), ('moveaxis(c, 0, -1)', 'np.moveaxis(c, 0, -1)'),
    ('flip(c)', 'np.flip(c)'), ('flip(c, axis=[0, -1])', 'np.flip(c, (0, -1))'), ('x[::-1, -2::-2]', 'x[::-1, -2::-2]'),
    ('roll(c, 5)', 'np.roll(c, 5)'), ('roll(c, -1, axis=1)', 'np.roll(c, -1, 1)'),
    ('tile(x, [2, 3])', 'np.tile(x, (2, 3))'), ('tile(v, [2, 1, 2])', 'np.tile(v, (2, 1, 2))'),
    ('repeat(x, 3, axis=0)', 'np.repeat(x, 3, 0)'), ('repeat(x, 2)', 'np.repeat(x, 2)'),
    ('stack([x, x * x], axis=1)', 'np.stack([x, x * x], 1)'),
    ('stack([v, v + 1], axis=-1)', 'np.stack([v, v + 1], -1)'),
    ('split(c, 2, axis=-1)[1]', 'np.split(c, 2, -1)[1]'), ('split(c, [1, 3], axis=2)[1]', 'np.split(c, [1], 2)[1]'),
    ('pad_edge(x, [1, 0], [2, 3])', 'np.pad(x, ((1, 2), (0, 3)), "edge")'),
    ('pad_reflect(x, [1, 2], [2, 3])', 'np.pad(x, ((1, 2), (2, 3)), "reflect")'),
    ('pad_reflect(x, [7, 0], [1, 11])', 'np.pad(x, ((7, 1), (0, 11)), "reflect")'),
    ('pad_reflect(x[:1], [2, 1], [0, 1])', 'np.pad(x[:1], ((2, 0), (1, 1)), "reflect")'),
    ('pad(x, 9, before=[-1, 1], after=[1, -2])', 'lax.pad(x, np.float32(9), ((-1, 1, 0), (1, -2, 0)))'),
    ('tril(x, k=-1)', 'np.tril(x, -1)'), ('triu(c, k=1)', 'np.triu(c, 1)'), ('diagonal(x, k=2)', 'np.diagonal(x, 2)'),
    ('diagonal(c, k=-1)', 'np.diagonal(c, -1, 1, 2)'), ('trace(c)', 'np.trace(c, 0, 1, 2)'),
    ('diag(v, k=-2)', 'np.diag(v, -2)'),
    ('outer(v, x)', 'np.outer(v, x)'), ('meshgrid([v, x[0]])[0]', 'np.meshgrid(v, x[0])[0]'),
    ('meshgrid([v, x[0]], indexing="ij")[1]', 'np.meshgrid(v, x[0], indexing="ij")[1]'),
    ('take_along_axis(x, [[1, 0], [3, 3], [0, 1]], axis=1)',
     'np.take_along_axis(x, np.array([[1, 0], [3, 3], [0, 1]]), 1)'),
    ('gather_nd(c, [[0, 2], [1, 1], [0, 2]])', 'c[np.array([0, 1, 0]), np.array([2, 1, 2])]'),
    ('scatter_nd_add(c, [[0, 2], [1, 1], [0, 2]], x)', 'c.at[np.array([0, 1, 0]), np.array([2, 1, 2])].add(x)'),
    ('scatter_nd_set(c, [[0, 2, 1], [1, 1, 0], [0, 0, 3]], v)',
     'c.at[np.array([0, 1, 0]), np.array([2, 1, 0]), np.array([1, 0, 3])].set(v)'),
    ('scatter_nd_max(x, [[0], [2], [0]], c[0])', 'x.at[np.array([0, 2, 0])].max(c[0])'),
    ('scatter_mul(x, [2, 0, 2], c[1], axis=0)', 'x.at[np.array([2, 0, 2])].mul(c[1])'),
    ('scatter_min(x, [3, 0, 3], c[1, :, :3], axis=1)', 'x.at[:, np.array([3, 0, 3])].min(c[1, :, :3])'),
]
for leat, jax in MOVES:
    given = {'x': ('f32', (3, 4), 'distinct'), 'c': ('f32', (2, 3, 4), 'any'), 'v': ('f32', (3,), 'any')}
    used = {name: given[name] for name in given if re.search(rf'\b{name}\b', leat)}
    case(leat, leat, jax, () if 'scatter_m' in leat or 'max' in leat else used, **used)
for text in ('x[i, j]', 'x[:, i, j]', 'x[i, :, j]', 'x[i, 1, j]', 'x[j, ..., i[0]]', 'x[:, j]',
             'x[1, :, j]', 'x[i, None, j]'):
    given = {'x': ('f32', (5, 5, 5), 'any'), 'i': ('i32', (2, 3), 'index'), 'j': ('i64', (3,), 'index')}
    case(f'index_{text}', text, None, ('x',), **{name: given[name] for name in given if name in text})
for leat, jax in (('eye(2, 4, k=1)', 'np.eye(2, 4, 1, dtype=np.float32)'),
                  ('arange(9, 2, -2)', 'np.arange(9, 2, -2, dtype=np.int32)'),
                  ('arange(2, 9, 3)', 'np.arange(2, 9, 3, dtype=np.int32)'),
                  ('histogram([0.1, 0.3, 0.7], 4, 0, 1)[0]', 'numpy.histogram([0.1, 0.3, 0.7], 4, (0, 1))[0]'),
                  ('linspace(-1, 2, 7, dtype=f64)', 'np.linspace(-1, 2, 7)')):
    case(leat, leat, jax)

# -- Reductions and products ------------------------------------------------------------------------------------------

JAX_NAMES = {'variance': 'np.var', 'logsumexp': 'jax.scipy.special.logsumexp'}

for name in ('sum', 'prod', 'max', 'min', 'mean', 'variance', 'std', 'logsumexp'):
    for axis in (None, 0, 2, (0, 2)):
        for keep in (False, True):
            leat = f'{name}(x' + (f', axis={list(axis) if isinstance(axis, tuple) else axis}' if axis is not None else '')
            jax = JAX_NAMES.get(name, 'np.' + name)
            case(f'{name}_{axis}_{keep}', leat + f', keepdims={str(keep).lower()})',
                 f'{jax}(x, axis={axis}, keepdims={keep})', ('x',), 4 if name != 'sum' else 1,
                 x=('f32', (3, 5, 4), 'distinct' if name in ('max', 'min') else 'unit'))
case('argmin', 'argmin(x, axis=1)', 'np.argmin(x, axis=1).astype(np.int32)', x=('f32', (4, 9), 'small'))
for name in ('any', 'all'):
    case(name, f'{name}(x, axis=1)', f'np.{name}(x, axis=1)', x=('bool', (8, 3), 'any'))
case('count_nonzero', 'count_nonzero(x, axis=0)', 'np.count_nonzero(x, axis=0).astype(np.int32)',
     x=('i32', (4, 9), 'small'))
for order in ('1', '2', 'inf', '-inf'):
    case(f'norm_{order}', f'norm(x, ord={order}, axis=1)', f'np.linalg.norm(x, float("{order}"), axis=1)', ('x',),
         x=('f32', (4, 9), 'any'))
case('argmax', 'argmax(x, axis=1)', 'np.argmax(x, axis=1).astype(np.int32)', x=('f32', (4, 9), 'small'))
for a, b in (((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5)), ((1, 1), (1, 1))):
    for dtype in FLOATS:
        case(f'matmul_{a}_{b}_{dtype}', 'x @ y', None, ('x', 'y'), 4, x=(dtype, a, 'any'), y=(dtype, b, 'any'))

for a, b in (((3,), (3,)), ((3,), (3, 4)), ((2, 4, 3), (3,)), ((3,), (2, 3, 4)), ((2, 1, 4, 3), (5, 3, 2)),
             ((2, 0), (0, 3))):
    case(f'matmul_{a}_{b}', 'x @ y', None, ('x', 'y'), 4, x=('f32', a, 'any'), y=('f32', b, 'any'))
for dtype in INTEGERS:
    case(f'matmul_{dtype}', 'x @ y', None, x=(dtype, (3, 17), 'any'), y=(dtype, (17, 5), 'any'))
for equation, *shapes in (
        ('ij,jk->ik', (2, 3), (3, 4)), ('bij,bjk->bik', (2, 3, 4), (2, 4, 5)), ('bij,bkj', (2, 3, 4), (2, 5, 4)),
        ('ij->ji', (2, 3)), ('ii->i', (3, 3)), ('iji->j', (3, 2, 3)), ('ij->', (2, 3)), ('i,j->ij', (3,), (4,)),
        ('ij,ij->i', (2, 3), (2, 3)), ('...ij,...jk->...ik', (5, 1, 2, 3), (4, 3, 2)), 
        ('bhqd,bhkd->bhqk', (2, 2, 3, 4), (2, 2, 5, 4)), ('ab,bc,cd->ad', (2, 3), (3, 4), (4, 5)),
        ('abc,cd,be->ae', (2, 3, 4), (4, 5), (3, 6)), ('i...->...', (2, 3)), ('aab,b->a', (2, 2, 3), (3,)),
        # extents of 1 on either side of `...`, and on both
        ('...ij,...jk->...ik', (5, 4, 2, 3), (1, 4, 3, 2)), ('...ij,...jk->...ik', (5, 4, 2, 3), (5, 1, 3, 2)),
        ('...ij,...jk->...ik', (5, 1, 2, 3), (1, 4, 3, 2)), ('...ij,...jk->...ik', (1, 2, 3), (5, 4, 3, 2)),
        ('...ij,...jk', (5, 2, 3), (1, 3, 2)), ('...i,...i->...', (4, 3), (1, 3)), ('i...,i...->...', (3, 2), (3, 1)),
        ('...,...->...', (4, 3), (1, 3)), ('...,...', (1, 3), (4, 1)), ('...i,i->...', (1, 3), (3,)),
        ('...i,...j,...k->...ijk', (2, 3), (1, 2), (2, 4)),
        # extents of 1 of a letter
        ('ab,bd->ad', (3, 1), (4, 5)), ('ab,ab->b', (3, 1), (1, 5)), ('ab,cb->a', (1, 4), (3, 1)),
        # diagonals
        ('iii->i', (3, 3, 3)), ('iii->', (3, 3, 3)), ('iijj->ij', (2, 2, 3, 3)), ('iijj->ji', (2, 2, 3, 3)),
        ('ijij->ij', (2, 3, 2, 3)), ('ijji->i', (2, 3, 3, 2)), ('ijkji->kj', (2, 3, 4, 3, 2)), ('ii', (3, 3)),
        ('...ii->...i', (4, 3, 3)), ('ii...->...', (3, 3, 4)), ('i...i', (3, 4, 3)), ('iij,jkk->ik', (2, 2, 3), (3, 4, 4)),
        ('iii,i->i', (3, 3, 3), (3,)), ('ii,jj->ij', (2, 2), (3, 3)), ('...ii,...jj->...ij', (4, 2, 2), (1, 3, 3)),
        # outer products, sums of each, and results whose order is that of the letters
        ('ab,ab->', (2, 3), (2, 3)), ('ab,cd->dbca', (2, 3), (4, 5)), ('ab,cd->', (2, 3), (4, 5)), ('ba', (2, 3)),
        ('bca,adb', (2, 3, 4), (4, 5, 2)), ('a,b,c->cab', (2,), (3,), (4,)), ('ab,ab,ab->a', (2, 3), (2, 3), (2, 3))):
    names = 'xyz'[:len(shapes)]
    number = f' {shapes}' if equation == '...ij,...jk->...ik' and shapes != [(5, 1, 2, 3), (4, 3, 2)] else ''
    case(f'einsum_{equation}{number}', f'einsum("{equation}", {", ".join(names)})',
         f'np.einsum("{equation}", {", ".join(names)})',
         tuple(names), 8, **{name: ('f32', shape, 'any') for name, shape in zip(names, shapes)})
for axes in ('2', '1', '[[1, 2], [1, 0]]', '[[0, -1], [-1, 0]]'):
    shape = (3, 4, 2) if axes == '2' else (4, 3, 5) if axes == '[[1, 2], [1, 0]]' else (4, 3, 2)
    case(f'tensordot_{axes}', f'tensordot(x, y, axes={axes})', f'np.tensordot(x, y, {axes})', ('x', 'y'), 8,
         x=('f32', (2, 3, 4), 'any'), y=('f32', shape, 'any'))
case('inner', 'inner(x, y)', 'np.inner(x, y)', ('x', 'y'), 8, x=('f32', (2, 3, 4), 'any'), y=('f32', (5, 4), 'any'))
case('vdot', 'vdot(x, y)', 'np.vdot(x, y)', ('x', 'y'), 8, x=('f32', (3, 4), 'any'), y=('f32', (12,), 'any'))

# -- Windows ----------------------------------------------------------------------------------------------------------


def listed(value):
    return f'"{value}"' if isinstance(value, str) else str([list(pair) for pair in value])


for n, dims in ((1, 'W'), (2, 'HW'), (3, 'DHW')):
    for stride, dilation, groups, padding in ((1, 1, 1, 'valid'), (2, 1, 1, 'same'), (1, 2, 2, 'same'),
                                              (2, 2, 2, 'valid'),
                                              (2, 1, 4, [(1, 2)] * n), (3, 1, 1, [(0, 1)] * n)):
        how = f'{n}_{stride}_{dilation}_{groups}_{padding if isinstance(padding, str) else "zeros"}'
        jax_padding = repr(padding.upper() if isinstance(padding, str) else padding)
        x, w = ('f32', (2, *(7, 6, 5)[:n], 4), 'any'), ('f32', (*(3, 2, 2)[:n], 4 // groups, 4), 'unit')
        case(f'conv_{how}',
             f'conv(x, w, stride={stride}, padding={listed(padding)}, dilation={dilation}, groups={groups})',
             f'lax.conv_general_dilated(x, w, {(stride,) * n}, {jax_padding}, None, {(dilation,) * n}, '
             f'("N{dims}C", "{dims}IO", "N{dims}C"), {groups})', ('x', 'w'), 40, x=x, w=w)
        if groups > 1:
            continue
        one = lambda value: (1, *[value] * n, 1)
        window, steps, apart = one(2), one(stride), one(dilation)
        pads = jax_padding if isinstance(padding, str) else repr([(0, 0), *[(1, 0)] * n, (0, 0)])
        zeros = padding if isinstance(padding, str) else [(1, 0)] * n
        pooled = f'window=2, stride={stride}, padding={listed(zeros)}, dilation={dilation}'
        case(f'max_pool_{how}', f'max_pool(x, {pooled})',
             f'lax.reduce_window(x, -np.inf, lax.max, {window}, {steps}, {pads}, None, {apart})', ('x',),
             x=('f32', x[1], 'small'))
        case(f'avg_pool_{how}', f'avg_pool(x, {pooled}, count_include_pad=true)',
             f'lax.reduce_window(x, 0.0, lax.add, {window}, {steps}, {pads}, None, {apart}) / {2 ** n}', ('x',), 4, x=x)
for n, dims, channels, outputs, window, stride, dilation, padding in (
        (1, 'W', 5, 15, (4,), 2, 3, 'same'), (2, 'HW', 3, 6, (3, 2), 1, 2, 'same'), (2, 'HW', 20, 20, (5, 3), 2, 1, 'same'),
        (2, 'HW', 33, 33, (3, 3), 1, 1, [(2, 0), (0, 3)]), (3, 'DHW', 4, 8, (2, 1, 3), 2, 1, [(1, 0)] * 3),
        (1, 'W', 40, 40, (5,), 1, 2, 'same'), (2, 'HW', 16, 16, (1, 7), 1, 1, 'valid'), (2, 'HW', 24, 24, (3, 3), 3, 1, [(1, 2), (0, 1)]),
        (2, 'HW', 18, 18, (2, 5), 2, 2, 'same')):
    jax_padding = repr(padding.upper() if isinstance(padding, str) else padding)
    case(f'conv_depthwise_{n}_{channels}_{outputs}',
         f'conv(x, w, stride={stride}, padding={listed(padding)}, dilation={dilation}, groups={channels})',
         f'lax.conv_general_dilated(x, w, {(stride,) * n}, {jax_padding}, None, {(dilation,) * n}, '
         f'("N{dims}C", "{dims}IO", "N{dims}C"), {channels})', ('x', 'w'), 40,
         x=('f32', (2, *(7, 9, 5)[:n], channels), 'any'), w=('f32', (*window, 1, outputs), 'unit'))
for inputs, outputs, stride in ((20, 2, 1), (3, 24, 2), (24, 3, 2)):  # few of either, which are multiplied before they are summed
    case(f'conv_few_{inputs}_{outputs}', f'conv(x, w, stride={stride}, padding="same")',
         f'lax.conv_general_dilated(x, w, ({stride}, {stride}), "SAME", None, (1, 1), ("NHWC", "HWIO", "NHWC"))',
         ('x', 'w'), 40, x=('f32', (2, 9, 6, inputs), 'any'), w=('f32', (3, 3, inputs, outputs), 'unit'))
for method in ('nearest', 'linear'):
    for size in ((3,), (9, 4), (2, 11), (5, 6, 3)):
        case(f'resize_{method}_{size}', f'resize(x, {list(size)}, method="{method}")',
             f'jax.image.resize(x, (2, *{size}, 3), "{method}", antialias=False)', ('x',), 8,
             x=('f32', (2, *(5, 6, 2)[:len(size)], 3), 'any'))

# -- The library ------------------------------------------------------------------------------------------------------

for name in ('relu', 'sigmoid', 'softmax', 'log_softmax'):
    unary(name, f'jax.nn.{name}', tolerance=4)
case('softmax_cross_entropy', 'softmax_cross_entropy(x, i)',
     '-np.take_along_axis(jax.nn.log_softmax(x), i[:, None], 1)[:, 0]', ('x',), 4,
     x=('f32', (4, 5), 'any'), i=('i32', (4,), 'index'))
