// 17. Two matmuls constrained to be unreduced: one reduce-scatter of their sum
// collective: reduce_scatter over 4 sends 96
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<16x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %c: tensor<16x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
  %1 = sgd.sharding_constraint %0 <@mesh, [{}, {}], unreduced={"x"}> : tensor<8x4xf32>
  %2 = sgd.dot_general %a, %c batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
  %3 = sgd.sharding_constraint %2 <@mesh, [{}, {}], unreduced={"x"}> : tensor<8x4xf32>
  %4 = arith.addf %1, %3 : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}
