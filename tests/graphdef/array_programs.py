"""Programs of arrays, math, images and strings, as TensorFlow's own tests of these ops and its users have them: what Python
writes as many nodes, and computes of shapes."""
import numpy as np
import tensorflow as tensorflow_2

from programs import Program, ints, numbers, program, tf, weight

v2 = tensorflow_2


def named(**values):
    """The fetches, each a node of that name."""
    for name, value in values.items():
        tf.identity(value, name=name)
    return {name: name for name in values}


# -- Numbers in a row --------------------------------------------------------------------------------------------------

@program
def linear_spaces():
    x = tf.placeholder(tf.float32, [2], name='x')
    v = tf.placeholder(tf.float32, [None], name='v')
    y = tf.reduce_sum(v2.linspace(x[0], x[1], 5) ** 2)
    return Program({'x': numbers((2,)), 'v': numbers((3,), 2)}, named(
        constant=v2.linspace(0.0, 1.0, 5), double=v2.linspace(np.float64(-2), 3.0, 7), ints=v2.linspace(tf.constant(1), tf.constant(10), 4),
        fed=v2.linspace(x[0], x[1], 5), one=v2.linspace(x[0], x[1], 1), by_shape=v2.linspace(0.0, 1.0, tf.shape(v)[0]),
        rows=v2.linspace(v, v * 2 + 1, 4), columns=v2.linspace(v, v * 2 + 1, 4, axis=-1), gradient=tf.gradients(y, x)[0]))


@program
def ranges():
    x = tf.placeholder(tf.float32, [], name='x')
    n = tf.placeholder(tf.int32, [], name='n')
    half = tf.constant(9, tf.float16), tf.constant(.7, tf.float16)
    return Program({'x': np.float32(.6), 'n': np.int32(7)}, named(
        up=tf.range(0., x, .1), down=tf.range(x, -1., -.3), count=tf.range(n), steps=tf.range(n, 0, -2), none=tf.range(n, n),
        wide=tf.range(tf.cast(n, tf.int64), 2**33, 2**31), far=tf.range(2**33, 2**33 + 3), empty=tf.range(5, 5),
        halves=tf.cast(tf.range(tf.cast(x, tf.float16), *half), tf.float32)))


@program
def large_integers():
    x = tf.placeholder(tf.int64, [2], name='x')
    return Program({'x': np.array([3, 2**41])}, named(
        sum=x + 2**31, product=x * tf.constant([2**40, -2**62], tf.int64), last=tf.constant(2**63 - 1, tf.int64),
        matrix=tf.constant([[2**35, 1], [-2**63, 3]], tf.int64) + 0, bits=tf.bitwise.bitwise_and(x, tf.constant(0xFFFFFFFFFF, tf.int64)),
        of_shape=x + tf.cast(tf.shape(x)[0], tf.int64) * 2**33, filled=tf.fill([2], tf.constant(2**50, tf.int64)),
        chosen=tf.where(x > 2**32, x, tf.constant([2**34, 5], tf.int64)), stacked=tf.stack([tf.constant(2**36, tf.int64), x[0]]),
        wrapped=tf.constant(2**31 - 1) + 1))


# -- Shapes that are computed ------------------------------------------------------------------------------------------

@program
def grids():
    x = tf.placeholder(tf.float32, [3], name='x')
    y = tf.placeholder(tf.float32, [None], name='y')
    a, b = tf.meshgrid(x, y)
    c, d = tf.meshgrid(x, y, indexing='ij')
    e, f = tf.meshgrid(tf.range(3), tf.range(2))
    return Program({'x': numbers((3,)), 'y': numbers((4,), 2)}, named(
        a=a, b=b, c=c, d=d, e=e, f=f, square=tf.eye(tf.shape(y)[0]), wide=tf.eye(3, 4, batch_shape=[2]),
        batch=tf.eye(3, batch_shape=tf.shape(y))))


