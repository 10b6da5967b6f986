"""Models of a few nodes for what ONNX's own tests leave out, as `remake_cases` asks the oracles about them: constants
alone, extents that are known only while running, options of loops, what two nodes and a type say of one value."""
import attributes
import numpy as np
from onnx import helper as h
from oracle import Model, graph, info, tensor

CASES = {}
N, F, I = h.make_node, np.float32, np.int64


def case(name, nodes, outputs, *, oracle='both', refused='', fails='', answer=None, **words):
    """`oracle`: the only one to ask, where the other has no answer or another; `answer`: where nobody has. `refused`: what
    Leat says of it; `fails`: what it says when the model runs."""
    assert name not in CASES, name
    said = {key: text for key, text in (('refused', refused), ('fails', fails)) if text}
    CASES[name] = Model(nodes, outputs, **words), oracle, said, answer, bool(words.get('shapes'))


# -- Constants are tensors, whatever they stand beside ---------------------------------------------------------------------

PAIRS = {'f32': (F([1, 2]), F([10, 20])), 'f64': (np.float64([1, 2]), np.float64([10, 20])),
         'f16': (np.float16([1, 2]), np.float16([10, 20])), 'i32': (np.int32([7, -7]), np.int32([2, 2])),
         'i64': (I([7, -7]), I([2, 2])), 'u8': (np.uint8([200, 7]), np.uint8([100, 2])), 'i8': (np.int8([100, -7]), np.int8([100, 2])),
         'bool': (np.array([True, False]), np.array([False, False]))}
for kind, (one, other) in PAIRS.items():
    both = {'a': one, 'b': other}
    if kind == 'bool':
        ops = ['And', 'Or', 'Xor']
    elif kind in ('u8', 'i8'):
        ops = ['Add', 'Sub', 'Mul', 'Div']
    elif kind in ('i32', 'i64'):
        ops = ['Add', 'Sub', 'Mul', 'Div', 'Max', 'Min', 'Pow', 'Mod']
    else:
        ops = ['Add', 'Sub', 'Mul', 'Div', 'Sum', 'Mean', 'Max', 'Min', 'Pow']
    for op in ops:
        asked = 'reference' if op in ('Sum', 'Mean') and kind == 'f64' else 'both'
        case(f'constants_{op}_{kind}', [N(op, ['a', 'b'], ['y'])], ['y'], initializers=both, oracle=asked)
        case(f'constants_{op}_{kind}_scalars', [N(op, ['a', 'b'], ['y'])], ['y'],
             initializers={'a': one[0], 'b': other[0]}, oracle=asked)
    for op in ('Equal', 'Less', 'GreaterOrEqual') if kind not in ('bool', 'u8', 'i8', 'f16') else ():
        case(f'constants_{op}_{kind}', [N(op, ['a', 'b'], ['y'])], ['y'], initializers=both)
# What is computed of them wraps as tensors do, and what comes of it is as long.
for kind in ('u8', 'i8', 'i32'):
    one, other = PAIRS[kind] if kind != 'i32' else (np.int32([2**30, 7]), np.int32([4, 2]))
    case(f'constants_wrap_{kind}', [N('Mul', ['a', 'b'], ['s']), N('Div', ['s', 'b'], ['y'])], ['y'],
         initializers={'a': one, 'b': other})
case('constants_then_input', [N('Add', ['a', 'b'], ['c']), N('Mul', ['c', 'x'], ['y'])], ['y'], inputs={'x': F([1, 3])},
     initializers={'a': F([1, 2]), 'b': F([10, 20])})
case('constants_concat_reduced', [N('Concat', ['a', 'a'], ['c'], axis=0), N('ReduceSum', ['c', 'axes'], ['y'], keepdims=0)], ['y'],
     initializers={'a': F([3]), 'axes': I([0])})
case('constants_batch_norm', [N('Add', ['variance', 'epsilon'], ['s']), N('Sqrt', ['s'], ['d']), N('Div', ['x', 'd'], ['y'])],
     ['y'], inputs={'x': np.ones((3, 2), F)}, initializers={'variance': F([1, 4]), 'epsilon': F([1e-5])})
case('constants_of_nodes', [N('Constant', [], ['a'], value_floats=[1.0, 2.0]), N('Constant', [], ['b'], value_floats=[3.0, 4.0]),
                            N('Add', ['a', 'b'], ['y']), N('Constant', [], ['i'], value_ints=[1, 2]), N('Sum', ['a', 'b', 'y'], ['z']),
                            N('Add', ['i', 'i'], ['j'])], ['y', 'z', 'j'])
case('constants_where', [N('Where', ['p', 'a', 'b'], ['y'])], ['y'],
     initializers={'p': np.array([True, False]), 'a': F([1, 2]), 'b': F([3, 4])})
case('constants_strings', [N('StringConcat', ['a', 'b'], ['y'])], ['y'],
     initializers={'a': np.array(['a', 'b']), 'b': np.array(['c', 'd'])})

