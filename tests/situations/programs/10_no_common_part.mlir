// 10. Halves become thirds on one axis of six: nobody holds the whole
// collective: all_gather over 2 sends 8
// lower bound: 2
sgd.mesh @mesh = <["x"=6]>
func.func @main(%a: tensor<12xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x":(1)2}]>}) -> (tensor<12xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x":(1)3}]>}) {
  return %a : tensor<12xf32>
}
