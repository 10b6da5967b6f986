"""The cases of TensorFlow's ops, a line or some for each row of frontend/importer/graphdef/ops.def that writes a call."""
import numpy as np

from op_spec import Case, F, K, X, op, room

ELSEWHERE = {  # what programs.py tests: it has no answer of one node, or takes a variable
    'StringFormat', 'ResourceGatherNd', 'Multinomial', 'RandomUniform', 'RandomStandardNormal', 'TruncatedNormal', 'RandomUniformInt', 'RandomShuffle', 'ResourceGather', 'VariableShape',
    'TensorArrayReadV3', 'TensorArrayWriteV3', 'TensorArrayScatterV3', 'TensorArrayGatherV3', 'TensorArraySizeV3',
    'TensorListFromTensor', 'TensorListGetItem', 'TensorListElementShape', 'TensorListGather',
    'TensorListScatterIntoExistingList', 'Exit', 'RefExit', 'LoopCond'}

# -- Element by element ------------------------------------------------------------------------------------------------
room('math')
A, B, ROW = X(2, 3), X(2, 3, seed=2), X(3, seed=3)
SPECIALS = Case('special', [X(15, kind='s')])
op('Neg Abs Sign Square Relu Relu6 ZerosLike OnesLike Real Imag Conj ComplexAbs Invert LogicalNot', A)
op('Exp Expm1 Sin Cos Sinh Cosh Tanh Sigmoid Erf Erfc Elu Selu Softplus Softsign', A, more=[SPECIALS], within=1e-5)
op('Floor Ceil Rint IsNan IsInf IsFinite', A, more=[SPECIALS])
op('Round', A, more=[SPECIALS], dtypes={'T': 'float32 float64 float16 bfloat16'})  # of ints TensorFlow gives zeros
op('Tan Atan Asinh', A, more=[SPECIALS], within=1e-5)
op('Asin Acos Atanh', X(2, 3, kind='u'), within=1e-5)
op('Acosh', X(2, 3, kind='z'), dtypes={'T': 'float32 float64 float16 bfloat16'})
op('Log Log1p Sqrt Rsqrt Lgamma Digamma Reciprocal Inv', X(2, 3, kind='p'), within=1e-5)
op('LeakyRelu', A, vary={'alpha': [0.1, 0.5, -0.25, 1.5]}, more=[SPECIALS])
op('LeakyReluGrad', A, B, vary={'alpha': [0.1, 1.5]})
op('CheckNumerics', A, base={'message': 'm'}, more=[Case('nan', [F([1.0, float('nan')])], fails=True), Case('inf', [F([1.0, float('inf')])], fails=True)])
op('Add AddV2 Sub Mul Maximum Minimum SquaredDifference', A, ROW, more=[Case('special', [X(15, kind='s'), X(15, 1, kind='s')])])
op('MulNoNan DivNoNan', A, ROW, more=[Case('zeros', [F([[1.0, float('nan'), float('inf'), 2]]), F([[0.0], [2.0]])])])
op('RealDiv', A, X(3, kind='p'))
INTS = [F([-7, 7, -7, 7, -8, 8, 0]), F([3, 3, -3, -3, 4, -4, 5])]
FLOATS = [F([-7.5, 7.5, -7.5, 7.5, -8, 8, 0.0, 1.0, -1.0]), F([3.0, 3, -3, -3, 4, -4, 5, float('inf'), float('inf')])]
ZERO = [F([3, -4], 'int32'), F([2, 0], 'int32')]
op('Div', A, X(3, kind='p'), more=[Case('int', [F([-7, 7, -8], 'int32'), F([3, -3, 4], 'int32')])])
op('TruncateDiv FloorDiv FloorMod TruncateMod Mod', A, X(3, kind='p'), more=[
    Case('int', [F([-7, 7, -7, 7, -8, 8, 0], 'int32'), F([3, 3, -3, -3, 4, -4, 5], 'int32')]),
    Case('zero', ZERO, fails=True)])
for each in 'FloorDiv', 'FloorMod':
    op(each, A, X(3, kind='p'), more=[
        Case('int', [F([-7, 7, -7, 7, -8, 8, 0], 'int32'), F([3, 3, -3, -3, 4, -4, 5], 'int32')]),
        Case('float', FLOATS), Case('zero', ZERO, fails=True)])
op('Pow', X(2, 3, kind='p'), ROW, dtypes={'T': 'float32 float64 float16 bfloat16 complex64 complex128'}, more=[
    Case('int', [F([2, -3, 0, 5], 'int32'), F([3, 2, 0, 1], 'int32')]),
    Case('negative', [F([2, 3], 'int32'), F([3, -2], 'int32')], fails=True),
    Case('special', [X(15, kind='s'), X(15, 1, kind='s')])])
op('Atan2', A, X(3, kind='p'), more=[Case('special', [X(15, kind='s'), X(15, 1, kind='s')])])
op('Equal NotEqual', X(2, 3, kind='z'), X(2, 3, kind='z'), vary={'incompatible_shape_error': [
    Case('False', [X(2, 3), X(3, 2)], incompatible_shape_error=False)]})
op('Less LessEqual Greater GreaterEqual', A, ROW, more=[Case('special', [X(15, kind='s'), X(15, 1, kind='s')])])
op('LogicalAnd LogicalOr', A, B)
op('BitwiseAnd BitwiseOr BitwiseXor', A, B)
op('LeftShift RightShift', A, X(3, kind='z'))
op('Select', X(2, 3), A, B, more=[Case('vector', [X(2), A, B]), Case('scalar', [X(), A, B])])
op('SelectV2', X(3), A, B)
op('ClipByValue', A, F(-1), F(1), dtypes={'T': 'float32 float64 float16 bfloat16 int32 int64 int8 int16'})
op('Cast', X(2, 3, kind='p'), SrcT='float32', DstT='int32', vary={'Truncate': [
    Case('True', [F([1.00390625, -2.01953125], 'float32')], DstT='bfloat16', Truncate=True)]}, more=[
    Case('halves', [F([0.5, -1.5, 2.5, -0.5, 1e-8])], DstT='int64'), Case('negative', [F([-3, 3], 'int32')], DstT='int64'), Case('to_bool', [F([0.5, 0, -3])], DstT='bool'),
    Case('narrow', [F([300, -1, 70000], 'int32')], DstT='uint8'), Case('signed', [F([300, -1, 200], 'int64')], DstT='int8'),
    Case('wide', [F([-1, 5], 'int32')], DstT='uint64'), Case('complex', [F([1.5 + 2j], 'complex64')], DstT='float32')])
op('Complex', A, B)
op('AddN', [A, B, A])
op('AccumulateNV2', [A, B], base={'shape': [2, 3]})
op('TanhGrad SigmoidGrad SqrtGrad RsqrtGrad ReciprocalGrad InvGrad ReluGrad Relu6Grad EluGrad SeluGrad SoftplusGrad SoftsignGrad',
   X(2, 3, kind='p'), B, within=1e-5)
op('L2Loss', A)
op('Bitcast', A, T='float32', type='int32', dtypes={'T': 'float32 int32 uint32', 'type': 'float32 int32 uint32'}, more=[
    Case('narrower', [A], type='uint8'), Case('wider', [X(3, 2)], type='float64')])

op('Xdivy Xlogy Xlog1py', F([[0.0, 1.5, -2.0], [0, 0, 3]]), F([0.0, 2.0, 0.5]), within=1e-5, dtypes={'T': 'float32 float64 float16'})
op('ApproximateEqual', F([1.0, 2.0, 3.0]), F([1.05, 2.0, 3.5]), vary={'tolerance': [0.1, 1.0]}, dtypes={'T': 'float32 float64'})
op('Ndtri', F([0.1, 0.5, 0.9, 0.01]), within=1e-5, dtypes={'T': 'float32 float64'})
op('Erfinv', X(2, 3, kind='u'), within=1e-5, dtypes={'T': 'float32 float64'})
op('NextAfter', A, B)
op('PopulationCount', A)
op('Angle', A, within=1e-5)

# -- Reductions --------------------------------------------------------------------------------------------------------
room('reduce')
C = X(2, 3, 4)
EMPTY = X(0, 3)
op('Sum Mean Max Min Prod EuclideanNorm', C, K([1]), vary={'keep_dims': [True]}, within=1e-5, more=[
    Case('all', [C, K([0, 1, 2])]), Case('last', [C, K(-1)]), Case('two', [C, K([0, 2])]), Case('none', [C, K([])]),
    Case('empty', [EMPTY, K([0])]), Case('ints', [F([1, 2, 4, -9], 'int32'), K([0])]),
    Case('keep_two', [C, K([0, -1])], keep_dims=True)])
op('All Any', C, K([1]), vary={'keep_dims': [True]}, more=[Case('two', [C, K([0, 2])]), Case('empty', [EMPTY, K([0])])])
op('ArgMax ArgMin', C, K(1), more=[Case('last', [C, K(-1)]), Case('nan', [F([1.0, float('nan'), 3.0]), K(0)])])
op('Cumsum Cumprod', C, K(1), vary={'exclusive': [True], 'reverse': [True]}, within=1e-5, more=[
    Case('both', exclusive=True, reverse=True), Case('last', [C, K(-2)])])
op('CumulativeLogsumexp', C, K(1), vary={'exclusive': [True], 'reverse': [True]}, within=1e-5, more=[
    Case('both', exclusive=True, reverse=True)])
op('TopKV2', C, K(2), more=[Case('all', [C, K(4)]), Case('none', [C, K(0)])])
op('TopK', C, base={'k': 2}, vary={'k': [1, 4]})
op('InTopK', C and X(3, 4), F([0, 3, 1]), base={'k': 2}, vary={'k': [1, 3]}, more=[
    Case('outside', [X(3, 4), F([0, 4, -1])]), Case('nan', [F([[1, float('nan'), 2], [1, 2, float('inf')]], 'float32'), F([0, 1])])])
op('InTopKV2', X(3, 4), F([0, 3, 1]), K(2), more=[Case('outside', [X(3, 4), F([0, 4, -1]), K(2)])])
SEGMENTS = F([0, 2, 0, 1, 2])
op('UnsortedSegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd', X(5, 2), SEGMENTS, K(4), more=[
    Case('negative', [X(5, 2), F([0, -1, 0, 1, 2]), K(3)]), Case('matrix', [X(2, 2, 3), F([[0, 1], [1, 0]]), K(2)])])