truths = {'p': np.array([True, False]), 'to': I([2, 2])}
case('constants_expand_bools', [N('Expand', ['p', 'to'], ['y'])], ['y'], initializers=truths)
case('constants_bools_as_a_matrix', [N('Unsqueeze', ['p', 'at'], ['q']), N('Expand', ['q', 'to'], ['y']), N('Where', ['y', 'x', 'z'], ['w'])], ['y', 'w'],
     inputs={'x': F([[1, 2], [3, 4]])}, initializers={**truths, 'at': I([0]), 'z': F(0)})

# -- Loops whose states begin as constants ---------------------------------------------------------------------------------

step = graph([N('Add', ['s', 'x'], ['s2']), N('Identity', ['s2'], ['row'])],
             [info('s', F([0, 0])), info('x', F([0, 0]))], [info('s2', F([0, 0])), info('row', F([0, 0]))])
two = graph([N('Add', ['s', 'x'], ['s2']), N('Mul', ['t', 's2'], ['t2'])],
            [info('s', F([0, 0])), info('t', F([0, 0])), info('x', F([0, 0]))], [info('s2', F([0, 0])), info('t2', F([0, 0]))])
rows = np.arange(6, dtype=F).reshape(3, 2)
case('scan_constant_state', [N('Scan', ['c', 'xs'], ['s', 'y'], body=step, num_scan_inputs=1)], ['s', 'y'], inputs={'xs': rows},
     initializers={'c': F([1, 2])})
case('scan_all_constant', [N('Scan', ['c', 'xs'], ['s', 'y'], body=step, num_scan_inputs=1)], ['s', 'y'],
     initializers={'c': F([1, 2]), 'xs': rows})
case('scan_two_states', [N('Scan', ['c', 'd', 'xs'], ['s', 't'], body=two, num_scan_inputs=1)], ['s', 't'], inputs={'xs': rows},
     initializers={'c': F([1, 2]), 'd': F([1, 1])})


def turns(nodes, states, rows=(), **more):
    """The body of a Loop: of each state `s` it makes `s2`, of the condition `p` it makes `p2`."""
    return graph(nodes, [info('i', I(0)), info('p', np.bool_(0)), *[info(n, v, more.get(n)) for n, v in states.items()]],
                 [info('p2', np.bool_(0)), *[info(f'{n}2', v, more.get(n)) for n, v in states.items()], *rows])


plus = turns([N('Identity', ['p'], ['p2']), N('Constant', [], ['one'], value_floats=[1.0, 2.0]), N('Add', ['s', 'one'], ['s2'])], {'s': F([0, 0])})
# The reference evaluator takes a condition that is left out for a false one.
case('loop_constant_state', [N('Loop', ['n', '', 'c'], ['y'], body=plus)], ['y'], inputs={'n': I(3)}, initializers={'c': F([1, 2])},
     oracle='runtime')
case('loop_all_constant', [N('Loop', ['n', '', 'c'], ['y'], body=plus)], ['y'], initializers={'c': F([1, 2]), 'n': I(2)}, oracle='runtime')

# -- What no model may say -------------------------------------------------------------------------------------------------

X = {'x': F([[1, 2, 3], [4, 5, 6]])}
typed = lambda name, *shape, of=F: info(name, np.zeros((), of), shape)
case('two_nodes_make_one_value', [N('Abs', ['x'], ['y']), N('Neg', ['x'], ['y'])], ['y'], inputs=X, refused='`y` is made already')
case('a_node_makes_an_input', [N('Abs', ['x'], ['x']), N('Neg', ['x'], ['y'])], ['y'], inputs=X, refused='`x` is made already')
case('a_node_makes_a_constant', [N('Abs', ['x'], ['c']), N('Neg', ['c'], ['y'])], ['y'], inputs=X, initializers={'c': F([1])},
     refused='`c` is made already')
case('a_node_makes_one_value_twice', [N('TopK', ['x', 'k'], ['y', 'y'])], ['y'], inputs=X, initializers={'k': I([1])},
     refused='`y` is made already')
case('a_body_makes_one_value_twice', [N('Loop', ['n', '', 'c'], ['y'], body=turns(
    [N('Identity', ['p'], ['p2']), N('Abs', ['s'], ['s2']), N('Neg', ['s'], ['s2'])], {'s': F([0, 0])}))], ['y'],
     inputs={'n': I(3)}, initializers={'c': F([1, 2])}, refused='`s2` is made already')
case('extents_of_a_result', [N('Transpose', ['x'], ['y'])], [typed('y', 2, 3)], inputs=X, refused='expected f32[2, 3], found f32[3, 2]')
case('rank_of_a_result', [N('Transpose', ['x'], ['y'])], [typed('y', 6)], inputs=X, refused='expected f32[6], found f32[3, 2]')
case('dtype_of_a_result', [N('Transpose', ['x'], ['y'])], [typed('y', 'N', 2, of=I)], inputs=X, shapes={'x': ['N', 3]},
     refused='expected i64[...], found f32[3, N]')
