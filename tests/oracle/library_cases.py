"""The cases of functions, dtypes, order, linear algebra, Fourier transforms, run-time sizes, second derivatives, layers
and optimisers."""
import re

from case import FLOATS, INTEGERS, binary, case, unary


def table(given, rows, grad=True, tolerance=1, suffix=''):
    """Cases (leat, jax) over those of the inputs `given` that they name; a row may add statements before its result."""
    for leat, jax, *setup in rows:
        before = setup[0] if setup else ''
        used = {name: given[name] for name in given if re.search(rf'\b{name}\b', before + ' ' + leat)}
        smooth = [name for name in used if used[name][0] in FLOATS + ('c64', 'c128')] if grad else ()
        case(f'{before}; {leat}{suffix}' if before else leat + suffix, leat, jax, smooth, tolerance, before, **used)


# -- Functions --------------------------------------------------------------------------------------------------------

for name, jax, domain in (
        ('exp2', 'np.exp2', 'any'), ('expm1', 'np.expm1', 'any'), ('log2', 'np.log2', 'positive'),
        ('log10', 'np.log10', 'positive'), ('log1p', 'np.log1p', 'positive'), ('sin', 'np.sin', 'any'),
        ('cos', 'np.cos', 'any'), ('tan', 'np.tan', 'unit'), ('asin', 'np.arcsin', 'unit'),
        ('acos', 'np.arccos', 'unit'),
        ('atan', 'np.arctan', 'any'), ('sinh', 'np.sinh', 'any'), ('cosh', 'np.cosh', 'any'),
        ('asinh', 'np.arcsinh', 'any'), ('atanh', 'np.arctanh', 'unit'), ('cbrt', 'np.cbrt', 'positive'),
        ('reciprocal', '1 / ', 'positive')):
    unary(name, jax, domain, tolerance=4)
for name, jax in (('round', 'np.round'), ('ceil', 'np.ceil'), ('trunc', 'np.trunc'), ('sign', 'np.sign')):
    unary(name, jax, dtypes=('f32',), grad=False)
X = {dtype: {'x': (dtype, (3, 5), 'unit'), 'y': (dtype, (5,), 'positive')} for dtype in FLOATS}
for dtype in FLOATS:
    table(X[dtype], [
        ('acosh(1 + y)', 'np.arccosh(1 + y)'), ('erf(x)', 'jax.scipy.special.erf(x)'),
        ('erfc(x * 2)', 'jax.scipy.special.erfc(x * 2)'), ('erfinv(x)', 'jax.scipy.special.erfinv(x)'),
        ('lgamma(y)', 'jax.scipy.special.gammaln(y)'), ('digamma(y)', 'jax.scipy.special.digamma(y)'),
        ('lgamma(x)', 'jax.scipy.special.gammaln(x)'), ('digamma(x)', 'jax.scipy.special.digamma(x)'),
        ('trigamma(y)', 'jax.scipy.special.polygamma(1, y)'), ('atan2(x, y)', 'np.arctan2(x, y)'),
        ('atan2(y, x)', 'np.arctan2(y, x)'), ('hypot(x, y)', 'np.hypot(x, y)'), ('pow(y, x)', 'np.power(y, x)'),
        ('pow(x, 3)', 'np.power(x, 3)'), ('rsqrt(y)', '1 / np.sqrt(y)'), ('logaddexp(x, y)', 'np.logaddexp(x, y)'),
        ('x % y', 'np.remainder(x, y)'), ('rem(x, y)', 'np.fmod(x, y)'), ('fma(x, y, x)', 'x * y + x'),
        ('copysign(x, y - 1)', 'np.copysign(x, y - 1)'), ('clamp(x, -0.5, y)', 'np.clip(x, -0.5, y)'),
        ('softplus(x)', 'jax.nn.softplus(x)'), ('silu(x)', 'jax.nn.silu(x)'), ('mish(x)', 'jax.nn.mish(x)'),
        ('log_sigmoid(x)', 'jax.nn.log_sigmoid(x)'), ('elu(x, alpha=0.7)', 'jax.nn.elu(x, 0.7)'),
        ('leaky_relu(x)', 'jax.nn.leaky_relu(x)'), ('selu(x)', 'jax.nn.selu(x)'), ('relu6(x * 9)', 'jax.nn.relu6(x * 9)'),
        ('softsign(x)', 'jax.nn.soft_sign(x)'), ('hard_tanh(x * 2)', 'jax.nn.hard_tanh(x * 2)'),
        ('hard_sigmoid(x * 4)', 'jax.nn.hard_sigmoid(x * 4)'), ('hard_silu(x * 4)', 'jax.nn.hard_silu(x * 4)'),
        ('glu(concat(x, y[None], axis=0), axis=0)', 'jax.nn.glu(np.concatenate([x, y[None]]), 0)'),
        ('softmax(x, axis=0)', 'jax.nn.softmax(x, 0)'), ('log_softmax(x, axis=0)', 'jax.nn.log_softmax(x, 0)'),
        ('gelu(x)', 'jax.nn.gelu(x, approximate=False)'),
        ('gelu(x, approximate=true)', 'jax.nn.gelu(x, approximate=True)')], tolerance=8, suffix=f' {dtype}')
    table(X[dtype], [('x // y', 'np.floor_divide(x, y)'), ('nextafter(x, y)', 'np.nextafter(x, y)'),
                     ('is_nan(x / (x - x))', 'np.isnan(x / (x - x))'), ('is_inf(y / (y - y))', 'np.isinf(y / (y - y))'),
                     ('sign_bit(x)', 'np.signbit(x)')], grad=False, suffix=f' {dtype}')
for name in ('hypot', 'copysign', 'nextafter'):
    case(f'{name}_special', f'{name}(x, y)', f'np.{name}(x, y)', x=('f32', (16,), 'special'),
         y=('f32', (16, 1), 'special'))
for name, jax in (('atan2', 'np.arctan2'), ('pow', 'np.power'), ('floor_div', 'np.floor_divide'),
                  ('remainder', 'np.remainder')):
    case(f'{name}_special', f'{name}(x, y)', f'{jax}(x, y)', x=('f64', (16,), 'special'), y=('f64', (16, 1), 'special'))
for dtype in ('f16', 'f32', 'f64'):
    bits = {'f16': 16, 'f32': 32, 'f64': 64}[dtype]
    for domain in ('any', 'special'):
        table({'x': (dtype, (16,), domain), 'y': (dtype, (16, 1), domain), 'n': ('i32', (16,), 'exponents')}, [
            (f'where(is_nan(x + y) or x == y, 0, bitcast(nextafter(x, y), i{bits}))',
             f'np.where(np.isnan(x + y) | (x == y), 0, np.nextafter(x, y).view(np.int{bits}))'),
            (f'where(is_nan(x), 0, bitcast(ldexp(x, n[:, None]), i{bits}))',
             f'np.where(np.isnan(x), 0, np.ldexp(x, n[:, None]).view(np.int{bits}))'),
            ('m', 'np.frexp(x)[0]', 'm, e = frexp(x)'),
            ('e', 'np.frexp(x)[1]', 'm, e = frexp(x)')], grad=False, suffix=f' {dtype} {domain}')
table({'x': ('f64', (5,), 'any'), 'n': ('i32', (3, 1), 'small')}, [
    ('ldexp(x, n)', 'np.ldexp(x, n)'), ('m', 'x * 2.0 ** -np.frexp(jax.lax.stop_gradient(x))[1]', 'm, e = frexp(x)')])
