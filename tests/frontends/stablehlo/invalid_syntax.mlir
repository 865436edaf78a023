// Malformed text: errors of the parsers.
// RUN: sgd-opt %s -split-input-file -verify-diagnostics

func.func @unknown_op(%x: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'stablehlo.frobnicate' is unknown}}
  stablehlo.frobnicate %x : tensor<4xf32>
}

// -----

func.func @one_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a function type with 2 inputs and one result}}
  %0 = stablehlo.add %x, %x : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

func.func @direction(%x: tensor<4xf32>) {
  // expected-error@+2 {{failed to parse SHLO_ComparisonDirection}}
  // expected-error@+1 {{expected ::mlir::stablehlo::ComparisonDirection to be one of: EQ, NE, GE, GT, LE, LT}}
  %0 = stablehlo.compare LESS, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
}

// -----

func.func @precision(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected DEFAULT, HIGH or HIGHEST}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0], precision = [BEST] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
}

// -----

func.func @dot_field(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected batching_dims, contracting_dims, precision or algorithm}}
  %0 = stablehlo.dot_general %x, %x, contracted = [0] x [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
}

// -----

func.func @dot_struct(%x: tensor<4xf32>) {
  // expected-error@+1 {{unknown field 'lhs_dims'}}
  %0 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_dims = [0]>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
}

// -----

func.func @algorithm(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected lhs_precision_type, rhs_precision_type and accumulation_type}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0], algorithm = <lhs_component_count = 1> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
}

// -----

func.func @format(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a format such as e5m10}}
  %0 = stablehlo.reduce_precision %x, format = bf16 : tensor<4xf32>
}

// -----

func.func @applied(%x: tensor<4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{unknown op 'stablehlo.average'}}
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.average across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
}

// -----

func.func @convolution(%x: tensor<1x4x4x1xf32>) {
  // expected-error@+1 {{expected each of 'b' and 'f' once, and spatial numbers}}
  %0 = stablehlo.convolution(%x, %x) dim_numbers = [b, 0, 1, b]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) -> tensor<1x2x2x1xf32>
}

// -----

func.func @convolution(%x: tensor<1x4x4x1xf32>) {
  // expected-error@+1 {{expected the spatial dimensions to be numbered 0 to 1, each once}}
  %0 = stablehlo.convolution(%x, %x) dim_numbers = [b, 0, 2, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) -> tensor<1x2x2x1xf32>
}

// -----

// expected-error@+1 {{axis "x" is named twice}}
sdy.mesh @mesh = <["x"=2, "x"=2]>

// -----

// expected-error@+1 {{expected a positive size of axis "x"}}
sdy.mesh @mesh = <["x"=0]>

// -----

// expected-error@+1 {{'?' must come last}}
func.func @open(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?, "x"}]>})

// -----

// expected-error@+1 {{expected a priority such as p0}}
func.func @priority(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}q]>})

// -----

// expected-error@+1 {{expected replicated or unreduced}}
func.func @field(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], partial={"x"}>})

// -----

// expected-error@+1 {{expected a sub-axis such as "x":(1)2, its size at least 2}}
func.func @sub_axis(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(0)2}]>})