unknown = N('Abs', ['x'], ['y'], sharpness=3)
twice = N('Softmax', ['x'], ['y'], axis=1)
twice.attribute.extend([h.make_attribute('axis', 0)])
case('attribute_unknown', [unknown], ['y'], inputs=X, refused='its attribute `sharpness` is not supported')
case('attribute_unknown_of_a_special_op', [N('Cast', ['x'], ['y'], to=7, exact=1)], ['y'], inputs=X,
     refused='its attribute `exact` is not supported')
case('attribute_twice', [twice], ['y'], inputs=X, refused='its attribute `axis` is given twice')
case('attribute_of_another_type', [N('Cast', ['x'], ['y'], to='INT64')], ['y'], inputs=X, refused='its attribute `to` is no integer')
doubled = h.make_function('own', 'Doubled', ['a'], ['b'], [N('Add', ['a', 'a'], ['b'])], [h.make_opsetid('', 21)], ['by'])
case('attribute_unknown_of_a_function', [N('Doubled', ['x'], ['y'], domain='own', times=3)], ['y'], inputs=X, functions=[doubled],
     refused='the function has no attribute `times`')
case('inputs_that_a_function_lacks', [N('Doubled', ['x', 'x'], ['y'], domain='own')], ['y'], inputs=X, functions=[doubled],
     refused='the function has 1 inputs and 1 outputs, and it 2 and 1')
again = h.make_function('own', 'Again', ['a'], ['b'], [N('Again', ['a'], ['b'], domain='own')], [h.make_opsetid('', 21), h.make_opsetid('own', 1)])
case('a_function_calls_itself', [N('Again', ['x'], ['y'], domain='own')], ['y'], inputs=X, functions=[again],
     refused='functions call each other more than 50 deep, or themselves')

# -- Loops that end before their count, tensors of three axes that are sparse --------------------------------------------------

rowed = turns([N('Not', ['p'], ['p2']), N('Add', ['s', 's'], ['s2']), N('Identity', ['s2'], ['row'])], {'s': F([0, 0])}, [info('row', F([0, 0]))])
for start in (True, False):
    for what in ('constant', 'input'):
        given = {'initializers': {'p': np.array(start)}} if what == 'constant' else {}
        fed = {'n': I(3), 'c': F([1, 2]), **({'p': np.array(start)} if what == 'input' else {})}
        case(f'loop_negates_{start}_{what}', [N('Loop', ['n', 'p', 'c'], ['y', 'rows'], body=rowed)], ['y', 'rows'], inputs=fed, oracle='runtime', **given)
        case(f'loop_hands_on_{start}_{what}', [N('Loop', ['n', 'p', 'c'], ['y'], body=plus)], ['y'], inputs=fed, oracle='runtime', **given)
cube = np.zeros((2, 3, 4), F)
cube[0, 2, 1], cube[1, 0, 3], cube[1, 2, 2] = 5, 6, 7
places = I([[0, 2, 1], [1, 0, 3], [1, 2, 2]])
for form, indices in (('places', places), ('numbers', places @ I([12, 4, 1]))):
    three = h.make_sparse_tensor(tensor(F([5, 6, 7]), 'w'), tensor(indices, 'i'), cube.shape)
    case(f'sparse_of_three_axes_by_{form}', [N('Add', ['x', 'w'], ['y'])], ['y'], inputs={'x': np.ones((2, 3, 4), F)}, sparse=[three], answer=[cube + 1])

# -- Extents, counts and windows that are known only while running -------------------------------------------------------------

image = np.arange(60, dtype=F).reshape(1, 2, 5, 6) % 7
kernel = np.arange(16, dtype=F).reshape(2, 2, 2, 2)
NCHW = {'x': ['n', 'c', 'h', 'w']}
for name, words in {'plain': {}, 'same': {'auto_pad': 'SAME_UPPER', 'strides': [2, 2]}, 'same_lower': {'auto_pad': 'SAME_LOWER', 'strides': [2, 3]},
                    'apart': {'dilations': [2, 1], 'pads': [1, 0, 0, 1]}}.items():
    case(f'conv_named_{name}', [N('Conv', ['x', 'w'], ['y'], **words)], ['y'], inputs={'x': image}, shapes=NCHW, initializers={'w': kernel}, oracle='runtime')
    case(f'conv_all_named_{name}', [N('Conv', ['x', 'w'], ['y'], **words)], ['y'], inputs={'x': image, 'w': kernel},
         shapes={**NCHW, 'w': ['o', 'i', 'k', 'l']}, oracle='runtime')
    for op in ('MaxPool', 'AveragePool', 'LpPool'):
        case(f'{op}_named_{name}', [N(op, ['x'], ['y'], kernel_shape=[2, 3], **words)], ['y'], inputs={'x': image}, shapes=NCHW, oracle='runtime')