@program
def chosen_shapes():
    """What is true of shapes decides others."""
    x = tf.placeholder(tf.float32, [4, 3], name='x')
    y = tf.placeholder(tf.float32, [None, 3], name='y')
    s, n = tf.shape(x), tf.shape(y)[0]
    longest = v2.where(s[0] > s[1], s[0], s[1])
    odd = tf.logical_or(tf.equal(s[1] % 2, 1), tf.logical_not(tf.reduce_all(tf.equal(s, [4, 3]))))
    return Program({'x': numbers((4, 3)), 'y': numbers((6, 3), 2)}, named(
        reshaped=tf.reshape(x, tf.concat([v2.where(tf.equal(s, 3), 1, s), [3]], 0)), longest=tf.zeros([longest, 2]),
        odd=v2.where(odd, x, -x), most=tf.ones([tf.reduce_max(s), tf.reduce_min(s)]), run_time=v2.where(n > 5, y, -y),
        at_least=tf.pad(y, [[0, tf.maximum(8 - n, 0)], [0, 0]]), even=tf.pad(y, [[0, tf.floormod(-n, 4)], [0, 0]]),
        turned=tf.reshape(x, tf.reverse(s, [0])), repeated=tf.reshape(x, tf.tile([2], [2]) * [1, 3]),
        counted=tf.cast(tf.not_equal(n, 3), tf.int32) + tf.cast(tf.equal(s[1], 3), tf.int32)))


