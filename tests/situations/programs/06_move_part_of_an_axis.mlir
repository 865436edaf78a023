// 6. A part of an axis moves to the other dimension: one all-to-all on a sub-axis
// collective: all_to_all over 2 sends 32
// lower bound: 32
sgd.mesh @mesh = <["x"=8]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x":(1)4}, {"x":(4)2}]>}) {
  return %a : tensor<8x16xf32>
}
