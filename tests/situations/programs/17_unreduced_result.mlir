// 17. A matmul constrained to be unreduced: linear ops run on each rank's partial value, and the small result is reduced
// collective: all_reduce over 4 sends 24
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<16x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}) {
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
  %1 = sgd.sharding_constraint %0 <@mesh, [{}, {}], unreduced={"x"}> : tensor<8x4xf32>
  %2 = sgd.reduce add %1 dimensions = [0] : tensor<8x4xf32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
