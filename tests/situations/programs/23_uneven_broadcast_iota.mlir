// 23. Broadcast and iota along a dimension of seven over four ranks
// no collectives
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> (tensor<7x3xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.broadcast_in_dim %a dims = [0] : tensor<7xi32> -> tensor<7x3xi32>
  %1 = sgd.iota dimension = 0 : tensor<7x3xi32>
  %2 = arith.addi %0, %1 : tensor<7x3xi32>
  return %2 : tensor<7x3xi32>
}
