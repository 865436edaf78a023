// RUN: sgd-opt %s --target=cuda:sm_90 --sgd-fuse-epilogues --split-input-file | FileCheck %s

// Gradients of a layer's weights and bias; the bias's is wanted first.
// CHECK-LABEL: @layer
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[DY:[^:]*]]:
func.func @layer(%x: tensor<4x8x64xf32>, %dy: tensor<4x8x32xf32>, %b: tensor<32xf32>) -> (tensor<64x32xf32>, tensor<32xf32>) {
  // CHECK-NEXT: %[[DW:.*]], %[[DB:.*]] = fusion.library_matmul %[[X]] [0, 1, 2], %[[DY]] [0, 1, 3] into [2, 3] epilogue [rhs_reduction]
  // CHECK-NEXT: %[[NEW:.*]] = arith.subf %{{.*}}, %[[DB]]
  // CHECK-NEXT: return %[[DW]], %[[NEW]]
  %db = sgd.reduce add %dy dimensions = [0, 1] : tensor<4x8x32xf32> -> tensor<32xf32>
  %new = arith.subf %b, %db : tensor<32xf32>
  %dw = fusion.matmul %x [0, 1, 2], %dy [0, 1, 3] into [2, 3] : tensor<4x8x64xf32>, tensor<4x8x32xf32> -> tensor<64x32xf32>
  return %dw, %new : tensor<64x32xf32>, tensor<32xf32>
}

// -----

// As JAX sums bf16: in f32, rounded once. The gradient is the lhs.
// CHECK-LABEL: @narrow
func.func @narrow(%x: tensor<8x64xbf16>, %dy: tensor<8x32xbf16>) -> (tensor<32x64xbf16>, tensor<32xbf16>) {
  // CHECK-NEXT: fusion.library_matmul %{{.*}} [0, 1], %{{.*}} [0, 2] into [1, 2] epilogue [lhs_reduction] : (tensor<8x32xbf16>, tensor<8x64xbf16>) -> (tensor<32x64xbf16>, tensor<32xbf16>)
  // CHECK-NEXT: return
  %dw = fusion.matmul %dy [0, 1], %x [0, 2] into [1, 2] : tensor<8x32xbf16>, tensor<8x64xbf16> -> tensor<32x64xbf16>
  %wide = arith.extf %dy : tensor<8x32xbf16> to tensor<8x32xf32>
  %sum = sgd.reduce add %wide dimensions = [0] : tensor<8x32xf32> -> tensor<32xf32>
  %db = arith.truncf %sum : tensor<32xf32> to tensor<32xbf16>
  return %dw, %db : tensor<32x64xbf16>, tensor<32xbf16>
}

// -----

// Other dimensions, other types, batches, TF32 and sums in the matmul's own place stay as they are.
// CHECK-LABEL: @others
// CHECK-NOT: _reduction
func.func @others(%x: tensor<8x64xf32>, %dy: tensor<8x32xf32>, %q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %acc: tensor<64x32xf32> {sgd.alias_output = 7 : i64}, %dz: tensor<8x32xf32>, %h: tensor<8x32xbf16>)
    -> (tensor<8xf32>, tensor<64x32xf32>, tensor<2x4xf32>, tensor<2x4x4xf32>, tensor<64x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<64x32xf32>, tensor<32xf32>) {
  %rows = sgd.reduce add %dy dimensions = [1] : tensor<8x32xf32> -> tensor<8xf32>
  %dw = fusion.matmul %x [0, 1], %dy [0, 2] into [1, 2] : tensor<8x64xf32>, tensor<8x32xf32> -> tensor<64x32xf32>
  %s = sgd.reduce add %k dimensions = [1] : tensor<2x8x4xf32> -> tensor<2x4xf32>
  %p = fusion.matmul %q [0, 1, 2], %k [0, 1, 3] into [0, 2, 3] : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x4x4xf32>
  %t = fusion.matmul %x [0, 1], %dy [0, 2] into [1, 2] {tf32} : tensor<8x64xf32>, tensor<8x32xf32> -> tensor<64x32xf32>
  %wide = arith.extf %h : tensor<8x32xbf16> to tensor<8x32xf32>
  %kept = sgd.reduce add %wide dimensions = [0] : tensor<8x32xf32> -> tensor<32xf32>
  %g = fusion.matmul %h [0, 1], %h [0, 2] into [1, 2] : tensor<8x32xbf16>, tensor<8x32xbf16> -> tensor<32x32xf32>
  %db = sgd.reduce add %dz dimensions = [0] : tensor<8x32xf32> -> tensor<32xf32>
  %own = fusion.matmul %x [0, 1], %dz [0, 2] into [1, 2] : tensor<8x64xf32>, tensor<8x32xf32> -> tensor<64x32xf32>
  %sum = arith.addf %own, %acc : tensor<64x32xf32>
  return %rows, %dw, %s, %p, %t, %kept, %g, %sum, %db : tensor<8xf32>, tensor<64x32xf32>, tensor<2x4xf32>, tensor<2x4x4xf32>, tensor<64x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<64x32xf32>, tensor<32xf32>
}

// -----

// A batch of one is batch; and a tensor's matmul with itself has two kinds of sums.
// CHECK-LABEL: @batch_and_itself
// CHECK-NOT: _reduction
func.func @batch_and_itself(%q: tensor<1x8x4xf32>, %k: tensor<1x8x4xf32>, %x: tensor<8x8xf32>) -> (tensor<1x4xf32>, tensor<1x4x4xf32>, tensor<8xf32>, tensor<8x8xf32>) {
  %s = sgd.reduce add %k dimensions = [1] : tensor<1x8x4xf32> -> tensor<1x4xf32>
  %p = fusion.matmul %q [0, 1, 2], %k [0, 1, 3] into [0, 2, 3] : tensor<1x8x4xf32>, tensor<1x8x4xf32> -> tensor<1x4x4xf32>
  %rows = sgd.reduce add %x dimensions = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %square = fusion.matmul %x [0, 1], %x [1, 2] into [0, 2] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %s, %p, %rows, %square : tensor<1x4xf32>, tensor<1x4x4xf32>, tensor<8xf32>, tensor<8x8xf32>
}