op('SegmentSum SegmentMean SegmentMax SegmentMin SegmentProd', X(5, 2), F([0, 0, 1, 3, 3]), within=1e-5)
ROWS = [X(5, 2), F([4, 0, 0, 2]), F([0, 0, 1, 3])]
op('SparseSegmentSum SparseSegmentMean', *ROWS, within=1e-5)
op('SparseSegmentSumWithNumSegments', *ROWS, K(5))
op('SparseSegmentMeanWithNumSegments SparseSegmentSqrtNWithNumSegments', *ROWS, K(5), within=1e-5)
op('SparseSegmentSqrtN', *ROWS, within=1e-5)
op('SparseSegmentSumGrad SparseSegmentMeanGrad SparseSegmentSqrtNGrad', X(3, 2), F([4, 0, 0, 2]), F([0, 0, 1, 2]), K(5), within=1e-5)
op('SparseSegmentSumGradV2 SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2', X(3, 2), F([4, 0, 0, 2]), F([0, 0, 1, 2]), K(5), within=1e-5)
op('ToBool', X(), T='float32', dtypes={'T': 'float32 float64 int32 int64 int8 bool string'}, more=[
    Case('zero', [F(0.0)]), Case('vector', [X(2)]), Case('empty', [X(0)])])
op('BroadcastGradientArgs', K([2, 1, 3]), K([4, 3]), more=[Case('same', [K([2, 3]), K([2, 3])])])

# -- Shapes, movement --------------------------------------------------------------------------------------------------
room('arrays')
op('Shape Size Rank', C)
op('ShapeN', [C, A, ROW])
op('Reshape', C, K([4, -1]), more=[Case('scalar', [X(1), K([])]), Case('zero', [X(0, 3), K([3, 0])]), Case('flat', [C, K([-1])])])
op('ExpandDims', A, K(1), more=[Case('last', [A, K(-1)]), Case('vector', [A, K([0])]), Case('deep', [C, K(-3)])])
op('Squeeze', X(1, 3, 1), vary={'squeeze_dims': [[0], [-1]]}, more=[Case('both', squeeze_dims=[0, 2])])
op('Transpose', C, K([2, 0, 1]), more=[Case('plain', [A, K([1, 0])])])
op('ConjugateTranspose', C, K([2, 0, 1]))
op('ConcatV2', [A, X(2, 1), A], K(1), more=[Case('last', [[A, B], K(-1)]), Case('rows', [[A, B], K(0)])])
op('Concat', K(1), [A, X(2, 1), A])
op('Pack', [A, B], vary={'axis': [1, 2, -1]}, more=[Case('scalars', [[X(), X()]]), Case('one', [[A]])])
op('ParallelConcat', [X(1, 3), X(1, 3, seed=2)], base={'shape': [2, 3]})
op('Unpack', X(2, 2, 3), base={'num': 2}, vary={'axis': [1, Case('-1', [X(3, 2)], axis=-1), Case('2', [X(3, 3, 2)], axis=2)]})
op('Split', K(1), X(2, 4), base={'num_split': 2}, more=[Case('last', [K(-1), X(2, 4)]), Case('one', [K(0), A], num_split=1)])
op('SplitV', X(2, 6), K([1, 3, 2]), K(1), base={'num_split': 3}, more=[Case('rest', [X(2, 6), K([1, -1, 2]), K(-1)])])
op('Slice', C, K([0, 1, 2]), K([2, 1, -1]), more=[Case('all', [C, K([0, 0, 0]), K([-1, -1, -1])]), Case('none', [C, K([0, 1, 0]), K([2, 0, 4])])])
BEGIN, END, STEP = K([0, 1, 3]), K([2, 3, 0]), K([1, 1, -1])
op('StridedSlice', C, BEGIN, END, STEP, vary={
    'begin_mask': [Case('1', [C, K([1, 1, 3]), END, STEP], begin_mask=1), Case('6', [C, K([1, 2, 2]), END, STEP], begin_mask=6)], 'end_mask': [Case('4', end_mask=4), Case('3', [C, BEGIN, K([1, 2, 0]), STEP], end_mask=3)],
    'ellipsis_mask': [Case('1', [C, K([0, 1]), K([0, 3]), K([1, 1])], ellipsis_mask=1), Case('2', [C, K([1, 0, 2]), K([2, 0, 4]), K([1, 1, 1])], ellipsis_mask=2)],
    'new_axis_mask': [Case('2', [C, K([0, 0, 1]), K([1, 1, 3]), K([1, 1, 1])], new_axis_mask=2), Case('1', [A, K([0, 1]), K([1, 2]), K([1, 1])], new_axis_mask=1)],
    'shrink_axis_mask': [Case('1', [C, K([1, 1]), K([2, 3]), K([1, 1])], shrink_axis_mask=1), Case('6', [C, K([0, 1, -1]), K([2, 2, 0]), K([1, 1, 1])], shrink_axis_mask=6),
                         Case('out', [A, K([5]), K([6]), K([1])], shrink_axis_mask=1, fails=True)]},
   more=[Case('negative', [C, K([-1, -5, -2]), K([-9, 9, 7]), K([-1, 2, 1])]), Case('mixed', [C, K([1, 0, 0, 2]), K([2, 0, 0, 0]), K([1, 1, 1, -1])], ellipsis_mask=2, new_axis_mask=4, shrink_axis_mask=1, end_mask=8)])
op('StridedSliceGrad', K([2, 3, 4]), BEGIN, END, STEP, X(2, 2, 3), vary={
    'begin_mask': [Case('2', [K([2, 3, 4]), K([0, 1, 3]), END, STEP, X(2, 3, 3)], begin_mask=2)],
    'end_mask': [Case('4', [K([2, 3, 4]), BEGIN, END, STEP, X(2, 2, 4)], end_mask=4)],
    'ellipsis_mask': [Case('1', [K([2, 3, 4]), K([0, 1]), K([0, 3]), K([1, 1]), X(2, 3, 2)], ellipsis_mask=1)],
    'new_axis_mask': [Case('2', [K([2, 3, 4]), K([0, 0, 1]), K([1, 1, 3]), K([1, 1, 1]), X(1, 1, 2, 4)], new_axis_mask=2)],
    'shrink_axis_mask': [Case('1', [K([2, 3, 4]), K([1, 1]), K([2, 3]), K([1, 1]), X(2, 4)], shrink_axis_mask=1)]})
op('Tile', A, K([2, 3]), more=[Case('none', [A, K([0, 1])])])
op('Pad', A, K([[1, 2], [0, 1]]))
op('PadV2', A, K([[1, 2], [0, 1]]), F(7), dtypes={'T': 'float32 float64 float16 bfloat16 int32 int64 int8 uint8 complex64'})
op('MirrorPad', X(3, 4), K([[1, 2], [0, 1]]), base={'mode': 'REFLECT'}, vary={'mode': ['SYMMETRIC']}, more=[
    Case('whole', [X(3, 4), K([[3, 3], [4, 2]])], mode='SYMMETRIC')])
op('MirrorPadGrad', X(6, 5), K([[1, 2], [0, 1]]), base={'mode': 'REFLECT'}, vary={'mode': ['SYMMETRIC']})
op('Fill', K([2, 3]), X(), more=[Case('scalar', [K([]), X()]), Case('vector', [K([3]), X()])])
op('BroadcastTo', ROW, K([2, 3]), more=[Case('column', [X(2, 1), K([4, 2, 3])])])
op('Range', K(2), K(11), K(3), more=[Case('down', [K(9), K(-2), K(-2)]), Case('none', [K(3), K(3), K(1)]), Case('large', [K(0), K(10000), K(1)]),
   Case('float', [K(0.5, 'float32'), K(3.0, 'float32'), K(0.5, 'float32')])], dtypes={'Tidx': 'int32 int64 float32 float64'})
op('LinSpace', F(-1.0), F(2.5), K(7), more=[Case('one', [F(1.0), F(2.0), K(1)]), Case('flat', [F(2.0), F(2.0), K(3)])])
op('Gather', X(4, 3), F([3, 0, 3]), more=[Case('matrix', [X(4, 3), F([[3, 0], [1, 1]])]), Case('scalar', [X(4, 3), F(2)]),
   Case('outside', [X(4, 3), F([4])], fails=True), Case('below', [X(4, 3), F([-1])], fails=True)])
op('GatherV2', X(2, 4, 3), F([[3, 0], [1, 1]]), K(1), vary={'batch_dims': [1, Case('-1', [X(2, 4, 3), F([[3, 0], [1, 1]]), K(1)], batch_dims=-1),
   Case('2', [X(2, 4, 3), F([[2, 0, 1, 1], [0, 0, 2, 1]]), K(2)], batch_dims=2), Case('axis_2', [X(2, 4, 3), F([[2, 0], [1, 1]]), K(2)], batch_dims=1)]},
   more=[Case('last', [X(2, 4, 3), F([2, 0]), K(-1)]), Case('list', [K([5, 6, 7], 'int32'), K([2, 0]), K(0)]), Case('outside', [X(2, 4, 3), F([4]), K(1)], fails=True)])
op('GatherNd', X(3, 4), F([[0, 1], [2, 3]]), more=[Case('rows', [X(3, 4), F([[2], [0]])]), Case('none', [X(3, 4), K([[], []], 'int32')]), Case('outside', [X(3, 4), F([[3, 0]])], fails=True)])
op('ScatterNd', F([[1], [3], [1]]), X(3, 2), K([5, 2]), more=[Case('cells', [F([[0, 1], [2, 0]]), X(2), K([3, 2])])])
op('OneHot', F([0, 2, -1, 3]), K(3), F(5), F(-2), TI='int64', T='float32', dtypes={'T': 'float32 int32 complex64 float64', 'TI': 'int32 int64 uint8'},
   vary={'axis': [0, Case('1', [F([[0, 2], [1, 1]]), K(3), F(5), F(-2)], axis=1)]})
op('InvertPermutation', F([2, 0, 3, 1]), more=[Case('not', [F([2, 0, 0])], fails=True)])
op('DynamicStitch ParallelDynamicStitch', [K([0, 3]), K([2, 1, 4])], [X(2, 2), X(3, 2)], more=[
    Case('matrix', [[K([[0, 3]]), K(1), K([2])], [X(1, 2, 2), X(2), X(1, 2)]]), Case('twice', [[K([0, 1]), K([1, 2])], [X(2, 2), X(2, 2, seed=3)]])])
op('DynamicPartition', X(5, 2), F([0, 2, 0, 1, 2]), base={'num_partitions': 3}, vary={'num_partitions': [4]}, more=[Case('scalar', [X(), F(1)])])
op('ConcatOffset', K(1), [K([2, 3, 4]), K([2, 1, 4])])
op('ReverseV2', C, K([0, 2]), more=[Case('last', [C, K([-1])]), Case('none', [C, K([])])])
op('Reverse', C, K([True, False, True]))
op('ReverseSequence', X(3, 4), F([1, 4, 2]), base={'seq_dim': 1}, vary={'seq_dim': [Case('2', [X(3, 2, 4), F([1, 4, 2])], seq_dim=2)],
   'batch_dim': [Case('1', [X(4, 3), F([1, 4, 2])], seq_dim=0, batch_dim=1)]})
