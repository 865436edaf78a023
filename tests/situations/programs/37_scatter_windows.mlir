// 37. Windows of updates that span two shards, dropped as a whole where they do not fit: nothing is sent
// no collectives
// arg1: -3..12
sgd.mesh @mesh = <["x"=4]>
func.func @main(%t: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<5xi32>, %u: tensor<5x3x4xf32>) -> (tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.scatter add %t, %i, %u {update_window_dims = array<i64: 1, 2>, inserted_window_dims = array<i64>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<8x4xf32>, tensor<5xi32>, tensor<5x3x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
