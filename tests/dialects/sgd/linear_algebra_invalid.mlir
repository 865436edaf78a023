// RUN: sgd-opt %s -split-input-file -verify-diagnostics

func.func @not_square(%a: tensor<4x5xf32>) {
  // expected-error@+1 {{is cholesky of 4 rows and 5 columns, not a square}}
  %0:2 = sgd.linear_algebra cholesky (%a) : (tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<i32>)
  return
}

// -----

func.func @option(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{is lu with options that it has not}}
  %0:3 = sgd.linear_algebra lu full (%a) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>)
  return
}

// -----

func.func @operands(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{has other operands than triangular_solve on a batch of matrices}}
  %0 = sgd.linear_algebra triangular_solve (%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @batch(%a: tensor<3x4x4xf32>, %b: tensor<2x4x1xf32>) {
  // expected-error@+1 {{has 'tensor<3x4x4xf32>' as operand 0, a; expected 'tensor<2x4x4xf32>'; convert or reshape it}}
  %0 = sgd.linear_algebra triangular_solve (%a, %b) : (tensor<3x4x4xf32>, tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  return
}

// -----

func.func @results(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{has 2 results; expected 3; give as many}}
  %0:2 = sgd.linear_algebra eigh vectors (%a) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @element(%a: tensor<4x4xbf16>) {
  // expected-error@+1 {{has elements of 'bf16'; expected f32 or f64; convert them}}
  %0:2 = sgd.linear_algebra cholesky (%a) : (tensor<4x4xbf16>) -> (tensor<4x4xbf16>, tensor<i32>)
  return
}