case('nextafter bf16', 'bitcast(nextafter(cast(x, bf16), cast(y, bf16)), i16)',
     'lax.bitcast_convert_type(np.nextafter(x.astype(np.bfloat16), y.astype(np.bfloat16)), np.int16)',
     x=('f32', (3, 5), 'any'), y=('f32', (5,), 'any'))
for dtype in ('c64', 'c128'):
    table({'z': (dtype, (3, 5), 'any')}, [('exp2(z)', 'np.exp2(z)')], grad=False, suffix=f' {dtype}', tolerance=4)
for dtype in ('i8', 'i32', 'u16', 'u64'):
    table({'x': (dtype, (4, 7), 'any'), 'y': (dtype, (7,), 'any')}, [
        ('sign(x - y)', 'np.sign(x - y)'), ('hard_tanh(x)', 'np.clip(x.astype(float), -1, 1).astype(x.dtype)'),
        ('bit_and(x, y)', 'x & y'), ('bit_or(x, y)', 'x | y'), ('bit_xor(x, y)', 'x ^ y'), ('bit_not(x)', '~x'),
        ('popcount(x)', 'lax.population_count(x)'), ('count_leading_zeros(x)', 'lax.clz(x)'),
        ('gcd(x, y)', 'np.gcd(x, y)'),
        ('x // bit_or(y, 1)', 'np.floor_divide(x, y | 1)'), ('x % bit_or(y, 1)', 'np.remainder(x, y | 1)'),
        ('div_trunc(x, bit_or(y, 1))', '(x - np.fmod(x, y | 1)) // (y | 1)'),
        ('rem(x, bit_or(y, 1))', 'np.fmod(x, y | 1)'), ('shift_left(x, bit_and(y, 7))', 'x << (y & 7)'),
        ('shift_right(x, bit_and(y, 7))', 'x >> (y & 7)')], suffix=f' {dtype}')

# -- Dtypes -----------------------------------------------------------------------------------------------------------

REAL = ('bool', *INTEGERS, 'f16', *FLOATS)
PLAIN = {'bool': 'bool_', 'f16': 'float16', 'f32': 'float32', 'f64': 'float64', 'c64': 'complex64',
         'c128': 'complex128',
         **{name: ('uint' if name[0] == 'u' else 'int') + name[1:] for name in INTEGERS}}
for source in REAL:
    for target in REAL:
        domain = 'positive' if source[0] == 'f' and target[0] == 'u' else 'any'
        case(f'cast_{source}_{target}', f'cast(x, {target})', f'x.astype(np.{PLAIN[target]})', x=(source, (9,), domain))
    case(f'cast_{source}_bf16', 'cast(cast(x, bf16), f32)', 'x.astype(np.bfloat16).astype(np.float32)',
         x=(source, (9,), 'any'))
    case(f'cast_bf16_{source}', f'cast(cast(x, bf16), {source})', f'x.astype(np.bfloat16).astype(np.{PLAIN[source]})',
         x=('f32', (9,), 'positive'))
for target in ('c64', 'c128'):
    for source in ('i32', 'f16', 'f64', 'c64', 'c128'):
        case(f'cast_{source}_{target}', f'cast(x, {target})', f'x.astype(np.{PLAIN[target]})', x=(source, (9,), 'any'))
# Out of range NumPy promises nothing and XLA differs between devices: Leat saturates, and NaN gives 0.
for target in INTEGERS:
    bounds = f'np.iinfo(np.{PLAIN[target]})'
    case(f'cast_special_{target}', f'cast(x, {target})',
         f'np.array([0 if v != v else int(max(min(v, int({bounds}.max)), '
         f'int({bounds}.min))) for v in x.tolist()], np.{PLAIN[target]})'.replace('np.', 'numpy.'),
         x=('f32', (16,), 'special'))
# One rounding an op, which a comparison in f32 sees.
for half, jax_half in (('f16', 'float16'), ('bf16', 'bfloat16')):
    rounds = lambda text: f'({text}).astype(np.{jax_half}).astype(np.float32)'
    half_of = {name: f'{name}.astype(np.{jax_half}).astype(np.float32)' for name in 'xy'}
    for leat, jax in (('x + y', '{x} + {y}'), ('x - y', '{x} - {y}'), ('x * y', '{x} * {y}'), ('x / y', '{x} / {y}'),
                      ('maximum(x, y)', 'np.maximum({x}, {y})'), ('-x', '-{x}'), ('abs(x)', 'np.abs({x})'),
                      ('sqrt(abs(x))', 'np.sqrt(np.abs({x}))'), ('exp(x)', 'np.exp({x})'), ('tanh(x)', 'np.tanh({x})'),
                      ('floor(x)', 'np.floor({x})'), ('sum(x, axis=1)', 'np.sum({x}, axis=1)'),
                      ('sum(x)', 'np.sum({x})'),
                      ('max(x, axis=0)', 'np.max({x}, axis=0)'), ('matmul(x, y, transpose_b=true)', '{x} @ {y}.T'),
                      ('prod(x, axis=0)', 'np.prod({x}, axis=0)'), ('sort(x)', 'np.sort({x})'),
                      ('x[::-1]', '{x}[::-1]'),
                      ('where(x < y, x, y)', 'np.where({x} < {y}, {x}, {y})'), ('sin(x)', 'np.sin({x})')):
        text = re.sub(r'\b([xy])\b', rf'cast(\1, {half})', leat)
        case(f'{half} {leat}', f'cast({text}, f32)', rounds(jax.format(**half_of)), x=('f32', (4, 6), 'any'),
             y=('f32', (4, 6), 'any'))
    for leat, jax in (('x * y', 'x * y'), ('tanh(x)', 'np.tanh(x)'), ('sum(x * x, axis=1)', 'np.sum(x * x, axis=1)')):
        text, of = (re.sub(r'\b([xy])\b', form, what) for form, what in
                    ((rf'cast(\1, {half})', leat), (rf'\1.astype(np.{jax_half})', jax)))
        case(f'{half} gradient {leat}', f'cast({text}, f32)', f'({of}).astype(np.float32)', ('x',), 4000,
             x=('f32', (3, 4), 'any'), **({'y': ('f32', (3, 4), 'any')} if 'y' in leat else {}))
COMPLEX_FUNCTIONS = [(name, name) for name in (
    'exp', 'log', 'expm1', 'log1p', 'log2', 'log10', 'sin', 'cos', 'tan', 'sinh', 'cosh', 'tanh')] + [
    (name, name.replace('a', 'arc', 1)) for name in ('asin', 'acos', 'atan', 'asinh', 'acosh', 'atanh')]
for name, jax in COMPLEX_FUNCTIONS + [('sqrt', 'sqrt')]:  # special values and both sides of branch cuts: NumPy's
    if name in ('expm1', 'sin', 'sinh'):
        continue  # NumPy's expm1(inf) is inf + nan i; which infinity stands beside a NaN is open
    case(f'{name} of special complex numbers', 'stack([real(h), imag(h)])',
         '(lambda h: numpy.stack([h.real, h.imag]))(numpy.'
         f'{jax}(numpy.stack(numpy.broadcast_arrays(x, y), -1).view(complex)[..., 0]))', (), 4,
         f'h = {name}(complex(x, y))', x=('f64', (16,), 'special'), y=('f64', (16, 1), 'special'))