@program
def tiles_and_pads():
    x = tf.placeholder(tf.float32, [None, 3], name='x')
    i = tf.placeholder(tf.int32, [None], name='i')
    n = tf.shape(x)[0]
    return Program({'x': numbers((5, 3)), 'i': np.array([0, 2, 1], np.int32)}, named(
        tiled=tf.tile(x, [2, n]), padded=tf.pad(x, [[0, 10 - n], [1, 1]]), stacked=tf.tile(x[None], tf.stack([n, 1, 1])),
        with_sevens=tf.pad(x, tf.stack([[n, 0], [0, n]]), constant_values=7.), hot=tf.one_hot(i, tf.reduce_max(i) + 1),
        hot_of_shape=tf.one_hot(i, n, on_value=2, off_value=-1, axis=0), masked=tf.sequence_mask(i, 5), fits=tf.sequence_mask(i, dtype=tf.float32),
        repeated=tf.repeat(x, 2, axis=0), each=tf.repeat(x, [1, 2, 0], axis=1), counted=tf.repeat(tf.constant([1, 2, 3]), [2, 1, 3]),
        rolled=tf.roll(x, n // 2, axis=0)))


@program
def gathered_and_masked():
    x = tf.placeholder(tf.float32, [None, 3, 4], name='x')
    i = tf.placeholder(tf.int32, [None, 2], name='i')
    mask = x[:, 0, 0] > 0
    return Program({'x': numbers((4, 3, 4)), 'i': ints((4, 2), 3)}, named(
        rows=tf.gather(x, i, axis=1, batch_dims=1), cells=tf.gather_nd(x, tf.stack([i, i], -1), batch_dims=1), batch=tf.batch_gather(x, i),
        masked=tf.boolean_mask(x, mask), places=tf.where(x[:, 0] > 0.5), kept=tf.boolean_mask(x, x > 0)))


@program
def sorted_and_searched():
    x = tf.placeholder(tf.float32, [None], name='x')
    i = tf.placeholder(tf.int32, [None], name='i')
    s = v2.sort(x)
    values, places, counts = tf.unique_with_counts(i)
    return Program({'x': numbers((20,)), 'i': np.array([3, 1, 3, 0], np.int32)}, named(
        sorted=s, down=v2.sort(x, direction='DESCENDING'), order=v2.argsort(x, direction='DESCENDING'), left=v2.searchsorted(s, [0., .5]),
        right=v2.searchsorted(s, [0., .5], side='right'), bins=tf.histogram_fixed_width(x, [-1., 1.], 4),
        in_bins=v2.histogram_fixed_width_bins(x, [-1., 1.], 4), values=values, places=places, counts=counts,
        confusion=tf.math.confusion_matrix(i, i, 4), counted=tf.math.bincount(i, minlength=3)))


# -- Math --------------------------------------------------------------------------------------------------------------

@program
def norms_and_moments():
    x = tf.placeholder(tf.float32, [None, 3, 4], name='x')
    mean, variance = tf.nn.moments(x, [0, 1])
    clipped, norm = tf.clip_by_global_norm([x, x * 2], 1.)
    return Program({'x': numbers((2, 3, 4))}, named(
        mean=mean, variance=variance, std=tf.math.reduce_std(x), along=tf.math.reduce_variance(x, -1), summed=tf.reduce_logsumexp(x, 1),
        euclidean=tf.norm(x, axis=-1), ones=tf.norm(x, ord=1, axis=1), largest=tf.norm(x, ord=np.inf, axis=[1, 2]),
        by_norm=tf.clip_by_norm(x, 1.), by_each=tf.clip_by_norm(x, 1., axes=[1]), by_value=tf.clip_by_value(x, -.5, x + 1), clipped=clipped[1],
        length=norm, unit=tf.nn.l2_normalize(x, -1), zero=tf.math.zero_fraction(tf.nn.relu(x))), within=1e-4)


@program
def products_of_tensors():
    x = tf.placeholder(tf.float32, [None, 3, 4], name='x')
    y = tf.placeholder(tf.float32, [4, 3, 2], name='y')
    return Program({'x': numbers((2, 3, 4)), 'y': numbers((4, 3, 2), 2)}, named(
        both=tf.tensordot(x, y, [[1, 2], [1, 0]]), one=tf.tensordot(x, y, 1), outer=tf.tensordot(x, y, 0), folded=tf.einsum('bij,jik->bk', x, y),
        polynomial=tf.math.polyval([tf.constant(2.), tf.constant(-1.), tf.constant(.5)], x)), within=1e-4)


@program
def factorised():
    """By what factors are put together to, and sizes: their signs are free."""
    a = tf.placeholder(tf.float32, [2, 4, 3], name='a')
    s = tf.matmul(a, a, transpose_a=True) + tf.eye(3)
    q, r = tf.linalg.qr(a)
    whole_q, whole_r = tf.linalg.qr(a, full_matrices=True)
    sizes, u, v = tf.linalg.svd(a)
    _, whole_u, _ = tf.linalg.svd(a, full_matrices=True)
    e, w = tf.linalg.eigh(s)
    lu, p = tf.linalg.lu(s)
    return Program({'a': numbers((2, 4, 3))}, named(
        product=q @ r, r_size=tf.abs(r), whole=whole_q @ whole_r, base=tf.matmul(whole_q, whole_q, transpose_a=True), sizes=sizes,
        usv=u @ tf.linalg.diag(sizes) @ tf.linalg.adjoint(v), whole_u=tf.matmul(whole_u, whole_u, transpose_b=True), e=e,
        wew=w @ tf.linalg.diag(e) @ tf.linalg.adjoint(w), values=tf.linalg.eigvalsh(s), singular=tf.linalg.svd(a, compute_uv=False), packed=lu, p=p,
        solved=tf.linalg.lu_solve(lu, p, s), least=tf.linalg.lstsq(a, a[:, :, :1]), inverse=tf.linalg.pinv(a), its_rank=tf.linalg.matrix_rank(a),
        sign=tf.linalg.slogdet(s)[0], three=tf.linalg.tridiagonal_solve(s, s[..., 0]), sum_of=tf.linalg.trace(s),
        root_grad=tf.gradients(tf.reduce_sum(tf.linalg.cholesky(s)), a)[0], part=tf.linalg.band_part(s, 0, -1)), within=1e-3)


@program
def rows_and_columns_sparse():
    """Sparse tensors and what a linear model does with them."""
    x = tf.placeholder(tf.float32, [None, 4], name='x')
    w = tf.placeholder(tf.float32, [4, 2], name='w')
    s = v2.sparse.from_dense(x)
    filled, empty = tf.sparse.fill_empty_rows(s, -1.)
    ids = v2.sparse.from_dense(tf.cast(x > 0, tf.int64) * tf.constant([1, 2, 3, 3], tf.int64))
    embedded = tf.nn.embedding_lookup_sparse(w, ids, None, combiner='mean')
    rooted = tf.nn.safe_embedding_lookup_sparse(w, ids, combiner='sqrtn')
    fed = {'x': np.array([[0, 1, 0, -2], [3, 0, 0, 0.5], [0, 0, 0, 0], [1, 0, 2, 0]], np.float32), 'w': numbers((4, 2))}
    return Program(fed, named(
        dense=tf.sparse.to_dense(s), product=tf.sparse.sparse_dense_matmul(s, w), turned=tf.sparse.sparse_dense_matmul(s, x, adjoint_a=True),
        filled=filled.values, places=filled.indices, empty=empty, sums=tf.sparse.reduce_sum(s, 1), scaled=(s * w[:, 0]).values,
        shaped=tf.sparse.reshape(s, [-1, 2]).indices, added=tf.sparse.add(s, x), embedded=embedded, rooted=rooted,
        gradient=tf.convert_to_tensor(tf.gradients(tf.reduce_sum(tf.nn.embedding_lookup_sparse(w, ids, None, combiner='sum') ** 2), w)[0])))


# -- Images ------------------------------------------------------------------------------------------------------------

@program
def images_changed():
    x = tf.placeholder(tf.float32, [None, 6, 5, 3], name='x')
    one = x[0]
    gray = tf.image.rgb_to_grayscale(x)
    return Program({'x': np.random.RandomState(1).rand(2, 6, 5, 3).astype(np.float32)}, named(
        small=v2.image.resize(x, [3, 4]), large=v2.image.resize(x, [9, 7], method='nearest'), cubic=v2.image.resize(x, [4, 9], method='bicubic'),
        area=v2.image.resize(x, [3, 3], method='area'), fitted=v2.image.resize_with_pad(x, 4, 8), cropped=tf.image.central_crop(x, 0.5),
        cut=tf.image.crop_to_bounding_box(x, 1, 2, 3, 2), padded=tf.image.pad_to_bounding_box(x, 1, 1, 9, 8), boxed=tf.image.resize_with_crop_or_pad(x, 4, 7),
        left=tf.image.flip_left_right(x), up=tf.image.flip_up_down(x), gray=gray, rgb=tf.image.grayscale_to_rgb(gray),
        bright=tf.image.adjust_brightness(x, 0.2), contrast=tf.image.adjust_contrast(x, 1.5), gamma=tf.image.adjust_gamma(x, 0.7),
        saturated=tf.image.adjust_saturation(x, 1.4), hue=tf.image.adjust_hue(x, 0.1), yiq=tf.image.rgb_to_yiq(x), standard=tf.image.per_image_standardization(x),
        bytes=tf.image.convert_image_dtype(x, tf.uint8), patches=tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], 'VALID'),
        variation=tf.image.total_variation(x), edges=tf.image.sobel_edges(x), dy=tf.image.image_gradients(x)[0], transposed=tf.image.transpose(one),
        noise=tf.image.psnr(x, x * 0.9, 1.0), hsv=tf.image.rgb_to_hsv(x)), within=1e-3)


@program
def boxes_of_objects():
    """What a detector does behind its net."""
    boxes = tf.placeholder(tf.float32, [None, 4], name='boxes')
    scores = tf.placeholder(tf.float32, [None], name='scores')
    image = tf.placeholder(tf.float32, [1, 8, 8, 2], name='image')
    kept = tf.image.non_max_suppression(boxes, scores, 3, 0.5, 0.2)
    padded, count = tf.image.non_max_suppression_padded(boxes, scores, 4, 0.5, 0.2, pad_to_max_output_size=True)
    scored, values = tf.image.non_max_suppression_with_scores(boxes, scores, 3, 0.5, 0.2)
    corners = np.array([[0, 0, 1, 1], [0, .1, 1, 1.1], [0, -.1, 1, .9], [0, .5, .5, 1], [0, .55, .5, 1], [.2, .2, .4, .4]], np.float32)
    zeros = tf.zeros_like(kept)
    return Program({'boxes': corners, 'scores': np.array([.9, .75, .6, .95, .5, .1], np.float32), 'image': numbers((1, 8, 8, 2))}, named(
        kept=kept, padded=padded, number=count, scored=scored, values=values, best=tf.gather(boxes, kept),
        crops=tf.image.crop_and_resize(image, tf.gather(boxes, kept), zeros, [3, 3]), classes=tf.argmax(tf.stack([scores, 1 - scores], 1), 1)))


# -- Strings -----------------------------------------------------------------------------------------------------------

@program
def words_of_texts():
    x = tf.placeholder(tf.string, [None], name='x')
    words = v2.strings.split(x)
    commas = v2.strings.split(x, ',')
    pieces = tf.sparse.to_dense(words.to_sparse(), default_value='')
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['the', 'cat', 'sat'], tf.constant([1, 2, 3], tf.int64)), -1)
    return Program({'x': np.array([b'the cat sat', b' the  mat', b'', b'a,b,,c'])}, named(
        values=words.values, pieces=pieces, lengths=tf.strings.length(words.values), commas=commas.values, ids=table.lookup(words.values),
        dense_ids=table.lookup(pieces), joined=tf.strings.reduce_join(pieces, 1, separator='-'), low=tf.strings.lower(x), parts=tf.strings.substr(x, 0, 2),
        same=tf.equal(x, 'a,b,,c'), text=tf.strings.as_string(tf.cast(tf.strings.length(x), tf.float32), precision=1), stripped=tf.strings.strip(x),
        number=tf.strings.to_number(tf.strings.as_string(tf.range(3)), tf.int64)))


