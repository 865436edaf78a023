// An empty update of a sharded dimension: none of its rows could be taken.
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a0: tensor<4x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}, %a1: tensor<2x0xf32>, %a2: tensor<i32>, %a3: tensor<i32>) -> (tensor<4x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) {
  %v0 = sgd.dynamic_update_slice %a0, %a1, %a2, %a3 : (tensor<4x8xf32>, tensor<2x0xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return %v0 : tensor<4x8xf32>
}
