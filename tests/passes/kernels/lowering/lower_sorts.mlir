// RUN: sgd-opt %s --sgd-lower-sorts --split-input-file | FileCheck %s

// Another dimension than the last one: exchanged with it, and back.
// CHECK-LABEL: func.func @columns
// CHECK: %[[T:.*]] = sgd.transpose %arg0 permutation = [2, 1, 0] : tensor<8x4x2xf32> -> tensor<2x4x8xf32>
// CHECK: %[[S:.*]]:2 = fusion.sort_rows(%[[T]]) {
// CHECK: arith.cmpf olt
// CHECK: } : (tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4x8xf32>)
// CHECK: %[[R:.*]] = sgd.transpose %[[S]]#0 permutation = [2, 1, 0] : tensor<2x4x8xf32> -> tensor<8x4x2xf32>
// CHECK: return %[[R]]
func.func @columns(%x: tensor<8x4x2xf32>) -> tensor<8x4x2xf32> {
  %0 = sgd.sort(%x) dimension = 0 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<8x4x2xf32>) -> tensor<8x4x2xf32>
  return %0 : tensor<8x4x2xf32>
}

// -----

// One element is in order.
// CHECK-LABEL: func.func @single
// CHECK-NEXT: return %arg0
func.func @single(%x: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %0 = sgd.sort(%x) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<8x1xf32>) -> tensor<8x1xf32>
  return %0 : tensor<8x1xf32>
}

// -----

// Few largest elements are kept while the row is read; for many of them it is sorted by bits that are ordered as floats.
// CHECK-LABEL: func.func @top_k
// CHECK: sgd.top_k %arg0 k = 8
// CHECK: %[[I:.*]] = sgd.iota dimension = 1 : tensor<2x512xi32>
// CHECK: %[[S:.*]]:4 = fusion.sort_rows(%arg0, %[[I]]) {
// CHECK: arith.cmpi sgt
// CHECK: sgd.slice %[[S]]#0 starts = [0, 0] limits = [2, 256]
// CHECK: sgd.slice %[[S]]#1 starts = [0, 0] limits = [2, 256]
func.func @top_k(%x: tensor<2x512xf32>) -> (tensor<2x8xi32>, tensor<2x256xf32>, tensor<2x256xi32>) {
  %0:2 = sgd.top_k %x k = 8 : (tensor<2x512xf32>) -> (tensor<2x8xf32>, tensor<2x8xi32>)
  %1:2 = sgd.top_k %x k = 256 : (tensor<2x512xf32>) -> (tensor<2x256xf32>, tensor<2x256xi32>)
  return %0#1, %1#0, %1#1 : tensor<2x8xi32>, tensor<2x256xf32>, tensor<2x256xi32>
}
