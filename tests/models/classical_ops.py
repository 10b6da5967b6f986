"""Models of one op of ai.onnx.ml each, with its options. Needs onnx and onnxruntime."""
import itertools

import numpy as np
import onnxruntime
from onnx import TensorProto as T
from onnx import helper as h

TYPES = {'f4': T.FLOAT, 'f8': T.DOUBLE, 'i8': T.INT64, 'i4': T.INT32, 'O': T.STRING}
TRANSFORMS = 'NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO', 'PROBIT'
MODES = [f'BRANCH_{mode}' for mode in ('LEQ', 'LT', 'GTE', 'GT', 'EQ', 'NEQ')]
LABELS = {'classlabels_strings': ['u', 'v', 'w']}
draw = np.random.RandomState(1)
x = draw.randn(5, 3).astype('f4')
steps = np.array([-1, -0.5, 0, 0.5, 1, 2], 'f4')  # features that are what they are compared with, too
on_steps = draw.choice(steps, (16, 4))
with_holes = np.where(draw.rand(16, 4) < 0.2, np.float32(np.nan), on_steps)


def answers(model, feeds):
    onnxruntime.set_default_logger_severity(3)
    session = onnxruntime.InferenceSession(model, providers=['CPUExecutionProvider'])
    names = [out.name for out in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds)))


def plain(value):
    """As Leat gives it and NumPy keeps it: of ZipMap's maps the scores, of strings bytes."""
    if isinstance(value, list):
        return np.array([list(row.values()) for row in value], 'f4')
    return np.char.encode(value.astype('U')) if value.dtype.kind == 'O' else value


def type_of(value):
    return TYPES['O' if value.dtype.kind == 'O' else value.dtype.str[1:]]


def model(op, inputs, outputs=('y',), version=1, **attributes):
    """(the model, its feeds); the outputs are of the types that the op gives."""
    feeds = {f'x{i}': value for i, value in enumerate(inputs)}
    node = h.make_node(op, list(feeds), list(outputs), domain='ai.onnx.ml', **attributes)
    graph = h.make_graph([node], 'op',
                         [h.make_tensor_value_info(name, type_of(value), [None, *value.shape[1:]])
                          for name, value in feeds.items()],
                         [h.make_tensor_value_info(name, T.UNDEFINED, None) for name in outputs])
    for value in graph.output:
        value.ClearField('type')
    made = h.make_model(graph, opset_imports=[h.make_opsetid('ai.onnx.ml', version), h.make_opsetid('', 17)])
    made.ir_version = 8
    return made.SerializeToString(), feeds


def forest(kind, trees, modes, targets, lowest=0.0, holes=False, each=False):
    """Attributes of trees with drawn nodes; `each`: a leaf has a weight for each target, else a tree is of one."""
    nodes, weights = [], []

    def grow(tree, depth):
        at = len(nodes[tree])
        nodes[tree].append([tree, at, 0, 0.0, 'LEAF', 0, 0, 0])
        if depth and (depth == 3 or draw.rand() < 0.8):
            feature, value, mode = draw.randint(4), draw.choice(steps), draw.choice(modes)
            nodes[tree][at] = [tree, at, int(feature), float(value), str(mode), grow(tree, depth - 1),
                               grow(tree, depth - 1), int(draw.randint(2))]
        else:
            for target in targets if each else [targets[tree % len(targets)]]:
                weights.append([tree, at, target, float(np.float32(lowest + 0.3 * draw.rand()))])
        return at

    for tree in range(trees):
        nodes.append([])
        grow(tree, 3)
    keys = ('treeids', 'nodeids', 'featureids', 'values', 'modes', 'truenodeids', 'falsenodeids',
            'missing_value_tracks_true')[:8 if holes else 7]
    made = {f'nodes_{key}': list(column) for key, column in zip(keys, zip(*itertools.chain(*nodes)))}
    keys = [f'{kind}_{key}' for key in ('treeids', 'nodeids', 'ids', 'weights')]
    return made | {key: list(column) for key, column in zip(keys, zip(*weights))}


def regression(rows, targets=1, version=1, **options):
    held = {key: options.pop(key) for key in ('modes', 'trees', 'lowest', 'holes', 'each') if key in options}
    made = forest('target', **{'trees': 6, 'modes': MODES[:1], 'targets': range(targets)} | held) | options
    if version == 3:
        for key in 'nodes_values', 'target_weights':
            values = made.pop(key)
            made[f'{key}_as_tensor'] = h.make_tensor('', T.DOUBLE, [len(values)], values)
    return model('TreeEnsembleRegressor', [rows], version=version, n_targets=targets, **made)


