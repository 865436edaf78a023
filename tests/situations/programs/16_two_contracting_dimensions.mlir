// 16. Two contracting dimensions, rows over both wanted: one reduce-scatter over both axes
// collective: reduce_scatter over 4 sends 96
// lower bound: 85
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x4x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}, {"y"}]>}, %b: tensor<4x4x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {"y"}, {}]>}) -> (tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}, {}]>}) {
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1, 2] x [0, 1] : tensor<8x4x4xf32>, tensor<4x4x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
