// 35. Windows that span two shards, clamped as in the whole table
// collective: all_reduce over 4 sends 1152
// arg1: -3..12
sgd.mesh @mesh = <["x"=4]>
func.func @main(%t: tensor<8x16xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<4xi64>) -> (tensor<4x3x16xi32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>}) {
  %0 = sgd.gather %t, %i {offset_dims = array<i64: 1, 2>, collapsed_slice_dims = array<i64>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 3, 16>} : (tensor<8x16xi32>, tensor<4xi64>) -> tensor<4x3x16xi32>
  return %0 : tensor<4x3x16xi32>
}