case('conv_groups_named', [N('Conv', ['x', 'w'], ['y'], group=2)], ['y'], inputs={'x': image, 'w': kernel[:, :1]}, shapes={**NCHW, 'w': ['o', 'i', 'k', 'l']})
for op in ('MaxPool', 'AveragePool', 'LpPool'):
    for steps in ([2, 2], [2, 4], [3, 2]):
        for pads in ([0, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 1]):
            for shapes, kind in ((NCHW, 'named'), (None, 'known')):
                case(f'{op}_ceil_{kind}_{"".join(map(str, steps + pads))}', [N(op, ['x'], ['y'], kernel_shape=[2, 2], ceil_mode=1, strides=steps, pads=pads)], ['y'],
                     inputs={'x': image}, shapes=shapes, opset=22, oracle='runtime')
case('conv_transpose_named', [N('ConvTranspose', ['x', 'w'], ['y'], strides=[2, 2])], ['y'], inputs={'x': image}, shapes=NCHW, initializers={'w': kernel})
case('squeeze_without_axes', [N('NonZero', ['x'], ['i']), N('Transpose', ['i'], ['t'], perm=[1, 0]), N('Squeeze', ['t'], ['y'])], ['y'],
     inputs={'x': F([1, 0, 1, 0])})
case('stft_of_two_axes', [N('STFT', ['x', 'step', '', 'n'], ['y'])], ['y'], inputs={'x': np.arange(16, dtype=F)[None]},
     initializers={'step': I(4), 'n': I(8)}, oracle='runtime')
case('gather_nd_without_an_index', [N('GatherND', ['x', 'i'], ['y'])], ['y'], inputs={'x': rows, 'i': np.zeros((2, 0), I)},
     answer=[np.stack([rows, rows])])
case('split_of_a_named_axis', [N('Split', ['x', 'sizes'], ['y', 'z'], axis=0)], ['y', 'z'], inputs={'x': rows}, shapes={'x': ['n', 2]}, initializers={'sizes': I([1, 2])})
case('split_of_a_shape', [N('Shape', ['x'], ['s']), N('Split', ['s'], ['a', 'b'], num_outputs=2), N('Concat', ['b', 'a'], ['c'], axis=0),
                          N('Reshape', ['x', 'c'], ['y'])], ['y'], inputs={'x': rows}, shapes={'x': ['n', 'm']})
case('split_by_computed_sizes', [N('Shape', ['z'], ['s']), N('Split', ['x', 's'], ['a', 'b'], axis=0)], ['a', 'b'],
     inputs={'x': rows, 'z': np.zeros((2, 1), F)}, shapes={'z': ['n', 'm']})
one = F([[1, 2]])
for name, fed, to in (('known', ['n', 2], [3, 2]), ('itself', ['n', 2], [1, 1]), ('longer', ['n', 2], [2, 3, 1])):
    case(f'expand_a_named_one_to_{name}', [N('Expand', ['x', 'to'], ['y'])], ['y'], inputs={'x': one}, shapes={'x': fed}, initializers={'to': I(to)})
    case(f'expand_a_named_one_to_fed_{name}', [N('Expand', ['x', 'to'], ['y'])], ['y'], inputs={'x': one, 'to': I(to)}, shapes={'x': fed})
case('expand_to_the_shape_of_another', [N('Shape', ['z'], ['s']), N('Expand', ['x', 's'], ['y'])], ['y'], inputs={'x': one, 'z': rows},
     shapes={'x': ['n', 2], 'z': ['m', 2]})