@program
def split_of_version_1():
    x = tf.placeholder(tf.string, [3], name='x')
    pieces = tf.string_split(x, ',')
    return Program({'x': np.array([b'1,2', b'', b'3,,-4'])}, named(
        values=pieces.values, places=pieces.indices, shape_of=pieces.dense_shape, numbers=tf.string_to_number(pieces.values),
        all=tf.string_split(x, ',', skip_empty=False).values))


# -- Nets --------------------------------------------------------------------------------------------------------------

@program
def fused_cells():
    """The cells that tf.contrib.rnn had, and a greedy decoder behind them."""
    x = tf.placeholder(tf.float32, [5, 2, 3], name='x')
    n = tf.placeholder(tf.int64, [], name='n')
    w, b, zero = weight('w', (7, 16), 2), weight('b', (16,), 3), tf.zeros([2, 4])
    p = tf.zeros([4])
    out = tf.raw_ops.BlockLSTM(seq_len_max=n, x=x, cs_prev=zero, h_prev=zero, w=w, wci=p, wcf=p, wco=p, b=b)
    r, u, c, h = tf.raw_ops.GRUBlockCell(x=x[0], h_prev=zero, w_ru=w[:, :8], w_c=w[:, 8:12], b_ru=b[:8], b_c=b[:4])
    decoded, score = tf.nn.ctc_greedy_decoder(out.h, tf.fill([2], 4))
    return Program({'x': numbers((5, 2, 3)), 'n': np.array(4)}, named(
        h=out.h, cs=out.cs, last=out.h[3], gru=h, classes=decoded[0].values, score=score))


