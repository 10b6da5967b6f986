#!/usr/bin/env python3
"""Writes forest.onnx: a random forest for the digits, as scikit-learn fits and skl2onnx exports it (pip install
scikit-learn skl2onnx safetensors).

    python3 make_forest.py
"""
from pathlib import Path

from safetensors.numpy import load_file
from skl2onnx import to_onnx
from sklearn.ensemble import RandomForestClassifier

folder = Path(__file__).parent
data = load_file(folder / 'digits.safetensors')
forest = RandomForestClassifier(n_estimators=6, max_depth=5, random_state=0)
forest.fit(data['train_images'], data['train_labels'])
model = to_onnx(forest, data['train_images'][:1])
(folder / 'forest.onnx').write_bytes(model.SerializeToString())