def trees():
    for mode in [*([mode] for mode in MODES), MODES]:
        name = mode[0][7:] if len(mode) == 1 else 'all'
        yield f'tree_{name}', regression(with_holes, modes=mode, trees=20)
        yield f'tree_{name}_holes', regression(with_holes, modes=mode, trees=20, holes=True)
    for dtype in 'f8', 'i8', 'i4':
        yield f'classes_{dtype}', model('TreeEnsembleClassifier', [on_steps.astype(dtype)], 'lp', **LABELS,
                                        **forest('class', 6, MODES[:1], [0, 1, 2]))
    yield 'tree_doubles', regression(on_steps.astype('f8'), version=3, modes=MODES[:2])
    for function, each in itertools.product(('SUM', 'AVERAGE', 'MIN', 'MAX'), (False, True)):
        yield f'tree_{function}_{each}', regression(on_steps, 3, aggregate_function=function, each=each,
                                                    base_values=[0.1, 0.2, 0.3], lowest=-0.15)
    for transform in TRANSFORMS:
        yield f'tree_{transform}', regression(on_steps, 2, post_transform=transform)
        for lowest, targets in itertools.product((0.0, -0.15), ([0], [0, 1, 2])):
            if transform != 'PROBIT' or (lowest == 0 and len(targets) > 1):  # it is of what is in 0..1
                labels = {'classlabels_int64s': [7, 3]} if len(targets) == 1 else LABELS
                yield f'classes_{transform}_{lowest}_{len(targets)}', model(
                    'TreeEnsembleClassifier', [on_steps], 'lp', post_transform=transform, **labels,
                    base_values=[0.1, 0.2, 0.3][:len(targets)],
                    **forest('class', 6, MODES[:1], targets, lowest))


def linear():
    for transform, targets in itertools.product(TRANSFORMS, (1, 3)):
        if targets > 1 or transform in ('NONE', 'PROBIT'):
            yield f'linear_{transform}_{targets}', model(
                'LinearRegressor', [x], coefficients=draw.rand(3 * targets) / 10, targets=targets,
                intercepts=0.4 + draw.rand(targets) / 5, post_transform=transform)
        if targets > 1 or transform != 'PROBIT':
            labels = {'classlabels_ints': [5, 9]} if targets == 1 else LABELS
            yield f'linear_classes_{transform}_{targets}', model(
                'LinearClassifier', [x], 'lp', coefficients=draw.randn(3 * targets) / 10, **labels,
                intercepts=(0.4 if targets > 1 else 0) + draw.rand(targets) / 5, post_transform=transform)
    yield 'linear_classes_i8', model('LinearClassifier', [(3 * x).astype('i8')], 'lp', coefficients=draw.randn(9),
                                     intercepts=[0.0, 0.1, 0.2], **LABELS)


def vectors():
    for kernel in 'LINEAR', 'POLY', 'RBF', 'SIGMOID':
        kind = {'kernel_type': kernel, 'kernel_params': [0.3, 0.2, 3.0]}
        for one_class in 0, 1:
            yield f'svr_{kernel}_{one_class}', model(
                'SVMRegressor', [x], n_supports=4, support_vectors=draw.randn(12), coefficients=draw.randn(4),
                rho=[0.1], one_class=one_class, **kind)
        for classes, with_probabilities in itertools.product((2, 4), (False, True)):
            counts, pairs = [3, 2, 4, 1][:classes], classes * (classes - 1) // 2
            given = {'prob_a': -1 - draw.rand(pairs), 'prob_b': draw.randn(pairs) / 3} if with_probabilities else {}
            yield f'svc_{kernel}_{classes}_{with_probabilities}', model(
                'SVMClassifier', [x], 'lp', vectors_per_class=counts, support_vectors=draw.randn(3 * sum(counts)),
                coefficients=draw.randn(sum(counts) * (classes - 1)), rho=draw.randn(pairs) / 3,
                classlabels_ints=[4, 6, 8, 1][:classes], **given, **kind)


def features():
    rows, words = draw.randint(0, 5, (6, 2)), draw.choice(['a', 'bb', 'c'], (6, 1)).astype(object)
    zero, hole = x * [[1], [0], [1], [1], [1]], np.where(x > 1, np.float32(np.nan), x)
    yield 'scaler', model('Scaler', [x], offset=[0.1, 0.2, 0.3], scale=[1.0, 2.0, 3.0])
    yield 'scaler_one', model('Scaler', [(5 * x).astype('i8')], offset=[0.5], scale=[2.0])
    for norm in 'MAX', 'L1', 'L2':
        yield f'normalizer_{norm}', model('Normalizer', [zero.astype('f4')], norm=norm)
    yield 'imputer', model('Imputer', [hole], imputed_value_floats=[1.0, 2.0, 3.0], replaced_value_float=float('nan'))
    yield 'imputer_one', model('Imputer', [rows], imputed_value_int64s=[7], replaced_value_int64=1)
    yield 'one_hot', model('OneHotEncoder', [rows], cats_int64s=[0, 3, 1])
    yield 'one_hot_floats', model('OneHotEncoder', [rows.astype('f4')], cats_int64s=[0, 1, 2, 3, 4], zeros=0)
    yield 'one_hot_strings', model('OneHotEncoder', [words], cats_strings=['a', 'bb'])
    yield 'vectorizer', model('FeatureVectorizer', [x, x[:, :2]], inputdimensions=[3, 2])
    yield 'mapper', model('CategoryMapper', [words], cats_int64s=[4, 5], cats_strings=['a', 'c'], default_int64=-3)
    yield 'mapper_back', model('CategoryMapper', [rows], cats_int64s=[4, 1], cats_strings=['a', 'c'], default_string='no')


def models():
    """(name, model, feeds) of each."""
    return [(f'op_{name}', *made) for name, made in itertools.chain(trees(), linear(), vectors(), features())]
