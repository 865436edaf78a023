// 38. Updates sharded: local maxima, the initial value once, and a reduction of that kind
// collective: all_reduce over 4 sends 768
// arg1: -3..12
// arg2: -2..2
sgd.mesh @mesh = <["x"=4]>
func.func @main(%t: tensor<8x16xi32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}, %i: tensor<12xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}, %u: tensor<12x16xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x16xi32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %0 = sgd.scatter max %t, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<8x16xi32>, tensor<12xi32>, tensor<12x16xi32>) -> tensor<8x16xi32>
  return %0 : tensor<8x16xi32>
}
