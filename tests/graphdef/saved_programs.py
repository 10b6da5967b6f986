"""What version 2 of TensorFlow and Keras save: nets of the usual layers, by `model.export` and `tf.saved_model.save`, and
modules with several signatures. A function each, which gives what is saved; `remake_2` saves it and asks it for its
answers."""
import numpy as np
import tensorflow as tf

keras = tf.keras
layers = keras.layers
PROGRAMS = []


class Saved:
    """export: a model of Keras that is saved by `export`, else by `tf.saved_model.save`. feeds: by the names of the
    signature's inputs. signatures: of a module, by name; `entry` is the one that is asked. steps: how often it is asked, where it changes
    variables; the answer is the last one."""

    def __init__(self, of, feeds, export=False, signatures=None, entry='serving_default', steps=1, within=1e-5, results=None):
        self.of, self.feeds, self.export, self.signatures = of, feeds, export, signatures
        self.entry, self.steps, self.within, self.results = entry, steps, within, results


def saved(function):
    PROGRAMS.append(function)
    return function


def numbers(shape, seed=1, scale=1.0):
    return (np.random.RandomState(seed).standard_normal(shape) * scale).astype(np.float32)


def draw(model):
    """Weights that are the same each time; moving variances stay positive."""
    for i, w in enumerate(model.weights):
        value = numbers(w.shape, i + 2, 0.4)
        w.assign(np.abs(value) + 0.5 if 'variance' in w.name else value)
    return model


def specs(**shapes):
    return [tf.TensorSpec(shape, tf.float32, name) for name, shape in shapes.items()]


# -- Keras: nets ---------------------------------------------------------------------------------------------------------

def dense_net():
    return draw(keras.Sequential([layers.Input((4,), name='x'), layers.Dense(5, activation='relu'), layers.Dense(5, activation='tanh'),
                                  layers.Dropout(0.5), layers.Dense(3, activation='softmax')]))


@saved
def keras_dense_exported():
    return Saved(dense_net(), {'x': numbers((3, 4))}, export=True)


@saved
def keras_dense_saved():
    net = dense_net()
    call = tf.function(lambda x: {'p': net(x)}, input_signature=specs(x=[None, 4]))
    return Saved(net, {'x': numbers((3, 4))}, signatures={'serving_default': call})


@saved
def keras_convolutions():
    i = layers.Input((8, 8, 2), name='image')
    x = layers.Conv2D(3, 3, padding='same', activation='relu')(i)
    x = layers.BatchNormalization()(x)
    x = layers.MaxPooling2D()(x)
    y = layers.DepthwiseConv2D(3, padding='same')(x)
    x = layers.Add()([x, y])
    x = layers.Conv2D(4, 3, strides=2)(x)
    x = layers.AveragePooling2D(1)(x)
    x = layers.GlobalAveragePooling2D()(x)
    return Saved(draw(keras.Model(i, layers.Dense(2)(x))), {'image': numbers((2, 8, 8, 2))}, export=True)


@saved
def keras_up_and_down():
    i = layers.Input((6, 6, 1), name='image')
    x = layers.SeparableConv2D(2, 3, padding='same', activation='elu')(i)
    x = layers.Conv2DTranspose(2, 2, strides=2)(x)
    x = layers.ZeroPadding2D(1)(x)
    x = layers.Cropping2D(2)(x)
    x = layers.UpSampling2D(2)(x)
    x = layers.GlobalMaxPooling2D()(x)
    return Saved(draw(keras.Model(i, x)), {'image': numbers((2, 6, 6, 1))}, export=True)


@saved
def keras_sequence_convolutions():
    net = keras.Sequential([layers.Input((9, 2), name='x'), layers.Conv1D(3, 3, padding='causal', activation='relu'),
                            layers.MaxPooling1D(2), layers.Conv1D(2, 2), layers.GlobalAveragePooling1D(), layers.Dense(1)])
    return Saved(draw(net), {'x': numbers((2, 9, 2))}, export=True)


@saved
def keras_embedding():
    i = layers.Input((5,), dtype='int32', name='tokens')
    x = layers.Embedding(11, 4)(i)
    x = layers.LayerNormalization()(x)
    x = layers.Flatten()(x)
    x = layers.Dense(3, activation='gelu')(x)
    ids = np.random.RandomState(3).randint(0, 11, (2, 5)).astype(np.int32)
    return Saved(draw(keras.Model(i, x)), {'tokens': ids}, export=True)


@saved
def keras_lstm():
    net = keras.Sequential([layers.Input((6, 3), name='x'), layers.LSTM(4, return_sequences=True), layers.LSTM(3), layers.Dense(2)])
    return Saved(draw(net), {'x': numbers((2, 6, 3))}, export=True)


