// 18. A weight of int8 that is converted and scaled before it is used: it travels as int8
// collective: all_gather over 4 sends 60
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<16x5xi8> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %scale: tensor<5xf32>) -> (tensor<64x5xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = arith.sitofp %b : tensor<16x5xi8> to tensor<16x5xf32>
  %1 = sgd.broadcast_in_dim %scale dims = [1] : tensor<5xf32> -> tensor<16x5xf32>
  %2 = arith.mulf %0, %1 : tensor<16x5xf32>
  %3 = sgd.dot_general %a, %2 batching = [] x [] contracting = [1] x [0] : tensor<64x16xf32>, tensor<16x5xf32> -> tensor<64x5xf32>
  return %3 : tensor<64x5xf32>
}
