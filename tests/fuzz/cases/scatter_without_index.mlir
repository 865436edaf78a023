// Updates whose index vectors have no components: there is no index that could say that padding lands nowhere.
sgd.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4x1xf32>, %i: tensor<4x3x0xi32>, %u: tensor<4x3x1xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}, {}]>})
    -> tensor<4x1xf32> {
  %0 = sgd.scatter add %x, %i, %u {update_window_dims = array<i64: 2>, inserted_window_dims = array<i64>,
    input_batching_dims = array<i64: 0>, indices_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64>,
    index_vector_dim = 2 : i64} : (tensor<4x1xf32>, tensor<4x3x0xi32>, tensor<4x3x1xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}
