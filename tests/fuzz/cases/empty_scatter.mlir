// No update lies in an empty tensor: a scatter of none beside other ops needs no kernel of its own.
sgd.mesh @mesh = <["x"=2]>
func.func @main(%a0: tensor<4x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %a1: tensor<0x1xi32>, %a2: tensor<0x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %v0 = arith.addf %a0, %a0 : tensor<4x3xf32>
  %v1 = sgd.scatter add %v0, %a1, %a2 {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<4x3xf32>, tensor<0x1xi32>, tensor<0x3xf32>) -> tensor<4x3xf32>
  %v2 = math.exp %v1 : tensor<4x3xf32>
  return %v1, %v2 : tensor<4x3xf32>, tensor<4x3xf32>
}
