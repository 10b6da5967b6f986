"""Loops of bench/loops.leat in a Session of TensorFlow 1, where they are Enter, Merge, Switch, NextIteration and Exit.

    tensorflow_loops.py tensorflow_scalar|tensorflow_gradient STEPS        then as jax_loops.py
"""
import os
import sys

os.environ.update(TF_CPP_MIN_LOG_LEVEL='3', CUDA_VISIBLE_DEVICES='')

import numpy as np
import tensorflow

from jax_loops import wave
from peer import sample, serve

tf = tensorflow.compat.v1
tf.disable_v2_behavior()


def scalar(n, x, scale, offset):
    return [tf.while_loop(lambda t, y: t < n, lambda t, y: (t + 1, y * scale + offset), (0, x))[1]]


def gradient(n, a, b):
    chain = tf.reduce_sum(tf.while_loop(lambda t, h: t < n, lambda t, h: (t + 1, tf.tanh(h * a + b)), (0, b))[1])
    return [chain, *tf.gradients(chain, [a])]


def main():
    steps = np.int32(sys.argv[2])
    program, args = {'tensorflow_scalar': (scalar, (steps, np.float32(1), np.float32(.999), np.float32(.5))),
                     'tensorflow_gradient': (gradient, (steps, wave(1, 0, 64), wave(1, 1, 64)))}[sys.argv[1]]
    fed = [tf.placeholder(arg.dtype, arg.shape) for arg in args]
    results = program(*fed)
    alone = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    last = [None]
    with tf.Session(config=alone) as session:
        compute = session.make_callable(results, fed)

        def run(_):
            last[0] = compute(*args)
            return {}

        serve(run, lambda: {'results': [sample(np.asarray(result)) for result in last[0]]})


main()