@program
def drawn_by_seeds():
    """The same numbers as TensorFlow's."""
    n = tf.placeholder(tf.int32, [], name='n')
    seed = tf.placeholder(tf.int64, [2], name='seed')
    x = tf.ones([4, 6])
    kept = v2.random.stateless_uniform([4, 6], seed) >= 0.25
    return Program({'n': np.int32(5), 'seed': np.array([42, -7])}, named(
        uniform=v2.random.stateless_uniform([3, 3], [1, 2]), normal=v2.random.stateless_normal([n, 3], seed, mean=2., stddev=3.),
        whole=v2.random.stateless_uniform([7], seed, minval=-5, maxval=50, dtype=tf.int32), bits=v2.random.stateless_uniform([n], seed, None, None, tf.int32),
        dropped=tf.where(kept, x / 0.75, tf.zeros_like(x)), next=v2.random.split([1, 2], 2), folded=v2.random.fold_in([1, 2], 3)))


@program
def printed():
    """What is shown changes nothing."""
    x = tf.placeholder(tf.float32, [2], name='x')
    shown = v2.print('x is', x, 'of', tf.shape(x), summarize=2)
    with tf.control_dependencies([shown, v2.print('done')]):
        y = x * 2
    return Program({'x': numbers((2,))}, named(y=y))


