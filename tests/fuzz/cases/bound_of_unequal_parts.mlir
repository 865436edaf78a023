// One rank has all of a dimension of one element: nothing need be sent.
// seed: 0
sgd.mesh @mesh = <["x"=8, "y"=1]>
func.func @main(%a0: tensor<1x1x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<1x1x4xf32>) {
  %v0 = sgd.dot_general %a0, %a0 batching = [0] x [0] contracting = [2] x [2] : tensor<1x1x4xf32>, tensor<1x1x4xf32> -> tensor<1x1x1xf32>
  %v1 = sgd.reduce max %v0 dimensions = [2] : tensor<1x1x1xf32> -> tensor<1x1xf32>
  %v2 = sgd.broadcast_in_dim %v1 dims = [0, 1] : tensor<1x1xf32> -> tensor<1x1x1xf32>
  %v3 = arith.subf %v0, %v2 : tensor<1x1x1xf32>
  %v4 = math.exp %v3 : tensor<1x1x1xf32>
  %v5 = sgd.reduce add %v4 dimensions = [2] : tensor<1x1x1xf32> -> tensor<1x1xf32>
  %v6 = sgd.broadcast_in_dim %v5 dims = [0, 1] : tensor<1x1xf32> -> tensor<1x1x1xf32>
  %v7 = arith.divf %v4, %v6 : tensor<1x1x1xf32>
  %v8 = sgd.dot_general %v7, %a0 batching = [0] x [0] contracting = [2] x [1] : tensor<1x1x1xf32>, tensor<1x1x4xf32> -> tensor<1x1x4xf32>
  return %v8 : tensor<1x1x4xf32>
}
