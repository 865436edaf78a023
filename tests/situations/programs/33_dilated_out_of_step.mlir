// 33. Dilations that tiles are no multiple of: every rank begins at another distance from an element
// collective: gather_range over 4 sends 72
sgd.mesh @mesh = <["h"=4]>
func.func @main(%g: tensor<2x8x1x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {}, {}]>}, %w: tensor<3x1x3x4xf32>) -> (tensor<2x20x1x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {}, {}]>}) {
  %0 = sgd.convolution %g, %w strides = [1] low = [1] high = [1] lhs_dilations = [3] rhs_dilations = [2] : tensor<2x8x1x3xf32>, tensor<3x1x3x4xf32> -> tensor<2x20x1x4xf32>
  return %0 : tensor<2x20x1x4xf32>
}
