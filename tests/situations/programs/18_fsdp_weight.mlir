// 18. Weight and batch sharded over the same axis: the weight is gathered, not the activations
// collective: all_gather over 4 sends 192
// lower bound: 192
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<16x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<64x16xf32>, tensor<16x4xf32> -> tensor<64x4xf32>
  return %0 : tensor<64x4xf32>
}
