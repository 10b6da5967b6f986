"""What sentence.leat computes, by NumPy in f64, and the tokens of a text (WordPiece of BERT, of lower case)."""
import json
import math
import re
import struct
import unicodedata

import numpy

HEADS = 12
DTYPES = {'F32': 'f4', 'I64': 'i8'}
erf = numpy.vectorize(math.erf)


def encoder(weights, layer, x, mask):
    """A layer of BERT; weights: {PyTorch's name: array}."""
    def linear(x, name):
        return x @ weights[f'{name}.weight'].T.astype('f8') + weights[f'{name}.bias']

    def split(x):
        return x.reshape(*x.shape[:2], HEADS, -1).transpose(0, 2, 1, 3)

    name = f'encoder.layer.{layer}'
    q, k, v = (split(linear(x, f'{name}.attention.self.{which}')) for which in ('query', 'key', 'value'))
    scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(q.shape[-1])
    scores = numpy.where(mask[:, None, None, :] != 0, scores, -numpy.inf)
    scores = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
    seen = (scores / scores.sum(axis=-1, keepdims=True)) @ v
    seen = seen.transpose(0, 2, 1, 3).reshape(x.shape)
    y = normalized(weights, x + linear(seen, f'{name}.attention.output.dense'), f'{name}.attention.output')
    inner = linear(y, f'{name}.intermediate.dense')
    inner = inner * (1 + erf(inner / math.sqrt(2))) / 2
    return normalized(weights, y + linear(inner, f'{name}.output.dense'), f'{name}.output')


def normalized(weights, x, name):
    centred = x - x.mean(axis=-1, keepdims=True)
    x = centred / numpy.sqrt((centred ** 2).mean(axis=-1, keepdims=True) + 1e-12)
    return x * weights[f'{name}.LayerNorm.weight'] + weights[f'{name}.LayerNorm.bias']


def embed(weights, layers, ids, mask):
    x = weights['embeddings.word_embeddings.weight'][ids].astype('f8')
    x = x + weights['embeddings.position_embeddings.weight'][:ids.shape[1]]
    x = normalized(weights, x + weights['embeddings.token_type_embeddings.weight'][0], 'embeddings')
    for layer in range(layers):
        x = encoder(weights, layer, x, mask)
    total = (x * mask[:, :, None]).sum(axis=1)
    return total / numpy.linalg.norm(total, axis=1, keepdims=True)


def pieces(word, vocabulary):
    """The longest piece of the vocabulary first, and so on."""
    found, begin = [], 0
    while begin < len(word):
        end = next((end for end in range(len(word), begin, -1)
                    if '##' * (begin > 0) + word[begin:end] in vocabulary), None)
        if end is None:
            return [vocabulary['[UNK]']]
        found.append(vocabulary['##' * (begin > 0) + word[begin:end]])
        begin = end
    return found


def tokens(text, vocabulary):
    plain = ''.join(c for c in unicodedata.normalize('NFD', text.lower()) if unicodedata.category(c) != 'Mn')
    words = re.findall(r'[^\W_]+|[^\w\s]|_', plain)
    return [vocabulary['[CLS]'], *(i for word in words for i in pieces(word, vocabulary)), vocabulary['[SEP]']]


def batch(texts, vocabulary):
    """ids and mask, [text, token]; shorter ones end in zeros."""
    rows = [tokens(text, vocabulary) for text in texts]
    ids = numpy.zeros((len(rows), max(map(len, rows))), 'i8')
    for row, found in zip(ids, rows):
        row[:len(found)] = found
    return ids, (ids != vocabulary['[PAD]']).astype('i8')


def distance(got, want):
    """The cosine between the rows, at worst, less than 1."""
    if got.shape != want.shape:
        return numpy.inf
    lengths = numpy.linalg.norm(got.astype('f8'), axis=1) * numpy.linalg.norm(want, axis=1)
    return float(numpy.max(1 - (got * want).sum(axis=1) / lengths))


# -- safetensors, by its description alone ----------------------------------------------------------------------------

def save(path, weights):
    listed, at = {}, 0
    for name, array in weights.items():
        listed[name] = {'dtype': 'F32', 'shape': array.shape, 'data_offsets': [at, at + array.nbytes]}
        at += array.nbytes
    head = json.dumps(listed).encode()
    with open(path, 'wb') as out:
        out.write(struct.pack('<Q', len(head)) + head)
        for array in weights.values():
            array.tofile(out)


def load(path):
    with open(path, 'rb') as file:
        head = json.loads(file.read(*struct.unpack('<Q', file.read(8))))
        begin = file.tell()
    return {name: numpy.fromfile(path, DTYPES[x['dtype']], math.prod(x['shape']),
                                 offset=begin + x['data_offsets'][0]).reshape(x['shape'])
            for name, x in head.items() if name != '__metadata__'}
