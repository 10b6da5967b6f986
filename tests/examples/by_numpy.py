"""What the examples must give, computed by NumPy from their checkpoints: for each a function of the folder that its
commands ran in, and of `leat`, which runs a command there and says what it wrote."""
import json
import struct

import numpy as np

DTYPES = {'F32': '<f4', 'F64': '<f8', 'I64': '<i8', 'I32': '<i4'}


def read_safetensors(path):
    with open(path, 'rb') as source:
        size, = struct.unpack('<Q', source.read(8))
        head, data = json.loads(source.read(size)), source.read()
    return {name: np.frombuffer(data[slice(*one['data_offsets'])], DTYPES[one['dtype']]).reshape(one['shape'])
            for name, one in head.items() if name != '__metadata__'}


def expect_near(what, got, want, tolerance=1e-5):
    want = np.asarray(want)
    if got.shape != want.shape or not np.allclose(got, want, tolerance, tolerance * (np.abs(want).max() + 1e-30)):
        raise AssertionError(f'{what} is\n{got}\nand by NumPy\n{want}')


def dense(variables, scope, x):
    return x @ variables[f'{scope}/w'] + variables[f'{scope}/b']


def figure1(folder, leat):
    leat('figure1.leat', '--fetch', 'W', '-o', 'W=@W.npy', '--fetch', 'b', '-o', 'b=@b.npy')
    x, y, w, b = (np.load(f'{folder}/{name}.npy') for name in ('x', 'y', 'W', 'b'))
    expect_near('y', y, np.maximum(x @ w + b, 0))


def devices(folder, leat):
    leat('devices.leat', '--devices', '2', '--entry', 'halves', '--feed', 'x=1.5', '-o', 'y=@halves.npy')
    expect_near('y', np.load(f'{folder}/halves.npy'), np.exp(1.5) + np.exp(-1.5), 1e-6)


def xor(folder, leat):
    x = np.linspace(-1, 2, 12, dtype=np.float32).reshape(6, 2)
    np.save(f'{folder}/points.npy', x)
    leat('xor.leat', '--entry', 'predict', '--restore', 'xor.safetensors', '--feed', 'x=@points.npy', '-o', 'y=@net.npy')
    variables = read_safetensors(f'{folder}/xor.safetensors')
    hidden = np.tanh(dense(variables, 'net/hidden', x))
    expect_near('y', np.load(f'{folder}/net.npy'), dense(variables, 'net/output', hidden))


def newton(folder, _leat):
    """All of the training: six steps from nothing."""
    hours = np.array([0.5, 0.75, 1, 1.25, 1.5, 1.75, 1.75, 2, 2.25, 2.5, 2.75, 3, 3.25, 3.5, 4, 4.25, 4.5, 4.75, 5, 5.5])
    passed = np.array([0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1])
    x, at = np.stack([hours, np.ones(20)], 1), np.zeros(2)
    for _ in range(6):
        chance = 1 / (1 + np.exp(-x @ at))
        gradient = x.T @ (chance - passed) / 20 + [0.002 * at[0], 0]
        hessian = x.T @ (x * (chance * (1 - chance))[:, None]) / 20 + np.diag([0.002, 0])
        at = at - np.linalg.solve(hessian, gradient)
    variables = read_safetensors(f'{folder}/newton.safetensors')
    expect_near('line', variables['line'], at, 1e-9)


def cooling(folder, leat):
    """The least squares are where the Jacobian is at right angles to what is left over."""
    minutes, degrees = np.array([0.0, 1, 3, 6, 12, 24, 48]), np.array([80.5, 75, 67.1, 55.2, 41.9, 28.8, 22.4])
    leat('cooling.leat', '--entry', 'fit', '--feed', f'minutes={minutes.tolist()}', '--feed', f'degrees={degrees.tolist()}',
         '-o', 'curve=@curve.npy', '-o', 'error=@error.npy')
    a, rate, room = np.load(f'{folder}/curve.npy')
    powers = np.exp(-rate * minutes)
    left, jacobian = a * powers + room - degrees, np.stack([powers, -a * minutes * powers, np.ones(7)], 1)
    assert np.abs(jacobian.T @ left).max() < 1e-6, jacobian.T @ left
    error = np.sqrt(left @ left / 4 * np.diag(np.linalg.inv(jacobian.T @ jacobian)))
    expect_near('error', np.load(f'{folder}/error.npy'), error, 1e-9)
    assert left @ left < 2, left