op('MatrixBandPart BatchMatrixBandPart', X(2, 3, 4), K(1), K(0), more=[Case('lower', [C, K(-1), K(0)]), Case('upper', [C, K(0), K(-1)]), Case('all', [C, K(-1), K(-1)]), Case('wide', [C, K(1), K(2)])])
op('Diag', X(3), more=[Case('matrix', [A])])
op('DiagPart', X(3, 3), more=[Case('four', [X(2, 3, 2, 3)])])
op('MatrixDiag BatchMatrixDiag', A)
op('MatrixDiagPart BatchMatrixDiagPart', X(2, 3, 4))
op('MatrixDiagV2', A, K(0), K(-1), K(-1), F(0), dtypes={'T': 'float32 int32 complex64'}, more=[Case('above', [A, K(1), K(-1), K(-1), F(9)])])
ALIGN = ['LEFT_LEFT', 'LEFT_RIGHT', 'RIGHT_RIGHT']
HIGH = [X(2, 4, 4), K([0, 3]), K(5), K(4), F(9)]
BAND = [X(3, 4), K([-1, 1]), K(4), K(4), F(9)]
op('MatrixDiagV3', *BAND, dtypes={'T': 'float32 int32 complex64'},
   vary={'align': [Case(a, BAND, align=a) for a in ALIGN]}, more=[Case('main', [A, K(0), K(-1), K(-1), F(9)]), Case('above', [A, K(2), K(-1), K(-1), F(9)]),
   Case('below', [A, K(-1), K(5), K(-1), F(9)]), Case('band', BAND), Case('square', [X(3, 4), K([-1, 1]), K(-1), K(-1), F(0)])])
op('MatrixDiagPartV2', X(2, 4, 5), K([-2, 1]), F(9), dtypes={'T': 'float32 int32 complex64'}, more=[Case('main', [X(2, 4, 5), K(0), F(9)])])
op('MatrixDiagPartV3', X(2, 4, 5), K([-2, 3]), F(9), dtypes={'T': 'float32 int32 complex64'}, vary={'align': [Case(a, align=a) for a in ALIGN]},
   more=[Case('main', [X(2, 4, 5), K(0), F(9)]), Case('above', [X(2, 4, 5), K(2), F(9)])])
op('MatrixSetDiag BatchMatrixSetDiag', X(2, 3, 4), X(2, 3, seed=5))
op('MatrixSetDiagV2', X(2, 3, 4), X(2, 3, seed=5), K(0), dtypes={'T': 'float32 int32 complex64'}, more=[Case('band', [X(4, 4), X(2, 4, seed=5), K([0, 1])])])
op('MatrixSetDiagV3', X(4, 5), X(4, 4, seed=5), K([-1, 2]), dtypes={'T': 'float32 int32 complex64'}, vary={'align': [Case(a, align=a) for a in ALIGN]},
   more=[Case('main', [C, X(2, 3, seed=5), K(0)])])
op('Where', X(2, 3, kind='z'), T='bool', dtypes={'T': 'bool float32 int32 int64 complex64'})
op('Unique', F([3, 1, 3, 2, 1]), dtypes={'T': 'float32 int32 int64 string'}, T='int32')
op('UniqueWithCounts', F([3, 1, 3, 2, 1]), dtypes={'T': 'float32 int32 int64 string'}, T='int32')
op('UniqueV2 UniqueWithCountsV2', F([3, 1, 3, 2, 1]), K([0]), dtypes={'T': 'float32 int32 int64'}, T='int32')
op('Roll', C, K([1, -2]), K([0, 2]), more=[Case('one', [C, K(5), K(1)]), Case('twice', [C, K([1, 1]), K([2, 2])])])
op('BroadcastArgs', K([2, 1, 3]), K([4, 3]))
op('EnsureShape', A, base={'shape': [2, 3]}, vary={'shape': [Case('wrong', shape=[3, 3], fails=True)]})
op('UnravelIndex', F([5, 22]), K([4, 3, 2]))
op('TensorScatterAdd TensorScatterSub TensorScatterUpdate TensorScatterMax TensorScatterMin', X(5, 2), F([[1], [3]]), X(2, 2, seed=5),
   more=[Case('cells', [X(3, 4), F([[0, 1], [2, 3]]), X(2, seed=5)])])
op('ScatterNdNonAliasingAdd', X(5, 2), F([[1], [3], [1]]), X(3, 2, seed=5))
op('TensorStridedSliceUpdate', C, BEGIN, END, STEP, X(2, 2, 3, seed=5), vary={
    'begin_mask': [Case('2', [C, BEGIN, END, STEP, X(2, 3, 3, seed=5)], begin_mask=2)], 'end_mask': [Case('4', [C, BEGIN, END, STEP, X(2, 2, 4, seed=5)], end_mask=4)],
    'ellipsis_mask': [Case('1', [C, K([0, 1]), K([0, 3]), K([1, 1]), X(2, 3, 2, seed=5)], ellipsis_mask=1)],
    'new_axis_mask': [Case('2', [C, K([0, 0, 1]), K([1, 1, 3]), K([1, 1, 1]), X(1, 1, 2, 4, seed=5)], new_axis_mask=2)],
    'shrink_axis_mask': [Case('2', [C, K([0, 1]), K([2, 2]), K([1, 1]), X(2, 4, seed=5)], shrink_axis_mask=2)]})
op('ListDiff', F([5, 3, 1, 3, 7]), F([3, 9]), dtypes={'T': 'float32 int32 int64'}, T='int32')
op('Bincount', F([1, 3, 1, 0], 'int32'), K(5), K([]), T='int32', more=[Case('weights', [F([1, 3, 1, 0], 'int32'), K(5), F([1, 2, 3, 4])])],
   dtypes={'T': 'int32 int64 float32 float64'})
op('DenseBincount', F([1, 3, 1, 0]), K(4), K([], 'float32'), T='float32', dtypes={'Tidx': 'int32 int64', 'T': 'float32'}, vary={'binary_output': [True]},
   more=[Case('rows', [F([[1, 3, 1], [0, 0, 9]]), K(4), K([], 'float32')]), Case('weights', [F([1, 3, 1, 0]), K(4), F([1, 2, 3, 4], 'float32')])])
op('Bucketize', A, base={'boundaries': [-1.0, 0.5]}, vary={'boundaries': [[0.0], [-2.0, 0.0, 1.0]]})
op('LowerBound UpperBound', F([[1, 3, 3, 7], [0, 2, 4, 6]]), F([[3, 0, 8], [2, 5, 7]]), T='int32', dtypes={'T': 'int32 float32'})
op('HistogramFixedWidth', X(9), K([-2, 2]), K(5), dtypes={'T': 'float32 int32', 'dtype': 'int32 int64'})
op('NthElement', C, K(1), vary={'reverse': [True]})

# -- Layers ------------------------------------------------------------------------------------------------------------
room('nn')
IMAGE, KERNEL = X(2, 5, 6, 2), X(3, 2, 2, 3, seed=2)
STEPS = {'strides': [1, 1, 1, 1], 'padding': 'VALID'}
WIDE = {'strides': [1, 2, 2, 1], 'padding': 'SAME'}
EXPLICIT = [0, 0, 1, 2, 0, 1, 0, 0]
EXPLICIT_FIRST = [0, 0, 0, 0, 1, 2, 0, 1]
LAST, FIRST = [0, 2, 3, 1], [0, 3, 1, 2]
VLAST, VFIRST = [0, 2, 3, 4, 1], [0, 4, 1, 2, 3]
TO_LAST, TO_FIRST = {4: LAST, 5: VLAST}, {4: FIRST, 5: VFIRST}
FIRST_IMAGE = X(2, 2, 5, 6)


def channels_first(name, **attributes):
    """The op on transposed images, with the same attributes for NHWC, or NDHWC."""
    def by(tf, *inputs):
        call = getattr(tf.raw_ops, name)
        given = dict(attributes['given'])
        words = [tf.transpose(x, TO_LAST[x.shape.rank]) if i in attributes['images'] else x for i, x in enumerate(inputs)]
        if 'sizes' in attributes:
            sizes = words[attributes['sizes']]
            words[attributes['sizes']] = tf.gather(sizes, TO_LAST[sizes.shape[0]])
        made = tf.nest.flatten(call(**dict(zip(attributes['names'], words)), **given))
        turned = attributes.get('turned', True)
        return [tf.transpose(each, TO_FIRST[each.shape.rank]) if turned and each.shape.rank in TO_FIRST else each for each in made]
    return by


def conv_vary(name, names, images, inputs, first, turned=True, sizes=None, dilated=None):
    extra = {'sizes': sizes} if sizes is not None else {}
    vary = {
        'strides': [Case('2', inputs['strides'], strides=[1, 2, 1, 1])],
        'padding': [Case('SAME', inputs['SAME'], padding='SAME')],
        'data_format': [Case('NCHW', first, data_format='NCHW', strides=[1, 1, 1, 1],
                             by=channels_first(name, names=names, images=images, turned=turned, given=STEPS, **extra)),
                        Case('NCHW_strides', inputs['first_strides'], data_format='NCHW', strides=[1, 1, 2, 1],
                             by=channels_first(name, names=names, images=images, turned=turned, given={**STEPS, 'strides': [1, 2, 1, 1]}, **extra))],
        'dilations': [Case('2', inputs['dilations'], dilations=[1, 2, 1, 1], by=dilated)],
        'explicit_paddings': [Case('EXPLICIT', inputs['EXPLICIT'], padding='EXPLICIT', explicit_paddings=EXPLICIT),
                              Case('NCHW', inputs['first_explicit'], data_format='NCHW', padding='EXPLICIT', explicit_paddings=EXPLICIT_FIRST,
                                   by=channels_first(name, names=names, images=images, turned=turned,
                                                     given={**STEPS, 'padding': 'EXPLICIT', 'explicit_paddings': EXPLICIT}, **extra))]}
    return vary


def plain(kernel, image=IMAGE, first=FIRST_IMAGE):
    same = {key: [image, kernel] for key in ('strides', 'SAME', 'dilations', 'EXPLICIT')}
    return {**same, 'first_strides': [first, kernel], 'first_explicit': [first, kernel]}


op('Conv2D', IMAGE, KERNEL, base=STEPS, within=1e-5, vary=conv_vary('Conv2D', ['input', 'filter'], [0], plain(KERNEL), [FIRST_IMAGE, KERNEL]), more=[
    Case('same', **WIDE), Case('groups', [X(2, 5, 6, 4), X(3, 2, 2, 6)])])