for dtype in ('c64', 'c128'):
    real = {'c64': 'f32', 'c128': 'f64'}[dtype]
    given = {'z': (dtype, (3, 4), 'any'), 'w': (dtype, (3, 4), 'any'), 'v': (dtype, (4,), 'any'),
             'r': (real, (3, 4), 'any')}
    table(given, [('abs(z)', 'np.abs(z)'), ('real(z * w)', 'np.real(z * w)'), ('imag(z / w)', 'np.imag(z / w)'),
                  ('real(conj(z) * z)', 'np.real(np.conj(z) * z)')], tolerance=4, suffix=f' {dtype}')
    square = {'a': (dtype, (2, 3, 3), 'any'), 'b': (dtype, (2, 3, 2), 'any')}
    table(square, [('real(h) + 0.5 * imag(h)', f'(lambda h: np.real(h) + 0.5 * np.imag(h))({jax})',
                    f'h = {leat}')
                   for leat, jax in (('solve(a, b)', 'np.linalg.solve(a, b)'), ('inv(a)', 'np.linalg.inv(a)'),
                                     ('det(a)', 'np.linalg.det(a)'), ('slogdet(a)[0]', 'np.linalg.slogdet(a)[0]'),
                                     ('cholesky(a / 4 + identities(a))', 'lax.linalg.cholesky(a / 4 + np.eye(3, dtype=a.dtype))'),
                                     ('cholesky(a @ adjoint(a) + 3 * identities(a))',
                                      'np.linalg.cholesky(a @ np.conj(a).swapaxes(1, 2) + 3 * np.eye(3, dtype=a.dtype))'),
                                     ('cholesky_solve(cholesky(a @ adjoint(a) + 3 * identities(a)), b)',
                                      'np.linalg.solve(a @ np.conj(a).swapaxes(1, 2) + 3 * np.eye(3, dtype=a.dtype), b)'),
                                     ('lu(a)[0]', 'lax.linalg.lu(a)[0]'), ('matrix_power(a, -2)', 'np.linalg.matrix_power(a, -2)'))],
          tolerance=40, suffix=f' {dtype}')
    table(square, [('y', jax, setup) for setup, jax in (
        ('y = eigvalsh(a)', 'np.linalg.eigvalsh((a + np.conj(a).swapaxes(1, 2)) / 2)'),
        ('y = svdvals(a)', 'np.linalg.svd(a, compute_uv=False)'),
        ('y = matrix_norm(b, ord="nuc")', 'np.linalg.norm(b, ord="nuc", axis=(1, 2))'),
        ('p = pinv(b)\ny = real(p) - imag(p)', '(lambda p: np.real(p) - np.imag(p))(np.linalg.pinv(b))'),
        ('q, r = qr(b)\ny = abs(r)', 'np.abs(np.linalg.qr(b)[1])'),
        ('w, v = eigh(a)\ny = abs(v)', 'np.abs(np.linalg.eigh((a + np.conj(a).swapaxes(1, 2)) / 2)[1])'),
        ('u, s, vh = svd(b)\ny = abs(u)', 'np.abs(np.linalg.svd(b, full_matrices=False)[0])'),
        ('u, s, vh = svd(b)\np = matmul(u, vh)\ny = real(p) - imag(p)',
         '(lambda f: (lambda p: np.real(p) - np.imag(p))(f[0] @ f[2]))(np.linalg.svd(b, full_matrices=False))'))],
          tolerance=200, suffix=f' {dtype}')
    table(square, [('slogdet(a)[1]', 'np.linalg.slogdet(a)[1]')], tolerance=40, suffix=f' {dtype}')
    table(given, [('z == z * 1', 'z == z * 1'), ('z != w', 'z != w'),
                  ('scatter_mul(z, [2, 0, 2], w, axis=0)', 'jax.numpy.asarray(z).at[np.array([2, 0, 2])].mul(w)'),
                  ('sign(z)', 'np.sign(z)'),
                  ('count_nonzero(where(r > 0, z, 0), axis=0)', 'np.count_nonzero(np.where(r > 0, z, 0), axis=0).astype(np.int32)')],
          grad=False, suffix=f' {dtype}')
    rows = [('z + w', 'z + w'), ('z - v', 'z - v'), ('z * w', 'z * w'), ('z / w', 'z / w'), ('-z', '-z'),
            ('conj(z)', 'np.conj(z)'),
            ('sqrt(z)', 'np.sqrt(z)'), ('z * v', 'z * v'), ('sum(z, axis=0)', 'np.sum(z, axis=0)'),
            ('mean(z)', 'np.mean(z)'),
            ('matmul(z, w, transpose_b=true)', 'z @ w.T'), ('z @ v', 'z @ v'),
            ('complex(r, real(z))', 'lax.complex(r, np.real(z))'),
            ('where(r > 0, z, w)', 'np.where(r > 0, z, w)'), ('concat([z, w * z], axis=1)',
                                                              'np.concatenate([z, w * z], axis=1)'),
            ('z[::-1, 1:3]', 'z[::-1, 1:3]'), ('z * z * w', 'z * z * w'),
            (f'z * cast(r, {dtype})', 'z * r'), ('einsum("ij,kj->ik", z, w)', 'np.einsum("ij,kj->ik", z, w)'),
            ('gather(z, [2, 0, 2], axis=0)', 'z[np.array([2, 0, 2])]'),
            *((f'{name}({z})', f'np.{jax}({z})') for name, jax in COMPLEX_FUNCTIONS
              for z in ('z + 4' if name == 'acosh' else 'z',)),  # left of 0 JAX 0.10's derivative has the wrong sign
            ('pow(z, w)', 'np.power(z, w)'), ('pow(z, 3)', 'z * z * z'), ('reciprocal(z)', '1 / z'),
            ('complex(angle(z), r)', 'np.angle(z) + 1j * r'), ('polar(r, angle(z))', 'r * np.exp(1j * np.angle(z))'),
            ('adjoint(z) @ w', 'z.conj().T @ w'), ('r * 2.5j - z', 'r * 2.5j - z'), ('z * (1 - 2j)', 'z * (1 - 2j)'),
            ('prod(z, axis=1)', 'np.prod(z, axis=1)'), ('prod(z)', 'np.prod(z)'),
            ('cumsum(z, axis=0)', 'np.cumsum(z, axis=0)'), ('cumprod(z, axis=1)', 'np.cumprod(z, axis=1)')]
    table(given, rows, grad=False, tolerance=4, suffix=f' {dtype}')
    table(given, [('real(r) * 2 + imag(r) - conj(r)', 'np.real(r) * 2 + np.imag(r) - np.conj(r)'),
                  ('angle(r)', 'np.angle(r)')], suffix=f' {dtype}')
    table(given, [('real(h) + 0.5 * imag(h)', f'(lambda h: np.real(h) + 0.5 * np.imag(h))({jax})', f'h = {leat}')
                  for leat, jax in rows], tolerance=8, suffix=f' {dtype}')

# -- Statistics --------------------------------------------------------------------------------------------------------

given = {'x': ('f32', (4, 9), 'distinct'), 'u': ('f64', (3, 4, 2), 'unit'), 'p': ('f64', (3, 4, 2), 'positive'),
         'v': ('f32', (6,), 'distinct'), 'w': ('f32', (9,), 'positive'), 'z': ('c64', (3, 4), 'any'),
         'm': ('f64', (4, 4), 'distinct'), 'k': ('f64', (2, 3), 'unit'), 'f': ('f64', (6,), 'unit')}
