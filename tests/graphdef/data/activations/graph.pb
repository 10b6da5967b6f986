
2
xPlaceholder*
dtype0*
shape
:

relu_yRelux*
T0

relu6_yRelu6x*
T0

elu_yElux*
T0

selu_ySelux*
T0
"

softplus_ySoftplusx*
T0
"

softsign_ySoftsignx*
T0

tanh_yTanhx*
T0
 
	sigmoid_ySigmoidx*
T0
 
	softmax_ySoftmaxx*
T0
'
log_softmax_y
LogSoftmaxx*
T0
5
leaky_relu_y	LeakyRelux*
T0*
alpha%ÍÌL>

erf_yErfx*
T0

AbsAbsx*
T0

rsqrt_yRsqrtAbs*
T0

Abs_1Absx*
T0
"
lgamma_yLgammaAbs_1*
T0

initNoOp"ª