def gp(folder, leat):
    at = np.array([-3.7, 0.5, 2.5, 10])
    leat('gp.leat', '--entry', 'predict', '--restore', 'gp.safetensors', '--feed', f'at={at.tolist()}', '-o',
         'mean=@mean.npy', '-o', 'deviation=@deviation.npy')
    variables = read_safetensors(f'{folder}/gp.safetensors')
    points = np.array([-4, -3, -2.2, -1, -0.5, 0.3, 1, 2, 3.1, 4])
    kernel = lambda a, b: np.exp(-((a[:, None] - b) / np.exp(variables['log_length'])) ** 2 / 2)
    covariance = kernel(points, points) + np.exp(2 * variables['log_noise']) * np.eye(10)
    known = np.linalg.solve(covariance, kernel(points, at))
    expect_near('mean', np.load(f'{folder}/mean.npy'), np.round(100 * known.T @ np.sin(points)) / 100)
    left = 1 - np.sum(kernel(points, at) * known, 0)
    expect_near('deviation', np.load(f'{folder}/deviation.npy'), np.round(100 * np.sqrt(left)) / 100)


def vae(folder, leat):
    n = np.arange(1, 16)
    leat('vae.leat', '--entry', 'again', '--restore', 'vae.safetensors', '--feed', f'n={n.tolist()}', '-o',
         'count=@count.npy')
    variables = read_safetensors(f'{folder}/vae.safetensors')
    relu = lambda x: np.maximum(x, 0)
    rows = (np.arange(16) < n[:, None]).astype(np.float32)
    mean = dense(variables, 'encoder/mean', relu(dense(variables, 'encoder/hidden', rows)))
    logits = dense(variables, 'decoder/output', relu(dense(variables, 'decoder/hidden', mean)))
    expect_near('count', np.load(f'{folder}/count.npy'), np.sum(logits > 0, 1))


def words(folder, leat):
    word = np.arange(50)
    leat('words.leat', '--entry', 'follows', '--restore', 'words.safetensors', '--feed', f'word={word.tolist()}', '-o',
         'next_word=@next.npy')
    variables = read_safetensors(f'{folder}/words.safetensors')
    scores = variables['input/table'] @ variables['output/table'].T
    expect_near('next_word', np.load(f'{folder}/next.npy'), np.argmax(scores, 1))


def digits(folder, leat):
    """What is trained, as README.md has it, against NumPy's matrices: all of the images held out."""
    leat('digits.leat', '--entry', 'held_out', '-o', 'x=@images.npy', '-o', 'label=@labels.npy')
    saved = ['--restore', 'digits.ck.safetensors']
    leat('digits.leat', '--entry', 'predict', *saved, '--feed', 'x=@images.npy', '-o', 'class=@class.npy')
    leat('digits.leat', '--entry', 'eval', *saved, '-o', 'accuracy=@accuracy.npy', '-o', 'loss=@loss.npy')
    variables, data = read_safetensors(f'{folder}/digits.ck.safetensors'), read_safetensors(f'{folder}/digits.safetensors')
    images, labels = np.load(f'{folder}/images.npy'), np.load(f'{folder}/labels.npy')
    expect_near('x', images, data['test_images'], 0)
    expect_near('label', labels, data['test_labels'], 0)
    logits = dense(variables, 'net/output', np.maximum(dense(variables, 'net/hidden', images), 0))
    expect_near('class', np.load(f'{folder}/class.npy'), np.argmax(logits, 1))
    right = np.mean(np.argmax(logits, 1) == labels)
    expect_near('accuracy', np.load(f'{folder}/accuracy.npy'), right)
    if right < 0.9:
        raise AssertionError(f'only {right} of the classes are right')
    every = np.log(np.sum(np.exp(logits), 1)) - logits[np.arange(len(labels)), labels]
    expect_near('loss', np.load(f'{folder}/loss.npy'), np.mean(every), 1e-4)


CHECKS = {check.__name__: check for check in (figure1, devices, xor, newton, cooling, gp, vae, words, digits)}
