// RUN: sgd-opt %s --sgd-reuse-activations | FileCheck %s

!t = tensor<4x8xf32>

// CHECK-LABEL: @mask_reads_the_result
func.func @mask_reads_the_result(%x: !t, %g: !t) -> (!t, !t) {
  %zero = arith.constant dense<0.0> : !t
  // CHECK: %[[X:.*]] = arith.mulf
  %y = arith.mulf %x, %x : !t
  // CHECK: %[[RELU:.*]] = arith.maximumf %[[X]]
  %relu = arith.maximumf %y, %zero : !t
  // CHECK: arith.cmpf ogt, %[[RELU]]
  %mask = arith.cmpf ogt, %y, %zero : !t
  %d = arith.select %mask, %g, %zero : tensor<4x8xi1>, !t
  return %relu, %d : !t, !t
}

// The operand is kept for another reader anyway.
// CHECK-LABEL: @kept_for_others
func.func @kept_for_others(%x: !t, %g: !t) -> (!t, !t, !t) {
  %zero = arith.constant dense<0.0> : !t
  // CHECK: %[[X:.*]] = arith.mulf
  %y = arith.mulf %x, %x : !t
  %relu = arith.maximumf %y, %zero : !t
  // CHECK: arith.cmpf ogt, %[[X]]
  %mask = arith.cmpf ogt, %y, %zero : !t
  %d = arith.select %mask, %g, %zero : tensor<4x8xi1>, !t
  return %relu, %d, %y : !t, !t, !t
}

// x >= 0 is another question: max(x, 0) is never below.
// CHECK-LABEL: @other_questions
func.func @other_questions(%x: !t) -> (!t, tensor<4x8xi1>) {
  %zero = arith.constant dense<0.0> : !t
  // CHECK: %[[X:.*]] = arith.mulf
  %y = arith.mulf %x, %x : !t
  %relu = arith.maximumf %y, %zero : !t
  // CHECK: arith.cmpf oge, %[[X]]
  %mask = arith.cmpf oge, %y, %zero : !t
  return %relu, %mask : !t, tensor<4x8xi1>
}
