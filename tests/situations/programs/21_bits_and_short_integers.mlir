// 21. Reductions that not every target has between ranks: bits are gathered and reduced by each, short integers travel wider
// collective: all_reduce over 4 sends 18, on GPUs: all_gather over 4 sends 36
// collective: all_gather over 4 sends 36
// collective: all_reduce over 4 sends 9, on GPUs: all_reduce over 4 sends 18
// collective: all_reduce over 4 sends 9, on GPUs: all_reduce over 4 sends 18
sgd.mesh @mesh = <["x"=4]>
func.func @main(%i: tensor<7x3xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %s: tensor<7x3xi16> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi16>, tensor<3xi16>) {
  %0 = sgd.reduce or %i dimensions = [0] : tensor<7x3xi32> -> tensor<3xi32>
  %1 = sgd.reduce xor %i dimensions = [0] : tensor<7x3xi32> -> tensor<3xi32>
  %2 = sgd.reduce add %s dimensions = [0] : tensor<7x3xi16> -> tensor<3xi16>
  %3 = sgd.reduce umax %s dimensions = [0] : tensor<7x3xi16> -> tensor<3xi16>
  return %0, %1, %2, %3 : tensor<3xi32>, tensor<3xi32>, tensor<3xi16>, tensor<3xi16>
}