DEPTHWISE = X(3, 2, 2, 2, seed=2)
VARIED = conv_vary('DepthwiseConv2dNative', ['input', 'filter'], [0], plain(DEPTHWISE), [FIRST_IMAGE, DEPTHWISE])
VARIED['strides'] = [Case('2', strides=[1, 2, 2, 1])]
VARIED['dilations'] = [Case('2', dilations=[1, 2, 2, 1], by=lambda tf, x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], 'VALID', dilations=[2, 2]))]
VARIED['data_format'] = VARIED['data_format'][:1]
op('DepthwiseConv2dNative', IMAGE, DEPTHWISE, base=STEPS, within=1e-5, vary=VARIED)


def spread(tf, w):
    """The kernel with a row of zeros between any two."""
    return tf.reshape(tf.stack([w, tf.zeros_like(w)], 1), [6, 2, 2, 3])[:5]


SIZES, FIRST_SIZES, DY = K([2, 5, 6, 2]), K([2, 2, 5, 6]), X(2, 3, 5, 3)
op('Conv2DBackpropInput', SIZES, KERNEL, DY, base=STEPS, within=1e-5, vary=conv_vary(
    'Conv2DBackpropInput', ['input_sizes', 'filter', 'out_backprop'], [2], {
        'strides': [SIZES, KERNEL, X(2, 2, 5, 3)], 'SAME': [SIZES, KERNEL, X(2, 5, 6, 3)], 'dilations': [SIZES, KERNEL, X(2, 1, 5, 3)],
        'EXPLICIT': [SIZES, KERNEL, X(2, 6, 6, 3)], 'first_strides': [FIRST_SIZES, KERNEL, X(2, 3, 2, 5)], 'first_explicit': [FIRST_SIZES, KERNEL, X(2, 3, 6, 6)]},
    [FIRST_SIZES, KERNEL, X(2, 3, 3, 5)], sizes=0, dilated=lambda tf, n, w, dy: tf.raw_ops.Conv2DBackpropInput(
        input_sizes=n, filter=spread(tf, w), out_backprop=dy, **STEPS)), more=[Case('same', [SIZES, KERNEL, X(2, 3, 3, 3)], **WIDE)])
KSIZES = K([3, 2, 2, 3])
op('Conv2DBackpropFilter', IMAGE, KSIZES, DY, base=STEPS, within=1e-5, vary=conv_vary(
    'Conv2DBackpropFilter', ['input', 'filter_sizes', 'out_backprop'], [0, 2], {
        'strides': [IMAGE, KSIZES, X(2, 2, 5, 3)], 'SAME': [IMAGE, KSIZES, X(2, 5, 6, 3)], 'dilations': [IMAGE, KSIZES, X(2, 1, 5, 3)],
        'EXPLICIT': [IMAGE, KSIZES, X(2, 6, 6, 3)], 'first_strides': [FIRST_IMAGE, KSIZES, X(2, 3, 2, 5)], 'first_explicit': [FIRST_IMAGE, KSIZES, X(2, 3, 6, 6)]},
    [FIRST_IMAGE, KSIZES, X(2, 3, 3, 5)], turned=False, dilated=lambda tf, x, n, dy: tf.raw_ops.Conv2DBackpropFilter(
        input=x, filter_sizes=[5, 2, 2, 3], out_backprop=dy, **STEPS)[::2]), more=[Case('same', [IMAGE, KSIZES, X(2, 3, 3, 3)], **WIDE)])
DSIZES = K([3, 2, 2, 2])


def depthwise_dilated(tf, x, w, dy):
    """The gradients of x and of w: TensorFlow has them of its function, but no kernel."""
    return tf.gradients(tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], 'VALID', dilations=[2, 2]), [x, w], dy)


DVARY = {'strides': [Case('2', [SIZES, DEPTHWISE, X(2, 2, 3, 4)], strides=[1, 2, 2, 1])], 'padding': [Case('SAME', [SIZES, DEPTHWISE, X(2, 5, 6, 4)], padding='SAME')],
         'data_format': [Case('NCHW', [FIRST_SIZES, DEPTHWISE, X(2, 4, 3, 5)], data_format='NCHW', by=channels_first(
             'DepthwiseConv2dNativeBackpropInput', names=['input_sizes', 'filter', 'out_backprop'], images=[2], given=STEPS, sizes=0))],
         'explicit_paddings': [Case('EXPLICIT', [SIZES, DEPTHWISE, X(2, 6, 6, 4)], padding='EXPLICIT', explicit_paddings=EXPLICIT)], 'dilations': [
             Case('2', [SIZES, DEPTHWISE, X(2, 1, 4, 4)], dilations=[1, 2, 2, 1], by=lambda tf, n, w, dy: depthwise_dilated(tf, tf.zeros(n), w, dy)[0])]}
op('DepthwiseConv2dNativeBackpropInput', SIZES, DEPTHWISE, X(2, 3, 5, 4), base=STEPS, within=1e-5, vary=DVARY)
op('DepthwiseConv2dNativeBackpropFilter', IMAGE, DSIZES, X(2, 3, 5, 4), base=STEPS, within=1e-5, vary={
    'strides': [Case('2', [IMAGE, DSIZES, X(2, 2, 3, 4)], strides=[1, 2, 2, 1])], 'padding': [Case('SAME', [IMAGE, DSIZES, X(2, 5, 6, 4)], padding='SAME')],
    'data_format': [Case('NCHW', [FIRST_IMAGE, DSIZES, X(2, 4, 3, 5)], data_format='NCHW', by=channels_first(
        'DepthwiseConv2dNativeBackpropFilter', names=['input', 'filter_sizes', 'out_backprop'], images=[0, 2], given=STEPS, turned=False))],
    'explicit_paddings': [Case('EXPLICIT', [IMAGE, DSIZES, X(2, 6, 6, 4)], padding='EXPLICIT', explicit_paddings=EXPLICIT)], 'dilations': [
        Case('2', [IMAGE, DSIZES, X(2, 1, 4, 4)], dilations=[1, 2, 2, 1], by=lambda tf, x, n, dy: depthwise_dilated(tf, x, tf.zeros(n), dy)[1])]})
POOL = {'ksize': [1, 2, 3, 1], 'strides': [1, 1, 1, 1], 'padding': 'VALID'}
PFIRST = lambda name, names, images, **more: Case('NCHW', more.pop('inputs'), data_format='NCHW', ksize=[1, 1, 2, 3], by=channels_first(
    name, names=names, images=images, given={**POOL, **more}, **({'sizes': 0} if names[0] == 'orig_input_shape' else {})))
PVARY = {'ksize': [[1, 3, 1, 1]], 'strides': [[1, 2, 2, 1], [1, 1, 3, 1]], 'padding': ['SAME']}
op('MaxPool', IMAGE, base=POOL, vary={**PVARY, 'ksize': [[1, 3, 1, 1], Case('depth', ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2])],
    'data_format': [PFIRST('MaxPool', ['input'], [0], inputs=[FIRST_IMAGE])],
    'explicit_paddings': [Case('EXPLICIT', padding='EXPLICIT', explicit_paddings=[0, 0, 1, 1, 0, 2, 0, 0])]},
   more=[Case('same', **{**WIDE, 'ksize': [1, 3, 3, 1]})])
op('MaxPoolV2', IMAGE, K([1, 2, 3, 1]), K([1, 1, 1, 1]), base={'padding': 'VALID'}, vary={'padding': ['SAME'], 'data_format': [
    Case('NCHW', [FIRST_IMAGE, K([1, 1, 2, 3]), K([1, 1, 1, 1])], data_format='NCHW',
         by=lambda tf, x, k, s: tf.transpose(tf.raw_ops.MaxPool(input=tf.transpose(x, LAST), **POOL), FIRST))]})
op('AvgPool', IMAGE, base=POOL, vary={**PVARY, 'data_format': [PFIRST('AvgPool', ['value'], [0], inputs=[FIRST_IMAGE])]}, within=1e-5,
   more=[Case('same', **{**WIDE, 'ksize': [1, 3, 3, 1]})])
MAXED = 'orig_input orig_output grad'.split()


class Pooled(X):
    """The op's own output on the case's first input, as the gradient takes it."""

    def __init__(self, window, strides, padding, shape=(2, 5, 6, 2), first=False, **more):
        super().__init__(*shape)
        self.given, self.first = {'ksize': window, 'strides': strides, 'padding': padding, **more}, first

    def values(self, dtype, place):
        import tensorflow as tf
        x = super().values(dtype, 0)
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            x = x.transpose(TO_LAST[x.ndim]) if self.first else x
            pool = tf.raw_ops.MaxPool if x.ndim == 4 else tf.raw_ops.MaxPool3D
            y = session.run(pool(input=x, **self.given))
        return y.transpose(TO_FIRST[y.ndim]) if self.first else y


ONES = [1, 1, 1, 1]
op('MaxPoolGrad', IMAGE, Pooled([1, 2, 3, 1], ONES, 'VALID'), X(2, 4, 4, 2), base=POOL, vary={
    'ksize': [Case('3', [IMAGE, Pooled([1, 3, 1, 1], ONES, 'VALID'), X(2, 3, 6, 2)], ksize=[1, 3, 1, 1])],
    'strides': [Case('2', [IMAGE, Pooled([1, 2, 3, 1], [1, 2, 2, 1], 'VALID'), X(2, 2, 2, 2)], strides=[1, 2, 2, 1])],
    'padding': [Case('SAME', [IMAGE, Pooled([1, 2, 3, 1], ONES, 'SAME'), X(2, 5, 6, 2)], padding='SAME')],
    'data_format': [PFIRST('MaxPoolGrad', MAXED, [0, 1, 2], inputs=[FIRST_IMAGE, Pooled([1, 2, 3, 1], ONES, 'VALID', (2, 2, 5, 6), True), X(2, 2, 4, 4)])],
    'explicit_paddings': [Case('EXPLICIT', [IMAGE, Pooled([1, 2, 3, 1], ONES, 'EXPLICIT', explicit_paddings=[0, 0, 1, 1, 0, 2, 0, 0]), X(2, 6, 6, 2)],
                               padding='EXPLICIT', explicit_paddings=[0, 0, 1, 1, 0, 2, 0, 0])]})
op('MaxPoolGradV2', IMAGE, Pooled([1, 2, 3, 1], ONES, 'VALID'), X(2, 4, 4, 2), K([1, 2, 3, 1]), K(ONES), base={'padding': 'VALID'}, vary={
    'padding': [Case('SAME', [IMAGE, Pooled([1, 2, 3, 1], ONES, 'SAME'), X(2, 5, 6, 2), K([1, 2, 3, 1]), K(ONES)], padding='SAME')],
    'data_format': [Case('NCHW', [FIRST_IMAGE, Pooled([1, 2, 3, 1], [1, 2, 1, 1], 'VALID', (2, 2, 5, 6), True), X(2, 2, 2, 4), K([1, 1, 2, 3]), K([1, 1, 2, 1])], data_format='NCHW',
                         by=channels_first('MaxPoolGrad', names=MAXED, images=[0, 1, 2], given={**POOL, 'strides': [1, 2, 1, 1]}))]})