table(given, [
    ('median(x)', 'np.median(x)'), ('median(u, axis=1)', 'np.median(u, axis=1)'),
    ('median(u, axis=[0, -1], keepdims=true)', 'np.median(u, axis=(0, -1), keepdims=True)'),
    ('quantile(x, 0.3)', 'np.quantile(x, 0.3)'), ('quantile(u, 0.8, axis=[0, 2])', 'np.quantile(u, 0.8, axis=(0, 2))'),
    ('percentile(x, 12.5, axis=1, keepdims=true)', 'np.percentile(x, 12.5, axis=1, keepdims=True)'),
    *((f'quantile(x, {q}, axis=1, method="{how}")', f'np.quantile(x, {q}, axis=1, method="{how}")')
      for how in ('lower', 'higher', 'nearest', 'midpoint') for q in (0.3, 0.9)),
    ('variance(u, axis=[0, 1], ddof=1)', 'np.var(u, axis=(0, 1), ddof=1)'),
    ('std(x, axis=0, ddof=1)', 'np.std(x, axis=0, ddof=1)'),
    ('average(x, w, axis=1)', 'np.average(x, weights=w, axis=1)'), ('average(u, p)', 'np.average(u, weights=p)'),
    ('ptp(x, axis=1)', 'np.ptp(x, axis=1)'), ('diff(x)', 'np.diff(x)'), ('diff(u, n=2, axis=1)', 'np.diff(u, n=2, axis=1)'),
    ('cov(x)', 'np.cov(x)'), ('corrcoef(m)', 'np.corrcoef(m)'),
    ('interp(u, sort(f), f)', 'np.interp(u, np.sort(f), f)'),
    ('interp(u, linspace(-0.7, 0.8, 5, dtype=f64), cast([1, 3, 2, 0, 4], f64))',
     'np.interp(u, np.linspace(-0.7, 0.8, 5), np.array([1., 3, 2, 0, 4]))'),
    ('logsumexp(u, axis=[0, 2], keepdims=true)', 'jax.scipy.special.logsumexp(u, axis=(0, 2), keepdims=True)'),
    ('norm(x, ord=3, axis=1)', 'np.linalg.norm(x, 3, axis=1)'),
    ('norm(p, ord=0.5, axis=0)', 'np.linalg.norm(p, 0.5, axis=0)'),
    ('norm(p, ord=-2, axis=0)', 'np.linalg.norm(p, -2, axis=0)'), ('norm(z, axis=0)', 'np.linalg.norm(z, axis=0)'),
    ('norm(z, ord=inf, axis=1)', 'np.linalg.norm(z, np.inf, axis=1)'),
    *((f'matrix_norm(m, ord={leat})', f'np.linalg.norm(m, {jax})') for leat, jax in (
        ('"fro"', '"fro"'), ('"nuc"', '"nuc"'), (1, 1), (-1, -1), (2, 2), (-2, -2), ('inf', 'np.inf'),
        ('-inf', '-np.inf'))),
    ('matrix_norm(u, keepdims=true)', 'np.linalg.norm(u, axis=(1, 2), keepdims=True)'),
    ('kron(k, m)', 'np.kron(k, m)'), ('kron(v, x)', 'np.kron(v, x)'), ('cross(k, 1 - k * k)', 'np.cross(k, 1 - k * k)'),
    *((f'rot90(x, k={i})', f'np.rot90(x, {i})') for i in (-1, 1, 2, 4)),
    ('rot90(u, axes=[1, 2])', 'np.rot90(u, 1, (1, 2))'), ('rot90(u, k=3, axes=[2, 0])', 'np.rot90(u, 3, (2, 0))')],
    tolerance=64)
for name in ('nansum', 'nanprod', 'nanmean', 'nanmax', 'nanmin', 'nanvar', 'nanstd'):
    case(name, f'{name}(y, axis=1)', f'np.{name}(np.where(u > 0.3, np.nan, u), axis=1)', (), 16,
         'y = where(u > 0.3, nan, u)', u=('f64', (3, 4, 2), 'unit'))
table({'n': ('f64', (16,), 'special'), 'i': ('i32', (4, 9), 'small'), 'x': ('f32', (4, 9), 'distinct')}, [
    ('median(n)', 'np.median(n)'), ('median(reshape(n, [4, 4]), axis=1)', 'np.median(n.reshape(4, 4), axis=1)'),
    ('argmax(n)', 'np.argmax(n).astype(np.int32)'), ('argmin(n)', 'np.argmin(n).astype(np.int32)'),
    ('argmax(i, axis=1)', 'np.argmax(i, axis=1).astype(np.int32)'),
    ('argmin(i, axis=0)', 'np.argmin(i, axis=0).astype(np.int32)'),
    ('bincount(bit_and(i, 7), 8)', 'np.bincount((i & 7).ravel(), length=8)'),
    ('bincount(cast(bit_and(i, 7), u16), 8)', 'np.bincount((i & 7).ravel(), length=8)'),
    ('bincount_weighted(bit_and(i, 7), x, 8)', 'np.bincount((i & 7).ravel(), x.ravel(), length=8)'),
    ('a', 'np.histogram(x, 5, (-1, 2))[0].astype(np.int64)', 'a, b = histogram(x, 5, -1, 2)'),
    ('b', 'np.histogram(x, 5, (-1, 2))[1].astype(np.float32)', 'a, b = histogram(x, 5, -1, 2)'),
    ('logspace(-1, 2, 7, dtype=f64) + 0 * cast(i[0, 0], f64)', 'np.logspace(-1, 2, 7) + 0.0 * i[0, 0]'),
    ('logspace(0, 3, 4, base=2, endpoint=false) * x[0, 0]', 'np.logspace(0, 3, 4, base=2, endpoint=False).astype(np.float32) * x[0, 0]')],
    grad=False, tolerance=16)

# -- Order ------------------------------------------------------------------------------------------------------------

given = {'x': ('f32', (4, 9), 'distinct'), 's': ('i32', (4, 9), 'small'), 'n': ('f64', (16,), 'special'),
         'v': ('f32', (6,), 'any'), 'p': ('bool', (4, 9), 'any'),
         'u': ('f64', (3, 4, 2), 'unit')}
table(given, [
    ('sort(x)', 'np.sort(x)'), ('sort(x, axis=0)', 'np.sort(x, axis=0)'), ('sort(s)', 'np.sort(s)'),
    ('sort(n)', 'np.sort(n)'),
    ('sort(x, descending=true)', 'np.sort(x)[:, ::-1]'), ('a', 'lax.top_k(x, 3)[0]', 'a, b = top_k(x, 3)'),
    ('cumsum(v)', 'np.cumsum(v)'),
    ('cumsum(x, axis=0)', 'np.cumsum(x, axis=0)'), ('cumsum(s, axis=1)', 'np.cumsum(s, axis=1, dtype=np.int32)'),
    ('cumsum(u, axis=1, reverse=true)', 'np.cumsum(u[:, ::-1], axis=1)[:, ::-1]'),
    ('cumsum(x, axis=1, exclusive=true)', 'np.cumsum(x, axis=1) - x'), ('cumprod(u, axis=1)', 'np.cumprod(u, axis=1)'),
    ('cumprod(u, axis=-1, reverse=true)', 'np.cumprod(u[..., ::-1], axis=-1)[..., ::-1]'),
    ('cumprod(x, axis=0)', 'np.cumprod(x, axis=0)'), ('cummax(x, axis=1)', 'lax.cummax(x, 1)'),
    ('cummin(x, axis=0)', 'lax.cummin(x, 0)'), ('cummax(u, axis=1, reverse=true)', 'lax.cummax(u, 1, reverse=True)')],
    tolerance=4)
