// A residual block of two convolutions between a stem and a classifier of pictures of 16 x 16: the scores of 10 classes.
//
//   sgdc resnet_block.mlir --recipe resnet_block.json -o resnet_block.sgda
//   sgdrun -n 2 resnet_block.sgda --data pictures.safetensors --steps 100
sgd.mesh @mesh = <["data"=2]>

// Pictures are [batch, height, width, groups, channels]; the filters [3, 3, groups, in, out].
func.func private @conv(%x: tensor<32x16x16x1x16xf32>, %filters: tensor<3x3x1x16x16xf32>) -> tensor<32x16x16x1x16xf32> {
  %y = sgd.convolution %x, %filters strides = [1, 1] low = [1, 1] high = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1]
    : tensor<32x16x16x1x16xf32>, tensor<3x3x1x16x16xf32> -> tensor<32x16x16x1x16xf32>
  return %y : tensor<32x16x16x1x16xf32>
}

// Over the whole batch: on several ranks, their sums are added.
func.func private @batch_norm(%x: tensor<32x16x16x1x16xf32>, %scale: tensor<16xf32>, %shift: tensor<16xf32>) -> tensor<32x16x16x1x16xf32> {
  %count = arith.constant dense<8192.0> : tensor<16xf32>
  %eps = arith.constant dense<1.0e-05> : tensor<16xf32>
  %sum = sgd.reduce add %x dimensions = [0, 1, 2, 3] : tensor<32x16x16x1x16xf32> -> tensor<16xf32>
  %mean = arith.divf %sum, %count : tensor<16xf32>
  %means = sgd.broadcast_in_dim %mean dims = [4] : tensor<16xf32> -> tensor<32x16x16x1x16xf32>
  %centred = arith.subf %x, %means : tensor<32x16x16x1x16xf32>
  %squares = arith.mulf %centred, %centred : tensor<32x16x16x1x16xf32>
  %total = sgd.reduce add %squares dimensions = [0, 1, 2, 3] : tensor<32x16x16x1x16xf32> -> tensor<16xf32>
  %variance = arith.divf %total, %count : tensor<16xf32>
  %shifted = arith.addf %variance, %eps : tensor<16xf32>
  %inverse = math.rsqrt %shifted : tensor<16xf32>
  %factor = arith.mulf %inverse, %scale : tensor<16xf32>
  %factors = sgd.broadcast_in_dim %factor dims = [4] : tensor<16xf32> -> tensor<32x16x16x1x16xf32>
  %shifts = sgd.broadcast_in_dim %shift dims = [4] : tensor<16xf32> -> tensor<32x16x16x1x16xf32>
  %scaled = arith.mulf %centred, %factors : tensor<32x16x16x1x16xf32>
  %result = arith.addf %scaled, %shifts : tensor<32x16x16x1x16xf32>
  return %result : tensor<32x16x16x1x16xf32>
}

func.func private @relu(%x: tensor<32x16x16x1x16xf32>) -> tensor<32x16x16x1x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<32x16x16x1x16xf32>
  %y = arith.maximumf %x, %zero : tensor<32x16x16x1x16xf32>
  return %y : tensor<32x16x16x1x16xf32>
}

func.func @main(
    %x: tensor<32x16x16x1x3xf32> {sgd.name = "x", sgd.role = #sgd.role<input>},
    %stem: tensor<3x3x1x3x16xf32> {sgd.name = "stem", sgd.init = "he_normal", sgd.role = #sgd.role<parameter>},
    %conv1: tensor<3x3x1x16x16xf32> {sgd.name = "block.conv1", sgd.init = "he_normal", sgd.role = #sgd.role<parameter>},
    %scale1: tensor<16xf32> {sgd.name = "block.norm1.scale", sgd.init = "ones", sgd.role = #sgd.role<parameter>},
    %shift1: tensor<16xf32> {sgd.name = "block.norm1.shift", sgd.init = "zeros", sgd.role = #sgd.role<parameter>},
    %conv2: tensor<3x3x1x16x16xf32> {sgd.name = "block.conv2", sgd.init = "he_normal", sgd.role = #sgd.role<parameter>},
    %scale2: tensor<16xf32> {sgd.name = "block.norm2.scale", sgd.init = "zeros", sgd.role = #sgd.role<parameter>},
    %shift2: tensor<16xf32> {sgd.name = "block.norm2.shift", sgd.init = "zeros", sgd.role = #sgd.role<parameter>},
    %head: tensor<16x10xf32> {sgd.name = "head", sgd.init = "glorot_uniform", sgd.role = #sgd.role<parameter>}) -> (tensor<32x10xf32> {sgd.name = "logits"}) {
  %features = sgd.convolution %x, %stem strides = [1, 1] low = [1, 1] high = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1]
    : tensor<32x16x16x1x3xf32>, tensor<3x3x1x3x16xf32> -> tensor<32x16x16x1x16xf32>
  %a = call @conv(%features, %conv1) : (tensor<32x16x16x1x16xf32>, tensor<3x3x1x16x16xf32>) -> tensor<32x16x16x1x16xf32>
  %b = call @batch_norm(%a, %scale1, %shift1) : (tensor<32x16x16x1x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<32x16x16x1x16xf32>
  %c = call @relu(%b) : (tensor<32x16x16x1x16xf32>) -> tensor<32x16x16x1x16xf32>
  %d = call @conv(%c, %conv2) : (tensor<32x16x16x1x16xf32>, tensor<3x3x1x16x16xf32>) -> tensor<32x16x16x1x16xf32>
  %e = call @batch_norm(%d, %scale2, %shift2) : (tensor<32x16x16x1x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<32x16x16x1x16xf32>
  %f = arith.addf %features, %e : tensor<32x16x16x1x16xf32>
  %g = call @relu(%f) : (tensor<32x16x16x1x16xf32>) -> tensor<32x16x16x1x16xf32>
  %sum = sgd.reduce add %g dimensions = [1, 2, 3] : tensor<32x16x16x1x16xf32> -> tensor<32x16xf32>
  %size = arith.constant dense<256.0> : tensor<32x16xf32>
  %mean = arith.divf %sum, %size : tensor<32x16xf32>
  %logits = sgd.dot_general %mean, %head batching = [] x [] contracting = [1] x [0] : tensor<32x16xf32>, tensor<16x10xf32> -> tensor<32x10xf32>
  return %logits : tensor<32x10xf32>
}
