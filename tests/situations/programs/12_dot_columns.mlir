// 12. A matmul with sharded columns needs nothing
// no collectives
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}, %b: tensor<16x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