# What a model is fed says how many, how far, in which shape.
flat = F([5, 1, 4, 2, 3])
FED = {
    'slice': ([N('Slice', ['x', 'a', 'b', 'c', 'd'], ['y'])], {'x': image, 'a': I([-1, 4]), 'b': I([-100, 0]), 'c': I([1, 2]), 'd': I([-1, -2])}),
    'slice_of_named_axes': ([N('Slice', ['x', 'a', 'b'], ['y'])], {'x': rows, 'a': I([1, 0]), 'b': I([9, 1])}),
    'tile': ([N('Tile', ['x', 'r'], ['y'])], {'x': rows, 'r': I([2, 3])}),
    'tile_to_none': ([N('Tile', ['x', 'r'], ['y'])], {'x': rows, 'r': I([2, 0])}),
    'range': ([N('Range', ['a', 'b', 'd'], ['y'])], {'a': I(7), 'b': I(-2), 'd': I(-3)}),
    'range_of_floats': ([N('Range', ['a', 'b', 'd'], ['y'])], {'a': F(0.5), 'b': F(3), 'd': F(0.5)}),
    'range_of_none': ([N('Range', ['a', 'b', 'd'], ['y'])], {'a': I(5), 'b': I(2), 'd': I(1)}),
    'constant_of_shape': ([N('ConstantOfShape', ['s'], ['y'], value=tensor(F([2.5]), 'v'))], {'s': I([2, 3])}),
    'resize_to': ([N('Resize', ['x', '', '', 's'], ['y'], mode='linear')], {'x': image, 's': I([1, 2, 7, 3])}),
    'resize_by': ([N('Resize', ['x', '', 'f'], ['y'], mode='nearest')], {'x': image, 'f': F([1, 1, 2, 0.5])}),
    'pad': ([N('Pad', ['x', 'p', 'v'], ['y'])], {'x': rows, 'p': I([1, 0, 0, 2]), 'v': F(9)}),
    'pad_by_less': ([N('Pad', ['x', 'p'], ['y'])], {'x': rows, 'p': I([-1, 0, 0, 2])}),
    'pad_reflect': ([N('Pad', ['x', 'p'], ['y'], mode='reflect')], {'x': image, 'p': I([0, 0, 1, 2, 0, 0, 3, 1])}),
    'top_k': ([N('TopK', ['x', 'k'], ['y', 'i'])], {'x': flat, 'k': I([3])}),
    'one_hot': ([N('OneHot', ['x', 'n', 'v'], ['y'])], {'x': I([0, 2, -1]), 'n': I(4), 'v': F([0, 1])}),
    'reshape': ([N('Reshape', ['x', 's'], ['y'])], {'x': image, 's': I([0, -1, 3])}),
    'split': ([N('Split', ['x', 's'], ['y', 'z'], axis=0)], {'x': flat, 's': I([2, 3])}),
    'split_into_equal': ([N('Split', ['x'], ['y', 'z'], axis=0, num_outputs=2)], {'x': flat}),
    'non_zero': ([N('NonZero', ['x'], ['i']), N('Shape', ['i'], ['s']), N('Transpose', ['i'], ['t'], perm=[1, 0]), N('GatherND', ['x', 't'], ['g']),
                  N('ReduceSum', ['g'], ['y'], keepdims=0)], {'x': F([[0, 2], [3, 0]])}),
    'non_zero_counts': ([N('NonZero', ['x'], ['i']), N('Shape', ['i'], ['s'], start=1), N('ConstantOfShape', ['s'], ['o']), N('Squeeze', ['i', 'a'], ['j']),
                         N('Cast', ['j'], ['f'], to=1), N('Add', ['f', 'o'], ['y'])], {'x': F([0, 2, 0, 3]), 'a': I([0])}),
    'compress': ([N('Compress', ['x', 'p'], ['y'], axis=0)], {'x': rows, 'p': np.array([True, False, True])}),
    'expand': ([N('Expand', ['x', 's'], ['y'])], {'x': F([[1], [2]]), 's': I([3, 1, 4])}),
    'cum_sum': ([N('CumSum', ['x', 'a'], ['y'])], {'x': rows, 'a': I(1)}),
    'trilu': ([N('Trilu', ['x', 'k'], ['y'])], {'x': image, 'k': I(1)}),
    'eye': ([N('EyeLike', ['x'], ['y'], k=1)], {'x': rows}),
    'gather': ([N('Gather', ['x', 'i'], ['y'], axis=1)], {'x': rows, 'i': I([[1, -1], [0, 1]])}),
    'unsqueeze': ([N('Unsqueeze', ['x', 'a'], ['y'])], {'x': rows, 'a': I([0, -1])}),
    'squeeze': ([N('Squeeze', ['x', 'a'], ['y'])], {'x': rows[:, :1], 'a': I([1])}),
    'reduce': ([N('ReduceSum', ['x', 'a'], ['y'], keepdims=0)], {'x': image, 'a': I([1, -1])}),
    'concat': ([N('Concat', ['x', 'z', 'x'], ['y'], axis=0)], {'x': rows, 'z': rows[:2]}),
    'depth_to_space': ([N('DepthToSpace', ['x'], ['y'], blocksize=2)], {'x': np.arange(32, dtype=F).reshape(1, 8, 2, 2)}),
    'flatten': ([N('Flatten', ['x'], ['y'], axis=2)], {'x': image}),
}
for name, (nodes, fed) in FED.items():
    names = {key: [f'{key}{i}' for i in range(v.ndim)] for key, v in fed.items()}
    results = [x for node in nodes[-1:] for x in node.output]
    # What says how long a result's shape is has so many elements.
    lengths = {key: list(v.shape) if key in 'abcdfkprs' and v.ndim == 1 else names[key] for key, v in fed.items()}
    case(f'fed_{name}', nodes, results, inputs=fed, shapes=lengths, oracle='either')

# -- Extents that turn out to be 1 ---------------------------------------------------------------------------------------------

WORDS = np.array([['a', 'b', 'c']])
BROADCAST = {'Add Sub Mul Div Pow PRelu Max Min Sum Mean Less LessOrEqual Greater GreaterOrEqual Equal': F, 'And Or Xor': np.bool_,
             'Mod BitwiseAnd BitwiseOr BitwiseXor': np.int32, 'BitShift': np.uint8, 'StringConcat': str}