# -- What changes variables --------------------------------------------------------------------------------------------

SCALARS = {'lr': .1, 'alpha': .1, 'l1': .01, 'l2': .02, 'l2_shrinkage': .03, 'lr_power': -.5, 'rho': .9, 'epsilon': 1e-3, 'momentum': .9,
           'beta': .9, 'beta1': .9, 'beta2': .99, 'beta1_power': .9, 'beta2_power': .99, 'logbase': 2., 'sign_decay': .9}


def updated(op, grad):
    """A variable and its slots, changed by the op, and what they are then."""
    from tensorflow.python.framework import op_def_registry
    rows = 'Scatter' in op or 'Sparse' in op
    words, variables = {}, []
    places = {'begin': [1, 0], 'end': [3, 2], 'strides': [1, 1], 'indices': [[2], [0]] if 'ScatterNd' in op else [2, 0]}
    for arg in op_def_registry.get(op).input_arg:
        if arg.is_ref or arg.type == tf.resource:
            start = (np.abs(numbers((4, 3), len(variables) + 5)) + .25) * (.1 if arg.name == 'mg' else 1)
            v = tf.Variable(tf.constant(start), use_resource=op.startswith('Resource'), name=f'{op}_{arg.name}')
            variables.append(v)
            words[arg.name] = v.handle if op.startswith('Resource') else v._ref()
        elif arg.name in ('grad', 'delta', 'updates'):
            words[arg.name] = grad[:2] if rows else grad
        elif arg.name == 'value':
            words[arg.name] = grad[:2, :2]
        elif arg.name == 'global_step':
            words[arg.name] = tf.constant(1, tf.int64)
        else:
            words[arg.name] = tf.constant(places[arg.name]) if arg.name in places else tf.constant(SCALARS[arg.name])
    with tf.control_dependencies([getattr(tf.raw_ops, op)(**words)]):
        return [tf.reshape(v.read_value(), [-1]) for v in variables]


def all_updated(ops):
    grad = tf.placeholder(tf.float32, [4, 3], name='grad')
    tf.concat([v for op in ops.split() for v in updated(op, grad)], 0, name='seen')
    return Program({'grad': numbers((4, 3), 3)}, {'seen': 'seen'}, train='seen', entry='seen', within=1e-4)


@program
def resources_updated():
    return all_updated('''ResourceApplyKerasMomentum ResourceApplyAdagradV2 ResourceApplyRMSProp ResourceApplyFtrlV2
        ResourceApplyProximalGradientDescent ResourceApplyProximalAdagrad ResourceApplyAdagradDA ResourceApplyAdaMax ResourceApplyAddSign
        ResourceApplyPowerSign ResourceApplyAdamWithAmsgrad''')


@program
def rows_of_resources_updated():
    return all_updated('''ResourceSparseApplyKerasMomentum ResourceSparseApplyAdagradV2 ResourceSparseApplyAdadelta ResourceSparseApplyRMSProp
        ResourceSparseApplyCenteredRMSProp ResourceSparseApplyFtrl ResourceSparseApplyFtrlV2 ResourceSparseApplyProximalGradientDescent
        ResourceSparseApplyProximalAdagrad ResourceSparseApplyAdagradDA ResourceSparseApplyAdagrad''')


@program
def references_updated():
    return all_updated('SparseApplyFtrl SparseApplyProximalGradientDescent SparseApplyMomentum ApplyAdagradV2 SparseApplyAdagradV2')


@program
def scattered_into_resources():
    return all_updated('''ResourceScatterMul ResourceScatterMin ResourceScatterMax ResourceScatterNdUpdate ResourceScatterNdAdd ResourceScatterNdSub
        ResourceScatterNdMax ResourceScatterNdMin ResourceScatterAdd ResourceScatterSub ResourceScatterUpdate ResourceStridedSliceAssign''')


