// 33. The gradient of a filter: each rank's elements in all windows, a halo, then one sum over ranks
// collective: gather_range over 4 sends 384
// collective: all_reduce over 4 sends 648
// lower bound: 502
sgd.mesh @mesh = <["h"=4]>
func.func @main(%x: tensor<4x8x6x1x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {}, {}, {}]>}, %g: tensor<8x6x1x2x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"h"}, {}, {}, {}, {}]>}) -> (tensor<4x3x3x1x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}, {}, {}]>}) {
  %0 = sgd.convolution %x, %g strides = [1, 1] low = [1, 1] high = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<4x8x6x1x2xf32>, tensor<8x6x1x2x3xf32> -> tensor<4x3x3x1x3xf32>
  return %0 : tensor<4x3x3x1x3xf32>
}
