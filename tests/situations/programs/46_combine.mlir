// 46. Two sums over the same axis become one all-reduce
// collective: all_reduce over 4 sends 120
// lower bound: 120
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}, tensor<4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}) {
  %0 = sgd.reduce add %a dimensions = [0] : tensor<8x16xf32> -> tensor<16xf32>
  %1 = sgd.reduce add %b dimensions = [0] : tensor<8x4xf32> -> tensor<4xf32>
  return %0, %1 : tensor<16xf32>, tensor<4xf32>
}
