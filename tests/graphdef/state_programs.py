"""More programs of programs.py: variables, what initialises, assigns and saves them, schedules, moving averages, optimisers."""
import numpy as np
import tensorflow as tf1

from programs import Program, ints, numbers, program, weight

tf = tf1.compat.v1


# -- Variables -----------------------------------------------------------------------------------------------------------

@program
def assignment_fetched():
    """What an assignment gives, through an identity."""
    v = tf.get_variable('v', initializer=tf.constant([1.0, 2.0]))
    x = tf.placeholder(tf.float32, [2], name='x')
    tf.identity(tf.assign_add(v, x), name='o')
    return Program({'x': numbers((2,))}, {'o': 'o'}, train='o')


@program
def assignments_in_order():
    v = tf.get_variable('v', initializer=tf.constant([1.0, 2.0]))
    x = tf.placeholder(tf.float32, [2], name='x')
    a = tf.assign_add(v, x)
    with tf.control_dependencies([a]):
        r = tf.identity(v * 1.0)
    with tf.control_dependencies([r]):
        b = tf.assign_sub(v, x * r)
    with tf.control_dependencies([b]):
        tf.identity(v + r, name='o')
    return Program({'x': numbers((2,))}, {'o': 'o'}, train='o')


@program
def assigned_and_used():
    v = tf.get_variable('v', initializer=tf.constant(2.0))
    x = tf.placeholder(tf.float32, [], name='x')
    tf.add(tf.assign(v, v * x), 1.0, name='o')
    return Program({'x': np.float32(1.5)}, {'o': 'o'}, train='o')


@program
def initialised_by_another():
    a = tf.get_variable('a', initializer=tf.random_normal([3], seed=7))
    b = tf.Variable(a.initialized_value() * 2, name='b')
    c = tf.Variable(b.initialized_value() + a.initialized_value(), name='c')
    tf.identity(b / a, name='two')
    tf.identity(c / a, name='three')
    return Program({}, {'two': 'two', 'three': 'three'})


@program
def initialised_by_shapes():
    n = 3
    a = tf.get_variable('a', [n, 2], initializer=tf.constant_initializer(1.5))
    b = tf.Variable(tf.fill(tf.shape(a.initialized_value()), 2.0), name='b')
    c = tf.Variable(tf.cast(tf.range(4), tf.float32) / 2, name='c')
    d = tf.get_variable('d', [2, 2], initializer=tf.initializers.identity())
    e = tf.get_variable('e', [2], tf.int32, initializer=tf.zeros_initializer())
    tf.identity(a + b, name='x')
    tf.identity(c, name='y')
    tf.matmul(d, d, name='z')
    tf.identity(e + 1, name='w')
    return Program({}, {n: n for n in 'xyzw'})


@program
def partitioned_variable():
    v = tf.get_variable('v', [6, 2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(3))
    x = tf.placeholder(tf.int32, [4], name='x')
    loss = tf.reduce_sum(tf.square(tf.gather(v, x)), name='loss')
    tf.train.GradientDescentOptimizer(0.1).minimize(loss, name='train')
    return Program({'x': np.array([0, 3, 5, 3], np.int32)}, {'loss': 'loss'}, train='train')


@program
def saved_and_restored():
    """A saver's nodes are in the graph, and its variables in the checkpoint under other names."""
    v = tf.get_variable('v', initializer=tf.constant(numbers((3,), 4)))
    w = tf.get_variable('w', initializer=tf.constant(numbers((3,), 5)))
    x = tf.placeholder(tf.float32, [3], name='x')
    tf.train.Saver({'first': v, 'second': w})
    tf.identity(v * x + w, name='y')
    loss = tf.reduce_sum(tf.square(v * x + w), name='loss')
    tf.train.GradientDescentOptimizer(0.1).minimize(loss, name='train')
    return Program({'x': numbers((3,))}, {'y': 'y', 'loss': 'loss'}, train='train', meta=True)


@program
def half_trained():
    """The meta graph lists which variables are trained: slots and statistics are not."""
    w = weight('w', (3,), 2)
    fixed = tf.get_variable('fixed', initializer=tf.constant(numbers((3,), 3)), trainable=False)
    x = tf.placeholder(tf.float32, [3], name='x')
    loss = tf.reduce_sum(tf.square(w * x - fixed), name='loss')
    tf.train.AdamOptimizer(0.1).minimize(loss, name='train')
    return Program({'x': numbers((3,))}, {'loss': 'loss'}, train='train', meta=True)


@program
def scattered_variables():
    v = tf.get_variable('v', initializer=tf.constant(numbers((5, 2), 4)))
    i = tf.placeholder(tf.int32, [2], name='i')
    x = tf.placeholder(tf.float32, [2, 2], name='x')
    a = tf.scatter_add(v, i, x)
    with tf.control_dependencies([a]):
        b = tf.scatter_sub(v, i + 1, x * 0.5)
    with tf.control_dependencies([b]):
        c = tf.scatter_update(v, [4], [[7.0, 8.0]])
    tf.identity(c, name='o')
    return Program({'i': np.array([0, 2], np.int32), 'x': numbers((2, 2))}, {'o': 'o'}, train='o')


# -- Counting steps ------------------------------------------------------------------------------------------------------

def trained(rate, step, **kwargs):
    w = tf.get_variable('w', initializer=tf.constant([3.0, -2.0]))
    x = tf.placeholder(tf.float32, [2], name='x')
    loss = tf.reduce_sum(tf.square(w - x), name='loss')
    tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step, name='train')
    tf.identity(rate, name='rate')
    return Program({'x': numbers((2,))}, {'loss': 'loss', 'rate': 'rate'}, train='train', steps=6, **kwargs)


