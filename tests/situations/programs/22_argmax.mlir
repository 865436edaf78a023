// 22. The position of the largest along a sharded dimension: a maximum and a minimum of positions, ties as without shards
// collective: all_reduce over 4 sends 6
// collective: all_reduce over 4 sends 6
// arg0: 0..3
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> (tensor<i32> {sgd.sharding = #sgd.sharding<@mesh, []>}) {
  %max = sgd.reduce max %a dimensions = [0] : tensor<64xf32> -> tensor<f32>
  %all = sgd.broadcast_in_dim %max dims = [] : tensor<f32> -> tensor<64xf32>
  %is = arith.cmpf oeq, %a, %all : tensor<64xf32>
  %at = sgd.iota dimension = 0 : tensor<64xi32>
  %beyond = arith.constant dense<2147483647> : tensor<64xi32>
  %where = arith.select %is, %at, %beyond : tensor<64xi1>, tensor<64xi32>
  %0 = sgd.reduce min %where dimensions = [0] : tensor<64xi32> -> tensor<i32>
  return %0 : tensor<i32>
}
