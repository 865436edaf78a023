// 36. One look-up per row of a batch: nothing is sent
// no collectives
// arg1: -3..20
sgd.mesh @mesh = <["x"=4]>
func.func @main(%t: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<8xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) {
  %0 = sgd.gather %t, %i {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, indices_batching_dims = array<i64: 0>, start_index_map = array<i64: 1>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 1>} : (tensor<8x16xf32>, tensor<8xi32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
