// Shapes and shardings that do not fit are refused with what was found and what was expected.
// RUN: sgd-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{mesh axis "x" is named twice}}
sgd.mesh @mesh = <["x"=2, "x"=3]>

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @axis(%a: tensor<8xf32>) {
  // expected-error@+1 {{sharding names the unknown axis "y"}}
  %0 = sgd.sharding_constraint %a <@mesh, [{"y"}]> : tensor<8xf32>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @twice(%a: tensor<8x8xf32>) {
  // expected-error@+1 {{sharding uses axis "x" twice}}
  %0 = sgd.sharding_constraint %a <@mesh, [{"x"}, {"x":(2)2}]> : tensor<8x8xf32>
  return
}

// -----

func.func @dot(%a: tensor<8x4xf32>, %b: tensor<5x3xf32>) {
  // expected-error@+1 {{lhs dimension 1 (size 4) meets rhs dimension 0 (size 5)}}
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<8x4xf32>, tensor<5x3xf32> -> tensor<8x3xf32>
  return
}

// -----

func.func @convolution_result(%x: tensor<2x8x1x3xf32>, %w: tensor<3x1x3x4xf32>) {
  // expected-error@+1 {{result shape should be [2, 3, 1, 4]}}
  %0 = sgd.convolution %x, %w strides = [3] low = [1] high = [1] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x1x3xf32>, tensor<3x1x3x4xf32> -> tensor<2x4x1x4xf32>
  return
}

// -----

func.func @convolution_features(%x: tensor<2x8x1x3xf32>, %w: tensor<3x1x2x4xf32>) {
  // expected-error@+1 {{operands have different numbers of input features}}
  %0 = sgd.convolution %x, %w strides = [1] low = [1] high = [1] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x1x3xf32>, tensor<3x1x2x4xf32> -> tensor<2x8x1x4xf32>
  return
}

// -----

func.func @slice(%a: tensor<8xf32>) {
  // expected-error@+1 {{dimension 0: [2:9:1] does not lie in size 8}}
  %0 = sgd.slice %a starts = [2] limits = [9] strides = [1] : tensor<8xf32> -> tensor<7xf32>
  return
}

// -----

func.func @missing_cut(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{has 1 cuts where each of 1 loops needs one for each operand and result}}
  %0 = sgd.tiled(%x) loops [4] cuts [0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = sgd.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      sgd.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    sgd.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @empty_loop(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{has an empty loop}}
  %0 = sgd.tiled(%x) loops [0] cuts [0, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = sgd.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      sgd.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    sgd.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @cut_size(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{loop 0 of 4 cannot cut dimension 1 of operand 0: it is cut by another loop or of size 8}}
  %0 = sgd.tiled(%x) loops [4] cuts [1, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = sgd.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      sgd.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    sgd.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @cut_dim(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{loop 0 cuts dimension 2 of result 0, which has rank 2}}
  %0 = sgd.tiled(%x) loops [4] cuts [0, 2] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = sgd.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      sgd.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    sgd.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @uncut_result(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{result 0 is not cut by every loop}}
  %0 = sgd.tiled(%x) loops [4] cuts [0, -1] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = sgd.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      sgd.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    sgd.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @argument_type(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{block argument 0 should have type}}
  %0 = sgd.tiled(%x) loops [4] cuts [-1, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = sgd.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      sgd.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    sgd.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @unknown_result(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = sgd.tiled(%x) loops [4] cuts [0, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = sgd.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      sgd.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    // expected-error@+1 {{names the unknown result 1}}
    sgd.tile_store %c to 1 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @outside(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = sgd.tiled(%x) loops [4] cuts [0, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = sgd.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      sgd.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    // expected-error@+1 {{does not fit the tile of result 0 along dimension 1}}
    sgd.tile_store %c to 0 at [0, 1] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @stored_argument(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = sgd.tiled(%x) loops [4] cuts [0, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = sgd.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      sgd.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    // expected-error@+1 {{stores what is not the result of a contraction or cluster}}
    sgd.tile_store %a to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @stored_twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = sgd.tiled(%x) loops [4] cuts [0, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = sgd.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      sgd.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    // expected-error@+1 {{stores a value that is stored twice}}
    sgd.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
    sgd.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @added_kernel(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = sgd.tiled(%x) loops [4] cuts [0, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = sgd.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      sgd.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    // expected-error@+1 {{adds what is not the result of a contraction}}
    sgd.tile_store %c to 0 at [0, 0] add : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @comparator_arguments(%x: tensor<8xf32>, %y: tensor<8xi32>) {
  // expected-error@+1 {{argument 2 of the comparator is 'f32', operand 1 holds 'i32'}}
  %0:2 = sgd.sort(%x, %y) dimension = 0 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: i32):
    %less = arith.cmpf olt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  return
}

// -----

func.func @comparator_result(%x: tensor<8xf32>) {
  // expected-error@+1 {{comparator must yield one i1}}
  %0 = sgd.sort(%x) dimension = 0 {
  ^bb0(%a: f32, %b: f32):
    sgd.yield %a : f32
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @sort_dimension(%x: tensor<8xf32>) {
  // expected-error@+1 {{dimension 1 is not in [0, 1)}}
  %0 = sgd.sort(%x) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @sort_without_memory(%x: tensor<8xf32>) {
  // expected-error@+1 {{needs the operands' types twice as results}}
  %0 = sgd.sort_rows(%x) {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @too_many(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{cannot choose 5 of 4 elements}}
  %0:2 = sgd.top_k %x k = 5 : (tensor<8x4xf32>) -> (tensor<8x5xf32>, tensor<8x5xi32>)
  return
}

// -----

func.func @convolve_lists(%x: tensor<2x8x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x6x6xf32> {
  // expected-error @+1 {{lists differ in the number of spatial dimensions}}
  %0 = sgd.convolve %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [0, 0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x4x6xf32> -> tensor<2x6x6xf32>
  return %0 : tensor<2x6x6xf32>
}

// -----

func.func @convolve_dilation(%x: tensor<2x8x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x6x6xf32> {
  // expected-error @+1 {{rhs_dilations not zero}}
  %0 = sgd.convolve %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [1] rhs_dilations = [0] : tensor<2x8x4xf32>, tensor<3x4x6xf32> -> tensor<2x6x6xf32>
  return %0 : tensor<2x6x6xf32>
}

// -----

func.func @convolve_label(%x: tensor<2x8x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x6x6xf32> {
  // expected-error @+1 {{lhs has no dimension 3}}
  %0 = sgd.convolve %x [0, 4, 3], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x4x6xf32> -> tensor<2x6x6xf32>
  return %0 : tensor<2x6x6xf32>
}

// -----

func.func @convolve_unlabelled(%x: tensor<2x8x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x6x6xf32> {
  // expected-error @+1 {{lhs has a dimension of 4 without a label}}
  %0 = sgd.convolve %x [0, 4, -1], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x4x6xf32> -> tensor<2x6x6xf32>
  return %0 : tensor<2x6x6xf32>
}

// -----

func.func @convolve_twice(%x: tensor<2x8x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x6x6xf32> {
  // expected-error @+1 {{rhs names label 2 twice}}
  %0 = sgd.convolve %x [0, 4, 2], %w [4, 2, 2] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x4x6xf32> -> tensor<2x6x6xf32>
  return %0 : tensor<2x6x6xf32>
}

// -----

func.func @convolve_features(%x: tensor<2x8x4xf32>, %w: tensor<3x5x6xf32>) -> tensor<2x6x6xf32> {
  // expected-error @+1 {{operands differ in the number of input features}}
  %0 = sgd.convolve %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x5x6xf32> -> tensor<2x6x6xf32>
  return %0 : tensor<2x6x6xf32>
}

// -----

func.func @convolve_result(%x: tensor<2x8x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x6x7xf32> {
  // expected-error @+1 {{rhs and result differ in the number of output features}}
  %0 = sgd.convolve %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x4x6xf32> -> tensor<2x6x7xf32>
  return %0 : tensor<2x6x7xf32>
}

// -----

func.func @convolve_type(%x: tensor<2x8x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x6x6xf64> {
  // expected-error @+1 {{a result of the type of their sums}}
  %0 = sgd.convolve %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x4x6xf32> -> tensor<2x6x6xf64>
  return %0 : tensor<2x6x6xf64>
}

// -----

func.func @gather_collapses_a_batching_dimension(%w: tensor<4x16xf32>, %i: tensor<4x1xi32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{collapsed or inserted, and batching dimensions must be distinct dimensions in [0, 2), has 0}}
  %0 = sgd.gather %w, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64: 0>, indices_batching_dims = array<i64: 0>, start_index_map = array<i64: 1>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 16>} : (tensor<4x16xf32>, tensor<4x1xi32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

func.func @gather_indexes_a_batching_dimension(%w: tensor<4x16xf32>, %i: tensor<4x1xi32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{indexed and batching dimensions must be distinct dimensions in [0, 2), has 0}}
  %0 = sgd.gather %w, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, operand_batching_dims = array<i64: 0>, indices_batching_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 16>} : (tensor<4x16xf32>, tensor<4x1xi32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

func.func @gather_batches_of_two_sizes(%w: tensor<4x16xf32>, %i: tensor<3x1xi32>) -> tensor<3x16xf32> {
  // expected-error @+1 {{batching dimensions 0 of the operand and 0 of the indices differ in size}}
  %0 = sgd.gather %w, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, operand_batching_dims = array<i64: 0>, indices_batching_dims = array<i64: 0>, start_index_map = array<i64: 1>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 16>} : (tensor<4x16xf32>, tensor<3x1xi32>) -> tensor<3x16xf32>
  return %0 : tensor<3x16xf32>
}

// -----

func.func @gather_batches_index_vectors(%w: tensor<1x16xf32>, %i: tensor<3x1xi32>) -> tensor<3x16xf32> {
  // expected-error @+1 {{index_vector_dim 1 is a batching dimension}}
  %0 = sgd.gather %w, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, operand_batching_dims = array<i64: 0>, indices_batching_dims = array<i64: 1>, start_index_map = array<i64: 1>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 16>} : (tensor<1x16xf32>, tensor<3x1xi32>) -> tensor<3x16xf32>
  return %0 : tensor<3x16xf32>
}
