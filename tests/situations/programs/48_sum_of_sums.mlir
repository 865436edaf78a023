// 48. The sum of two partial values: one all-reduce
// collective: all_reduce over 4 sends 96
// lower bound: 96
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}) {
  %0 = sgd.reduce add %a dimensions = [0] : tensor<8x16xf32> -> tensor<16xf32>
  %1 = sgd.reduce add %b dimensions = [0] : tensor<8x16xf32> -> tensor<16xf32>
  %2 = arith.addf %0, %1 : tensor<16xf32>
  return %2 : tensor<16xf32>
}
