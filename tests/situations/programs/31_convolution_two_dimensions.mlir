// 31. Two sharded spatial dimensions, a stride of 2: halos of one row, then of one column of the widened tile
// collective: gather_range over 2 sends 64
// collective: gather_range over 2 sends 80
sgd.mesh @mesh = <["h"=2, "w"=2]>
func.func @main(%x: tensor<1x8x8x1x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {"w"}, {}, {}]>}, %w: tensor<3x3x1x4x2xf32>) -> (tensor<1x4x4x1x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {"w"}, {}, {}]>}) {
  %0 = sgd.convolution %x, %w strides = [2, 2] low = [1, 1] high = [0, 0] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<1x8x8x1x4xf32>, tensor<3x3x1x4x2xf32> -> tensor<1x4x4x1x2xf32>
  return %0 : tensor<1x4x4x1x2xf32>
}
