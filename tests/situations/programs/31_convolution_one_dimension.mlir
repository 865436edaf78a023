// 31. Convolution with one sharded spatial dimension: a halo of one row from both sides
// collective: gather_range over 4 sends 384
sgd.mesh @mesh = <["h"=4]>
func.func @main(%x: tensor<2x8x6x1x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {}, {}, {}]>}, %w: tensor<3x3x1x4x5xf32>) -> (tensor<2x8x6x1x5xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {}, {}, {}]>}) {
  %0 = sgd.convolution %x, %w strides = [1, 1] low = [1, 1] high = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x8x6x1x4xf32>, tensor<3x3x1x4x5xf32> -> tensor<2x8x6x1x5xf32>
  return %0 : tensor<2x8x6x1x5xf32>
}
