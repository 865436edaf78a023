// Kernels and contractions print and parse back to themselves.
// RUN: sgd-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @cluster
func.func @cluster(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: fusion.cluster(%arg0, %arg1) {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>):
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[B]] : tensor<8xf32>
  // CHECK-NEXT: fusion.yield %[[S]] : tensor<8xf32>
  // CHECK-NEXT: } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %0 = fusion.cluster(%x, %y) {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    %s = arith.addf %a, %b : tensor<8xf32>
    fusion.yield %s : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: @matmul
func.func @matmul(%x: tensor<8x64xf32>, %w: tensor<64x16xf32>) -> tensor<16x8xf32> {
  // CHECK: fusion.matmul %{{.*}} [0, 1], %{{.*}} [1, 2] into [2, 0]
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [2, 0] : tensor<8x64xf32>, tensor<64x16xf32> -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: @sort_rows
func.func @sort_rows(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: fusion.sort_rows(%arg0) {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT: %[[L:.*]] = arith.cmpf olt, %[[A]], %[[B]] : f32
  // CHECK-NEXT: fusion.yield %[[L]] : i1
  %0:2 = fusion.sort_rows(%x) {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    fusion.yield %less : i1
  } : (tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
  return %0#0 : tensor<8x16xf32>
}

// CHECK-LABEL: @convolution
func.func @convolution(%dy: tensor<8x16x16x32xbf16>, %w: tensor<3x3x8x32xbf16>) -> tensor<8x16x16x8xf32> {
  // CHECK: fusion.convolution %arg0 [0, 4, 5, 2], %arg1 [4, 5, 3, 2] into [0, 4, 5, 3] strides = [1, 1] low = [-1, -1] lhs_dilations = [1, 1] rhs_dilations = [-1, -1] : tensor<8x16x16x32xbf16>, tensor<3x3x8x32xbf16> -> tensor<8x16x16x8xf32>
  %0 = fusion.convolution %dy [0, 4, 5, 2], %w [4, 5, 3, 2] into [0, 4, 5, 3] strides = [1, 1] low = [-1, -1] lhs_dilations = [1, 1]
    rhs_dilations = [-1, -1] : tensor<8x16x16x32xbf16>, tensor<3x3x8x32xbf16> -> tensor<8x16x16x8xf32>
  return %0 : tensor<8x16x16x8xf32>
}

// CHECK-LABEL: @tiled
func.func @tiled(%q: tensor<8x64x16xf32>, %k: tensor<8x64x16xf32>) -> tensor<8x64x16xf32> {
  // CHECK: fusion.tiled(%arg0, %arg1) loops [8] cuts [0, 0, 0] {
  %o = fusion.tiled(%q, %k) loops [8] cuts [0, 0, 0] {
  ^bb0(%a: tensor<1x64x16xf32>, %b: tensor<1x64x16xf32>):
    %s = fusion.matmul %a [0, 1, 2], %b [0, 3, 2] into [0, 1, 3] : tensor<1x64x16xf32>, tensor<1x64x16xf32> -> tensor<1x64x64xf32>
    %c = fusion.matmul %s [0, 1, 2], %b [0, 2, 3] into [0, 1, 3] : tensor<1x64x64xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
    // CHECK: fusion.tile_store %{{.*}} to 0 at [0, 0, 0] : tensor<1x64x16xf32>
    fusion.tile_store %c to 0 at [0, 0, 0] : tensor<1x64x16xf32>
    %d = fusion.matmul %s [0, 1, 2], %a [0, 2, 3] into [0, 1, 3] : tensor<1x64x64xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
    // CHECK: fusion.tile_store %{{.*}} to 0 at [0, 0, 0] add : tensor<1x64x16xf32>
    fusion.tile_store %d to 0 at [0, 0, 0] add : tensor<1x64x16xf32>
  } : (tensor<8x64x16xf32>, tensor<8x64x16xf32>) -> tensor<8x64x16xf32>
  return %o : tensor<8x64x16xf32>
}
