// RUN: sgd-opt %s --sgd-fuse-clusters | FileCheck %s

// A row is computed, kept, and written over one row of all: one kernel of a row's elements.
// CHECK-LABEL: @stack
// CHECK-SAME: (%[[ALL:[^:]*]]: tensor<64x16xf32>, %[[X:[^:]*]]: tensor<1x16xf32>, %[[I:[^:]*]]: tensor<i32>)
func.func @stack(%all: tensor<64x16xf32>, %x: tensor<1x16xf32>, %i: tensor<i32>) -> (tensor<64x16xf32>, tensor<1x16xf32>) {
  // CHECK: %[[RESULT:.*]]:2 = fusion.cluster(%[[X]], %[[I]], %[[ALL]]) {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<1x16xf32>, %[[B:.*]]: tensor<i32>, %[[C:.*]]: tensor<64x16xf32>):
  // CHECK: %[[ROW:.*]] = math.tanh %[[A]]
  // CHECK: %[[STACKED:.*]] = sgd.dynamic_update_slice %[[C]], %[[ROW]], %[[B]]
  // CHECK: fusion.yield %[[ROW]], %[[STACKED]]
  %zero = arith.constant dense<0> : tensor<i32>
  %row = math.tanh %x : tensor<1x16xf32>
  %stacked = sgd.dynamic_update_slice %all, %row, %i, %zero : (tensor<64x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<64x16xf32>
  return %stacked, %row : tensor<64x16xf32>, tensor<1x16xf32>
}

// Other reads of the operand get an argument of their own, since the kernel overwrites the first.
// CHECK-LABEL: @shift
// CHECK-SAME: (%[[ALL:[^:]*]]: tensor<64x16xf32>
func.func @shift(%all: tensor<64x16xf32>, %i: tensor<i32>) -> tensor<64x16xf32> {
  // CHECK: fusion.cluster(%[[ALL]], %{{.*}}, %[[ALL]]) {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<64x16xf32>, %{{.*}}: tensor<i32>, %[[C:.*]]: tensor<64x16xf32>):
  // CHECK: sgd.slice %[[A]]
  // CHECK: sgd.dynamic_update_slice %[[C]]
  %zero = arith.constant dense<0> : tensor<i32>
  %row = sgd.slice %all starts = [3, 0] limits = [4, 16] strides = [1, 1] : tensor<64x16xf32> -> tensor<1x16xf32>
  %exp = math.exp %row : tensor<1x16xf32>
  %0 = sgd.dynamic_update_slice %all, %exp, %i, %zero : (tensor<64x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}
