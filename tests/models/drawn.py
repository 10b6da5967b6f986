"""What nobody learned: NAME.json says what a model is fed, and which numbers NAME.weights holds, [how many, lowest,
highest] for each tensor. These are drawn by NumPy's frozen generator: such a model is small in the repository, and the
same everywhere."""
import json

import numpy

AT_ONCE = 1 << 20


def said(path):
    with open(f'{path}.json', encoding='utf-8') as file:
        return json.load(file)


def weights(path):
    """Writes `path`.weights."""
    draw = numpy.random.RandomState(1)
    with open(f'{path}.weights', 'wb') as out:
        for count, low, high in said(path)['weights']:
            for begin in range(0, count, AT_ONCE):
                draw.uniform(low, high, min(AT_ONCE, count - begin)).astype('f4').tofile(out)


def feeds(path):
    """By input: an image, or two sentences of which one is shorter."""
    names, draw = said(path)['feeds'], numpy.random.RandomState(2)
    if len(names) == 1:
        return {names[0]: draw.normal(size=[1, 3, 224, 224]).astype('f4')}
    ids, mask, kinds = draw.randint(0, 100, [2, 11]), numpy.ones([2, 11]), numpy.repeat([[0], [1]], 11, axis=1)
    mask[1, 7:] = 0
    return {name: value.astype('i8') for name, value in zip(names, (ids, mask, kinds))}


def difference(got, want):
    """The largest one, relative to the largest of what it must be."""
    if got.shape != want.shape or got.dtype != want.dtype or not numpy.isfinite(want).all():
        return numpy.inf
    return float(numpy.abs(got.astype('f8') - want).max() / numpy.abs(want).max())