@program
def piecewise_rate():
    step = tf.train.create_global_step()
    return trained(tf.train.piecewise_constant(step, [1, 3], [0.25, 0.125, 0.0625]), step)


@program
def decaying_rates():
    step = tf.train.create_global_step()
    a = tf.train.exponential_decay(0.1, step, 2, 0.5)
    b = tf.train.exponential_decay(0.1, step, 2, 0.5, staircase=True)
    c = tf.train.polynomial_decay(0.1, step, 4, 0.01, power=2.0)
    d = tf.train.inverse_time_decay(0.1, step, 2, 0.5)
    return trained(a + b + c + d, step)


@program
def cosine_rates():
    step = tf.train.create_global_step()
    return trained(tf.train.cosine_decay(0.1, step, 5) + tf.train.natural_exp_decay(0.1, step, 2, 0.5), step)


@program
def restarting_rates():
    step = tf.train.create_global_step()
    return trained(tf.train.cosine_decay_restarts(0.1, step, 3) + tf.train.linear_cosine_decay(0.1, step, 4) +
                   tf.train.polynomial_decay(0.1, step, 2, cycle=True), step)


@program
def steps_by_two():
    step = tf.train.create_global_step()
    v = tf.get_variable('v', initializer=tf.constant(0.0))
    up = tf.assign_add(step, 2)
    with tf.control_dependencies([up]):
        tf.assign_add(v, tf.cast(step, tf.float32), name='train')
    tf.identity(v * 1, name='seen')
    return Program({}, {'seen': 'seen'}, train='train', steps=3)


@program
def steps_fetched():
    step = tf.train.create_global_step()
    x = tf.placeholder(tf.float32, [], name='x')
    w = tf.get_variable('w', initializer=tf.constant(2.0))
    tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.square(w - x), global_step=step, name='train')
    tf.add(tf.cast(step, tf.float32), w, name='y')
    return Program({'x': np.float32(1)}, {'y': 'y'}, train='train')


@program
def own_counter_in_a_branch():
    n = tf.get_variable('n', initializer=tf.constant(0))
    x = tf.placeholder(tf.float32, [], name='x')
    v = tf.get_variable('v', initializer=tf.constant(1.0))
    up = tf.cond(tf.equal(n % 2, 0), lambda: tf.assign_add(v, x), lambda: tf.assign(v, v * 2))
    with tf.control_dependencies([up]):
        tf.assign_add(n, 1, name='train')
    tf.identity(v * 1.0, name='v_now')
    return Program({'x': np.float32(3)}, {'v_now': 'v_now'}, train='train', steps=5)


# -- Moving averages -----------------------------------------------------------------------------------------------------

@program
def moving_average():
    v = tf.get_variable('v', initializer=tf.constant([1.0, 2.0]))
    x = tf.placeholder(tf.float32, [2], name='x')
    average = tf.train.ExponentialMovingAverage(0.9)
    up = tf.assign_add(v, x)
    with tf.control_dependencies([up]):
        with tf.control_dependencies([average.apply([v])]):
            tf.identity(average.average(v) + 0, name='train')
    return Program({'x': numbers((2,))}, {'train': 'train'}, train='train')


