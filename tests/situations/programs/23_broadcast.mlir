// 23. A broadcast along a sharded dimension needs nothing
// no collectives
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.broadcast_in_dim %a dims = [1] : tensor<16xf32> -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