for ops, kind in BROADCAST.items():
    for op in ops.split():
        words = {'BitShift': {'direction': 'LEFT'}}.get(op, {})
        if kind == str:
            a, b = np.array([['a', 'b', 'c']]), np.array([['d', 'e', 'f'], ['g', 'h', 'i']])
        else:
            a, b = (np.array([[1, 2, 3]]) % 2 if kind == np.bool_ else np.array([[1, 2, 3]])).astype(kind), (np.arange(6).reshape(2, 3) % 4 + 1).astype(kind)
            a, b = (a, b % 2 > 0) if kind == np.bool_ else (a, b)
        oracle = 'reference' if op == 'StringConcat' else 'either'
        asked = {'opset': 20, 'oracle': oracle}
        case(f'one_row_{op}', [N(op, ['a', 'b'], ['y'], **words)], ['y'], inputs={'a': a, 'b': b}, shapes={'a': ['n', 3], 'b': ['m', 3]}, **asked)
        if op != 'PRelu':  # which repeats its slope alone
            case(f'one_row_behind_{op}', [N(op, ['b', 'a'], ['y'], **words)], ['y'], inputs={'a': a, 'b': b}, shapes={'a': ['n', 3], 'b': ['m', 3]}, **asked)
            case(f'one_of_each_{op}', [N(op, ['a', 'b'], ['y'], **words)], ['y'], inputs={'a': a, 'b': b[:, :1]},
                 shapes={'a': ['n', 'k'], 'b': ['m', 'l']}, **asked)
case('one_row_Where', [N('Where', ['p', 'a', 'b'], ['y'])], ['y'], shapes={'p': ['n', 'k'], 'a': ['m', 'l'], 'b': ['o']},
     inputs={'p': np.array([[True], [False]]), 'a': F([[1, 2, 3]]), 'b': F([7])})
case('one_row_Gemm', [N('Gemm', ['a', 'b', 'c'], ['y'])], ['y'], shapes={'a': ['n', 2], 'b': [2, 'k'], 'c': ['m', 'l']},
     inputs={'a': rows, 'b': rows.T, 'c': F([[10, 20, 30]])})
case('one_row_Gemm_column', [N('Gemm', ['a', 'b', 'c'], ['y'], beta=0.5)], ['y'], shapes={'a': ['n', 2], 'b': [2, 'k'], 'c': ['m', 'l']},
     inputs={'a': rows, 'b': rows.T, 'c': F([[10], [20], [30]])})
case('one_row_MatMul', [N('MatMul', ['a', 'b'], ['y'])], ['y'], shapes={'a': ['n', 2, 3], 'b': ['m', 'h', 3, 2]},
     inputs={'a': np.arange(12, dtype=F).reshape(2, 2, 3), 'b': np.arange(6, dtype=F).reshape(1, 1, 3, 2)})
for name, a, b, shape in (('a_number', [[1, 2, 3]], [[1], [2], [3], [4]], [4, 1]), ('the_last_axis', [[5], [6]], [[1, 2, 3], [4, 5, 6]], ['m', 3]),
                          ('a_shorter_one', [[5], [6]], [1, 2, 3], ['k']), ('equal', [[1, 2], [3, 4]], [[5, 6], [7, 8]], ['m', 'k']),
                          ('a_constant', [[5], [6]], None, None)):
    case(f'one_beside_{name}', [N('Sub', ['a', 'b'], ['c']), N('Mul', ['a', 'c'], ['y'])], ['y', 'c'], shapes={'a': ['n', 'l'], 'b': shape},
         inputs={'a': F(a), **({'b': F(b)} if b is not None else {})}, initializers={} if b is not None else {'b': F([1, 2, 3])})
case('one_of_three', [N('Max', ['a', 'b', 'c'], ['y'])], ['y'], shapes={'a': ['n', 'k'], 'b': ['m', 'l'], 'c': ['j']},
     inputs={'a': F([[1, 5]]), 'b': F([[3], [0]]), 'c': F([2])})
case('one_found', [N('NonZero', ['x'], ['i']), N('Transpose', ['i'], ['t'], perm=[1, 0]), N('Add', ['t', 'z'], ['y'])], ['y'],
     inputs={'x': F([0, 3, 0]), 'z': I([[1], [2]])})
# Where ONNX would give none.
case('one_beside_none', [N('Add', ['a', 'b'], ['y'])], ['y'], inputs={'a': F([1]), 'b': F([])}, shapes={'a': ['n'], 'b': ['m']},
     fails='axis 0: m elements do not broadcast to max(m, n): 0, 1')
case('neither_is_one', [N('Add', ['a', 'b'], ['y'])], ['y'], inputs={'a': rows, 'b': rows[:2]}, shapes={'a': ['n', 2], 'b': ['m', 2]},
     fails='(Add)): axis 0: m elements do not broadcast to max(m, n)')