@program
def moving_average_of_a_loss():
    """Zero-debiased, with a decay that depends on the step."""
    step = tf.train.create_global_step()
    w = tf.get_variable('w', initializer=tf.constant([1.0, 2.0]))
    x = tf.placeholder(tf.float32, [2], name='x')
    loss = tf.reduce_sum(tf.square(w - x))
    average = tf.train.ExponentialMovingAverage(0.9, num_updates=step, zero_debias=True)
    descend = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    with tf.control_dependencies([descend]):
        kept = average.apply([loss, w])
    with tf.control_dependencies([kept]):
        tf.identity(average.average(loss) + tf.reduce_sum(average.average(w)), name='train')
    return Program({'x': numbers((2,))}, {'train': 'train'}, train='train')


@program
def batch_norm_by_hand():
    x = tf.placeholder(tf.float32, [None, 3], name='x')
    mean = tf.get_variable('mean', [3], initializer=tf.zeros_initializer(), trainable=False)
    variance = tf.get_variable('variance', [3], initializer=tf.ones_initializer(), trainable=False)
    m, v = tf.nn.moments(x, [0])
    up = [tf.assign_sub(mean, (mean - m) * 0.1), tf.assign_sub(variance, (variance - v) * 0.1)]
    with tf.control_dependencies(up):
        y = tf.nn.batch_normalization(x, m, v, None, None, 1e-3)
    tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3, name='tested')
    tf.identity(y, name='train')
    return Program({'x': numbers((5, 3))}, {'train': 'train'}, train='train')


# -- Optimisers ----------------------------------------------------------------------------------------------------------

def two_layers(optimizer, resource=False, steps=4, **kwargs):
    if resource:
        tf.enable_resource_variables()
    x = tf.placeholder(tf.float32, [None, 4], name='x')
    y = tf.placeholder(tf.float32, [None, 2], name='y')
    h = tf.tanh(x @ weight('a', (4, 3), 2) + weight('b', (3,), 3))
    loss = tf.reduce_mean(tf.square(h @ weight('c', (3, 2), 4) - y), name='loss')
    optimizer().minimize(loss, name='train')
    tf.disable_resource_variables()
    return Program({'x': numbers((5, 4)), 'y': numbers((5, 2), 2)}, {'loss': 'loss'}, train='train', steps=steps, **kwargs)


@program
def resource_momentum():
    return two_layers(lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True), True)


@program
def resource_rmsprop():
    return two_layers(lambda: tf.train.RMSPropOptimizer(0.05, momentum=0.5, centered=True), True)


@program
def resource_ftrl():
    return two_layers(lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02), True)


@program
def resource_adadelta():
    return two_layers(lambda: tf.train.AdadeltaOptimizer(1.0), True)


@program
def resource_adagrad():
    return two_layers(lambda: tf.train.AdagradOptimizer(0.1), True)


@program
def ftrl_with_shrinkage():
    return two_layers(lambda: tf.train.FtrlOptimizer(0.1, learning_rate_power=-0.7, l2_shrinkage_regularization_strength=0.01))


@program
def adagrad_of_dual_averages():
    return two_layers(lambda: tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step(), l1_regularization_strength=0.001))


@program
def proximal_descent():
    return two_layers(lambda: tf.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.02))


@program
def proximal_adagrad():
    return two_layers(lambda: tf.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02))


def raw(name, **inputs):
    """An operation that updates variables, without an optimiser of its own."""
    v = tf.get_variable('var', initializer=tf.constant(numbers((4, 2), 2)))
    slots = {key: tf.get_variable(key, initializer=tf.constant(np.abs(numbers((4, 2), i + 3)) + 0.1))
             for i, key in enumerate(inputs.pop('slots'))}
    g = tf.placeholder(tf.float32, [2, 2] if 'indices' in inputs else [4, 2], name='g')
    with tf.control_dependencies([getattr(tf1.raw_ops, name)(var=v, grad=g, **slots, **inputs)]):
        tf.add_n([v * 1.0, *(s * float(i + 2) for i, s in enumerate(slots.values()))], name='train')
    return Program({'g': numbers(g.shape.as_list(), 9)}, {'train': 'train'}, train='train')


@program
def update_signs():
    return raw('ApplyAddSign', slots=['m'], lr=0.1, alpha=1.5, sign_decay=0.9, beta=0.8)


@program
def update_powers_of_signs():
    return raw('ApplyPowerSign', slots=['m'], lr=0.1, logbase=0.7, sign_decay=0.9, beta=0.8)


