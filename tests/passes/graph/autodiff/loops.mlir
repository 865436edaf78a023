// RUN: sgd-opt %s --sgd-differentiate --canonicalize | FileCheck %s

// The backward loop reads each row of %w again and stores the row's gradient without adding it to anything. It stacks the state %s alone.
// CHECK-LABEL: func.func @scan
// CHECK: sgd.while({{.*}}) trips 3 do
// CHECK: sgd.dynamic_update_slice
// CHECK: sgd.dynamic_slice
// CHECK-NOT: sgd.dynamic_update_slice
// CHECK: sgd.yield
// CHECK: sgd.while({{.*}}) trips 3 do
// CHECK-COUNT-2: sgd.dynamic_slice
// CHECK-NOT: sgd.dynamic_slice
// CHECK: sgd.dynamic_update_slice
// CHECK-NOT: sgd.dynamic_update_slice
// CHECK: sgd.yield
func.func @scan(%x: tensor<4xf32>, %w: tensor<3x4xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %0:3 = sgd.while (%zero, %x, %w) trips 3 do {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf32>, %rows: tensor<3x4xf32>):
    %one = arith.constant dense<1> : tensor<i32>
    %first = arith.constant dense<0> : tensor<i32>
    %next = arith.addi %i, %one : tensor<i32>
    %row = sgd.dynamic_slice %rows, %i, %first sizes = [1, 4] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %r = sgd.reshape %row : tensor<1x4xf32> -> tensor<4xf32>
    %t = arith.mulf %s, %r : tensor<4xf32>
    sgd.yield %next, %t, %rows : tensor<i32>, tensor<4xf32>, tensor<3x4xf32>
  } : (tensor<i32>, tensor<4xf32>, tensor<3x4xf32>) -> (tensor<i32>, tensor<4xf32>, tensor<3x4xf32>)
  %loss = sgd.reduce add %0#1 dimensions = [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// What is marked counts as a constant, and so does what is flat.
// CHECK-LABEL: func.func @constants
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<f32>
// CHECK: return {{.*}}, %[[ZERO]] : tensor<f32>, tensor<f32>
func.func @constants(%x: tensor<f32>) -> tensor<f32> {
  %0 = math.exp %x {sgd.no_gradient} : tensor<f32>
  %1 = math.floor %x : tensor<f32>
  %2 = arith.addf %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}