op('AvgPoolGrad', SIZES, X(2, 4, 4, 2), base=POOL, within=1e-5, vary={
    'ksize': [Case('3', [SIZES, X(2, 3, 6, 2)], ksize=[1, 3, 1, 1])], 'strides': [Case('2', [SIZES, X(2, 2, 2, 2)], strides=[1, 2, 2, 1])],
    'padding': [Case('SAME', [SIZES, X(2, 5, 6, 2)], padding='SAME')],
    'data_format': [PFIRST('AvgPoolGrad', ['orig_input_shape', 'grad'], [1], inputs=[FIRST_SIZES, X(2, 2, 4, 4)])]})
op('MaxPoolWithArgmax', IMAGE, base=POOL, vary={**PVARY, 'include_batch_in_index': [True]})
VOLUME, VKERNEL = X(2, 4, 5, 3, 2), X(2, 3, 2, 2, 3, seed=2)
VSTEPS = {'strides': [1, 1, 1, 1, 1], 'padding': 'VALID'}


def vspread(tf, w):
    """The kernel with zeros between any two rows of its second axis."""
    return tf.reshape(tf.stack([w, tf.zeros_like(w)], 2), [2, 6, 2, 2, 3])[:, :5]


op('Conv3D', VOLUME, VKERNEL, dtypes={'T': 'float32 float64 float16'}, base=VSTEPS, within=1e-5, vary={'strides': [[1, 2, 1, 2, 1]], 'padding': ['SAME'], 'dilations': [
    Case('2', dilations=[1, 1, 2, 1, 1], by=lambda tf, x, w: tf.raw_ops.Conv3D(input=x, filter=vspread(tf, w), **VSTEPS))], 'data_format': [
        Case('NCDHW', [X(2, 2, 4, 5, 3), VKERNEL], data_format='NCDHW', strides=[1, 1, 1, 1, 1], by=lambda tf, x, w: tf.transpose(
            tf.raw_ops.Conv3D(input=tf.transpose(x, VLAST), filter=w, **VSTEPS), VFIRST)),
        Case('NCDHW_strides', [X(2, 2, 4, 5, 3), VKERNEL], data_format='NCDHW', strides=[1, 1, 2, 1, 1], by=lambda tf, x, w: tf.transpose(
            tf.raw_ops.Conv3D(input=tf.transpose(x, VLAST), filter=w, strides=[1, 2, 1, 1, 1], padding='VALID'), VFIRST))]})
op('Conv3DBackpropInputV2', K([2, 4, 5, 3, 2]), VKERNEL, X(2, 3, 3, 2, 3), dtypes={'T': 'float32 float64 float16'}, base=VSTEPS, within=1e-5, vary={
    'strides': [Case('2', [K([2, 4, 5, 3, 2]), VKERNEL, X(2, 2, 3, 2, 3)], strides=[1, 2, 1, 1, 1])],
    'padding': [Case('SAME', [K([2, 4, 5, 3, 2]), VKERNEL, X(2, 4, 5, 3, 3)], padding='SAME')],
    'data_format': [Case('NCDHW', [K([2, 2, 4, 5, 3]), VKERNEL, X(2, 3, 2, 3, 2)], data_format='NCDHW', strides=[1, 1, 2, 1, 1], by=channels_first(
        'Conv3DBackpropInputV2', names=['input_sizes', 'filter', 'out_backprop'], images=[2], sizes=0, given={**VSTEPS, 'strides': [1, 2, 1, 1, 1]}))],
    'dilations': [Case('2', [K([2, 4, 5, 3, 2]), VKERNEL, X(2, 3, 1, 2, 3)], dilations=[1, 1, 2, 1, 1], by=lambda tf, n, w, dy: tf.raw_ops.Conv3DBackpropInputV2(
        input_sizes=n, filter=vspread(tf, w), out_backprop=dy, **VSTEPS))]})
op('Conv3DBackpropFilterV2', VOLUME, K([2, 3, 2, 2, 3]), X(2, 3, 3, 2, 3), dtypes={'T': 'float32 float64 float16'}, base=VSTEPS, within=1e-5, vary={
    'strides': [Case('2', [VOLUME, K([2, 3, 2, 2, 3]), X(2, 2, 3, 2, 3)], strides=[1, 2, 1, 1, 1])],
    'padding': [Case('SAME', [VOLUME, K([2, 3, 2, 2, 3]), X(2, 4, 5, 3, 3)], padding='SAME')],
    'data_format': [Case('NCDHW', [X(2, 2, 4, 5, 3), K([2, 3, 2, 2, 3]), X(2, 3, 2, 3, 2)], data_format='NCDHW', strides=[1, 1, 2, 1, 1], by=channels_first(
        'Conv3DBackpropFilterV2', names=['input', 'filter_sizes', 'out_backprop'], images=[0, 2], turned=False, given={**VSTEPS, 'strides': [1, 2, 1, 1, 1]}))],
    'dilations': [Case('2', [VOLUME, K([2, 3, 2, 2, 3]), X(2, 3, 1, 2, 3)], dilations=[1, 1, 2, 1, 1], by=lambda tf, x, n, dy: tf.raw_ops.Conv3DBackpropFilterV2(
        input=x, filter_sizes=[2, 5, 2, 2, 3], out_backprop=dy, **VSTEPS)[:, ::2])]})
VPOOL = {'ksize': [1, 2, 3, 2, 1], 'strides': [1, 1, 1, 1, 1], 'padding': 'VALID'}
VFIRST_POOL = lambda name, names, images, inputs, **more: Case('NCDHW', inputs, data_format='NCDHW', ksize=[1, 1, 2, 3, 2], strides=[1, 1, 2, 1, 1],
    by=channels_first(name, names=names, images=images, given={**VPOOL, 'strides': [1, 2, 1, 1, 1]}, **more))
for each in 'MaxPool3D', 'AvgPool3D':
    op(each, VOLUME, base=VPOOL, within=1e-5, vary={'ksize': [[1, 1, 2, 1, 1]], 'strides': [[1, 2, 1, 1, 1]], 'padding': ['SAME'],
                                                    'data_format': [VFIRST_POOL(each, ['input'], [0], [X(2, 2, 4, 5, 3)])]})
op('AvgPool3DGrad', K([2, 4, 5, 3, 2]), X(2, 3, 3, 2, 2), base=VPOOL, within=1e-5, vary={
    'ksize': [Case('2', [K([2, 4, 5, 3, 2]), X(2, 4, 4, 3, 2)], ksize=[1, 1, 2, 1, 1])],
    'strides': [Case('2', [K([2, 4, 5, 3, 2]), X(2, 2, 3, 2, 2)], strides=[1, 2, 1, 1, 1])],
    'padding': [Case('SAME', [K([2, 4, 5, 3, 2]), X(2, 4, 5, 3, 2)], padding='SAME')],
    'data_format': [VFIRST_POOL('AvgPool3DGrad', ['orig_input_shape', 'grad'], [1], [K([2, 2, 4, 5, 3]), X(2, 2, 2, 3, 2)], sizes=0)]})
VSHAPE, VONES = (2, 4, 5, 3, 2), [1, 1, 1, 1, 1]
op('MaxPool3DGrad', VOLUME, Pooled([1, 2, 3, 2, 1], VONES, 'VALID', VSHAPE), X(2, 3, 3, 2, 2), base=VPOOL, within=1e-5, vary={
    'ksize': [Case('2', [VOLUME, Pooled([1, 1, 2, 1, 1], VONES, 'VALID', VSHAPE), X(2, 4, 4, 3, 2)], ksize=[1, 1, 2, 1, 1])],
    'strides': [Case('2', [VOLUME, Pooled([1, 2, 3, 2, 1], [1, 2, 1, 1, 1], 'VALID', VSHAPE), X(2, 2, 3, 2, 2)], strides=[1, 2, 1, 1, 1])],
    'padding': [Case('SAME', [VOLUME, Pooled([1, 2, 3, 2, 1], VONES, 'SAME', VSHAPE), X(2, 4, 5, 3, 2)], padding='SAME')],
    'data_format': [VFIRST_POOL('MaxPool3DGrad', MAXED, [0, 1, 2], [
        X(2, 2, 4, 5, 3), Pooled([1, 2, 3, 2, 1], [1, 2, 1, 1, 1], 'VALID', (2, 2, 4, 5, 3), True), X(2, 2, 2, 3, 2)])]})
op('MatMul', X(2, 3), X(3, 4, seed=2), within=1e-5, vary={
    'transpose_a': [Case('True', [X(3, 2), X(3, 4)], transpose_a=True)], 'transpose_b': [Case('True', [A, X(4, 3)], transpose_b=True)]}, more=[
    Case('both', [X(3, 2), X(4, 3)], transpose_a=True, transpose_b=True),
    Case('complex', [F([[1 + 2j, 3j]], 'complex64'), F([[2 - 1j], [1 + 1j]], 'complex64')]),
    Case('complex_transposed', [F([[1 + 2j], [3j]], 'complex64'), F([[2 - 1j], [1 + 1j]], 'complex64')], transpose_a=True)])
op('BatchMatMul BatchMatMulV2', X(2, 2, 3), X(2, 3, 4, seed=2), within=1e-5, vary={
    'adj_x': [Case('True', [X(2, 3, 2), X(2, 3, 4)], adj_x=True), Case('complex', [F([[[1 + 2j], [3j]]], 'complex64'), F([[[2 - 1j], [1 + 1j]]], 'complex64')], adj_x=True)],
    'adj_y': [Case('True', [X(2, 2, 3), X(2, 4, 3)], adj_y=True), Case('complex', [F([[[1 + 2j, 3j]]], 'complex64'), F([[[2 - 1j, 1 + 1j]]], 'complex64')], adj_y=True)]})
op('BatchMatMulV3', X(2, 2, 3), X(3, 4, seed=2), Ta='float32', Tb='float32', Tout='float32', within=1e-5, dtypes={'Ta': '', 'Tb': '', 'Tout': ''}, vary={
    'adj_x': [Case('True', [X(2, 3, 2), X(2, 3, 4)], adj_x=True)], 'adj_y': [Case('True', [X(2, 2, 3), X(2, 4, 3)], adj_y=True)]},
   more=[Case('ints', [F([[1, -2]], 'int8'), F([[3], [100]], 'int8')], Tout='int32')])
