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
