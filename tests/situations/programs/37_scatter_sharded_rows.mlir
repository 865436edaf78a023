// 37. Updates of a table sharded by rows: local offset, nothing is sent
// no collectives
// arg1: -3..12
sgd.mesh @mesh = <["x"=4]>
func.func @main(%t: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<6xi32>, %u: tensor<6x16xf32>) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.scatter set %t, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<8x16xf32>, tensor<6xi32>, tensor<6x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