FIRST_BIAS = lambda tf, x, b: tf.transpose(tf.raw_ops.BiasAdd(value=tf.transpose(x, LAST), bias=b), FIRST)
op('BiasAdd', IMAGE, X(2), vary={'data_format': [Case('NCHW', [FIRST_IMAGE, X(2)], data_format='NCHW', by=FIRST_BIAS)]}, more=[Case('matrix', [A, ROW])])
op('BiasAddV1', A, ROW)
op('BiasAddGrad', IMAGE, vary={'data_format': [Case('NCHW', [FIRST_IMAGE], data_format='NCHW', by=lambda tf, x: tf.reduce_sum(x, [0, 2, 3]))]}, more=[Case('matrix', [A])])
NORM = dict(depth_radius=1, bias=1.0, alpha=1.0, beta=0.5)
DEEP = X(1, 2, 2, 9)
op('LRN', DEEP, base={'depth_radius': 2}, within=1e-4, vary={'depth_radius': [1, 4], 'bias': [2.5], 'alpha': [0.125], 'beta': [0.75]})


class Normalised(X):
    """The output of LRN on the second input, as its gradient takes it."""

    def __init__(self, **attributes):
        super().__init__(1, 2, 2, 9)
        self.attributes = attributes

    def values(self, dtype, _place):
        import tensorflow as tf
        x = X(1, 2, 2, 9, seed=2).values(dtype, 1)
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            return session.run(tf.raw_ops.LRN(input=x, **{'depth_radius': 2, 'bias': 2.0, **self.attributes}))


def normalised(**attribute):
    return Case(next(iter(attribute.values())), [DEEP, X(1, 2, 2, 9, seed=2), Normalised(**attribute)], **attribute)


op('LRNGrad', DEEP, X(1, 2, 2, 9, seed=2), Normalised(), base={'depth_radius': 2, 'bias': 2.0}, within=1e-3, vary={
    'depth_radius': [normalised(depth_radius=1), normalised(depth_radius=4)], 'bias': [normalised(bias=3.0)], 'alpha': [normalised(alpha=0.125)], 'beta': [normalised(beta=0.75)]})
op('Softmax LogSoftmax', X(2, 4), within=1e-5)
op('SoftmaxCrossEntropyWithLogits', X(2, 4), X(2, 4, kind='p'), within=1e-5, more=[Case('rows', [X(2, 4), X(1, 4, kind='p')])])
op('SparseSoftmaxCrossEntropyWithLogits', X(3, 4), F([0, 3, 1]), within=1e-5, more=[
    Case('outside', [X(3, 4), F([0, 4, 1])], fails=True), Case('below', [X(3, 4), F([0, -1, 1])], fails=True)])
SCALES = [X(2, kind='p'), X(2, seed=2)]
BATCH = [IMAGE, *SCALES, X(2, seed=5), X(2, kind='p', seed=6)]
EVAL = {'is_training': False}
BLOCK, FIRST_NARROW, FIRST_BLOCK = X(2, 3, 4, 2, 2), X(2, 2, 5, 2), X(2, 2, 3, 4, 2)  # of as many last as channels: who takes these answers, too


class Moment(X):
    """The mean or the variance of the case's second input, as a gradient of training takes it."""

    def __init__(self, what, *shape, first=False):
        super().__init__(*shape)
        self.what, self.channels = what, 1 if first else len(shape) - 1

    def values(self, dtype, _place):
        return self.what(super().values(dtype, 1), tuple(i for i in range(len(self.shape)) if i != self.channels))


def norm_vary(name, names, images, given, trained, layouts):
    """given, trained: functions of an image that make the inputs. layouts: (data_format, an image)."""
    def by(layout, training):
        return channels_first(name, names=names, images=images, given={'is_training': training, 'data_format': layout[0] + layout[2:] + 'C'})
    cases = []
    for layout, image in layouts:
        first = layout[1] == 'C'
        for training, inputs in (False, given(image)), (True, trained(image, first)):
            how = {'is_training': training, 'data_format': layout}
            cases.append(Case(f'{layout}_training' if training else layout, inputs, by=by(layout, training) if first else None, **how))
    return cases


FORMATS = [('NCHW', FIRST_NARROW)]
FORMATS_3 = [*FORMATS, ('NDHWC', BLOCK), ('NCDHW', FIRST_BLOCK)]
NORMED, UNTRAINED = 'x scale offset mean variance'.split(), [K([], 'float32'), K([], 'float32')]
for each, layouts in ('FusedBatchNorm', FORMATS), ('FusedBatchNormV2', FORMATS), ('FusedBatchNormV3', FORMATS_3):
    op(each, *BATCH, base=EVAL, within=1e-4, outputs=3, vary={
        'epsilon': [0.5], 'is_training': [Case('True', [IMAGE, *SCALES, *UNTRAINED], is_training=True)],
        'data_format': norm_vary(each, NORMED, [0], lambda x: [x, *BATCH[1:]], lambda x, _: [x, *SCALES, *UNTRAINED], layouts),
        'exponential_avg_factor': [Case('0.25', BATCH, is_training=True, exponential_avg_factor=0.25)]})
GRADED = 'y_backprop x scale reserve_space_1 reserve_space_2 reserve_space_3'.split()
for each, layouts, rest in (('FusedBatchNormGrad', FORMATS, []), ('FusedBatchNormGradV2', FORMATS, []),
                            ('FusedBatchNormGradV3', FORMATS_3, [K([], 'float32')])):
    def graded(image, rest=rest):
        return [X(*image.shape, seed=3), image, X(2, kind='p'), X(2, seed=5), X(2, kind='p', seed=6), *rest]

    def trained_graded(image, first, rest=rest):
        return [*graded(image)[:3], Moment(np.mean, *image.shape, first=first), Moment(np.var, *image.shape, first=first), *rest]

    op(each, *graded(IMAGE), base=EVAL, within=1e-3, outputs=3, vary={
        'epsilon': [0.5], 'is_training': [Case('True', trained_graded(IMAGE, False), is_training=True)],
        'data_format': norm_vary(each, GRADED, [0, 1], graded, trained_graded, layouts)})
op('SpaceToBatchND', X(2, 4, 6, 1), K([2, 3]), K([[0, 0], [1, 2]]), more=[Case('line', [X(2, 5, 2), K([2]), K([[1, 0]])])])
op('BatchToSpaceND', X(12, 2, 3, 1), K([2, 3]), K([[0, 1], [2, 1]]), more=[Case('line', [X(4, 3, 2), K([2]), K([[1, 0]])])])
op('SpaceToBatch', X(2, 4, 6, 1), K([[0, 0], [1, 1]]), base={'block_size': 2}, vary={'block_size': [Case('4', [X(1, 4, 6, 1), K([[0, 0], [1, 1]])], block_size=4)]})
op('BatchToSpace', X(8, 2, 3, 1), K([[0, 1], [1, 1]]), base={'block_size': 2}, vary={'block_size': [
    Case('3', [X(9, 2, 1, 2), K([[0, 1], [1, 1]])], block_size=3)]})
op('SpaceToDepth', X(2, 4, 6, 3), base={'block_size': 2}, vary={'block_size': [Case('3', [X(1, 3, 6, 2)], block_size=3)], 'data_format': [
    Case('NCHW', [X(2, 3, 4, 6)], data_format='NCHW', by=lambda tf, x: tf.transpose(tf.raw_ops.SpaceToDepth(input=tf.transpose(x, LAST), block_size=2), FIRST))]})
op('DepthToSpace', X(2, 2, 3, 12), base={'block_size': 2}, vary={'block_size': [Case('3', [X(1, 2, 2, 18)], block_size=3)], 'data_format': [
    Case('NCHW', [X(2, 12, 2, 3)], data_format='NCHW', by=lambda tf, x: tf.transpose(tf.raw_ops.DepthToSpace(input=tf.transpose(x, LAST), block_size=2), FIRST))]})
op('Dilation2D', IMAGE, X(3, 2, 2, seed=2), base={'strides': [1, 1, 1, 1], 'rates': [1, 1, 1, 1], 'padding': 'VALID'}, vary={
    'strides': [[1, 2, 1, 1]], 'rates': [[1, 2, 1, 1]], 'padding': ['SAME']})
op('ExtractImagePatches', IMAGE, base={'ksizes': [1, 2, 3, 1], 'strides': [1, 1, 1, 1], 'rates': [1, 1, 1, 1], 'padding': 'VALID'}, vary={
    'ksizes': [[1, 3, 1, 1]], 'strides': [[1, 2, 2, 1]], 'rates': [[1, 2, 1, 1]], 'padding': ['SAME']}, dtypes={'T': 'float32 int32'})
op('DataFormatVecPermute', F([7, 1, 2, 3]), vary={'src_format': [Case('NCHW', src_format='NCHW', dst_format='NHWC')], 'dst_format': [Case('NHWC', dst_format='NHWC')]})
op('DataFormatDimMap', F([0, 1, -1, 3]), vary={'src_format': [Case('NCHW', src_format='NCHW', dst_format='NHWC')], 'dst_format': [Case('NHWC', dst_format='NHWC')]})
op('BatchNormWithGlobalNormalization', IMAGE, X(2, seed=5), X(2, kind='p', seed=6), X(2, seed=2), X(2, kind='p'), T='float32', dtypes={'T': 'float32'},
   base={'variance_epsilon': 0.5, 'scale_after_normalization': True}, vary={'variance_epsilon': [0.01], 'scale_after_normalization': [False]}, within=1e-5)
QUANT = [F([-7.0, -3.3, -0.01, 0.0, 0.3, 2.55, 5.9, 6.2]), F(-3.5), F(5.0)]
op('FakeQuantWithMinMaxArgs', QUANT[0], vary={'min': [-3.5], 'max': [3.0], 'num_bits': [4], 'narrow_range': [True]}, within=1e-5)
op('FakeQuantWithMinMaxVars', *QUANT, vary={'num_bits': [4], 'narrow_range': [True]}, within=1e-5)
op('FakeQuantWithMinMaxVarsPerChannel', X(3, 2), F([-1.0, -2.0]), F([1.5, 0.5]), vary={'num_bits': [4], 'narrow_range': [True]}, within=1e-5)
BOUNDS = [low + i / 128 for low in (-6.25, -3.75, 4.75, 5.75) for i in range(64)]  # what is cut off is moved a little
op('FakeQuantWithMinMaxArgsGradient', X(256), F(BOUNDS), vary={'min': [-3.0], 'max': [3.0], 'num_bits': [4], 'narrow_range': [True]})
op('FakeQuantWithMinMaxVarsGradient', X(256), F(BOUNDS), *QUANT[1:], vary={'num_bits': [4], 'narrow_range': [True]}, within=1e-5)