@program
def scattered_into_references():
    return all_updated('ScatterMin ScatterNdSub ScatterNdMax ScatterNdMin StridedSliceAssign')


# -- Names that few graphs have ----------------------------------------------------------------------------------------

@program
def other_names():
    x = tf.placeholder(tf.float32, [3], name='x')
    v = tf.Variable(tf.constant(numbers((4, 3), 2)), use_resource=True, name='v')
    n = tf.placeholder(tf.int32, [], name='n')
    raw = tf.raw_ops
    i = raw.RandomUniformInt(shape=[5], minval=tf.constant(3), maxval=tf.constant(4))
    drawn = raw.Multinomial(logits=tf.constant([[0., -50], [-50, 0]]), num_samples=3)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([7, 8], tf.constant([1., 2.]), key_dtype=tf.int64), -1.)
    branch = v2.switch_case(n, [lambda: x, lambda: x * 2, lambda: raw.Print(input=-x, data=[x], message='x')])
    shuffled = tf.sort(tf.random.shuffle(tf.range(5)))
    return Program({'x': numbers((3,)), 'n': np.int32(2)}, named(
        a=raw.Snapshot(input=x), b=raw.PreventGradient(input=x), c=raw.GuaranteeConst(input=x), d=raw.DeepCopy(x=x), cells=raw.ResourceGatherNd(
            resource=v.handle, indices=tf.constant([[0, 1], [3, 2]]), dtype=tf.float32), branch=branch, threes=i, drawn=drawn, shuffled=shuffled,
        found=table.lookup(tf.constant([8, 9], tf.int64))))


@program
def tables_of_version_1():
    keys, values = tf.constant(['a', 'b', 'c']), tf.constant([3, 1, 2], tf.int64)
    x = tf.placeholder(tf.string, [2], name='x')
    raw = tf.raw_ops
    filled, imported, second = (raw.HashTable(key_dtype=tf.string, value_dtype=tf.int64, shared_name=n) for n in 'pqr')
    resource = raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name='s')
    for op in (raw.InitializeTable(table_handle=filled, keys=keys, values=values), raw.LookupTableImport(table_handle=imported, keys=keys, values=values),
               raw.InitializeTableV2(table_handle=resource, keys=keys, values=values)):
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, op)
    exported = raw.LookupTableExport(table_handle=imported, Tkeys=tf.string, Tvalues=tf.int64)
    order = tf.argsort(exported.values)
    again = raw.LookupTableExportV2(table_handle=resource, Tkeys=tf.string, Tvalues=tf.int64)
    return Program({'x': np.array([b'b', b'z'])}, named(
        found=raw.LookupTableFind(table_handle=filled, keys=x, default_value=tf.constant(-1, tf.int64)), count=raw.LookupTableSize(table_handle=imported),
        keys=tf.gather(exported.keys, order), values=tf.sort(again.values)))


@program
def lists_of_version_2():
    x = tf.placeholder(tf.float32, [4, 3], name='x')
    raw = tf.raw_ops
    shape = tf.constant([2, 3])
    items = raw.TensorListScatterV2(tensor=x, indices=tf.constant([2, 0, 1, 3]), element_shape=tf.constant([3]), num_elements=tf.constant(-1))
    pairs = raw.TensorListSplit(tensor=x, element_shape=tf.constant([-1, 3]), lengths=tf.constant([2, 2], tf.int64))
    joined = raw.TensorListConcatV2(input_handle=pairs, element_shape=tf.constant([-1, 3]), leading_dims=tf.constant([], tf.int64), element_dtype=tf.float32)
    shorter = raw.TensorListResize(input_handle=items, size=tf.constant(2))
    stack = lambda handle, of: raw.TensorListStack(input_handle=handle, element_shape=tf.constant(of), element_dtype=tf.float32)
    return Program({'x': numbers((4, 3))}, named(
        items=stack(items, [3]), pairs=stack(pairs, [2, 3]), joined=joined.tensor, lengths=joined.lengths, shorter=stack(shorter, [3])))
