// 52. Rows are sorted and put back, and summed over: only the sums are reduced
// collective: all_reduce over 4 sends 30
sgd.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<16x5xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %keys: tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> (tensor<16x5xf32>, tensor<5xf32>) {
  %numbers = sgd.iota dimension = 0 : tensor<16xi32>
  %sorted:2 = sgd.sort(%keys, %numbers) dimension = 0 {
  ^bb0(%a: f32, %b: f32, %u: i32, %v: i32):
    %less = arith.cmpf ogt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<16xf32>, tensor<16xi32>) -> (tensor<16xf32>, tensor<16xi32>)
  %taken = sgd.gather %x, %sorted#1 {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 5>} : (tensor<16x5xf32>, tensor<16xi32>) -> tensor<16x5xf32>
  %weights = sgd.broadcast_in_dim %sorted#0 dims = [0] : tensor<16xf32> -> tensor<16x5xf32>
  %y = arith.mulf %taken, %weights : tensor<16x5xf32>
  %sum = sgd.reduce add %y dimensions = [0] : tensor<16x5xf32> -> tensor<5xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x5xf32>
  %out = sgd.scatter set %zeros, %sorted#1, %y {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<16x5xf32>, tensor<16xi32>, tensor<16x5xf32>) -> tensor<16x5xf32>
  return %out, %sum : tensor<16x5xf32>, tensor<5xf32>
}
