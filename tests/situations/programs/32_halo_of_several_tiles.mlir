// 32. A window of seven over tiles of two: halos reach over the neighbour
// collective: gather_range over 4 sends 160
sgd.mesh @mesh = <["h"=4]>
func.func @main(%x: tensor<1x8x1x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {}, {}]>}, %w: tensor<7x1x8x3xf32>) -> (tensor<1x8x1x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {}, {}]>}) {
  %0 = sgd.convolution %x, %w strides = [1] low = [3] high = [3] lhs_dilations = [1] rhs_dilations = [1] : tensor<1x8x1x8xf32>, tensor<7x1x8x3xf32> -> tensor<1x8x1x3xf32>
  return %0 : tensor<1x8x1x3xf32>
}