table(given, [
    ('argsort(x)', 'np.argsort(x).astype(np.int32)'), ('argsort(s)', 'np.argsort(s, stable=True).astype(np.int32)'),
    ('argsort(s, axis=0, descending=true)',
     'jax.numpy.argsort(s, axis=0, stable=True, descending=True).astype(np.int32)'),
    ('sort(p)', 'np.sort(p)'), ('sort(p, axis=0, descending=true)', 'np.sort(p, axis=0)[::-1]'),
    ('argsort(p)', 'np.argsort(p, stable=True).astype(np.int32)'), ('a', 'np.sort(p)[:, ::-1][:, :3]', 'a, b = top_k(p, 3)'),
    ('b', 'np.argsort(~p, stable=True)[:, :3].astype(np.int32)', 'a, b = top_k(p, 3)'),
    ('searchsorted(sort(p[0]), p, side="right")', 'np.searchsorted(np.sort(p[0]), p, side="right").astype(np.int32)'),
    ('median(p)', 'np.median(p).astype(np.float32)'), ('median(p, axis=0)', 'np.median(p, axis=0).astype(np.float32)'),
    ('b', 'lax.top_k(x, 3)[1]', 'a, b = top_k(x, 3)'), ('b', 'lax.top_k(s, 5)[1]', 'a, b = top_k(s, 5)'),
    ('searchsorted(sort(v), x)', 'np.searchsorted(np.sort(v), x).astype(np.int32)'),
    ('searchsorted(sort(s[0]), s, side="right")', 'np.searchsorted(np.sort(s[0]), s, side="right").astype(np.int32)')],
    grad=False)

# -- Linear algebra ---------------------------------------------------------------------------------------------------

SPD = 's = matmul(a, a, transpose_b=true) + 2 * eye(4, dtype={})'
SPD_JAX = '(a @ np.swapaxes(a, -1, -2) + 2 * np.eye(4, dtype=a.dtype))'
for dtype in FLOATS:
    given = {'a': (dtype, (2, 4, 4), 'any'), 'b': (dtype, (2, 4, 3), 'any'), 'm': (dtype, (4, 4), 'any'),
             'v': (dtype, (4,), 'any'),
             't': (dtype, (5, 3), 'any')}
    spd = SPD.format(dtype)
    table(given, [
        ('cholesky(s)', f'np.linalg.cholesky({SPD_JAX})', spd), ('inv(s)', f'np.linalg.inv({SPD_JAX})', spd),
        ('solve(s, b)', f'np.linalg.solve({SPD_JAX}, b)', spd), ('solve(m, v)', 'np.linalg.solve(m, v)'),
        ('inv(m)', 'np.linalg.inv(m)'), ('det(a)', 'np.linalg.det(a)'), ('det(s)', f'np.linalg.det({SPD_JAX})', spd),
        ('size', 'np.linalg.slogdet(a)[1]', 'sign_of, size = slogdet(a)'),
        ('cholesky_solve(cholesky(s), b)', f'np.linalg.solve({SPD_JAX}, b)', spd),
        ('triangular_solve(s, b, lower=true)', f'jax.scipy.linalg.solve_triangular({SPD_JAX}, b, lower=True)', spd),
        ('triangular_solve(s, b)', f'jax.scipy.linalg.solve_triangular({SPD_JAX}, b)', spd),
        ('triangular_solve(s, b, lower=true, transpose=true)',
         f'jax.scipy.linalg.solve_triangular({SPD_JAX}, b, lower=True, trans=1)', spd),
        ('triangular_solve(s, b, lower=true, unit_diagonal=true)',
         f'jax.scipy.linalg.solve_triangular({SPD_JAX}, b, lower=True, unit_diagonal=True)', spd),
        ('abs(q)', 'np.abs(np.linalg.qr(t)[0])', 'q, r = qr(t)'),
        ('abs(r)', 'np.abs(np.linalg.qr(a)[1])', 'q, r = qr(a)'),
        ('values', f'np.linalg.eigh({SPD_JAX})[0]', spd + '\nvalues, vectors = eigh(s)'),
        ('square(vectors)', f'np.linalg.eigh({SPD_JAX})[1] ** 2', spd + '\nvalues, vectors = eigh(s)'),
        ('values', 'np.linalg.svd(t, full_matrices=False)[1]', 'left, values, right = svd(t)'),
        ('square(left)', 'np.linalg.svd(t, full_matrices=False)[0] ** 2', 'left, values, right = svd(t)'),
        ('abs(left[:, :1] @ right[:1])', 'np.abs(np.linalg.svd(m)[0][:, :1] @ np.linalg.svd(m)[2][:1])',
         'left, values, right = svd(m)'),
        ('pinv(t)', 'np.linalg.pinv(t)'), ('matrix_power(m, 3)', 'np.linalg.matrix_power(m, 3)'),
        ('matrix_power(m, -1)', 'np.linalg.matrix_power(m, -1)')], tolerance=200, suffix=f' {dtype}')
    table(given, [('sign_of', 'np.linalg.slogdet(a)[0]', 'sign_of, size = slogdet(a)'),
                  ('lstsq(t, t[:, :2])', 'np.linalg.lstsq(t, t[:, :2])[0]')], grad=False, tolerance=200,
                  suffix=f' {dtype}')

# -- Fourier transforms -----------------------------------------------------------------------------------------------

POWER, POWER_JAX = 'real(f * conj(f))', '(lambda f: np.real(f * np.conj(f)))({})'
for n in (1, 2, 5, 8, 12, 17, 30):
    given = {'z': ('c128', (2, n), 'any'), 'x': ('f64', (2, n), 'any')}
    table(given, [('fft(z)', 'np.fft.fft(z)'), ('ifft(z)', 'np.fft.ifft(z)'), ('rfft(x)', 'np.fft.rfft(x)')],
          grad=False,
          tolerance=8, suffix=f' {n}')
    table(given, [(POWER, POWER_JAX.format(f'np.fft.{word}'), f'f = {word}') for word in ('fft(z)', 'ifft(z)',
                                                                                          'rfft(x)')],
          tolerance=16, suffix=f' {n}')
given = {'z': ('c64', (3, 4, 5), 'any'), 'x': ('f32', (3, 4, 6), 'any')}
for leat, jax in (('fft2(z)', 'fft2(z)'), ('ifft2(z)', 'ifft2(z)'), ('fftn(z)', 'fftn(z)'),
                  ('ifftn(z, axes=[0, 2])', 'ifftn(z, axes=(0, 2))'),
                  ('rfft2(x)', 'rfft2(x)'), ('rfftn(x)', 'rfftn(x)'),
                  ('rfftn(x, axes=[2, 0])', 'rfftn(x, axes=(2, 0))')):
    table(given, [(leat, 'np.fft.' + jax)], grad=False, tolerance=16)
    table(given, [(POWER, POWER_JAX.format('np.fft.' + jax), f'f = {leat}')], tolerance=64)
table(given, [('irfft(z)', 'np.fft.irfft(z)'), ('irfft(z, n=9)', 'np.fft.irfft(z, 9)'),
              ('irfft2(z)', 'np.fft.irfft2(z)'),
              ('irfftn(z, n=9)', 'np.fft.irfftn(z, (3, 4, 9))'), ('fftshift(x)', 'np.fft.fftshift(x)'),
              ('ifftshift(x, axes=[1])', 'np.fft.ifftshift(x, axes=1)')], tolerance=16)
table({}, [('fftfreq(7)', 'np.fft.fftfreq(7).astype(np.float32)'),
           ('rfftfreq(8, d=0.5)', 'np.fft.rfftfreq(8, 0.5).astype(np.float32)')])

# -- Sizes known only while running -----------------------------------------------------------------------------------

given = {'x': ('f32', (4, 5), 'any'), 'p': ('bool', (4, 5), 'any'), 'q': ('bool', (4,), 'any'),
         's': ('i32', (4, 5), 'small')}
