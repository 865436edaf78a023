// 28. A reshape that splits a dimension sharded over two axes needs nothing
// no collectives
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = sgd.reshape %a : tensor<16xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
