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

func.func @product(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error@below {{of products has no derivative here; expected sums or extrema}}
  %0 = sgd.cumulative mul %x dimension = 0 : tensor<4xf32>
  %1 = sgd.reduce add %0 dimensions = [0] : tensor<4xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

func.func @values(%x: tensor<4x4xf32>) -> tensor<f32> {
  // expected-error@below {{eigh has no derivative here; expected cholesky or triangular_solve of real matrices}}
  %0, %info = sgd.linear_algebra eigh lower (%x) : (tensor<4x4xf32>) -> (tensor<4xf32>, tensor<i32>)
  %1 = sgd.reduce add %0 dimensions = [0] : tensor<4xf32> -> tensor<f32>
  return %1 : tensor<f32>
}
