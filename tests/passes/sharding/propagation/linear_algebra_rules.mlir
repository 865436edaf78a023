// RUN: sgd-opt %s --sgd-print-sharding-rules --split-input-file --verify-diagnostics -o /dev/null

func.func @eigh(%a: tensor<8x4x4xf32>) {
  // expected-remark @below {{([i, j, k]) -> [i, l, m], [i, n], [i] i=8 j=4:whole k=4:whole l=4:whole m=4:whole n=4:whole}}
  %0:3 = sgd.linear_algebra eigh lower vectors (%a) : (tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8x4xf32>, tensor<8xi32>)
  return
}

// -----

// Columns of the right-hand side are independent.
func.func @solve(%a: tensor<8x4x4xf32>, %b: tensor<8x4x6xf32>) {
  // expected-remark @below {{([i, j, k], [i, l, m]) -> [i, n, m] i=8 j=4:whole k=4:whole l=4:whole m=6 n=4:whole}}
  %0 = sgd.linear_algebra triangular_solve lower (%a, %b) : (tensor<8x4x4xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
  return
}

// -----

// From the right, its rows.
func.func @solve_right(%a: tensor<4x4xf32>, %b: tensor<6x4xf32>) {
  // expected-remark @below {{([i, j], [k, l]) -> [k, m] i=4:whole j=4:whole k=6 l=4:whole m=4:whole}}
  %0 = sgd.linear_algebra triangular_solve lower right (%a, %b) : (tensor<4x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}
