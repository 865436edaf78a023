// 3. Five rows on four ranks, one of which has none: a local slice
// no collectives
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<5x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) -> (tensor<5x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  return %a : tensor<5x3xf32>
}
