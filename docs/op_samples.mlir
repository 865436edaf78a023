// A sample of each op of the graph level that needs attributes, regions or operands of several types: what
// `sgd-opt --op-coverage` tries, to write reference/operations.md. Each function is called like its op.
func.func @arith.bitcast(%x: tensor<8xf32>) -> tensor<8xi32> {
  %0 = arith.bitcast %x : tensor<8xf32> to tensor<8xi32>
  return %0 : tensor<8xi32>
}
func.func @arith.extf(%x: tensor<8xf32>) -> tensor<8xf64> {
  %0 = arith.extf %x : tensor<8xf32> to tensor<8xf64>
  return %0 : tensor<8xf64>
}
func.func @arith.extsi(%x: tensor<8xi8>) -> tensor<8xi32> {
  %0 = arith.extsi %x : tensor<8xi8> to tensor<8xi32>
  return %0 : tensor<8xi32>
}
func.func @arith.extui(%x: tensor<8xi8>) -> tensor<8xi32> {
  %0 = arith.extui %x : tensor<8xi8> to tensor<8xi32>
  return %0 : tensor<8xi32>
}
func.func @arith.sitofp(%x: tensor<8xi32>) -> tensor<8xf32> {
  %0 = arith.sitofp %x : tensor<8xi32> to tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @arith.truncf(%x: tensor<8xf32>) -> tensor<8xbf16> {
  %0 = arith.truncf %x : tensor<8xf32> to tensor<8xbf16>
  return %0 : tensor<8xbf16>
}
func.func @arith.trunci(%x: tensor<8xi32>) -> tensor<8xi8> {
  %0 = arith.trunci %x : tensor<8xi32> to tensor<8xi8>
  return %0 : tensor<8xi8>
}
func.func @arith.uitofp(%x: tensor<8xi32>) -> tensor<8xf32> {
  %0 = arith.uitofp %x : tensor<8xi32> to tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @sgd.cumulative(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = sgd.cumulative add %x dimension = 1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @sgd.fptosi(%x: tensor<8xf32>) -> tensor<8xi32> {
  %0 = sgd.fptosi %x : tensor<8xf32> to tensor<8xi32>
  return %0 : tensor<8xi32>
}
func.func @sgd.fptoui(%x: tensor<8xf32>) -> tensor<8xi32> {
  %0 = sgd.fptoui %x : tensor<8xf32> to tensor<8xi32>
  return %0 : tensor<8xi32>
}
func.func @arith.cmpf(%x: tensor<8xf32>) -> tensor<8xi1> {
  %0 = arith.cmpf olt, %x, %x : tensor<8xf32>
  return %0 : tensor<8xi1>
}
func.func @arith.cmpi(%x: tensor<8xi32>) -> tensor<8xi1> {
  %0 = arith.cmpi slt, %x, %x : tensor<8xi32>
  return %0 : tensor<8xi1>
}
func.func @arith.constant() -> tensor<8xf32> {
  %0 = arith.constant dense<1.0> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @arith.select(%p: tensor<8xi1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = arith.select %p, %x, %x : tensor<8xi1>, tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @math.isfinite(%x: tensor<8xf32>) -> tensor<8xi1> {
  %0 = math.isfinite %x : tensor<8xf32>
  return %0 : tensor<8xi1>
}
func.func @math.isinf(%x: tensor<8xf32>) -> tensor<8xi1> {
  %0 = math.isinf %x : tensor<8xf32>
  return %0 : tensor<8xi1>
}
func.func @math.isnan(%x: tensor<8xf32>) -> tensor<8xi1> {
  %0 = math.isnan %x : tensor<8xf32>
  return %0 : tensor<8xi1>
}
func.func @sgd.broadcast_in_dim(%x: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = sgd.broadcast_in_dim %x dims = [1] : tensor<8xf32> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @sgd.concatenate(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %0 = sgd.concatenate %x, %x dimension = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
func.func @sgd.convolution(%x: tensor<2x8x8x1x4xf32>, %w: tensor<3x3x1x4x8xf32>) -> tensor<2x8x8x1x8xf32> {
  %0 = sgd.convolution %x, %w strides = [1, 1] low = [1, 1] high = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1]
    : tensor<2x8x8x1x4xf32>, tensor<3x3x1x4x8xf32> -> tensor<2x8x8x1x8xf32>
  return %0 : tensor<2x8x8x1x8xf32>
}
func.func @sgd.dot_general(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
func.func @sgd.dynamic_slice(%x: tensor<4x8xf32>, %i: tensor<i32>) -> tensor<4x2xf32> {
  %0 = sgd.dynamic_slice %x, %i, %i sizes = [4, 2] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
func.func @sgd.dynamic_update_slice(%x: tensor<4x8xf32>, %u: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = sgd.dynamic_update_slice %x, %u, %i, %i : (tensor<4x8xf32>, tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @sgd.gather(%x: tensor<16x8xf32>, %i: tensor<4xi32>) -> tensor<4x8xf32> {
  %0 = sgd.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>,
    indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 8>}
    : (tensor<16x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @sgd.iota() -> tensor<4x8xf32> {
  %0 = sgd.iota dimension = 1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @sgd.optimization_barrier(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = sgd.optimization_barrier %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @sgd.pad(%x: tensor<4x8xf32>, %v: tensor<f32>) -> tensor<4x10xf32> {
  %0 = sgd.pad %x, %v low = [0, 1] high = [0, 1] interior = [0, 0] : tensor<4x8xf32>, tensor<f32> -> tensor<4x10xf32>
  return %0 : tensor<4x10xf32>
}
func.func @sgd.reduce(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %0 = sgd.reduce add %x dimensions = [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @sgd.reshape(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %0 = sgd.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
func.func @sgd.reverse(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = sgd.reverse %x dimensions = [1] : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @sgd.summands(%x: tensor<4x8xf32>) -> tensor<2x4x8xf32> {
  %0 = sgd.summands %x : tensor<4x8xf32> -> tensor<2x4x8xf32>
  return %0 : tensor<2x4x8xf32>
}
func.func @sgd.scatter(%x: tensor<16x8xf32>, %i: tensor<4xi32>, %u: tensor<4x8xf32>) -> tensor<16x8xf32> {
  %0 = sgd.scatter add %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
    input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>,
    index_vector_dim = 1 : i64} : (tensor<16x8xf32>, tensor<4xi32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
func.func @sgd.slice(%x: tensor<4x8xf32>) -> tensor<4x3xf32> {
  %0 = sgd.slice %x starts = [0, 1] limits = [4, 7] strides = [1, 2] : tensor<4x8xf32> -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
func.func @sgd.sort(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = sgd.sort(%x) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @sgd.top_k(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
  %0:2 = sgd.top_k %x k = 2 : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return %0#0 : tensor<4x2xf32>
}
func.func @sgd.transpose(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %0 = sgd.transpose %x permutation = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func @sgd.grouped_dot(%x: tensor<64x16xf32>, %w: tensor<4x16x32xf32>, %rows: tensor<64xi32>, %groups: tensor<4xi32>) -> tensor<64x32xf32> {
  %0 = sgd.grouped_dot %x, %w rows = %rows groups = %groups : (tensor<64x16xf32>, tensor<4x16x32xf32>, tensor<64xi32>, tensor<4xi32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}
func.func @sgd.host_call(%x: tensor<8xf32>) -> tensor<8xf32> {
  sgd.host_call "jax.debug.print" 7(%x) : (tensor<8xf32>) -> ()
  return %x : tensor<8xf32>
}
func.func @sgd.linear_algebra(%x: tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2xi32>) {
  %0:2 = sgd.linear_algebra cholesky lower (%x) : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2x4x4xf32>, tensor<2xi32>
}