# -- Images ------------------------------------------------------------------------------------------------------------
room('images')
PIXELS = X(2, 3, 4, 2)
RESIZE = {'align_corners': [True], 'half_pixel_centers': [True]}
op('ResizeBilinear ResizeNearestNeighbor ResizeBicubic', PIXELS, K([5, 6]), vary=RESIZE, within=1e-4, more=[
    Case('smaller', [X(1, 6, 5, 2), K([3, 2])]), Case('smaller_half', [X(1, 6, 5, 2), K([3, 2])], half_pixel_centers=True),
    Case('smaller_corners', [X(1, 6, 5, 2), K([3, 2])], align_corners=True), Case('one', [PIXELS, K([1, 1])]), Case('same', [PIXELS, K([3, 4])])])
op('ResizeArea', PIXELS, K([5, 6]), vary={'align_corners': [True]}, within=1e-4, more=[Case('smaller', [X(1, 6, 5, 2), K([4, 3])])])
op('ResizeBilinearGrad ResizeBicubicGrad', X(2, 5, 6, 2), X(2, 3, 4, 2), vary=RESIZE, within=1e-4, dtypes={'T': 'float32'}, more=[Case('smaller', [X(1, 3, 2, 2), X(1, 6, 5, 2)])])
op('ResizeNearestNeighborGrad', X(2, 5, 6, 2), K([3, 4]), vary=RESIZE, within=1e-4)
op('RGBToHSV', X(2, 3, kind='z'), within=1e-5)
op('HSVToRGB', F([[0.25, 0.5, 2.0], [0.9, 1.0, 0.5], [0.0, 0.0, 0.25], [0.5, 0.75, 1.0], [0.7, 0.3, 0.6]]), within=1e-5, dtypes={'T': 'float32 float64'})
op('AdjustContrastv2', PIXELS, F(1.5), within=1e-5, dtypes={'T': 'float32'})
op('AdjustHue AdjustSaturation', X(2, 2, 3, kind='z'), F(0.375), within=1e-4, dtypes={'T': 'float32'})
CROPS = [X(2, 5, 6, 2), F([[0.0, 0.125, 0.75, 1.0], [-0.25, 0.5, 1.0, 0.25]]), F([1, 0]), K([3, 4])]
op('CropAndResize', *CROPS, vary={'method': ['nearest'], 'extrapolation_value': [7.5]}, within=1e-4, dtypes={'T': 'float32 uint8 float64'})
BOXES = [F([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]], 'float32'), F([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], 'float32')]
op('NonMaxSuppressionV2', *BOXES, K(3), F(0.5), dtypes={'T': 'float32', 'T_threshold': 'float32'})
op('NonMaxSuppression', *BOXES, K(3), vary={'iou_threshold': [0.95]})
op('NonMaxSuppressionV3', *BOXES, K(4), F(0.5), F(0.4), dtypes={'T': 'float32', 'T_threshold': 'float32'})

op('NonMaxSuppressionV4', *BOXES, K(5), F(0.5), F(0.4), dtypes={'T': 'float32', 'T_threshold': 'float32'}, vary={'pad_to_max_output_size': [True]})
op('NonMaxSuppressionV5', *BOXES, K(5), F(0.5), F(0.4), F(0.0), dtypes={'T': 'float32'}, vary={'pad_to_max_output_size': [True]})

# -- Linear algebra ----------------------------------------------------------------------------------------------------
room('linalg')
SQUARE = X(2, 3, 3, kind='d')
SINGULAR = F([[1, 2], [2, 4]], 'float32')
op('Cholesky BatchCholesky', X(2, 3, 3, kind='h'), within=1e-4, more=[
   Case('lower', [F([[4, 9], [2, 5]], 'float32')])])
op('MatrixInverse BatchMatrixInverse', SQUARE, vary={'adjoint': [True, Case('complex', [X(2, 2, kind='d')], adjoint=True)]}, within=1e-4,
   more=[Case('singular', [SINGULAR], fails=True)])
op('MatrixSolve BatchMatrixSolve', SQUARE, X(2, 3, 2), vary={'adjoint': [True]}, within=1e-4, more=[Case('singular', [SINGULAR, X(2, 1)], fails=True)])
op('MatrixDeterminant BatchMatrixDeterminant', SQUARE, within=1e-4, more=[Case('singular', [SINGULAR])])
op('LogMatrixDeterminant', SQUARE, within=1e-4)
op('MatrixTriangularSolve BatchMatrixTriangularSolve', X(2, 3, 3, kind='l'), X(2, 3, 2), within=1e-4, vary={
    'lower': [Case('False', [X(2, 3, 3, kind='d'), X(2, 3, 2)], lower=False)], 'adjoint': [True]}, more=[
    Case('upper_adjoint', [X(2, 3, 3, kind='d'), X(2, 3, 2)], lower=False, adjoint=True), Case('rows', [X(3, 3, kind='l'), X(2, 3, 2)])])
op('Cross', A, B)
PIVOTED = F([[0.5, 2, 1], [4, 1, 2], [1, 8, 0.25]])
op('Lu', PIVOTED, within=1e-4, dtypes={'T': 'float32 float64 complex64'}, more=[Case('batch', [SQUARE])])
TALL, SIDES, L2 = X(4, 2, kind='d'), X(4, 3), F(0.5, 'float64')
op('MatrixSolveLs', TALL, SIDES, L2, within=1e-4, vary={'fast': [False]}, dtypes={'T': 'float32 float64'}, more=[
    Case('wide', [X(2, 4, kind='d'), X(2, 3), L2]), Case('batch', [X(2, 4, 2, kind='d'), X(2, 4, 3), L2]), Case('least', [X(2, 4, kind='d'), X(2, 3), L2], fast=False)])
op('TridiagonalSolve', F([[1.0, 2, 3, 0], [9, 8, 7, 6], [0, 2, 1, 0.5]]), X(4, 2), within=1e-4, vary={
    'partial_pivoting': [False], 'perturb_singular': [True]},
   dtypes={'T': 'float32 float64 complex64'})
op('CholeskyGrad', X(2, 3, 3, kind='l'), X(2, 3, 3, seed=2), within=1e-3, dtypes={'T': 'float32 float64'})
SYMMETRIC = X(2, 3, 3, kind='h')
op('SelfAdjointEigV2', SYMMETRIC, base={'compute_v': False}, vary={'compute_v': [Case('True', [F([[[4.0, 0], [0, 9]]])], compute_v=True, outputs=2)]}, within=1e-4, dtypes={'T': 'float32 float64 complex64'}, outputs=1)
op('Svd', X(2, 4, 3), base={'compute_uv': False}, vary={
    'compute_uv': [Case('True', [F([[2.0, 0], [0, 1], [0, 0]])], compute_uv=True, outputs=3)], 'full_matrices': [Case('True', [F([[2.0, 0], [0, 1], [0, 0]])], compute_uv=True, full_matrices=True, outputs=3)]}, within=1e-4, dtypes={'T': 'float32 float64 complex64'}, outputs=1)
op('TridiagonalMatMul', X(1, 4), X(1, 4, seed=2), X(1, 4, seed=3), X(4, 2), within=1e-5)
op('Einsum', [X(2, 3), X(3, 4, seed=2)], base={'equation': 'ij,jk->ik'}, within=1e-5, vary={'equation': ['ij,jk->ki', 'ij,jk->jik',
   Case('batch', [[X(2, 3, 4), X(2, 4, 5)]], equation='bij,bjk->bik'), Case('ellipsis', [[X(2, 3, 4), X(4, 5)]], equation='...ij,jk->...ik'),
   Case('trace', [[X(3, 3)]], equation='ii->'), Case('diagonal', [[X(3, 3)]], equation='ii->i'), Case('sum', [[C]], equation='abc->b'), Case('turn', [[A]], equation='ij->ji')]})
op('FFT FFT2D FFT3D IFFT IFFT2D IFFT3D', X(2, 3, 4), within=1e-4)
op('RFFT', X(2, 6), K([6]), within=1e-4, more=[Case('shorter', [X(2, 6), K([5])])])
op('IRFFT', X(2, 4), K([6]), within=1e-4, more=[Case('odd', [X(2, 4), K([7])]), Case('shorter', [X(2, 4), K([4])])])
op('RFFT2D', X(2, 4, 6), K([4, 6]), within=1e-4, more=[Case('other', [X(2, 4, 6), K([3, 4])])])
op('IRFFT2D', X(2, 4, 4), K([4, 6]), within=1e-4, more=[Case('other', [X(2, 4, 4), K([3, 5])])])

# -- Strings -----------------------------------------------------------------------------------------------------------
room('strings')
WORDS = F(['Ab cD', '', ' x ', 'Zürich', 'naïve ß', '日本'])
op('StringJoin', [F(['a', 'b']), F(['x', ''])], vary={'separator': ['-', ', ']}, more=[Case('scalar', [[F(['a', 'b']), F('x')]]), Case('one', [[F(['a', 'b'])]])])
op('StringLength', WORDS, vary={'unit': ['UTF8_CHAR']})
op('StringLower StringUpper', F(['Ab cD', '', ' x ', 'ÜBER', 'naïve']), vary={'encoding': ['utf-8']})
op('StringStrip', F(['  a b\t', '\n', 'x', 'a \r\n']))
op('Substr', WORDS, K(0), K(2), vary={'unit': [Case('UTF8_CHAR', [F(['Zürich', 'naïve', '日本語']), K(1), K(2)], unit='UTF8_CHAR')]}, more=[
    Case('end', [F(['abcd', 'xyz']), K(-2), K(5)]), Case('each', [F(['abcd', 'xyz']), F([1, 2]), F([2, 1])]), Case('outside', [F(['abcd', 'x']), K(3), K(1)], fails=True),
    Case('utf8_end', [F(['Zürich', '日本語']), K(-2), K(1)], unit='UTF8_CHAR')])
TO_MATCH = F(['ab12', 'b', '', 'a1b2 c3', 'Zürich', 'line\n'])
PATTERNS = [('[a-z]+[0-9]*', ''), ('(?i)z.*', ''), ('.*', ''), ('(?s).*$', ''), ('a*|b', '')]
op('RegexFullMatch', TO_MATCH, K('[a-z]+[0-9]*'), more=[Case(f'p{i}', [TO_MATCH, K(p)]) for i, (p, _) in enumerate(PATTERNS)] + [Case('wrong', [TO_MATCH, K('(a')], fails=True)])
op('StaticRegexFullMatch', TO_MATCH, base={'pattern': '[a-z]+[0-9]*'}, vary={'pattern': [p for p, _ in PATTERNS[1:]]})
op('RegexReplace', TO_MATCH, K('([a-z])([0-9])'), K('<\\2\\1>'), vary={'replace_global': [False]}, more=[Case('empty', [TO_MATCH, K('b*'), K('X')])])
op('StaticRegexReplace', TO_MATCH, base={'pattern': '([a-z])([0-9])', 'rewrite': '<\\2\\1>'}, vary={
    'pattern': [Case('empty', pattern='b*', rewrite='-'), Case('utf8', pattern='.', rewrite='[\\0]')], 'rewrite': ['\\\\'], 'replace_global': [False]})