for leat, jax, *setup in (
        ('nonzero(s)', 'np.argwhere(s)'), ('where(p)', 'np.argwhere(p)'), ('flatnonzero(s)', 'np.flatnonzero(s)'),
        ('x[p]', 'x[p]'),
        ('x[q]', 'x[q]'), ('x[:, p[0]]', 'x[:, p[0]]'), ('compress(q, x, axis=0)', 'np.compress(q, x, axis=0)'),
        *((name, f'np.unique({of}, {option}=True)[1]{shape}', f'a, b, c, d = unique({of})') for of in 'sp'
          for name, option, shape in (('b', 'return_index', ''), ('c', 'return_inverse', '.reshape(4, 5)'),
                                      ('d', 'return_counts', ''))),
        ('a', 'np.unique(s)', 'a, b, c, d = unique(s)'), ('a', 'np.unique(p)', 'a, b, c, d = unique(p)'),
        ('a', 'np.unique(x)', 'a, b, c, d = unique(x)'),
        ('repeat_each(x, abs(s[:, 0]), axis=0)', 'np.repeat(x, np.abs(s[:, 0]), axis=0)'),
        ('x[p] * 2 + 1', 'x[p] * 2 + 1'),
        ('sort(x[p])', 'np.sort(x[p])'), ('cumsum(x[p], axis=0)', 'np.cumsum(x[p])')):
    before = setup[0] if setup else ''
    case(f'dynamic {before} {leat}', leat, jax, (), 4, before, dynamic=True,
         **{name: given[name] for name in given if re.search(rf'\b{name}\b', before + ' ' + leat)})
table(given, [('sum(square(x[p]))', 'np.sum(np.where(p, x * x, 0))'),
              ('sum(tanh(x[q]))', 'np.sum(np.where(q[:, None], np.tanh(x), 0))'),
              ('sum(x[:, p[0]], axis=1)', 'np.sum(np.where(p[0], x, 0), axis=1)'),
              ('max(x[p])', 'np.max(np.where(p, x, -np.inf))')],
      tolerance=4)

# -- Second derivatives: the gradient of the sum, and its gradient -----------------------------------------------------

JAX_WORDS = {'relu': 'jax.nn.relu', 'sigmoid': 'jax.nn.sigmoid', 'softplus': 'jax.nn.softplus', 'silu': 'jax.nn.silu',
             'softmax': 'jax.nn.softmax', 'log_softmax': 'jax.nn.log_softmax', 'erf': 'jax.scipy.special.erf',
             'lgamma': 'jax.scipy.special.gammaln', 'erfinv': 'jax.scipy.special.erfinv', 'square': 'np.square'}


def second(leat, jax=None, domain='unit', shape=(3, 4), tolerance=64):
    words = lambda word: JAX_WORDS.get(word[1], 'np.' + word[1]) + '('
    text = jax or re.sub(r'\b([a-z]\w*)\(', words, leat)
    case(f'second {leat}', 'g[0]', f'jax.grad(lambda x: np.sum({text}))(x)', ('x',), tolerance,
         f'g = grad(sum({leat}), [x])',
         x=('f64', shape, domain))


for word in ('exp', 'tanh', 'sin', 'cos', 'tan', 'sigmoid', 'softplus', 'silu', 'erf', 'erfinv', 'expm1', 'sinh',
             'cosh'):
    second(f'{word}(x)')
for word in ('log', 'sqrt', 'log1p', 'log2', 'lgamma', 'cbrt'):
    second(f'{word}(x)', domain='positive')
for word, jax in (('asin', 'arcsin'), ('acos', 'arccos'), ('atan', 'arctan'), ('asinh', 'arcsinh'),
                  ('atanh', 'arctanh')):
    second(f'{word}(x)', f'np.{jax}(x)')
second('gelu(x)', 'jax.nn.gelu(x, approximate=False)')
for leat in ('x * x * x', '1 / (2 + x)', 'square(softmax(x))', 'square(log_softmax(x))', 'x * relu(x)',
             'exp(x) / (1 + x * x)',
             'hypot(x, x + 3)', 'square(max(x, axis=1))', 'square(prod(x, axis=1))', 'square(std(x, axis=0))'):
    second(leat)
for leat, jax in (('pow(x, 3)', 'x ** 3'), ('square(logsumexp(x, axis=1))',
                                            'jax.scipy.special.logsumexp(x, axis=1) ** 2'),
                  ('square(variance(x, axis=1))', 'np.var(x, axis=1) ** 2'),
                  ('square(cumsum(x, axis=1))', 'np.cumsum(x, axis=1) ** 2'),
                  ('square(cumprod(x, axis=1))', 'np.cumprod(x, axis=1) ** 2'),
                  ('square(sort(x)) * [1, 2, 3, 4]', 'np.sort(x) ** 2 * np.array([1, 2, 3, 4])'),
                  ('square(matmul(x, x, transpose_b=true))', '(x @ x.T) ** 2'),
                  ('square(einsum("ij,kj->ik", x, x))', 'np.einsum("ij,kj->ik", x, x) ** 2'),
                  ('square(x[1:] * x[:-1])', '(x[1:] * x[:-1]) ** 2'),
                  ('square(gather(x, [0, 2, 0], axis=0))', 'x[np.array([0, 2, 0])] ** 2'),
                  ('atan2(x, x + 3)', 'np.arctan2(x, x + 3)'), ('square(norm(x, axis=1))', 'np.sum(x * x, axis=1)'),
                  ('norm(x, axis=1)', 'np.linalg.norm(x, axis=1)'),
                  ('square(max_pool(x[None, :, :, None], window=2))',
                   'lax.reduce_window(x, -np.inf, lax.max, (2, 2), (2, 2), "VALID") ** 2'),
                  ('square(real(fft(complex(x, x * x))))', 'np.real(np.fft.fft(lax.complex(x, x * x))) ** 2')):
    second(leat, jax)
for leat, jax in (('inv(x + eye(4, dtype=f64) * 3)', 'np.linalg.inv(x + np.eye(4) * 3)'),
                  ('det(x)', 'np.linalg.det(x)'),
                  ('square(cholesky(x @ transpose(x, [1, 0]) + eye(4, dtype=f64)))',
                   'np.linalg.cholesky(x @ x.T + np.eye(4)) ** 2')):
    second(leat, jax, shape=(4, 4), tolerance=1000)

# -- Layers, losses, optimisers ---------------------------------------------------------------------------------------

for dtype in FLOATS:
    given = {'x': (dtype, (4, 5), 'any'), 'i': ('i32', (4,), 'index')}
    table(given, [
        ('layer_norm(x) as net', '(x - np.mean(x, 1, keepdims=True)) / np.sqrt(np.var(x, 1, keepdims=True) + 1e-5)'),
        ('batch_norm(x) as net', 'x / np.sqrt(1 + np.asarray(0.001, x.dtype))'),
        ('mean(softmax_cross_entropy(x, i))', 'np.mean(-jax.nn.log_softmax(x)[np.arange(4), i])'),
        ('gather(log_softmax(x), [2, 0, 2], axis=0)', 'jax.nn.log_softmax(x)[np.array([2, 0, 2])]'),
        ('mean(square(x - 1))', 'np.mean((x - 1) ** 2)')], tolerance=8, suffix=f' {dtype}')
