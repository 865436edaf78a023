// RUN: sgd-opt %s --sgd-differentiate --split-input-file --verify-diagnostics

// expected-error@below {{@vector has 'tensor<4xf32>' as result 0, and a gradient is that of one number; expected a scalar of floats; sum it up or name another one}}
func.func @vector(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@below {{@nothing has 0 results, and result 0 is to be differentiated; expected one that there is; name another one}}
func.func @nothing(%x: tensor<4xf32>) {
  return
}

// -----

func.func @open_loop(%x: tensor<f32>, %most: tensor<f32>) -> tensor<f32> {
  // expected-error@below {{has no known number of trips, so its gradient cannot store the values that it reads; expected a fixed number of trips}}
  %0:2 = sgd.while (%x, %most) while {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %less = arith.cmpf olt, %a, %b : tensor<f32>
    sgd.yield %less : tensor<i1>
  } do {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %next = arith.addf %a, %a : tensor<f32>
    sgd.yield %next, %b : tensor<f32>, tensor<f32>
  } : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#0 : tensor<f32>
}

// -----

func.func @vectors(%x: tensor<4x4xf32>) -> tensor<f32> {
  // expected-error@below {{eig has no derivative of vectors; expected uses of the values alone; use eigh}}
  %0:5 = sgd.linear_algebra eig vectors (%x) : (tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<i32>)
  %1 = sgd.reduce add %0#2 dimensions = [0, 1] : tensor<4x4xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

func.func @schur(%x: tensor<4x4xf32>) -> tensor<f32> {
  // expected-error@below {{schur has no derivative here; expected a decomposition with one, as eigh, svd, qr or lu; use one of them}}
  %0:4 = sgd.linear_algebra schur (%x) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>)
  %1 = sgd.reduce add %0#0 dimensions = [0, 1] : tensor<4x4xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

func.func @full_vectors(%x: tensor<4x3xf32>) -> tensor<f32> {
  // expected-error@below {{svd has no derivative of full vectors; expected the reduced form; ask for it}}
  %0:4 = sgd.linear_algebra svd vectors full (%x) : (tensor<4x3xf32>) -> (tensor<3xf32>, tensor<4x4xf32>, tensor<3x3xf32>, tensor<i32>)
  %1 = sgd.reduce add %0#1 dimensions = [0, 1] : tensor<4x4xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

func.func @reflectors(%x: tensor<4x3xf32>) -> tensor<f32> {
  // expected-error@below {{qr has no derivative by its reflectors here; expected uses of the upper triangle and of householder_product; take the upper triangle first}}
  %0:2 = sgd.linear_algebra qr (%x) : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
  %1 = sgd.reduce add %0#0 dimensions = [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

func.func @foreign_reflectors(%x: tensor<4x3xf32>, %taus: tensor<3xf32>) -> tensor<f32> {
  // expected-error@below {{householder_product has no derivative by reflectors that no decomposition made; expected those of qr; decompose a matrix}}
  %0 = sgd.linear_algebra householder_product (%x, %taus) : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %1 = sgd.reduce add %0 dimensions = [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

func.func @all_of_q(%x: tensor<4x3xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0:2 = sgd.linear_algebra qr (%x) : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
  %1 = sgd.pad %0#0, %zero low = [0, 0] high = [0, 1] interior = [0, 0] : tensor<4x3xf32>, tensor<f32> -> tensor<4x4xf32>
  // expected-error@below {{householder_product has no derivative for all columns of q; expected as many columns as the matrix has, or rows if these are fewer; ask for the reduced form}}
  %2 = sgd.linear_algebra householder_product (%1, %0#1) : (tensor<4x4xf32>, tensor<3xf32>) -> tensor<4x4xf32>
  %3 = sgd.reduce add %2 dimensions = [0, 1] : tensor<4x4xf32> -> tensor<f32>
  return %3 : tensor<f32>
}

// -----

func.func @product_of_q(%x: tensor<4x3xf32>) -> tensor<f32> {
  %0:2 = sgd.linear_algebra qr (%x) : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
  // expected-error@below {{householder_multiply has no derivative by reflectors here; expected a product with the matrix q that householder_product makes; multiply with it}}
  %1 = sgd.linear_algebra householder_multiply (%0#0, %0#1, %x) : (tensor<4x3xf32>, tensor<3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %2 = sgd.reduce add %1 dimensions = [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %2 : tensor<f32>
}
