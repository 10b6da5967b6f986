"""What a case is: what Leat says, what NumPy or JAX says, and the inputs.

A case is one expression in both languages over the same inputs. `leat` is a Leat expression, `jax` a Python one in which
np is jax.numpy, jax and lax are what they are; without `jax` the two texts are the same. `grad` names the inputs whose
gradients are compared too: those of the sum of the result times fixed weights. An input is (dtype, shape, domain).
"""
from dataclasses import dataclass, field


@dataclass
class Case:
    name: str
    leat: str
    jax: str
    inputs: dict
    grad: tuple = ()
    tolerance: float = 1  # how many times the dtype's own
    setup: str = ''       # Leat statements before the expression
    define: str = ''      # Leat definitions outside the entry
    dynamic: bool = False  # its shape is known only while running
    peer: str = field(default='jax', repr=False)  # who answers; the cases of others than JAX have files of their own


CASES = []


def case(name, leat, jax=None, grad=(), tolerance=1, setup='', define='', dynamic=False, peer='jax', **inputs):
    CASES.append(Case(name, leat, jax or leat, inputs, tuple(grad), tolerance, setup, define, dynamic, peer))


FLOATS, INTEGERS = ('f32', 'f64'), ('i8', 'i16', 'i32', 'i64', 'u8', 'u16', 'u32', 'u64')


def unary(name, jax=None, domain='any', dtypes=FLOATS, grad=True, tolerance=1):
    """One op of one operand, by name, in each dtype: a matrix, special values, and nothing at all."""
    for dtype in dtypes:
        smooth = ('x',) if grad and dtype in FLOATS else ()
        jax_call = f'{jax or "np." + name}(x)'
        case(f'{name}_{dtype}', f'{name}(x)', jax_call, smooth, tolerance, x=(dtype, (3, 5), domain))
        if dtype in FLOATS:
            case(f'{name}_{dtype}_special', f'{name}(x)', jax_call, (), tolerance, x=(dtype, (16,), 'special'))


def binary(name, leat, jax=None, domain='any', dtypes=FLOATS + ('i32',), grad=True, tolerance=1):
    """One op of two operands: equal shapes, broadcasting both ways, special values."""
    for dtype in dtypes:
        smooth = ('x', 'y') if grad and dtype in FLOATS else ()
        case(f'{name}_{dtype}', leat, jax, smooth, tolerance, x=(dtype, (3, 5), domain), y=(dtype, (3, 5), domain))
        case(f'{name}_{dtype}_broadcast', leat, jax, smooth, tolerance,
             x=(dtype, (2, 1, 4), domain), y=(dtype, (3, 1), domain))
        if dtype in FLOATS:
            case(f'{name}_{dtype}_special', leat, jax, (), tolerance,
                 x=(dtype, (16,), 'special'), y=(dtype, (16, 1), 'special'))
