// 11. Operands of an elementwise op disagree: one of them is resharded
// collective: all_to_all over 4 sends 96
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = arith.addf %a, %b : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
