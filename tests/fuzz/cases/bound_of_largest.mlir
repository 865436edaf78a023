// Largest elements of largest ones: only one element need be sent.
// seed: 0
sgd.mesh @mesh = <["x"=2]>
func.func @main(%a0: tensor<3x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>},
    %a1: tensor<3x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<f32>) {
  %v0 = sgd.reduce max %a0 dimensions = [1] : tensor<3x2xf32> -> tensor<3xf32>
  %v1 = sgd.sharding_constraint %v0 <@mesh, [{}]> : tensor<3xf32>
  %v2 = sgd.reduce max %a1 dimensions = [1] : tensor<3x2xf32> -> tensor<3xf32>
  %v3 = arith.maximumf %v1, %v2 : tensor<3xf32>
  %v4 = sgd.reduce max %v3 dimensions = [0] : tensor<3xf32> -> tensor<f32>
  return %v4 : tensor<f32>
}
