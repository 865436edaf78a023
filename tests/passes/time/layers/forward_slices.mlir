// RUN: sgd-opt %s --sgd-forward-slices --split-input-file | FileCheck %s

// An unrolled scan and its backward pass: the stack is gone.
// CHECK-LABEL: @stack
// CHECK-NOT: sgd.dynamic_update_slice
// CHECK: %[[FIRST:.*]] = math.sin %arg0
// CHECK: %[[SECOND:.*]] = math.sin %[[FIRST]]
// CHECK-NOT: sgd.slice
// CHECK: %[[SUM:.*]] = arith.addf %[[SECOND]], %[[FIRST]]
// CHECK: return %[[SUM]]
func.func @stack(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant dense<0> : tensor<i32>
  %c1 = arith.constant dense<1> : tensor<i32>
  %zeros = arith.constant dense<0.0> : tensor<2x4xf32>
  %a = math.sin %x : tensor<4xf32>
  %ra = sgd.broadcast_in_dim %a dims = [1] : tensor<4xf32> -> tensor<1x4xf32>
  %0 = sgd.dynamic_update_slice %zeros, %ra, %c0, %c0 : (tensor<2x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  %b = math.sin %a : tensor<4xf32>
  %rb = sgd.reshape %b : tensor<4xf32> -> tensor<1x4xf32>
  %1 = sgd.dynamic_update_slice %0, %rb, %c1, %c0 : (tensor<2x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  %s1 = sgd.slice %1 starts = [1, 0] limits = [2, 4] strides = [1, 1] : tensor<2x4xf32> -> tensor<1x4xf32>
  %t1 = sgd.reshape %s1 : tensor<1x4xf32> -> tensor<4xf32>
  %s0 = sgd.slice %1 starts = [0, 0] limits = [1, 4] strides = [1, 1] : tensor<2x4xf32> -> tensor<1x4xf32>
  %t0 = sgd.reshape %s0 : tensor<1x4xf32> -> tensor<4xf32>
  %sum = arith.addf %t1, %t0 : tensor<4xf32>
  return %sum : tensor<4xf32>
}

// -----

// Parts of an update, and what was there before.
// CHECK-LABEL: @parts
// CHECK-NOT: sgd.dynamic_update_slice
// CHECK: sgd.slice %arg1 starts = [0, 1] limits = [1, 3]
// CHECK: sgd.slice %arg0 starts = [3, 0] limits = [4, 2]
func.func @parts(%old: tensor<4x4xf32>, %rows: tensor<2x4xf32>) -> tensor<1x2xf32> {
  %c0 = arith.constant dense<0> : tensor<i32>
  %c1 = arith.constant dense<1> : tensor<i32>
  %new = sgd.dynamic_update_slice %old, %rows, %c1, %c0 : (tensor<4x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  %a = sgd.slice %new starts = [1, 1] limits = [2, 3] strides = [1, 1] : tensor<4x4xf32> -> tensor<1x2xf32>
  %b = sgd.slice %new starts = [3, 0] limits = [4, 2] strides = [1, 1] : tensor<4x4xf32> -> tensor<1x2xf32>
  %sum = arith.addf %a, %b : tensor<1x2xf32>
  return %sum : tensor<1x2xf32>
}

// -----

// Columns: dimensions that an update covers need not be the last ones.
// CHECK-LABEL: @columns
// CHECK-NOT: sgd.dynamic_update_slice
// CHECK: %[[SUM:.*]] = arith.addf %arg1, %arg0
func.func @columns(%x: tensor<4x1xf32>, %y: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %c0 = arith.constant dense<0> : tensor<i32>
  %c1 = arith.constant dense<1> : tensor<i32>
  %zeros = arith.constant dense<0.0> : tensor<4x2xf32>
  %0 = sgd.dynamic_update_slice %zeros, %x, %c0, %c0 : (tensor<4x2xf32>, tensor<4x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  %1 = sgd.dynamic_update_slice %0, %y, %c0, %c1 : (tensor<4x2xf32>, tensor<4x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  %a = sgd.slice %1 starts = [0, 1] limits = [4, 2] strides = [1, 1] : tensor<4x2xf32> -> tensor<4x1xf32>
  %b = sgd.slice %1 starts = [0, 0] limits = [4, 1] strides = [1, 1] : tensor<4x2xf32> -> tensor<4x1xf32>
  %sum = arith.addf %a, %b : tensor<4x1xf32>
  return %sum : tensor<4x1xf32>
}

// -----

// A stack of stacks, as a scan in a scan leaves it.
// CHECK-LABEL: @nested
// CHECK-NOT: sgd.dynamic_update_slice
// CHECK: %[[X:.*]] = math.sin %arg0
// CHECK: return %[[X]]
func.func @nested(%in: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant dense<0> : tensor<i32>
  %c1 = arith.constant dense<1> : tensor<i32>
  %inner = arith.constant dense<0.0> : tensor<2x4xf32>
  %outer = arith.constant dense<0.0> : tensor<3x2x4xf32>
  %x = math.sin %in : tensor<4xf32>
  %row = sgd.reshape %x : tensor<4xf32> -> tensor<1x4xf32>
  %0 = sgd.dynamic_update_slice %inner, %row, %c1, %c0 : (tensor<2x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  %slab = sgd.broadcast_in_dim %0 dims = [1, 2] : tensor<2x4xf32> -> tensor<1x2x4xf32>
  %1 = sgd.dynamic_update_slice %outer, %slab, %c1, %c0, %c0 : (tensor<3x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x2x4xf32>
  %s = sgd.slice %1 starts = [1, 0, 0] limits = [2, 2, 4] strides = [1, 1, 1] : tensor<3x2x4xf32> -> tensor<1x2x4xf32>
  %t = sgd.reshape %s : tensor<1x2x4xf32> -> tensor<2x4xf32>
  %u = sgd.slice %t starts = [1, 0] limits = [2, 4] strides = [1, 1] : tensor<2x4xf32> -> tensor<1x4xf32>
  %v = sgd.reshape %u : tensor<1x4xf32> -> tensor<4xf32>
  return %v : tensor<4xf32>
}

// -----

// A row that is written again later: each version has its own.
// CHECK-LABEL: @versions
// CHECK-NOT: sgd.dynamic_update_slice
// CHECK: arith.subf %arg0, %arg1
func.func @versions(%x: tensor<1x4xf32>, %y: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %c0 = arith.constant dense<0> : tensor<i32>
  %zeros = arith.constant dense<0.0> : tensor<2x4xf32>
  %0 = sgd.dynamic_update_slice %zeros, %x, %c0, %c0 : (tensor<2x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  %1 = sgd.dynamic_update_slice %0, %y, %c0, %c0 : (tensor<2x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  %a = sgd.slice %0 starts = [0, 0] limits = [1, 4] strides = [1, 1] : tensor<2x4xf32> -> tensor<1x4xf32>
  %b = sgd.slice %1 starts = [0, 0] limits = [1, 4] strides = [1, 1] : tensor<2x4xf32> -> tensor<1x4xf32>
  %d = arith.subf %a, %b : tensor<1x4xf32>
  return %d : tensor<1x4xf32>
}

// -----

// The stack is returned too: its rows stay in it. So does one whose rows are read together, and one that is written at an unknown position.
// CHECK-LABEL: @kept
// CHECK-COUNT-2: sgd.slice
// CHECK-NOT: sgd.slice
func.func @kept(%x: tensor<1x4xf32>, %p: tensor<i32>) -> (tensor<2x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %c0 = arith.constant dense<0> : tensor<i32>
  %c1 = arith.constant dense<1> : tensor<i32>
  %zeros = arith.constant dense<0.0> : tensor<2x4xf32>
  %0 = sgd.dynamic_update_slice %zeros, %x, %c0, %c0 : (tensor<2x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  %a = sgd.slice %0 starts = [0, 0] limits = [1, 4] strides = [1, 1] : tensor<2x4xf32> -> tensor<1x4xf32>
  %1 = sgd.dynamic_update_slice %zeros, %x, %c1, %c0 : (tensor<2x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  %2 = sgd.dynamic_update_slice %1, %x, %p, %c0 : (tensor<2x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  %b = sgd.slice %2 starts = [1, 0] limits = [2, 4] strides = [1, 1] : tensor<2x4xf32> -> tensor<1x4xf32>
  return %0, %a, %b : tensor<2x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}

// -----

// A slice of two updates keeps the chain, and with it the slice of one.
// CHECK-LABEL: @across
// CHECK-COUNT-2: sgd.dynamic_update_slice
// CHECK: sgd.slice {{.*}} starts = [0, 0] limits = [2, 4]
// CHECK: sgd.slice {{.*}} starts = [0, 0] limits = [1, 4]
func.func @across(%x: tensor<1x4xf32>, %y: tensor<1x4xf32>) -> (tensor<2x4xf32>, tensor<1x4xf32>) {
  %c0 = arith.constant dense<0> : tensor<i32>
  %c1 = arith.constant dense<1> : tensor<i32>
  %zeros = arith.constant dense<0.0> : tensor<3x4xf32>
  %0 = sgd.dynamic_update_slice %zeros, %x, %c0, %c0 : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
  %1 = sgd.dynamic_update_slice %0, %y, %c1, %c0 : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
  %a = sgd.slice %1 starts = [0, 0] limits = [2, 4] strides = [1, 1] : tensor<3x4xf32> -> tensor<2x4xf32>
  %b = sgd.slice %1 starts = [0, 0] limits = [1, 4] strides = [1, 1] : tensor<3x4xf32> -> tensor<1x4xf32>
  return %a, %b : tensor<2x4xf32>, tensor<1x4xf32>
}

// -----

// In the body of a loop.
// CHECK-LABEL: @body
// CHECK-NOT: sgd.dynamic_update_slice
func.func @body(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = sgd.while (%x) trips 8 do {
  ^bb0(%y: tensor<1x4xf32>):
    %c0 = arith.constant dense<0> : tensor<i32>
    %zeros = arith.constant dense<0.0> : tensor<2x4xf32>
    %z = math.sin %y : tensor<1x4xf32>
    %1 = sgd.dynamic_update_slice %zeros, %z, %c0, %c0 : (tensor<2x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
    %a = sgd.slice %1 starts = [0, 0] limits = [1, 4] strides = [1, 1] : tensor<2x4xf32> -> tensor<1x4xf32>
    sgd.yield %a : tensor<1x4xf32>
  } : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