@program
def update_ada_max():
    return raw('ApplyAdaMax', slots=['m', 'v'], beta1_power=0.9, lr=0.1, beta1=0.9, beta2=0.99, epsilon=1e-4)


@program
def update_rows_rmsprop():
    return raw('SparseApplyRMSProp', slots=['ms', 'mom'], lr=0.1, rho=0.9, momentum=0.5, epsilon=1e-4, indices=[3, 1])


@program
def update_rows_centered():
    return raw('SparseApplyCenteredRMSProp', slots=['mg', 'ms', 'mom'], lr=0.1, rho=0.9, momentum=0.5, epsilon=4.0, indices=[3, 1])


@program
def update_rows_ftrl():
    return raw('SparseApplyFtrlV2', slots=['accum', 'linear'], lr=0.1, l1=0.1, l2=0.2, l2_shrinkage=0.1, lr_power=-0.4, indices=[3, 1],
               multiply_linear_by_lr=True)


@program
def update_rows_adadelta():
    return raw('SparseApplyAdadelta', slots=['accum', 'accum_update'], lr=0.5, rho=0.9, epsilon=1e-3, indices=[0, 2])


@program
def update_rows_proximal():
    return raw('SparseApplyProximalAdagrad', slots=['accum'], lr=0.5, l1=0.1, l2=0.2, indices=[0, 2])


@program
def update_rows_averaged():
    return raw('SparseApplyAdagradDA', slots=['gradient_accumulator', 'gradient_squared_accumulator'], lr=0.5, l1=0.1, l2=0.2,
               global_step=tf.constant(3, tf.int64), indices=[0, 2])


@program
def scattered_cells():
    v = tf.get_variable('v', initializer=tf.constant(numbers((4, 3), 4)))
    x = tf.placeholder(tf.float32, [2], name='x')
    a = tf.scatter_nd_add(v, [[0, 1], [3, 2]], x)
    with tf.control_dependencies([a]):
        b = tf.scatter_nd_update(v, [[1, 1], [2, 0]], x * 3)
    with tf.control_dependencies([b]):
        c = tf.scatter_mul(v, [1], [[2.0, 3.0, 4.0]])
    with tf.control_dependencies([c]):
        d = tf.scatter_max(v, [0, 2], [[0.5] * 3] * 2)
    tf.identity(d, name='train')
    return Program({'x': numbers((2,))}, {'train': 'train'}, train='train')


@program
def clipped_gradients():
    x = tf.placeholder(tf.float32, [None, 4], name='x')
    w = weight('w', (4, 3), 2)
    loss = tf.reduce_sum(tf.square(x @ w), name='loss')
    opt = tf.train.GradientDescentOptimizer(0.1)
    g, v = zip(*opt.compute_gradients(loss))
    g, norm = tf.clip_by_global_norm(g, 1.0)
    opt.apply_gradients(zip(g, v), name='train')
    tf.identity(norm, name='norm')
    return Program({'x': numbers((5, 4))}, {'loss': 'loss', 'norm': 'norm'}, train='train')


@program
def regularised_by_layers():
    x = tf.placeholder(tf.float32, [None, 4], name='x')
    h = tf1.compat.v1.nn.xw_plus_b(x, weight('w', (4, 3), 2), weight('b', (3,), 3))
    loss = tf.add(tf.nn.l2_loss(h), 0.01 * tf.nn.l2_loss(weight('u', (3,), 5)), name='loss')
    tf.train.AdamOptimizer(0.05).minimize(loss, name='train')
    return Program({'x': numbers((5, 4))}, {'loss': 'loss'}, train='train')


@program
def sparse_rows_trained():
    table = weight('table', (7, 3), 2)
    i = tf.placeholder(tf.int32, [4], name='i')
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, i)), name='loss')
    tf.train.AdamOptimizer(0.1).minimize(loss, name='train')
    return Program({'i': np.array([1, 3, 3, 6], np.int32)}, {'loss': 'loss'}, train='train')


@program
def sparse_rows_by_resources():
    tf.enable_resource_variables()
    table = weight('table', (7, 3), 2)
    i = tf.placeholder(tf.int32, [4], name='i')
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, i)), name='loss')
    tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, name='train')
    tf.disable_resource_variables()
    return Program({'i': np.array([1, 3, 3, 6], np.int32)}, {'loss': 'loss'}, train='train')


# -- Gradients as leaves -------------------------------------------------------------------------------------------------

