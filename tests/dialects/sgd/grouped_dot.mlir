// RUN: sgd-opt %s -split-input-file -verify-diagnostics

func.func @valid(%x: tensor<64x16xf32>, %y: tensor<64x32xf32>, %w: tensor<4x16x32xf32>, %rows: tensor<64xi32>, %groups: tensor<4xi32>) -> tensor<4x16x32xf32> {
  %0 = sgd.grouped_dot %x, %w rows = %rows groups = %groups : (tensor<64x16xf32>, tensor<4x16x32xf32>, tensor<64xi32>, tensor<4xi32>) -> tensor<64x32xf32>
  %1 = sgd.grouped_dot %x, %y rows = %rows groups = %groups contracted : (tensor<64x16xf32>, tensor<64x32xf32>, tensor<64xi32>, tensor<4xi32>) -> tensor<4x16x32xf32>
  return %1 : tensor<4x16x32xf32>
}

// -----

func.func @shape(%x: tensor<64x16xf32>, %w: tensor<4x16x32xf32>, %rows: tensor<63xi32>, %groups: tensor<4xi32>) {
  // expected-error@+1 {{rows has the shape [63]; expected [64]}}
  %0 = sgd.grouped_dot %x, %w rows = %rows groups = %groups : (tensor<64x16xf32>, tensor<4x16x32xf32>, tensor<63xi32>, tensor<4xi32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @numbers(%x: tensor<64x16xf32>, %w: tensor<4x16x32xf32>, %rows: tensor<64xi64>, %groups: tensor<4xi32>) {
  // expected-error@+1 {{has numbers of groups of type 'tensor<64xi64>'; expected i32}}
  %0 = sgd.grouped_dot %x, %w rows = %rows groups = %groups : (tensor<64x16xf32>, tensor<4x16x32xf32>, tensor<64xi64>, tensor<4xi32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @both(%x: tensor<64x16xf32>, %w: tensor<4x16x32xf32>, %rows: tensor<64xi32>, %groups: tensor<4xi32>) {
  // expected-error@+1 {{is contracted and transposed; expected at most one}}
  %0 = sgd.grouped_dot %x, %w rows = %rows groups = %groups contracted transposed : (tensor<64x16xf32>, tensor<4x16x32xf32>, tensor<64xi32>, tensor<4xi32>) -> tensor<64x32xf32>
  return
}
