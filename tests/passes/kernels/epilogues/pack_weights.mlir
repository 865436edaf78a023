// RUN: sgd-opt %s --sgd-pack-weights | FileCheck %s

// Weights of a recurrent layer, forward [k, n] and backward [n, k] of the same matrix, are each packed once.
// CHECK-LABEL: @recurrent
// CHECK-SAME: sgd.decisions = [#sgd.decision<pack, {chosen = "in front of the loop", {{.*}}why = "loop at {{.*}}pack_weights.mlir:{{[0-9]+:[0-9]+}}: weights that it multiplies by are packed once, in front of it; 8388608 bytes are held for that"}>]
// CHECK: %[[PARTS:.*]] = sgd.reshape %arg0 : tensor<512x2048xf32> -> tensor<512x64x32xf32>
// CHECK: %[[PACKED:.*]] = sgd.transpose %[[PARTS]] permutation = [1, 0, 2] : tensor<512x64x32xf32> -> tensor<64x512x32xf32>
// CHECK: %[[TURNED_PARTS:.*]] = sgd.reshape %arg0 : tensor<512x2048xf32> -> tensor<16x32x2048xf32>
// CHECK: %[[TURNED:.*]] = sgd.transpose %[[TURNED_PARTS]] permutation = [0, 2, 1] : tensor<16x32x2048xf32> -> tensor<16x2048x32xf32>
// CHECK: sgd.while(%arg0, %arg1, %[[PACKED]], %[[TURNED]]) trips 8
// CHECK: ^bb0(%{{.*}}: tensor<512x2048xf32>, %[[H:.*]]: tensor<32x512xf32>, %[[W:.*]]: tensor<64x512x32xf32>, %[[V:.*]]: tensor<16x2048x32xf32>)
// CHECK: %[[A:.*]] = fusion.matmul %[[H]] [0, 1], %[[W]] [3, 1, 2] into [0, 3, 2] : tensor<32x512xf32>, tensor<64x512x32xf32> -> tensor<32x64x32xf32>
// CHECK: %[[B:.*]] = sgd.reshape %[[A]] : tensor<32x64x32xf32> -> tensor<32x2048xf32>
// CHECK: fusion.matmul %[[V]] [3, 2, 1], %[[B]] [0, 2] into [0, 3, 1] : tensor<16x2048x32xf32>, tensor<32x2048xf32> -> tensor<32x16x32xf32>
func.func @recurrent(%w: tensor<512x2048xf32>, %h: tensor<32x512xf32>) -> tensor<32x512xf32> {
  %0:2 = sgd.while(%w, %h) trips 8 do {
  ^bb0(%own: tensor<512x2048xf32>, %x: tensor<32x512xf32>):
    %a = fusion.matmul %x [0, 1], %own [1, 2] into [0, 2] : tensor<32x512xf32>, tensor<512x2048xf32> -> tensor<32x2048xf32>
    %b = fusion.matmul %own [1, 2], %a [0, 2] into [0, 1] : tensor<512x2048xf32>, tensor<32x2048xf32> -> tensor<32x512xf32>
    sgd.yield %own, %b : tensor<512x2048xf32>, tensor<32x512xf32>
  } : (tensor<512x2048xf32>, tensor<32x512xf32>) -> (tensor<512x2048xf32>, tensor<32x512xf32>)
  return %0#1 : tensor<32x512xf32>
}

// Few trips, weights that change, a result whose columns are not last, and matmuls that are small stay as they are.
// CHECK-LABEL: @others
// CHECK-NOT: sgd.transpose
// CHECK: return
func.func @others(%w: tensor<512x2048xf32>, %h: tensor<32x512xf32>, %small: tensor<16x32xf32>, %y: tensor<4x16xf32>) -> (tensor<32x2048xf32>, tensor<2048x32xf32>, tensor<4x32xf32>) {
  %z = arith.constant dense<0.0> : tensor<32x2048xf32>
  %t = arith.constant dense<0.0> : tensor<2048x32xf32>
  %u = arith.constant dense<0.0> : tensor<4x32xf32>
  %0:3 = sgd.while(%w, %h, %z) trips 2 do {
  ^bb0(%own: tensor<512x2048xf32>, %x: tensor<32x512xf32>, %sum: tensor<32x2048xf32>):
    %a = fusion.matmul %x [0, 1], %own [1, 2] into [0, 2] : tensor<32x512xf32>, tensor<512x2048xf32> -> tensor<32x2048xf32>
    sgd.yield %own, %x, %a : tensor<512x2048xf32>, tensor<32x512xf32>, tensor<32x2048xf32>
  } : (tensor<512x2048xf32>, tensor<32x512xf32>, tensor<32x2048xf32>) -> (tensor<512x2048xf32>, tensor<32x512xf32>, tensor<32x2048xf32>)
  %1:7 = sgd.while(%w, %w, %h, %t, %small, %y, %u) trips 8 do {
  ^bb0(%changing: tensor<512x2048xf32>, %own: tensor<512x2048xf32>, %x: tensor<32x512xf32>, %sum: tensor<2048x32xf32>, %few: tensor<16x32xf32>, %v: tensor<4x16xf32>, %other: tensor<4x32xf32>):
    %a = fusion.matmul %own [1, 2], %x [0, 1] into [2, 0] : tensor<512x2048xf32>, tensor<32x512xf32> -> tensor<2048x32xf32>
    %b = fusion.matmul %x [0, 1], %changing [1, 2] into [0, 2] : tensor<32x512xf32>, tensor<512x2048xf32> -> tensor<32x2048xf32>
    %c = fusion.matmul %v [0, 1], %few [1, 2] into [0, 2] : tensor<4x16xf32>, tensor<16x32xf32> -> tensor<4x32xf32>
    %d = sgd.reduce add %b dimensions = [0] : tensor<32x2048xf32> -> tensor<2048xf32>
    %e = sgd.broadcast_in_dim %d dims = [1] : tensor<2048xf32> -> tensor<512x2048xf32>
    sgd.yield %e, %own, %x, %a, %few, %v, %c : tensor<512x2048xf32>, tensor<512x2048xf32>, tensor<32x512xf32>, tensor<2048x32xf32>, tensor<16x32xf32>, tensor<4x16xf32>, tensor<4x32xf32>
  } : (tensor<512x2048xf32>, tensor<512x2048xf32>, tensor<32x512xf32>, tensor<2048x32xf32>, tensor<16x32xf32>, tensor<4x16xf32>, tensor<4x32xf32>)
   -> (tensor<512x2048xf32>, tensor<512x2048xf32>, tensor<32x512xf32>, tensor<2048x32xf32>, tensor<16x32xf32>, tensor<4x16xf32>, tensor<4x32xf32>)
  return %0#2, %1#3, %1#6 : tensor<32x2048xf32>, tensor<2048x32xf32>, tensor<4x32xf32>
}