op('StringToNumber', F(['1', '-2.5', '1e3', ' 7 ', 'inf']), more=[Case('int', [F(['12', '-7'])], out_type='int64'), Case('not', [F(['x'])], fails=True)],
   dtypes={'out_type': 'float32 float64'})
TEXTS = F([1.5, -2.25, 0.0, 100.125, 3.3333333])
op('AsString', TEXTS, T='float32', vary={'precision': [2, 0, 8], 'scientific': [True], 'shortest': [True], 'width': [12], 'fill': [Case('0', width=12, fill='0'), Case('-', width=12, fill='-'), Case('+', width=12, fill='+'), Case('space', width=3, fill=' ')]},
   more=[Case('scientific_precise', scientific=True, precision=3), Case('shortest_precise', shortest=True, precision=3), Case('ints', [F([1, -20, 300], 'int32')], width=5, fill='0'),
         Case('left', [F([1, -20, 300], 'int32')], width=5, fill='-'), Case('special', [F([float('inf'), float('-inf'), float('nan')], 'float32')])],
   dtypes={'T': 'float32 float64 int8 int16 int32 int64 uint8 bool complex64'})
SPLITS = F(['a b  c', '', ' x', 'one,two,,three', '\t n \n'])
op('StringSplitV2', SPLITS, F(' '), vary={'maxsplit': [Case('1', [SPLITS, F(',')], maxsplit=1), Case('0', [SPLITS, F(',')], maxsplit=0)]}, more=[
    Case('words', [SPLITS, F('')]), Case('commas', [SPLITS, F(',')]), Case('longer', [F(['a<>b<><>c', '<>']), F('<>')]), Case('one', [F(['']), F(',')])])
op('StringSplit', SPLITS, F(' '), vary={'skip_empty': [False]}, more=[Case('commas', [SPLITS, F(',')])])
op('ReduceJoin', F([['a', 'b'], ['c', 'd']]), K([1]), vary={'keep_dims': [True], 'separator': ['-']}, more=[Case('rows', [F([['a', 'b'], ['c', 'd']]), K([0])]), Case('all', [F([['a', 'b'], ['c', 'd']]), K([1, 0])])])

# -- Sparse tensors ----------------------------------------------------------------------------------------------------
room('sparse')
PLACES, VALUES, EXTENTS = F([[0, 1], [0, 3], [2, 0]], 'int64'), X(3), K([3, 4], 'int64')
op('SparseToDense', F([[0, 1], [0, 3], [2, 0]]), K([3, 4]), VALUES, F(7), T='float32', dtypes={'T': 'float32 int32 int64 bool string'}, vary={'validate_indices': [
    Case('False', [F([[2, 0], [0, 3]]), K([3, 4]), X(2), F(7)], validate_indices=False)]}, more=[
    Case('vector', [F([1, 3]), K([5]), X(2), F(0)]), Case('scalar', [F(2), K([4]), X(), F(1)]), Case('same', [F([1, 3]), K([5]), X(), F(0)]),
    Case('order', [F([3, 1]), K([5]), X(2), F(0)], fails=True), Case('outside', [F([1, 5]), K([5]), X(2), F(0)], fails=True)])
op('SparseTensorDenseMatMul', PLACES, VALUES, EXTENTS, X(4, 2), within=1e-5, dtypes={'T': 'float32 float64 int32 complex64'}, vary={
    'adjoint_a': [Case('True', [PLACES, VALUES, EXTENTS, X(3, 2)], adjoint_a=True)], 'adjoint_b': [Case('True', [PLACES, VALUES, EXTENTS, X(2, 4)], adjoint_b=True)]})
op('SparseReorder', F([[2, 0], [0, 3], [0, 1]], 'int64'), VALUES, EXTENTS, dtypes={'T': 'float32 int64 string'})
op('SparseReshape', PLACES, EXTENTS, K([2, 6], 'int64'), more=[Case('rest', [PLACES, EXTENTS, K([-1, 2], 'int64')]), Case('deeper', [PLACES, EXTENTS, K([3, 2, 2], 'int64')])])
op('SparseFillEmptyRows', F([[0, 1], [0, 3], [2, 0]], 'int64'), VALUES, K([5, 4], 'int64'), F(9), T='float32', dtypes={'T': 'float32 int64'}, more=[
    Case('none', [F([[0, 1], [1, 3]], 'int64'), X(2), K([2, 4], 'int64'), F(9)])])
op('SparseReduceSum', PLACES, VALUES, EXTENTS, K([1]), within=1e-5, vary={'keep_dims': [True]}, dtypes={'T': 'float32 int32'}, more=[Case('all', [PLACES, VALUES, EXTENTS, K([0, 1])])])
op('SparseTensorDenseAdd', PLACES, VALUES, EXTENTS, X(3, 4), dtypes={'T': 'float32 int32 complex64'})
op('SparseDenseCwiseMul SparseDenseCwiseAdd', PLACES, VALUES, EXTENTS, X(3, 4, kind='p'), dtypes={'T': 'float32 float64 int32'}, more=[Case('row', [PLACES, VALUES, EXTENTS, X(4)])])
op('SparseDenseCwiseDiv', PLACES, VALUES, EXTENTS, X(3, 4, kind='p'), dtypes={'T': 'float32 float64'})
op('RaggedTensorToSparse', [F([0, 2, 2, 5], 'int64')], X(5), T='float32', dtypes={'T': 'float32 int32 string'})
RAGGED = {'row_partition_types': ['ROW_SPLITS']}
op('RaggedTensorToTensor', K([-1, -1], 'int64'), X(5), F(9), [F([0, 2, 2, 5], 'int64')], base=RAGGED, T='float32', dtypes={'T': 'float32 int32 string', 'Tindex': '', 'Tshape': ''}, vary={
    'row_partition_types': [Case('VALUE_ROWIDS', [K([-1, -1], 'int64'), X(5), F(9), [F(4, 'int64'), F([0, 0, 2, 2, 2], 'int64')]], row_partition_types=['FIRST_DIM_SIZE', 'VALUE_ROWIDS'])]}, more=[
    Case('scalar', [K(-1, 'int64'), X(5), F(9), [F([0, 2, 2, 5], 'int64')]]), Case('cut', [K([2, 4], 'int64'), X(5), F(9), [F([0, 2, 2, 5], 'int64')]]),
    Case('narrow', [K([4, 2], 'int64'), X(5), F(9), [F([0, 2, 2, 5], 'int64')]]), Case('rows', [K(-1, 'int64'), X(5, 2), F(9), [F([0, 2, 2, 5], 'int64')]])])
op('SparseMatMul', X(2, 3), X(3, 4, seed=2), within=1e-5, dtypes={'Ta': 'float32', 'Tb': 'float32'}, vary={
    'transpose_a': [Case('True', [X(3, 2), X(3, 4)], transpose_a=True)], 'transpose_b': [Case('True', [A, X(4, 3)], transpose_b=True)]})

# -- Recurrent nets ----------------------------------------------------------------------------------------------------
room('recurrent')
CELL = [X(2, 3), X(2, 4, seed=2), X(2, 4, seed=3), X(7, 16, seed=4, kind='u'), X(4, seed=5), X(4, seed=6), X(4, seed=7), X(16, seed=8)]
op('LSTMBlockCell', *CELL, within=1e-5, dtypes={'T': 'float32'}, vary={'forget_bias': [0.25], 'cell_clip': [0.5], 'use_peephole': [True]})
STEPPED = [K(5, 'int64'), X(5, 2, 3), *CELL[1:]]
op('BlockLSTM', *STEPPED, within=1e-5, dtypes={'T': 'float32'}, vary={'forget_bias': [0.25], 'cell_clip': [0.5], 'use_peephole': [True]})
op('BlockLSTMV2', *STEPPED, within=1e-5, dtypes={'T': 'float32'}, vary={'cell_clip': [0.5], 'use_peephole': [True]})
op('GRUBlockCell', X(2, 3), X(2, 4, seed=2), X(7, 8, seed=3, kind='u'), X(7, 4, seed=4, kind='u'), X(8, seed=5), X(4, seed=6), within=1e-5, dtypes={'T': 'float32'})
DECODED = F([[[0, 5, 1, 2], [9, 0, 0, 1]], [[0, 5, 1, 2], [0, 0, 0, 4]], [[0, 0, 7, 1], [0, 1, 9, 2]], [[1, 8, 0, 2], [3, 1, 0, 2]]], 'float32')
op('CTCGreedyDecoder', DECODED, F([4, 3], 'int32'), dtypes={'T': 'float32 float64'}, vary={'merge_repeated': [True], 'blank_index': [1]})

# -- Random numbers of a seed ------------------------------------------------------------------------------------------
room('seeded')
KEYED = [F([1234567890123], 'uint64'), F([5, 2**63 + 9], 'uint64'), K(1, 'int32')]
op('StatelessRandomGetAlg')
op('StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg', F([7, -3], 'int64'), dtypes={'Tseed': 'int64 int32'})
op('StatelessRandomUniformV2', K([3, 5]), *KEYED, dtypes={'dtype': 'float32 float64 float16 bfloat16'}, more=[
    Case('carried', [K([3, 5]), F([3], 'uint64'), F([2**64 - 2, 9], 'uint64'), K(3, 'int32')])])
op('StatelessRandomNormalV2', K([3, 5]), *KEYED, within=1e-5, dtypes={'dtype': 'float32 float64 float16'})
op('StatelessRandomUniformIntV2', K([3, 5]), *KEYED, F(-7), F(1000), dtype='int32', dtypes={'dtype': 'int32 int64'})
op('StatelessRandomUniformFullIntV2', K([3, 5]), *KEYED, dtypes={'dtype': 'int32 int64 uint32 uint64'})
op('StatelessRandomUniform', K([7]), F([7, -3], 'int64'), dtypes={'dtype': 'float32 float64', 'Tseed': 'int64 int32'})
op('StatelessRandomNormal', K([7]), F([7, -3], 'int64'), within=1e-5, dtypes={'dtype': 'float32 float64', 'Tseed': 'int64'})
op('StatelessRandomUniformInt', K([7]), F([7, -3], 'int64'), F(-7), F(1000), dtype='int32', dtypes={'dtype': 'int32 int64', 'Tseed': 'int64'})
op('StatelessRandomUniformFullInt', K([7]), F([7, -3], 'int64'), dtypes={'dtype': 'int32 int64 uint32 uint64', 'Tseed': 'int64'})
