// Labels, tiles and stores that do not fit are refused with what was found and what was expected.
// RUN: sgd-opt %s --split-input-file --verify-diagnostics

func.func @missing_cut(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{has 1 cuts where each of 1 loops needs one for each operand and result}}
  %0 = fusion.tiled(%x) loops [4] cuts [0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = fusion.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      fusion.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    fusion.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @empty_loop(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{has an empty loop}}
  %0 = fusion.tiled(%x) loops [0] cuts [0, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = fusion.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      fusion.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    fusion.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @cut_size(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{loop 0 of 4 cannot cut dimension 1 of operand 0: it is cut by another loop or of size 8}}
  %0 = fusion.tiled(%x) loops [4] cuts [1, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = fusion.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      fusion.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    fusion.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @cut_dim(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{loop 0 cuts dimension 2 of result 0, which has rank 2}}
  %0 = fusion.tiled(%x) loops [4] cuts [0, 2] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = fusion.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      fusion.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    fusion.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @uncut_result(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{result 0 is not cut by every loop}}
  %0 = fusion.tiled(%x) loops [4] cuts [0, -1] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = fusion.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      fusion.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    fusion.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @argument_type(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{block argument 0 should have type}}
  %0 = fusion.tiled(%x) loops [4] cuts [-1, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = fusion.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      fusion.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    fusion.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @unknown_result(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fusion.tiled(%x) loops [4] cuts [0, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = fusion.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      fusion.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    // expected-error@+1 {{names the unknown result 1}}
    fusion.tile_store %c to 1 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @outside(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fusion.tiled(%x) loops [4] cuts [0, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = fusion.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      fusion.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    // expected-error@+1 {{does not fit the tile of result 0 along dimension 1}}
    fusion.tile_store %c to 0 at [0, 1] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @stored_argument(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fusion.tiled(%x) loops [4] cuts [0, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = fusion.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      fusion.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    // expected-error@+1 {{stores what is not the result of a contraction or cluster}}
    fusion.tile_store %a to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @stored_twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fusion.tiled(%x) loops [4] cuts [0, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = fusion.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      fusion.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    // expected-error@+1 {{stores a value that is stored twice}}
    fusion.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
    fusion.tile_store %c to 0 at [0, 0] : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @added_kernel(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fusion.tiled(%x) loops [4] cuts [0, 0] {
  ^bb0(%a: tensor<1x8xf32>):
    %c = fusion.cluster(%a) {
    ^bb0(%b: tensor<1x8xf32>):
      %e = math.exp %b : tensor<1x8xf32>
      fusion.yield %e : tensor<1x8xf32>
    } : (tensor<1x8xf32>) -> tensor<1x8xf32>
    // expected-error@+1 {{adds what is not the result of a contraction}}
    fusion.tile_store %c to 0 at [0, 0] add : tensor<1x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @sort_without_memory(%x: tensor<8xf32>) {
  // expected-error@+1 {{needs the operands' types twice as results}}
  %0 = fusion.sort_rows(%x) {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    fusion.yield %less : i1
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @convolve_lists(%x: tensor<2x8x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x6x6xf32> {
  // expected-error @+1 {{lists differ in the number of spatial dimensions}}
  %0 = fusion.convolution %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [0, 0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x4x6xf32> -> tensor<2x6x6xf32>
  return %0 : tensor<2x6x6xf32>
}

// -----

func.func @convolve_dilation(%x: tensor<2x8x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x6x6xf32> {
  // expected-error @+1 {{rhs_dilations not zero}}
  %0 = fusion.convolution %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [1] rhs_dilations = [0] : tensor<2x8x4xf32>, tensor<3x4x6xf32> -> tensor<2x6x6xf32>
  return %0 : tensor<2x6x6xf32>
}

// -----

func.func @convolve_label(%x: tensor<2x8x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x6x6xf32> {
  // expected-error @+1 {{lhs has no dimension 3}}
  %0 = fusion.convolution %x [0, 4, 3], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x4x6xf32> -> tensor<2x6x6xf32>
  return %0 : tensor<2x6x6xf32>
}

// -----

func.func @convolve_unlabelled(%x: tensor<2x8x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x6x6xf32> {
  // expected-error @+1 {{lhs has a dimension of 4 without a label}}
  %0 = fusion.convolution %x [0, 4, -1], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x4x6xf32> -> tensor<2x6x6xf32>
  return %0 : tensor<2x6x6xf32>
}

// -----

func.func @convolve_twice(%x: tensor<2x8x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x6x6xf32> {
  // expected-error @+1 {{rhs names label 2 twice}}
  %0 = fusion.convolution %x [0, 4, 2], %w [4, 2, 2] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x4x6xf32> -> tensor<2x6x6xf32>
  return %0 : tensor<2x6x6xf32>
}

// -----

func.func @convolve_features(%x: tensor<2x8x4xf32>, %w: tensor<3x5x6xf32>) -> tensor<2x6x6xf32> {
  // expected-error @+1 {{operands differ in the number of input features}}
  %0 = fusion.convolution %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x5x6xf32> -> tensor<2x6x6xf32>
  return %0 : tensor<2x6x6xf32>
}

// -----

func.func @convolve_result(%x: tensor<2x8x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x6x7xf32> {
  // expected-error @+1 {{rhs and result differ in the number of output features}}
  %0 = fusion.convolution %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x4x6xf32> -> tensor<2x6x7xf32>
  return %0 : tensor<2x6x7xf32>
}

// -----

func.func @convolve_type(%x: tensor<2x8x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x6x6xf64> {
  // expected-error @+1 {{expected operands of one type and a result of it or of their accumulators}}
  %0 = fusion.convolution %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x4x6xf32> -> tensor<2x6x6xf64>
  return %0 : tensor<2x6x6xf64>
}
