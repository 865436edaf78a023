// 36. One update per row of a batch: nothing is sent
// no collectives
// arg1: -3..20
sgd.mesh @mesh = <["x"=4]>
func.func @main(%t: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<8xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}, %u: tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.scatter add %t, %i, %u {update_window_dims = array<i64>, inserted_window_dims = array<i64: 1>, input_batching_dims = array<i64: 0>, indices_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, index_vector_dim = 1 : i64} : (tensor<8x16xf32>, tensor<8xi32>, tensor<8xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