@program
def gradients_fetched():
    x = tf.placeholder(tf.float32, [3], name='x')
    y = tf.reduce_sum(tf.square(x) * tf.exp(x), name='y')
    g = tf.gradients(y, x)[0]
    return Program({'x': numbers((3,))}, {g.op.name: g, 'y': 'y'})


@program
def gradients_of_gradients():
    x = tf.placeholder(tf.float32, [3], name='x')
    w = weight('w', (3, 3), 2)
    y = tf.reduce_sum(tf.tanh(tf.linalg.matvec(w, x)) ** 2)
    g = tf.gradients(y, x)[0]
    h = tf.gradients(tf.reduce_sum(g * g), [x, w])
    return Program({'x': numbers((3,))}, {h[0].op.name: h[0], h[1].op.name: h[1]})


@program
def hessian_fetched():
    x = tf.placeholder(tf.float32, [3], name='x')
    h = tf.hessians(tf.reduce_sum(x ** 3 + x * x[::-1]), x)[0]
    tf.identity(h, name='h')
    return Program({'x': numbers((3,))}, {'h': 'h'})


@program
def custom_gradient():
    @tf1.custom_gradient
    def clipped(x):
        return tf.identity(x), lambda d: tf.clip_by_value(d, -0.5, 0.5)
    x = tf.placeholder(tf.float32, [3], name='x')
    g = tf.gradients(tf.reduce_sum(clipped(x) ** 2), x)[0]
    tf.identity(g, name='g')
    return Program({'x': numbers((3,))}, {'g': 'g'})


# -- Tables, what cannot be, summaries -------------------------------------------------------------------------------------

@program
def tables_of_constants():
    init = tf.lookup.KeyValueTensorInitializer(tf.constant(['a', 'b', 'cd']), tf.constant([3, 1, 4], tf.int64))
    table = tf.lookup.StaticHashTable(init, -1)
    back = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(tf.constant([1, 2], tf.int32), tf.constant(['x', 'y'])), '?')
    s = tf.placeholder(tf.string, [None], name='s')
    i = tf.placeholder(tf.int32, [2, 2], name='i')
    tf.identity(table.lookup(s), name='found')
    tf.identity(back.lookup(i), name='named')
    tf.identity(table.size(), name='size')
    return Program({'s': np.array([b'cd', b'x', b'a']), 'i': np.array([[1, 2], [3, 1]], np.int32)},
                   {n: n for n in ('found', 'named', 'size')})


@program
def bad_nodes_beside():
    """What is not supported refuses itself, and what needs it."""
    x = tf.placeholder(tf.float32, [3], name='x')
    w = weight('w', (3,), 2)
    queue = tf.FIFOQueue(3, [tf.float32], [[3]])
    tf.add(queue.dequeue(), x, name='queued')
    tf.summary.scalar('shown', tf.reduce_sum(x))
    tf.summary.histogram('h', w)
    tf.summary.merge_all()
    tf.multiply(x, w, name='y')
    loss = tf.reduce_sum(w * x, name='loss')
    tf.train.GradientDescentOptimizer(0.1).minimize(loss, name='train')
    queue.enqueue(x, name='enqueue')
    return Program({'x': numbers((3,))}, {'y': 'y', 'loss': 'loss'}, train='train')


# -- Whole programs ------------------------------------------------------------------------------------------------------

@program
def two_optimisers():
    """Each of its own variables, as of a generator and a discriminator."""
    z = tf.placeholder(tf.float32, [4, 2], name='z')
    real = tf.placeholder(tf.float32, [4, 3], name='real')
    g = tf.tanh(z @ weight('g', (2, 3), 2))
    d = lambda x: x @ d_w
    d_w = weight('d', (3, 1), 3)
    cross = lambda x, label: tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones_like(x) * label, logits=x))
    d_loss = tf.add(cross(d(real), 1.0), cross(d(g), 0.0), name='d_loss')
    g_loss = tf.identity(cross(d(g), 1.0), name='g_loss')
    a = tf.train.AdamOptimizer(0.05).minimize(d_loss, var_list=[d_w])
    b = tf.train.RMSPropOptimizer(0.05).minimize(g_loss, var_list=[v for v in tf.trainable_variables() if v.op.name == 'g'])
    tf.group(a, b, name='train')
    return Program({'z': numbers((4, 2)), 'real': numbers((4, 3), 5)}, {'d_loss': 'd_loss', 'g_loss': 'g_loss'}, train='train', within=1e-4)


