// 19. A matmul whose weight is sharded and whose result is not: the weight's columns travel once around, as in a ring
// collective: all_gather over 4 sends 384
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<16x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<64x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<64x16xf32>, tensor<16x8xf32> -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
