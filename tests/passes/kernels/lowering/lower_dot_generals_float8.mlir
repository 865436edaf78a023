// RUN: sgd-opt %s --target=cuda:sm_90 --sgd-lower-dot-generals --split-input-file | FileCheck %s
// RUN: sgd-opt %s --target=cuda:sm_80 --sgd-lower-dot-generals --split-input-file | FileCheck %s --check-prefix=WIDE
// RUN: sgd-opt %s --sgd-lower-dot-generals --split-input-file | FileCheck %s --check-prefix=SINGLE

// Both operands have the contracted dimension innermost.
// CHECK-LABEL: @as_it_is
// WIDE-LABEL: @as_it_is
// SINGLE-LABEL: @as_it_is
func.func @as_it_is(%a: tensor<16x32xf8E4M3FN>, %b: tensor<48x32xf8E5M2>) -> tensor<16x48xf32> {
  // CHECK-NEXT: fusion.matmul %{{.*}} [0, 1], %{{.*}} [2, 1] into [0, 2] : tensor<16x32xf8E4M3FN>, tensor<48x32xf8E5M2> -> tensor<16x48xf32>
  // WIDE-COUNT-2: arith.extf {{.*}} to tensor<{{.*}}xbf16>
  // WIDE: fusion.matmul {{.*}} : tensor<16x32xbf16>, tensor<48x32xbf16> -> tensor<16x48xf32>
  // SINGLE-COUNT-2: arith.extf {{.*}} to tensor<{{.*}}xf32>
  // SINGLE: fusion.matmul {{.*}} : tensor<16x32xf32>, tensor<48x32xf32> -> tensor<16x48xf32>
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [1] : tensor<16x32xf8E4M3FN>, tensor<48x32xf8E5M2> -> tensor<16x48xf32>
  return %0 : tensor<16x48xf32>
}

// -----

// CHECK-LABEL: @transposed_first
func.func @transposed_first(%a: tensor<32x16xf8E4M3FN>, %b: tensor<32x48xf8E4M3FN>) -> tensor<16x48xbf16> {
  // CHECK-DAG: %[[A:.*]] = sgd.transpose %{{.*}} permutation = [1, 0] : tensor<32x16xf8E4M3FN> -> tensor<16x32xf8E4M3FN>
  // CHECK-DAG: %[[B:.*]] = sgd.transpose %{{.*}} permutation = [1, 0] : tensor<32x48xf8E4M3FN> -> tensor<48x32xf8E4M3FN>
  // CHECK: fusion.matmul %[[A]] [1, 0], %[[B]] [2, 0] into [1, 2] : tensor<16x32xf8E4M3FN>, tensor<48x32xf8E4M3FN> -> tensor<16x48xbf16>
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [0] x [0] : tensor<32x16xf8E4M3FN>, tensor<32x48xf8E4M3FN> -> tensor<16x48xbf16>
  return %0 : tensor<16x48xbf16>
}

// -----

// In batches, each as large as a multiple of 16 elements.
// CHECK-LABEL: @batches
func.func @batches(%a: tensor<3x16x32xf8E4M3FN>, %b: tensor<3x16x32xf8E4M3FN>) -> tensor<3x16x16xf16> {
  // CHECK-NEXT: fusion.matmul %{{.*}}, %{{.*}} : tensor<3x16x32xf8E4M3FN>, tensor<3x16x32xf8E4M3FN> -> tensor<3x16x16xf16>
  %0 = sgd.dot_general %a, %b batching = [0] x [0] contracting = [2] x [2] : tensor<3x16x32xf8E4M3FN>, tensor<3x16x32xf8E4M3FN> -> tensor<3x16x16xf16>
  return %0 : tensor<3x16x16xf16>
}

// -----

// There are no kernels for odd sizes, nor for two operands of E5M2.
// CHECK-LABEL: @without_kernels
func.func @without_kernels(%a: tensor<16x40xf8E4M3FN>, %b: tensor<48x40xf8E4M3FN>, %c: tensor<16x32xf8E5M2>) -> (tensor<16x48xf32>, tensor<16x16xf16>) {
  // CHECK: fusion.matmul {{.*}} : tensor<16x40xbf16>, tensor<48x40xbf16> -> tensor<16x48xf32>
  // CHECK: fusion.matmul {{.*}} : tensor<16x32xf16>, tensor<16x32xf16> -> tensor<16x16xf16>
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [1] : tensor<16x40xf8E4M3FN>, tensor<48x40xf8E4M3FN> -> tensor<16x48xf32>
  %1 = sgd.dot_general %c, %c batching = [] x [] contracting = [1] x [1] : tensor<16x32xf8E5M2>, tensor<16x32xf8E5M2> -> tensor<16x16xf16>
  return %0, %1 : tensor<16x48xf32>, tensor<16x16xf16>
}

// -----

// With a wider operand, and into f8, which is rounded from the sum.
// CHECK-LABEL: @mixed
func.func @mixed(%a: tensor<16x32xf8E4M3FN>, %b: tensor<32x16xbf16>) -> (tensor<16x16xbf16>, tensor<16x16xf8E5M2>) {
  // CHECK: fusion.matmul {{.*}} : tensor<16x32xbf16>, tensor<32x16xbf16> -> tensor<16x16xbf16>
  // CHECK: fusion.matmul {{.*}} : tensor<16x32xbf16>, tensor<16x32xbf16> -> tensor<16x16xf32>
  // CHECK: arith.truncf {{.*}} : tensor<16x16xf32> to tensor<16x16xf8E5M2>
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<16x32xf8E4M3FN>, tensor<32x16xbf16> -> tensor<16x16xbf16>
  %1 = sgd.dot_general %a, %a batching = [] x [] contracting = [1] x [1] : tensor<16x32xf8E4M3FN>, tensor<16x32xf8E4M3FN> -> tensor<16x16xf8E5M2>
  return %0, %1 : tensor<16x16xbf16>, tensor<16x16xf8E5M2>
}