@program
def accumulated_gradients():
    x = tf.placeholder(tf.float32, [3], name='x')
    w = weight('w', (3,), 2)
    total = tf.get_variable('total', [3], initializer=tf.zeros_initializer(), trainable=False)
    n = tf.get_variable('n', [], tf.int32, initializer=tf.zeros_initializer(), trainable=False)
    g = tf.gradients(tf.reduce_sum(tf.square(w * x)), w)[0]
    with tf.control_dependencies([tf.assign_add(total, g), tf.assign_add(n, 1)]):
        def apply():
            with tf.control_dependencies([tf.assign_sub(w, 0.1 * total)]):
                return tf.group(tf.assign(total, tf.zeros_like(total)), tf.assign(n, 0))
        step = tf.cond(tf.equal(n, 2), apply, tf.no_op)
    with tf.control_dependencies([step]):
        tf.identity(w * 1.0 + total, name='train')
    return Program({'x': numbers((3,))}, {'train': 'train'}, train='train', steps=5)


@program
def text_convolutions():
    i = tf.placeholder(tf.int32, [3, 7], name='i')
    y = tf.placeholder(tf.int32, [3], name='y')
    e = tf.nn.embedding_lookup(weight('table', (11, 4), 2), i)
    pooled = []
    for k in (2, 3):
        c = tf.nn.relu(tf.nn.conv1d(e, weight(f'c{k}', (k, 4, 5), k), 1, 'VALID') + weight(f'b{k}', (5,), k))
        pooled.append(tf.reduce_max(c, 1))
    logits = tf.concat(pooled, 1) @ weight('w', (10, 3), 5)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits), name='loss')
    tf.reduce_mean(tf.cast(tf.nn.in_top_k(logits, y, 1), tf.float32), name='accuracy')
    tf.train.AdagradOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step(), name='train')
    return Program({'i': ints((3, 7), 11), 'y': ints((3,), 3)}, {'loss': 'loss', 'accuracy': 'accuracy'}, train='train')


@program
def attention_trained():
    x = tf.placeholder(tf.float32, [2, 4, 6], name='x')
    q, k, v = (tf.einsum('btd,de->bte', x, weight(n, (6, 6), i + 2)) for i, n in enumerate('qkv'))
    a = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / np.sqrt(6).astype(np.float32))
    y = tf.matmul(a, v) + x
    m, s = tf.nn.moments(y, [-1], keep_dims=True)
    y = (y - m) * tf.rsqrt(s + 1e-6)
    loss = tf.reduce_mean(tf.square(y - tf.reverse(x, [1])), name='loss')
    tf.train.AdamOptimizer(0.01).minimize(loss, name='train')
    return Program({'x': numbers((2, 4, 6))}, {'loss': 'loss'}, train='train', within=1e-4)


@program
def policy_gradient():
    s = tf.placeholder(tf.float32, [None, 3], name='s')
    a = tf.placeholder(tf.int32, [None], name='a')
    r = tf.placeholder(tf.float32, [None], name='r')
    p = tf.nn.softmax(tf.nn.relu(s @ weight('h', (3, 4), 2)) @ weight('o', (4, 2), 3))
    rows = tf.range(tf.shape(p)[0]) * tf.shape(p)[1] + a
    chosen = tf.gather(tf.reshape(p, [-1]), rows)
    loss = tf.negative(tf.reduce_mean(tf.log(chosen) * r), name='loss')
    tf.train.GradientDescentOptimizer(0.1).minimize(loss, name='train')
    return Program({'s': numbers((4, 3)), 'a': np.array([0, 1, 1, 0], np.int32), 'r': numbers((4,), 4)}, {'loss': 'loss'}, train='train')


@program
def streaming_metrics():
    """Totals and counts, each a variable that an operation of its own updates."""
    x = tf.placeholder(tf.float32, [4], name='x')
    y = tf.placeholder(tf.bool, [4], name='y')
    mean, up = tf.metrics.mean(x)
    accuracy, up2 = tf.metrics.accuracy(y, x > 0)
    for v in tf.local_variables():
        tf.add_to_collection(tf.GraphKeys.GLOBAL_VARIABLES, v)
    with tf.control_dependencies([up, up2]):
        tf.add(up, up2, name='train')
    tf.identity(mean, name='mean')
    return Program({'x': numbers((4,)), 'y': np.array([True, False, True, True])}, {'train': 'train'}, train='train')
