#!/usr/bin/env python3
"""Writes digits.safetensors, the data of this example, from scikit-learn's copy of the UCI digits.

    pip install scikit-learn && ./convert.py          # writes beside this script; ran once, the file is kept

Pixels are 0 … 16 and become 0 … 1. Held out, as test_*: every sample whose index mod 5 is 4.
"""
import json
import os
import struct

import numpy as np
from sklearn.datasets import load_digits

DTYPES = {'float32': 'F32', 'int32': 'I32'}


def save(path, tensors):
    """A safetensors file: u64 size of the header, the header as JSON, the tensors' bytes."""
    header, offset = {}, 0
    for name, value in tensors.items():
        header[name] = {'dtype': DTYPES[value.dtype.name], 'shape': value.shape,
                        'data_offsets': [offset, offset + value.nbytes]}
        offset += value.nbytes
    text = json.dumps(header, separators=(',', ':')).encode()
    text += b' ' * ((56 - len(text)) % 64)  # so that the tensors begin at a multiple of 64
    with open(path, 'wb') as out:
        out.write(struct.pack('<Q', len(text)) + text)
        for value in tensors.values():
            out.write(value.tobytes())


def main():
    digits = load_digits()
    images = (digits.images.reshape(-1, 64) / 16).astype('<f4')
    labels = digits.target.astype('<i4')
    test = np.arange(len(labels)) % 5 == 4
    save(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'digits.safetensors'),
         {'train_images': images[~test], 'train_labels': labels[~test],
          'test_images': images[test], 'test_labels': labels[test]})


main()
