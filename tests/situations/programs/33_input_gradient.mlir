// 33. The gradient of a strided convolution's input: dilated lhs, groups
// collective: gather_range over 4 sends 48
sgd.mesh @mesh = <["h"=4]>
func.func @main(%g: tensor<2x8x2x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {}, {}]>}, %w: tensor<3x2x3x4xf32>) -> (tensor<2x16x2x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"h"}, {}, {}]>}) {
  %0 = sgd.convolution %g, %w strides = [1] low = [1] high = [2] lhs_dilations = [2] rhs_dilations = [1] : tensor<2x8x2x3xf32>, tensor<3x2x3x4xf32> -> tensor<2x16x2x4xf32>
  return %0 : tensor<2x16x2x4xf32>
}
