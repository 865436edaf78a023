// 52. Rows are sorted by expert, multiplied with the weights of their groups and put back: only the counts are reduced
// collective: all_reduce over 4 sends 18
sgd.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<8x5xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %scores: tensor<8x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<3x5x7xf32>) -> (tensor<16x7xf32>, tensor<3xi32>) {
  %values, %experts = sgd.top_k %scores k = 2 : (tensor<8x3xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
  %keys = sgd.reshape %experts : tensor<8x2xi32> -> tensor<16xi32>
  %numbers = sgd.iota dimension = 0 : tensor<16xi32>
  %sorted:2 = sgd.sort(%keys, %numbers) dimension = 0 {
  ^bb0(%a: i32, %b: i32, %u: i32, %v: i32):
    %less = arith.cmpi slt, %a, %b : i32
    sgd.yield %less : i1
  } : (tensor<16xi32>, tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>)
  %back:2 = sgd.sort(%sorted#1, %numbers) dimension = 0 {
  ^bb0(%a: i32, %b: i32, %u: i32, %v: i32):
    %less = arith.cmpi slt, %a, %b : i32
    sgd.yield %less : i1
  } : (tensor<16xi32>, tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>)
  %two = arith.constant dense<2> : tensor<16xi32>
  %tokens = sgd.divsi %sorted#1, %two : tensor<16xi32>
  %taken = sgd.gather %x, %tokens {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 5>} : (tensor<8x5xf32>, tensor<16xi32>) -> tensor<16x5xf32>
  %zeros = arith.constant dense<0> : tensor<3xi32>
  %ones = arith.constant dense<1> : tensor<16xi32>
  %sizes = sgd.scatter add %zeros, %keys, %ones {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<3xi32>, tensor<16xi32>, tensor<16xi32>) -> tensor<3xi32>
  %ends = sgd.cumulative add %sizes dimension = 0 : tensor<3xi32>
  %spread = sgd.broadcast_in_dim %ends dims = [0] : tensor<3xi32> -> tensor<3x16xi32>
  %position = sgd.iota dimension = 1 : tensor<3x16xi32>
  %behind = arith.cmpi sle, %spread, %position : tensor<3x16xi32>
  %one = arith.extui %behind : tensor<3x16xi1> to tensor<3x16xi32>
  %row = sgd.reduce add %one dimensions = [0] : tensor<3x16xi32> -> tensor<16xi32>
  %groups = sgd.iota dimension = 0 : tensor<3xi32>
  %y = sgd.grouped_dot %taken, %w rows = %row groups = %groups : (tensor<16x5xf32>, tensor<3x5x7xf32>, tensor<16xi32>, tensor<3xi32>) -> tensor<16x7xf32>
  %out = sgd.gather %y, %back#1 {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 7>} : (tensor<16x7xf32>, tensor<16xi32>) -> tensor<16x7xf32>
  return %out, %sizes : tensor<16x7xf32>, tensor<3xi32>
}