# -- The ends of the integers --------------------------------------------------------------------------------------------------

MOST, LEAST = 2**63 - 1, -2**63
until = turns([N('ReduceSum', ['s'], ['t'], keepdims=0), N('Constant', [], ['most'], value_float=50.0), N('Less', ['t', 'most'], ['p2']),
               N('Add', ['s', 's'], ['s2']), N('Identity', ['s2'], ['row'])], {'s': F([0, 0])}, [info('row', F([0, 0]))])
for name, n in (('most', MOST), ('past_32_bits', 2**31), ('least', LEAST)):
    for what, given in (('constant', {'initializers': {'n': I(n), 'p': np.array(True)}}), ('fed', {'initializers': {'p': np.array(True)}})):
        case(f'loop_count_{name}_{what}', [N('Loop', ['n', 'p', 'c'], ['y', 'rows'], body=until)], ['y', 'rows'],
             inputs={'c': F([1, 2]), **({'n': I(n)} if what == 'fed' else {})}, oracle='runtime', **given)
BOUNDS = {'all': (0, MOST, 1), 'all_from_least': (LEAST, MOST, 1), 'to_least': (0, LEAST, 1), 'backwards': (MOST, LEAST, -1), 'backwards_from_the_end': (-1, LEAST, -2),
          'by_most': (1, MOST, MOST), 'by_less_than_most': (0, MOST, MOST - 1), 'by_least': (MOST, LEAST, LEAST), 'by_more_than_least': (-1, LEAST, LEAST + 1), 'past_most': (MOST, MOST, 1)}
for name, bounds in BOUNDS.items():
    given = dict(zip('abd', (I([b]) for b in bounds)))
    for what, words in {'constant': {'inputs': {'x': flat}, 'initializers': given}, 'fed': {'inputs': {'x': flat, **given}},
                        'named': {'inputs': {'x': flat}, 'initializers': given, 'shapes': {'x': ['n']}}}.items():
        low, high, by = bounds
        case(f'slice_{name}_{what}', [N('Slice', ['x', 'a', 'b', '', 'd'], ['y'])], ['y'], oracle='runtime',
             answer=[flat[low:high:by]], **words)
    case(f'slice_{name}_of_a_shape', [N('Shape', ['x'], ['s']), N('Slice', ['s', 'a', 'b', '', 'd'], ['t']), N('ConstantOfShape', ['t'], ['y'])], ['y'],
         inputs={'x': np.zeros((2, 3, 4), F)}, initializers=given, answer=[np.zeros([2, 3, 4][low:high:by], F)])

# -- Numbers that no op can have -----------------------------------------------------------------------------------------------

for op in ('Conv', 'ConvTranspose', 'MaxPool', 'AveragePool', 'LpPool'):
    convolves = 'Conv' in op
    words = {} if convolves else {'kernel_shape': [2, 2]}
    wrong = [('strides', [0, 1], '`strides` of axis 0 is 0: it has to be 1 or more'), ('dilations', [1, -1], '`dilations` of axis 1 is -1: it has to be 1 or more'),
             ('strides', [2], '`strides` has 1 numbers for 2 axes: give one for each')]
    wrong += [('group', 0, '`group` is 0: it has to be 1 or more')] if convolves else [('kernel_shape', [0, 2], '`kernel_shape` of axis 0 is 0: it has to be 1 or more')]
    if op != 'ConvTranspose':
        wrong += [('pads', [1, 1, 1], '`pads` has 3 numbers for 2 axes: give two for each'), ('pads', [-4, 0, -4, 0], 'does not fit in -3'),
                  ('auto_pad', 'SAME', '`auto_pad` is SAME: it may be NOTSET, SAME_UPPER, SAME_LOWER or VALID')]
    for k, (name, value, said) in enumerate(wrong):
        case(f'no_{op}_{name}_{k}', [N(op, ['x', 'w'] if convolves else ['x'], ['y'], **{**words, name: value})], ['y'], inputs={'x': image},
             initializers={'w': kernel} if convolves else {}, refused=said)
