// 21. Reductions over seven elements on four ranks: each kind leaves padding out
// collective: all_reduce over 4 sends 18
// collective: all_reduce over 4 sends 18
// collective: all_reduce over 4 sends 18
// collective: all_reduce over 4 sends 18, on GPUs: all_gather over 4 sends 36
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<7x3xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>, tensor<7xf32>) {
  %0 = sgd.reduce add %a dimensions = [0] : tensor<7x3xf32> -> tensor<3xf32>
  %1 = sgd.reduce max %a dimensions = [0] : tensor<7x3xf32> -> tensor<3xf32>
  %2 = sgd.reduce mul %a dimensions = [0] : tensor<7x3xf32> -> tensor<3xf32>
  %3 = sgd.reduce and %i dimensions = [0] : tensor<7x3xi32> -> tensor<3xi32>
  %4 = sgd.reduce add %a dimensions = [1] : tensor<7x3xf32> -> tensor<7xf32>
  return %0, %1, %2, %3, %4 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>, tensor<7xf32>
}