# Weights that are all different: W in JAX.
RAMP = """fn {}(out: type) {{
  return reshape(sin(iota([size(out)], axis=0, dtype=dtype(out)) * 0.7) * 0.5, shape(out))
}}"""
W = 'lambda *s: (np.sin(np.arange(s[0] * s[1], dtype=x.dtype) * np.asarray(0.7, x.dtype)) * 0.5).reshape(s)'
for name, leat, setup, jax in (
        ('rnn_cell', 'rnn_cell(x, h, init={}) as cell', '', 'np.tanh(x @ W(3, 2) + h @ W(2, 2))'),
        ('lstm_cell', 'concat(s, t, axis=1)', 's, t = lstm_cell(x, h, c, init={}) as cell',
         '(lambda i, f, o, g: (lambda m: np.concatenate([S(o) * np.tanh(m), m], 1))(S(f) * c + S(i) * np.tanh(g)))'
         '(*np.split(x @ W(3, 8) + h @ W(2, 8) + np.array([0, 0, 1, 1, 0, 0, 0, 0], x.dtype), 4, 1))'),
        ('gru_cell', 'gru_cell(x, h, init={}) as cell', '',
         '(lambda a, b: (lambda r, z: z * h + (1 - z) * np.tanh(a[2] + r * b[2]))(S(a[0] + b[0]), S(a[1] + b[1])))'
         '(np.split(x @ W(3, 6), 3, 1), np.split(h @ W(2, 6), 3, 1))')):
    for dtype in FLOATS:
        given = {'x': (dtype, (5, 3), 'any'), 'h': (dtype, (5, 2), 'unit'), 'c': (dtype, (5, 2), 'unit')}
        if name != 'lstm_cell':
            del given['c']
        ramp = f'ramp_{name}_{dtype}'
        case(f'{name} {dtype}', leat.format(ramp), f'(lambda S, W: {jax})(jax.nn.sigmoid, {W})', list(given), 8,
             setup.format(ramp), RAMP.format(ramp), **given)
# The states of all steps; after the length of a sequence its state stays.
SEQUENCE = ('(lambda S, W: np.swapaxes(lax.scan(lambda k, s: (lambda p: (p, p[0]))(tuple(np.where((s[1] < {n})[:, None], a, b)'
            ' for a, b in zip((lambda v, {held}: {cell})(s[0], *k), k))), {first}, (np.swapaxes(x, 0, 1), np.arange(4)))[1],'
            ' 0, 1))(jax.nn.sigmoid, {W})')
for name, held, cell in (
        ('gru', 'h', '(lambda a, b: (lambda r, z: (z * h + (1 - z) * np.tanh(a[2] + r * b[2]),))(S(a[0] + b[0]), S(a[1] + b[1])))'
                     '(np.split(v @ W(2, 9), 3, 1), np.split(h @ W(3, 9), 3, 1))'),
        ('lstm', 'h, c', '(lambda i, f, o, g: (lambda m: (S(o) * np.tanh(m), m))(S(f) * c + S(i) * np.tanh(g)))(*np.split('
                         'v @ W(2, 12) + h @ W(3, 12) + np.repeat(np.array([0, 1, 0, 0], x.dtype), 3), 4, 1))')):
    for dtype in FLOATS:
        for lengths, n in (('', 'np.full(3, 9)'), (', lengths=n', 'n')):
            ramp = f'ramp_{name}_{dtype}_{n[0]}'
            given = {'x': (dtype, (3, 4, 2), 'any'), 'n': ('i32', (3,), 'index')}
            if not lengths:
                del given['n']
            first = '(' + 'np.zeros((3, 3), x.dtype), ' * len(held.split()) + ')'
            case(f'{name}{lengths} {dtype}', f'{name}(x, 3, init={ramp}{lengths}) as cells',
                 SEQUENCE.format(n=n, held=held, cell=cell, first=first, W=W), ('x',), 16, define=RAMP.format(ramp), **given)
for dtype in FLOATS:
    given = {'q': (dtype, (2, 4, 3), 'any'), 'k': (dtype, (2, 5, 3), 'any'), 'v': (dtype, (2, 5, 6), 'any'),
             'm': ('bool', (4, 5), 'any')}
    scores = 'q @ np.swapaxes(k, 1, 2) / np.sqrt(np.asarray(3, q.dtype))'
    of_seen = '(lambda m, s, v: np.where(np.any(m, 1)[:, None], jax.nn.softmax(np.where(' \
              'm | ~np.any(m, 1)[:, None], s, -np.inf)), 0) @ v)({}, {}, {})'
    turned = scores.replace('q', 'Q').replace('k', 'q').replace('Q', 'k').replace('skrt', 'sqrt')
    table(given, [
        ('attention(q, k, v)', f'jax.nn.softmax({scores}) @ v'),
        ('attention(q, k, v, causal=true)', f'jax.nn.softmax(np.where(np.tri(4, 5, 1) > 0, {scores}, -np.inf)) @ v'),
        ('attention(q, k, v, mask=m)', of_seen.format('m', scores, 'v')),
        ('attention(k, q, k[:, :4], causal=true)',  # the first query sees no key
         of_seen.format('np.tri(5, 4, -1) > 0', turned, 'k[:, :4]'))],
        tolerance=8, suffix=f' {dtype}')
    x, y, p, i = (dtype, (4, 5), 'any'), (dtype, (4, 5), 'positive'), (dtype, (4, 5), 'unit'), ('i32', (2, 4), 'index')
    table({'x': x, 'y': y, 'p': p}, [
        ('cross_entropy(x, y)', '-np.sum(y * jax.nn.log_softmax(x), -1)'),
        ('sigmoid_cross_entropy(x, y)', 'np.logaddexp(x, 0) - x * y'),
        ('hinge_loss(x, sign(p))', 'np.maximum(1 - x * np.sign(p), 0)'),
        ('kl_divergence(x, maximum(p, 0))',
         'np.sum(np.where(p > 0, p * (np.log(np.where(p > 0, p, 1)) - x), 0), -1)'),
        ('squared_error(x, y)', '(x - y) ** 2'), ('absolute_error(x, y)', 'np.abs(x - y)'),
        ('huber_loss(x, y, delta=1.5)',
         'np.where(np.abs(x - y) <= 1.5, 0.5 * (x - y) ** 2, 1.5 * (np.abs(x - y) - 0.75))'),
        ('log_cosh(x, y)', 'np.logaddexp(x - y, y - x) - np.log(2)'),
        ('cosine_similarity(x, y)', 'np.sum(x * y, -1) / np.linalg.norm(x, axis=-1) / np.linalg.norm(y, axis=-1)'),
        ('rms_norm(x) as net', 'x / np.sqrt(np.mean(x * x, -1, keepdims=True) + 1e-6)')],
        tolerance=8, suffix=f' {dtype}')
    table({'x': (dtype, (2, 3, 6), 'any'), 'i': ('i32', (2, 3), 'index')}, [
        ('group_norm(x, 2) as net',
         '(lambda g: (g - np.mean(g, (1, 3), keepdims=True)) / np.sqrt(np.var(g, (1, 3), keepdims=True) + 1e-5))'
         '(x.reshape(2, 3, 2, 3)).reshape(2, 3, 6)'),
        ('softmax_cross_entropy(x, i)', '-np.take_along_axis(jax.nn.log_softmax(x), i[..., None], -1)[..., 0]')],
        tolerance=8, suffix=f' {dtype}')
table({'i': ('i32', (6,), 'index')}, [
    ('smooth_labels(i, 5)', '(jax.nn.one_hot(i, 5) * 0.9 + 0.1 / 5).astype(np.float32)'),
    ('exponential_decay(i, 0.1, 2, 0.5)', '0.1 * 0.5 ** (i / 2)'),
    ('cosine_decay(i, 0.1, 4)', '0.05 * (1 + np.cos(np.pi * np.clip(i / 4, 0, 1)))'),
    ('cosine_decay(i, 0.1, 2, warmup=2, least=0.01)',
     'np.where(i < 2, 0.1 * i / 2, 0.01 + 0.045 * (1 + np.cos(np.pi * np.clip((i - 2) / 2, 0, 1))))'),
    ('piecewise_constant(i, [1, 3], [0.3, 0.2, 0.1])', 'np.where(i < 1, 0.3, np.where(i < 3, 0.2, 0.1)).astype(np.float32)')],
    grad=False, tolerance=8)

