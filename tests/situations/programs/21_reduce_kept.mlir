// 21. A sum over a dimension that is whole needs nothing
// no collectives
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) {
  %0 = sgd.reduce add %a dimensions = [1] : tensor<8x16xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
