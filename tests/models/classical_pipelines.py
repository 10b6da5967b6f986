"""Classical models, fitted to drawn data and exported. Needs what remake_classical names."""
import lightgbm
import numpy as np
import onnxmltools
import pandas
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType as Floats
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (GradientBoostingClassifier, GradientBoostingRegressor, IsolationForest,
                              RandomForestClassifier, RandomForestRegressor)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

ROWS, SMALL = 12, dict(n_estimators=4, max_depth=3, random_state=0)
draw = np.random.RandomState(0)
X, rows = draw.randn(120, 4).astype('f4'), draw.randn(ROWS, 4).astype('f4')
two = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
three = two + (X[:, 2] > 0.3)
words = np.array(['red', 'green', 'blue'])[three]
number = np.sin(X[:, 0]) + X[:, 1]
numbers = np.stack([number, 2 * X[:, 2]], 1)


def with_holes(x):
    return np.where(draw.rand(*x.shape) < 0.15, np.float32(np.nan), x)


X_holes, rows_holes = with_holes(X), with_holes(rows)


def sklearn(estimator, y, x=X, **options):
    return to_onnx(estimator.fit(x, y), x[:1], **options)


def boosted(convert, estimator, y, x=X_holes, **options):
    return convert(estimator.fit(x, y, **options), initial_types=[('X', Floats([None, x.shape[1]]))])


def columns(pipeline):
    """A pipeline of columns of several types."""
    frame = pandas.DataFrame({'amount': X_holes[:, 0], 'color': words, 'size': draw.choice([1, 2, 5], len(X))})
    types = [('amount', FloatTensorType([None, 1])), ('color', StringTensorType([None, 1])),
             ('size', Int64TensorType([None, 1]))]
    return to_onnx(pipeline.fit(frame, two), initial_types=types)


def encoded():
    encode = [('amount', make_pipeline(SimpleImputer(), StandardScaler()), ['amount']),
              ('color', OneHotEncoder(handle_unknown='ignore'), ['color']),
              ('size', OneHotEncoder(handle_unknown='ignore'), ['size'])]
    return columns(make_pipeline(ColumnTransformer(encode), LogisticRegression()))


def numbered():
    encode = [('color', OrdinalEncoder(), ['color']), ('amount', SimpleImputer(), ['amount'])]
    return columns(make_pipeline(ColumnTransformer(encode), RandomForestClassifier(**SMALL)))


def of_columns(colors):
    return {'amount': rows_holes[:, :1], 'color': draw.choice(colors, (ROWS, 1)).astype(object),
            'size': draw.choice([1, 2, 5, 9], (ROWS, 1))}


def models():
    """(name, model, feeds) of each."""
    feeds, holes = {'X': rows}, {'X': rows_holes}
    categories = np.where(np.arange(4) == 3, draw.randint(0, 6, (len(X), 1)), X).astype('f4')
    light = dict(**SMALL, verbose=-1)
    whole = make_pipeline(SimpleImputer(), StandardScaler(), Normalizer('l2'), LogisticRegression())
    made = [
        ('linear', sklearn(LinearRegression(), numbers), feeds),
        ('logistic_binary', sklearn(LogisticRegression(), two), feeds),
        ('logistic_strings', sklearn(LogisticRegression(), words), feeds),
        ('pipeline', sklearn(whole, three, X_holes), holes),
        ('columns', encoded(), of_columns(['red', 'green', 'blue', 'pink'])),
        ('columns_forest', numbered(), of_columns(['red', 'green', 'blue'])),
        ('forest_regression', sklearn(RandomForestRegressor(**SMALL), number), feeds),
        ('forest_two_targets', sklearn(RandomForestRegressor(**SMALL), numbers), feeds),
        ('forest_binary', sklearn(RandomForestClassifier(**SMALL), two), feeds),
        ('forest_strings', sklearn(RandomForestClassifier(**SMALL), words), feeds),
        ('forest_holes', sklearn(RandomForestClassifier(**SMALL), three, X_holes), holes),
        ('boost_regression', sklearn(GradientBoostingRegressor(**SMALL), number), feeds),
        ('boost_binary', sklearn(GradientBoostingClassifier(**SMALL), two), feeds),
        ('boost_multiclass', sklearn(GradientBoostingClassifier(**SMALL), three), feeds),
        ('svc_binary', sklearn(SVC(probability=True, random_state=0), two), feeds),
        ('svc_strings', sklearn(SVC(probability=True, random_state=0, kernel='poly'), words), feeds),
        ('svc_scores', sklearn(SVC(kernel='sigmoid'), three), feeds),
        ('svr', sklearn(SVR(), number), feeds),
        ('svm_one_class', to_onnx(OneClassSVM(nu=0.2).fit(X), X[:1]), feeds),
        ('isolation', to_onnx(IsolationForest(n_estimators=3, max_samples=16, random_state=0).fit(X), X[:1],
                              target_opset={'': 17, 'ai.onnx.ml': 3}), feeds),
        ('xgboost_binary', boosted(onnxmltools.convert_xgboost, xgboost.XGBClassifier(**SMALL), two), holes),
        ('xgboost_multiclass', boosted(onnxmltools.convert_xgboost, xgboost.XGBClassifier(**SMALL), three), holes),
        ('xgboost_regression', boosted(onnxmltools.convert_xgboost, xgboost.XGBRegressor(**SMALL), number), holes),
        ('lightgbm_binary', boosted(onnxmltools.convert_lightgbm, lightgbm.LGBMClassifier(**light), two), holes),
        ('lightgbm_multiclass', boosted(onnxmltools.convert_lightgbm, lightgbm.LGBMClassifier(**light), three), holes),
        ('lightgbm_categories', boosted(
            onnxmltools.convert_lightgbm, lightgbm.LGBMRegressor(min_data_per_group=5, cat_smooth=1, **light),
            categories[:, 3] % 2 + number, categories, categorical_feature=[3]),
         {'X': np.where(np.arange(4) == 3, draw.randint(0, 8, (ROWS, 1)), rows).astype('f4')}),
    ]
    return [(name, model.SerializeToString(), feeds) for name, model, feeds in made]
