// 28. Seven of fourteen elements' pairs: merging and splitting tiles that hold whole rows
// no collectives
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7x2x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<7x6xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.reshape %a : tensor<7x2x3xf32> -> tensor<7x6xf32>
  return %0 : tensor<7x6xf32>
}