for k, (op, constants, words, said) in enumerate([
        ('Reshape', [I([-1, -1])], {}, 'of the shape [-1, -1] one extent may be -1, what is left, and no more'),
        ('Reshape', [I([0, 0, 0])], {}, 'extent 2 of the shape is 0, that of x, which has no axis 2'),
        ('Reshape', [I([-2, 3])], {}, 'a dimension cannot be -2'), ('Transpose', [], {'perm': [0, 0]}, 'perm names axis 0 twice'),
        ('Transpose', [], {'perm': [0, 2]}, 'there is no axis 2'), ('Transpose', [], {'perm': [0]}, 'perm has 1 entries for 2 axes'),
        ('Softmax', [], {'axis': 2}, 'there is no axis 2'), ('Gather', [I([0])], {'axis': 5}, 'there is no axis 5'), ('ArgMax', [], {'axis': -3}, 'there is no axis -3'),
        ('ReduceSum', [I([2])], {}, 'there is no axis 2'), ('Unsqueeze', [I([0, 0])], {}, 'axis 0 stands there twice'),
        ('Slice', [I([0]), I([1]), I([0]), I([0])], {}, 'the step along axis 0 is 0: it has to be another number'),
        ('Pad', [I([0, 0, 0])], {}, 'there are 3 pads for 2 axes: give two for each'), ('Pad', [I([-5, 0, 0, 0])], {}, 'a dimension cannot be -2'),
        ('TopK', [I([3])], {}, 'k is 3, and axis 1 has 2 elements'), ('TopK', [I([-1])], {'axis': 0}, 'k is -1, and axis 0 has 3 elements'),
        ('Gather', [I([0, 3])], {}, 'there is no index 3 along axis 0, whose extent is 3'), ('Gather', [I(-3)], {'axis': -1}, 'there is no index -3 along axis 1, whose extent is 2'),
        ('Flatten', [], {'axis': 3}, '`axis` is 3, and a tensor of rank 2 is cut before an axis from -2 to 2'), ('Flatten', [], {'axis': -3}, '`axis` is -3, and'),
        ('Tile', [I([2])], {}, 'there are 1 repeats for 2 axes: give one for each'), ('Split', [I([1, 1])], {'axis': 0}, 'do not make an axis of 3')]):
    given = {f'c{i}': value for i, value in enumerate(constants)}
    case(f'no_{op}_{k}', [N(op, ['x', *given], ['y'], **words)], ['y'], inputs={'x': rows}, initializers=given, refused=said)
for name, k in (('most', 2**63 - 1), ('least', -2**63), ('past_32_bits', 2**31 + 1), ('past_the_last', 9)):  # no diagonal is too far
    for upper in (0, 1):
        kept = upper == (k < 0)
        case(f'trilu_{name}_{upper}', [N('Trilu', ['x', 'k'], ['y'], upper=upper)], ['y'], inputs={'x': rows}, initializers={'k': I(k)}, answer=[rows * F(kept)])
        case(f'trilu_{name}_{upper}_fed', [N('Trilu', ['x', 'k'], ['y'], upper=upper)], ['y'], inputs={'x': rows, 'k': I(k)}, answer=[rows * F(kept)])
case('no_DepthToSpace', [N('DepthToSpace', ['x'], ['y'], blocksize=0)], ['y'], inputs={'x': image}, refused='`blocksize` is 0: it has to be 1 or more')

# Functions that call each other twice: the last stands for 2^40 nodes, of which none is written.
halves = [h.make_function('own', f'F{i}', ['a'], ['b'], [N(f'F{i + 1}', ['a'], ['c'], domain='own'), N(f'F{i + 1}', ['c'], ['b'], domain='own')] if i < 40 else
                          [N('Neg', ['a'], ['b'])], [h.make_opsetid('', 21), h.make_opsetid('own', 1)]) for i in range(41)]
case('functions_that_double', [N('F0', ['x'], ['y'], domain='own')], ['y'], inputs=X, functions=halves, refused='the calls of functions are more than 300000 nodes')

# -- Trees whose nodes stand in any order --------------------------------------------------------------------------------------

OF_TREES = {'TreeEnsembleRegressor': (attributes.TARGETS, ['y']), 'TreeEnsembleClassifier': (attributes.CLASS, ['y', 'z'])}
for op, (forest, results) in OF_TREES.items():
    for k, order in enumerate(([6, 4, 0, 5, 3, 1, 7, 2], [7, 6, 5, 4, 3, 2, 1, 0])):
        for which, tracks in (('first', [1, 0, 0, 0, 0, 0, 0, 0]), ('second', [0, 1, 0, 0, 0, 0, 0, 0]), ('other_tree', [0, 0, 0, 0, 0, 1, 0, 0])):
            given = {**forest, 'nodes_missing_value_tracks_true': tracks}
            mixed = {name: [value[i] for i in order] if name.startswith('nodes_') else value for name, value in given.items()}
            of = lambda words: Model([N(op, ['x'], results, domain='ai.onnx.ml', **words)], results, inputs={'x': attributes.LOST})
            case(f'{op}_in_any_order_{k}_nan_at_{which}', [N(op, ['x'], results, domain='ai.onnx.ml', **mixed)], results, inputs={'x': attributes.LOST},
                 answer=of(given).runtime())
for function in ('MIN', 'MAX', 'SUM', 'AVERAGE'):  # of which no leaf says anything, that is 0
    case(f'trees_silent_of_a_target_{function}', [N('TreeEnsembleRegressor', ['x'], ['y'], domain='ai.onnx.ml', **{
        **attributes.TARGETS, 'target_ids': [1, 1, 1, 1, 1, 1], 'aggregate_function': function})], ['y'], inputs={'x': attributes.POINTS}, oracle='runtime')