# Ten steps of each optimiser, with its defaults and with all numbers given, along gradients that follow the variable.
for name, numbers, rule in (
        ('sgd', '', 'sgd(0.01)'), ('sgd', 'lr=0.1', 'sgd(0.1)'),
        ('momentum', '', 'sgd(0.01, 0.9)'), ('momentum', 'lr=0.1, beta=0.8', 'sgd(0.1, 0.8)'),
        ('nesterov', '', 'sgd(0.01, 0.9, True)'), ('nesterov', 'lr=0.1, beta=0.8', 'sgd(0.1, 0.8, True)'),
        ('adagrad', '', 'adagrad(0.01, 0, 1e-10)'),  # whose epsilon is under the root
        ('rmsprop', '', 'rmsprop(0.001, 0.9, 1e-7, eps_in_sqrt=False)'),
        ('rmsprop', 'lr=0.1, decay=0.7, epsilon=0.2', 'rmsprop(0.1, 0.7, 0.2, eps_in_sqrt=False)'),
        ('adam', '', 'adam(0.001)'), ('adam', 'lr=0.1, beta1=0.8, beta2=0.9, epsilon=0.2', 'adam(0.1, 0.8, 0.9, 0.2)'),
        ('adamw', '', 'adamw(0.001, weight_decay=0.01)'),
        ('adamw', 'lr=0.1, beta1=0.8, beta2=0.9, epsilon=0.2, weight_decay=0.3', 'adamw(0.1, 0.8, 0.9, 0.2, weight_decay=0.3)'),
        ('lion', '', 'lion(0.0001, weight_decay=0)'),
        ('lion', 'lr=0.1, beta1=0.8, beta2=0.7, weight_decay=0.3', 'lion(0.1, 0.8, 0.7, weight_decay=0.3)')):
    for dtype in FLOATS:
        v = f'{name}{len(numbers)}_{dtype}'
        case(f'optimiser {name}({numbers}) {dtype}', v, f'steps(optax.{rule}, x)', (), 20,
             define=f'var {v}: {dtype}[3, 4] = 1',
             setup=f'for t in 0..10 {{\n  apply({name}, [{v}], [x[t] * {v}], name="{name}"'
                   f'{", " + numbers if numbers else ""})\n}}', x=(dtype, (10, 3, 4), 'any'))
for dtype in FLOATS:
    case(f'optimiser adagrad(epsilon=0.2) {dtype}', f'adagrad_{dtype}',
         '1 - 0.1 * np.sum(x / (np.sqrt(np.cumsum(x * x, 0)) + 0.2), 0)', (), 20,
         define=f'var adagrad_{dtype}: {dtype}[3, 4] = 1', x=(dtype, (10, 3, 4), 'any'),
         setup=f'for t in 0..10 {{\n  apply(adagrad, [adagrad_{dtype}], [x[t]], name="adagrad", lr=0.1, epsilon=0.2)\n}}')
table({'x': ('f32', (3, 4), 'any'), 'y': ('f32', (5,), 'any')}, [
    ('clip_by_global_norm([x, y], 2)[1]', 'y * 2 / np.maximum(np.sqrt(np.sum(x * x) + np.sum(y * y)), 2)')],
    tolerance=8)

# -- Statistics of bools and integers: NumPy's in f64, rounded once --------------------------------------------------

for dtype in ('bool', *INTEGERS):
    result = 'float64' if dtype in ('i64', 'u64') else 'float32'
    names = {name: f"{name}.astype('float64')" for name in 'xy'}
    rounded = 10 if result == 'float64' else 0.1  # f64 is added up in another order; f32 has its one rounding

    def statistic(leat, jax, tolerance=rounded, domain='any', shape=(4, 75), **more):
        given = {'x': (dtype, shape, domain if dtype != 'bool' else 'any'), 'y': (dtype, shape, 'small'), **more}
        used = {name: given[name] for name in given if re.search(rf'\b{name}\b', leat)}
        case(f'{leat} {dtype} {domain} {shape[0]}', leat, f"({jax.format(**names)}).astype('{result}')", (), tolerance,
             **used)

    for leat, jax in (
            ('mean(x)', 'np.mean({x})'), ('mean(x, axis=0)', 'np.mean({x}, 0)'), ('variance(x)', 'np.var({x})'),
            ('variance(x, axis=1, ddof=1, keepdims=true)', 'np.var({x}, 1, ddof=1, keepdims=True)'),
            ('std(x, axis=0)', 'np.std({x}, 0)'), ('median(x)', 'np.median({x})'),
            ('median(x, axis=0)', 'np.median({x}, 0)'), ('quantile(x, 0.3, axis=1)', 'np.quantile({x}, 0.3, 1)'),
            ('percentile(x, 77, method="midpoint")', 'np.percentile({x}, 77, method="midpoint")'),
            ('nanmean(x)', 'np.mean({x})'), ('nanvar(x, axis=0)', 'np.var({x}, 0)'), ('nanstd(x)', 'np.std({x})'),
            ('norm(x)', 'np.sqrt(np.sum({x} * {x}))'), ('norm(x, ord=1, axis=0)', 'np.sum(np.abs({x}), 0)'),
            ('norm(x, ord=inf)', 'np.max(np.abs({x}))'), ('norm(x, ord=-inf)', 'np.min(np.abs({x}))'),
            ('matrix_norm(x)', 'np.sqrt(np.sum({x} * {x}))'), ('matrix_norm(x, ord=1)', 'np.max(np.sum(np.abs({x}), 0))'),
            ('squared_error(x, y)', '({x} - {y}) ** 2'), ('absolute_error(x, y)', 'np.abs({x} - {y})'),
            ('mean_of([x, y])', '({x} + {y}) / 2'),
            ('global_avg_pool(reshape(x, [3, 20, 5]))', 'np.mean(np.reshape({x}, (3, 20, 5)), 1)'),
            ('avg_pool(reshape(x, [3, 20, 5]), window=[4])', 'np.mean(np.reshape({x}, (3, 5, 4, 5)), 2)'),
            ('interp(x, cast([0, 1], dtype(x)), cast([1, 0], dtype(x)))', 'np.interp({x}, np.array([0.0, 1.0]), np.array([1.0, 0.0]))')):
        statistic(leat, jax)
    for leat, jax in (
            ('average(y, y + y)' if dtype != 'bool' else 'average(y, y)', 'np.sum({y} * {y}) / np.sum({y})'),
            ('average(y, iota([4, 75], axis=1, dtype=f64))' if result == 'float64' else
             'average(y, iota([4, 75], axis=1, dtype=f32))', 'np.average({y}, weights=numpy.tile(numpy.arange(75.0), (4, 1)))'),
            ('logsumexp(y, axis=0)', 'np.log(np.sum(np.exp({y}), 0))'), ('cov(y)', 'np.cov({y})'),
            ('corrcoef(y)', 'np.corrcoef({y})'), ('norm(y, ord=3)', 'np.sum(np.abs({y}) ** 3) ** (1 / 3)'),
            ('bincount_weighted(i, y, 5)', 'numpy.bincount(i.ravel(), {y}.ravel(), 5)')):
        statistic(leat, jax, tolerance=10, i=('i32', (4, 75), 'index'))
    for leat, jax in (('mean(x)', 'np.mean({x})'), ('variance(x)', 'np.var({x})')):
        if leat == 'mean(x)' or result == 'float32':
            statistic(leat, jax, domain='top', shape=(100000,) if dtype in ('i32', 'u32') else (300,))
