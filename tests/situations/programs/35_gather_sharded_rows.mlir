// 35. Rows of a table sharded by rows: offset, mask, and one reduction of what was looked up
// collective: all_reduce over 4 sends 576
// arg1: -3..12
sgd.mesh @mesh = <["x"=4]>
func.func @main(%t: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<6xi32>) -> (tensor<6x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %0 = sgd.gather %t, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 16>} : (tensor<8x16xf32>, tensor<6xi32>) -> tensor<6x16xf32>
  return %0 : tensor<6x16xf32>
}