@saved
def keras_gru_both_ways():
    i = layers.Input((None, 3), name='x')
    x = layers.Bidirectional(layers.GRU(3, return_sequences=True))(i)
    x = layers.GRU(2, reset_after=False)(x)
    return Saved(draw(keras.Model(i, x)), {'x': numbers((2, 5, 3))}, export=True)


@saved
def keras_simple_rnn_with_mask():
    i = layers.Input((5,), dtype='int32', name='tokens')
    x = layers.Embedding(7, 3, mask_zero=True)(i)
    x = layers.LSTM(3)(x)
    ids = np.array([[1, 2, 3, 0, 0], [4, 5, 6, 1, 2]], np.int32)
    return Saved(draw(keras.Model(i, x)), {'tokens': ids}, export=True)


@saved
def keras_attention():
    i = layers.Input((5, 6), name='x')
    a = layers.MultiHeadAttention(2, 3)(i, i)
    x = layers.LayerNormalization()(i + a)
    x = layers.Dense(6, activation='swish')(x) + x
    return Saved(draw(keras.Model(i, layers.GlobalAveragePooling1D()(x))), {'x': numbers((2, 5, 6))}, export=True)


@saved
def keras_causal_attention():
    i = layers.Input((4, 6), name='x')
    x = layers.MultiHeadAttention(2, 3)(i, i, use_causal_mask=True)
    return Saved(draw(keras.Model(i, x)), {'x': numbers((2, 4, 6))}, export=True)


@saved
def keras_two_inputs_two_outputs():
    a, b = layers.Input((3,), name='a'), layers.Input((2,), name='b')
    x = layers.Concatenate()([layers.Dense(4)(a), layers.Dense(4)(b)])
    y = layers.Multiply()([x, layers.Activation('sigmoid')(x)])
    net = keras.Model({'a': a, 'b': b}, {'sum': layers.Dense(1)(x), 'gate': layers.Dense(2, name='gate')(y)})
    return Saved(draw(net), {'a': numbers((2, 3)), 'b': numbers((2, 2), 5)}, export=True)


@saved
def keras_shared_layers():
    a, b = layers.Input((3,), name='a'), layers.Input((3,), name='b')
    shared = keras.Sequential([layers.Input((3,)), layers.Dense(4, activation='relu'), layers.Dense(2)])
    x = layers.Subtract()([shared(a), shared(b)])
    return Saved(draw(keras.Model([a, b], layers.Dot(1)([x, x]))), {'a': numbers((2, 3)), 'b': numbers((2, 3), 5)}, export=True)


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = [layers.Dense(4, activation='relu'), layers.Dense(4, activation='relu')]
        self.norm = layers.BatchNormalization()
        self.out = layers.Dense(2)

    def call(self, x, training=False):
        for layer in self.hidden:
            x = layer(x)
        return self.out(self.norm(x, training=training))


@saved
def keras_subclassed():
    net = Subclassed()
    net(np.zeros((1, 3), np.float32))
    call = tf.function(lambda x: {'y': net(x)}, input_signature=specs(x=[None, 3]))
    return Saved(draw(net), {'x': numbers((2, 3))}, signatures={'serving_default': call})


@saved
def keras_normalization_and_rescaling():
    i = layers.Input((4,), name='x')
    x = layers.Rescaling(0.5, offset=1)(i)
    x = layers.Normalization(mean=[1, 2, 3, 4], variance=[1, 4, 9, 16])(x)
    x = layers.GroupNormalization(2)(layers.Reshape((2, 2))(x))
    x = layers.PReLU()(layers.Permute((2, 1))(x))
    return Saved(draw(keras.Model(i, layers.RepeatVector(2)(layers.Flatten()(x)))), {'x': numbers((3, 4))}, export=True)


@saved
def keras_convolutional_lstm_cells():
    i = layers.Input((4, 3), name='x')
    x = layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)], return_sequences=True)(i)
    x = layers.TimeDistributed(layers.Dense(2))(x)
    return Saved(draw(keras.Model(i, x)), {'x': numbers((2, 4, 3))}, export=True)


@saved
def keras_trained():
    """With the optimiser's variables in the checkpoint."""
    net = dense_net()
    net.compile('adam', 'mse')
    net.fit(numbers((8, 4)), np.abs(numbers((8, 3), 3)), epochs=1, verbose=0, shuffle=False, batch_size=8)
    return Saved(draw(net), {'x': numbers((3, 4))}, export=True)


# -- Modules -------------------------------------------------------------------------------------------------------------

