// 12. A matmul with a sharded batch needs nothing
// no collectives
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<4x2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}]>}, %b: tensor<4x8x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<4x2x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}]>}) {
  %0 = sgd.dot_general %a, %b batching = [0] x [0] contracting = [2] x [1] : tensor<4x2x8xf32>, tensor<4x8x3xf32> -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}
