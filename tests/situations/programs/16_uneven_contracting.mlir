// 16. Seven contracted elements over four ranks, padding of both operands left out of the sum, rows of five wanted
// collective: reduce_scatter over 4 sends 72
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<5x7xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x", "y"}]>}, %b: tensor<7x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<5x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}, {}]>}) {
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<5x7xf32>, tensor<7x3xf32> -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
