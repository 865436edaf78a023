// RUN: sgd-opt %s --target=cuda:sm_90 --sgd-lower-dot-generals | FileCheck %s

// Matmuls that keep their sums take bf16 and give f32; operands of another type than each other do not.
// CHECK-LABEL: @accumulator_results
func.func @accumulator_results(%x: tensor<4x8xbf16>, %w: tensor<8x16xbf16>, %f: tensor<8x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  // CHECK-NOT: arith.extf
  // CHECK: fusion.matmul {{.*}} : tensor<4x8xbf16>, tensor<8x16xbf16> -> tensor<4x16xf32>
  %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<4x8xbf16>, tensor<8x16xbf16> -> tensor<4x16xf32>
  // CHECK: arith.extf
  // CHECK: fusion.matmul {{.*}} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  %1 = sgd.dot_general %x, %f batching = [] x [] contracting = [1] x [0] : tensor<4x8xbf16>, tensor<8x16xf32> -> tensor<4x16xf32>
  return %0, %1 : tensor<4x16xf32>, tensor<4x16xf32>
}

// The program's leave for TF32 goes along.
// CHECK-LABEL: @tf32
func.func @tf32(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> {
  // CHECK: fusion.matmul {{.*}} {tf32}
  %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] {tf32} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// Two batch dimensions that are not one stride apart would take a call for each of the 64 of one of them: the operands
// are transposed, and it is one call.
// CHECK-LABEL: @many_calls
func.func @many_calls(%q: tensor<64x5x65x8xf32>, %k: tensor<64x7x65x8xf32>) -> tensor<64x65x5x7xf32> {
  // CHECK-COUNT-2: sgd.transpose
  // CHECK: fusion.matmul
  %0 = sgd.dot_general %q, %k batching = [0, 2] x [0, 2] contracting = [3] x [3]
    : tensor<64x5x65x8xf32>, tensor<64x7x65x8xf32> -> tensor<64x65x5x7xf32>
  return %0 : tensor<64x65x5x7xf32>
}