class Counter(tf.Module):
    def __init__(self):
        super().__init__()
        self.n = tf.Variable(3, dtype=tf.int32, name='n', trainable=False)
        self.v = [tf.Variable(numbers((2,), 4), name='v'), tf.Variable(numbers((2,), 5), name='v')]

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32, 'by')])
    def count(self, by):
        self.n.assign_add(by)
        return {'n': self.n.read_value(), 'twice': 2 * self.n}

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32, 'x')])
    def both(self, x):
        return {'a': self.v[0] * x, 'b': self.v[1] + x}

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32, 'x')])
    def train(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((self.v[0] * x - self.v[1]) ** 2)
        g = tape.gradient(loss, self.v)
        for v, d in zip(self.v, g):
            v.assign_sub(0.1 * d)
        return {'loss': loss, 'v': self.v[0].read_value()}


def counter(entry, feeds, steps=1):
    module = Counter()
    calls = {'count': module.count, 'both': module.both, 'train': module.train}
    return Saved(module, feeds, signatures=calls, entry=entry, steps=steps)


@saved
def module_that_counts():
    return counter('count', {'by': np.int32(2)}, steps=3)


@saved
def module_of_two_variables_of_one_name():
    return counter('both', {'x': numbers((2,))})


@saved
def module_that_trains():
    return counter('train', {'x': numbers((2,))}, steps=4)


class Nested(tf.Module):
    """Functions that call functions, with a loop and a branch."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable(numbers((3, 3), 7, 0.5))
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(tf.constant([3, 5, 8], tf.int64), tf.constant([1.0, 2.0, 4.0])), -1.0)

    @tf.function
    def step(self, x):
        return tf.tanh(x @ self.w)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, 'x'), tf.TensorSpec([], tf.int32, 'n')])
    def run(self, x, n):
        for _ in tf.range(n):
            x = self.step(x)
        if tf.reduce_sum(x) > 0:
            x = self.step(x) + 1
        else:
            x = -x
        return {'y': x}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64, 'key')])
    def look(self, key):
        return {'value': self.table.lookup(key), 'size': self.table.size()}


@saved
def module_of_nested_functions():
    module = Nested()
    return Saved(module, {'x': numbers((2, 3)), 'n': np.int32(3)}, signatures={'run': module.run, 'look': module.look}, entry='run')


@saved
def module_with_a_table():
    module = Nested()
    return Saved(module, {'key': np.array([5, 1, 3, 8], np.int64)}, signatures={'run': module.run, 'look': module.look}, entry='look')


class Trainer(tf.Module):
    """A net and an optimiser of Keras, whose step is a signature."""

    def __init__(self, optimizer):
        super().__init__()
        self.net = keras.Sequential([layers.Input((3,)), layers.Dense(4, activation='tanh'), layers.Dense(1)])
        draw(self.net)
        self.optimizer = optimizer
        self.optimizer.build(self.net.trainable_variables)

    @tf.function(input_signature=specs(x=[5, 3], y=[5, 1]))
    def train(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.net(x, training=True) - y) ** 2)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.net.trainable_variables), self.net.trainable_variables))
        return {'loss': loss, 'steps': self.optimizer.iterations + 0}


def trainer(optimizer):
    module = Trainer(optimizer)
    return Saved(module, {'x': numbers((5, 3)), 'y': numbers((5, 1), 3)}, signatures={'train': module.train}, entry='train', steps=4)


@saved
def trainer_by_adam():
    return trainer(keras.optimizers.Adam(0.05))


@saved
def trainer_by_momentum():
    return trainer(keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True))


@saved
def trainer_by_rmsprop():
    return trainer(keras.optimizers.RMSprop(keras.optimizers.schedules.ExponentialDecay(0.05, 2, 0.5)))


class Loops(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(numbers((3, 3), 7, 0.4))

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, 'x'), tf.TensorSpec([], tf.int32, 'n')])
    def slope(self, x, n):
        with tf.GradientTape() as tape:
            for _ in tf.range(n):
                x = tf.tanh(x @ self.w)
            loss = tf.reduce_sum(x * x)
        return {'loss': loss, 'slope': tape.gradient(loss, self.w)}

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, 'x')])
    def rows(self, x):
        mapped = tf.map_fn(lambda r: tf.reduce_sum(r * r), x)
        scanned = tf.scan(lambda a, r: a * 0.5 + r, x)
        kept = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[3])
        for i in tf.range(tf.shape(x)[0]):
            if x[i, 0] > 0:
                kept = kept.write(kept.size(), x[i] * 2)
        return {'mapped': mapped, 'scanned': scanned, 'kept': kept.stack()}


@saved
def module_of_a_slope():
    module = Loops()
    return Saved(module, {'x': numbers((2, 3)), 'n': np.int32(3)}, signatures={'slope': module.slope, 'rows': module.rows}, entry='slope')


@saved
def module_of_rows():
    module = Loops()
    return Saved(module, {'x': numbers((5, 3))}, signatures={'slope': module.slope, 'rows': module.rows}, entry='rows')
