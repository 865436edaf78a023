// RUN: sgd-opt %s --sgd-lower-dot-generals --sgd-fuse-clusters --sgd-fuse-tiles | FileCheck %s
// RUN: sgd-opt %s --sgd-lower-dot-generals --sgd-fuse-clusters --sgd-fuse-tiles=scratch-bytes=0 | FileCheck %s --check-prefix=NONE
// NONE-NOT: fusion.tiled

!qkv = tensor<4x128x2x64xf32>
!s = tensor<4x2x128x128xf32>
!row = tensor<4x2x128xf32>

// Scores, softmax and the weighted sum run head by head, in two blocks of rows; the second half of the keys is masked for the first one.
// CHECK-LABEL: func.func @causal
// CHECK: %[[T:.*]] = fusion.tiled(%arg0, %arg1, %arg2) loops [4, 2] cuts [0, 2, 0, 2, 0, 2, 0, 2] {
// CHECK: ^bb0(%[[Q:.*]]: tensor<1x128x1x64xf32>, %[[K:.*]]: tensor<1x128x1x64xf32>, %[[V:.*]]: tensor<1x128x1x64xf32>):
// CHECK: %[[Q1:.*]] = sgd.slice %[[Q]] starts = [0, 64, 0, 0] limits = [1, 128, 1, 64]
// CHECK: %[[S1:.*]] = fusion.matmul %[[Q1]] [0, 1, 2, 3], %[[K]] [0, 4, 2, 3] into [0, 2, 1, 4] {{.*}} -> tensor<1x1x64x128xf32>
// CHECK: %[[P1:.*]] = fusion.cluster(%[[S1]]) {
// CHECK: sgd.iota dimension = 2 : tensor<1x1x64x128xi32>
// CHECK: arith.constant dense<64> : tensor<1x1x64x128xi32>
// CHECK: %[[O1:.*]] = fusion.matmul %[[V]] [0, 1, 2, 3], %[[P1]]
// CHECK: fusion.tile_store %[[O1]] to 0 at [0, 64, 0, 0] : tensor<1x64x1x64xf32>
// CHECK: %[[K0:.*]] = sgd.slice %[[K]] starts = [0, 0, 0, 0] limits = [1, 64, 1, 64]
// CHECK: %[[S0:.*]] = fusion.matmul {{.*}}, %[[K0]] {{.*}} -> tensor<1x1x64x64xf32>
// CHECK: fusion.cluster(%[[S0]]) {
// CHECK: fusion.tile_store %{{.*}} to 0 at [0, 0, 0, 0] : tensor<1x64x1x64xf32>
// CHECK: return %[[T]]
func.func @causal(%q: !qkv, %k: !qkv, %v: !qkv) -> !qkv {
  %s = sgd.dot_general %q, %k batching = [0, 2] x [0, 2] contracting = [3] x [3] : !qkv, !qkv -> !s
  %i = sgd.iota dimension = 2 : tensor<4x2x128x128xi32>
  %j = sgd.iota dimension = 3 : tensor<4x2x128x128xi32>
  %mask = arith.cmpi sge, %i, %j : tensor<4x2x128x128xi32>
  %fill = arith.constant dense<-1.0e+09> : !s
  %m = arith.select %mask, %s, %fill : tensor<4x2x128x128xi1>, !s
  %max = sgd.reduce max %m dimensions = [3] : !s -> !row
  %maxb = sgd.broadcast_in_dim %max dims = [0, 1, 2] : !row -> !s
  %c = arith.subf %m, %maxb : !s
  %e = math.exp %c : !s
  %sum = sgd.reduce add %e dimensions = [3] : !s -> !row
  %sumb = sgd.broadcast_in_dim %sum dims = [0, 1, 2] : !row -> !s
  %p = arith.divf %e, %sumb : !s
  %o = sgd.dot_general %v, %p batching = [0, 2] x [0, 1] contracting = [1] x [3] : !qkv, !s -> tensor<4x2x64x128xf32>
  %r = sgd.transpose %o permutation = [0, 3, 1, 2] : tensor<4x2x64x128xf32> -> !qkv
  return %r : !qkv
}

// A row with nothing but masked scores is uniform over all columns, so columns may only be left out where each row keeps one. Here the
// mask is only known at run time: nothing is left out.
// CHECK-LABEL: func.func @padding
// CHECK: fusion.tiled(%arg0, %arg1, %arg3, %arg2) loops [4, 2] cuts [0, 2, 0, 2, 0, -1, 0, 2, 0, 2] {
// CHECK-COUNT-2: fusion.matmul {{.*}} -> tensor<1x1x64x128xf32>
// CHECK: return
func.func @padding(%q: !qkv, %k: !qkv, %v: !qkv, %keep: tensor<4x128xi1>) -> !qkv {
  %s = sgd.dot_general %q, %k batching = [0, 2] x [0, 2] contracting = [3] x [3] : !qkv, !qkv -> !s
  %mask = sgd.broadcast_in_dim %keep dims = [0, 3] : tensor<4x128xi1> -> tensor<4x2x128x128xi1>
  %fill = arith.constant dense<-1.0e+09> : !s
  %m = arith.select %mask, %s, %fill : tensor<4x2x128x128xi1>, !s
  %max = sgd.reduce max %m dimensions = [3] : !s -> !row
  %maxb = sgd.broadcast_in_dim %max dims = [0, 1, 2] : !row -> !s
  %c = arith.subf %m, %maxb : !s
  %e = math.exp %c : !s
  %sum = sgd.reduce add %e dimensions = [3] : !s -> !row
  %sumb = sgd.broadcast_in_dim %sum dims = [0, 1, 2] : !row -> !s
  %p = arith.divf %e, %sumb : !s
  %o = sgd.dot_general %v, %p batching = [0, 2] x [0, 1] contracting = [1] x [3] : !qkv, !s -> tensor<4x2x64x128xf32>
  %r = sgd.transpose %o permutation = [0, 3, 1, 2] : tensor<4x2x64x128xf32> -> !qkv
  return %r : !qkv
}

// Two query heads share a head of keys: the shared dimension is no loop. Rows are not cut where the keys' length is another one.
// CHECK-LABEL: func.func @grouped_cross_attention
// CHECK: fusion.tiled(%arg0, %arg1, %arg2) loops [4, 2] cuts [0, 2, 0, 2, 0, 2, 0, 1] {
// CHECK: fusion.matmul {{.*}} -> tensor<1x1x3x64x96xf32>
// CHECK: fusion.cluster
// CHECK: fusion.tile_store %{{.*}} to 0 at
// CHECK: return
func.func @grouped_cross_attention(%q: tensor<4x64x2x3x16xf32>, %k: tensor<4x96x2x16xf32>, %v: tensor<4x96x2x16xf32>) -> tensor<4x2x16x3x64xf32> {
  %s = sgd.dot_general %q, %k batching = [0, 2] x [0, 2] contracting = [4] x [3] : tensor<4x64x2x3x16xf32>, tensor<4x96x2x16xf32> -> tensor<4x2x64x3x96xf32>
  %t = sgd.transpose %s permutation = [0, 1, 3, 2, 4] : tensor<4x2x64x3x96xf32> -> tensor<4x2x3x64x96xf32>
  %max = sgd.reduce max %t dimensions = [4] : tensor<4x2x3x64x96xf32> -> tensor<4x2x3x64xf32>
  %maxb = sgd.broadcast_in_dim %max dims = [0, 1, 2, 3] : tensor<4x2x3x64xf32> -> tensor<4x2x3x64x96xf32>
  %c = arith.subf %t, %maxb : tensor<4x2x3x64x96xf32>
  %e = math.exp %c : tensor<4x2x3x64x96xf32>
  %sum = sgd.reduce add %e dimensions = [4] : tensor<4x2x3x64x96xf32> -> tensor<4x2x3x64xf32>
  %sumb = sgd.broadcast_in_dim %sum dims = [0, 1, 2, 3] : tensor<4x2x3x64xf32> -> tensor<4x2x3x64x96xf32>
  %p = arith.divf %e, %sumb : tensor<4x2x3x64x96xf32>
  %o = sgd.dot_general %v, %p batching = [0, 2] x [0, 1] contracting = [1] x [4] : tensor<4x96x2x16xf32>, tensor<4x2x3x64x96xf32> -> tensor<4x2x16x3x64xf32>
  return %o : tensor<4x2x16x3x64xf32>
}

// The gradient of the keys adds up over blocks of rows; the weights, too large to keep, are computed again.
// CHECK-LABEL: func.func @recompute
// CHECK: %[[O:.*]] = fusion.tiled(
// CHECK: %[[G:.*]] = fusion.tiled(
// CHECK: math.exp
// CHECK: fusion.tile_store %{{.*}} to 0 at [0, 0, 0, 0] : tensor<1x256x1x64xf32>
// CHECK: math.exp
// CHECK: fusion.tile_store %{{.*}} to 0 at [0, 0, 0, 0] add : tensor<1x256x1x64xf32>
// CHECK: return %[[O]], %[[G]]
func.func @recompute(%q: tensor<4x256x2x64xf32>, %k: tensor<4x256x2x64xf32>) -> (tensor<4x256x2x64xf32>, tensor<4x256x2x64xf32>) {
  %s = fusion.matmul %q [0, 1, 2, 3], %k [0, 4, 2, 3] into [0, 2, 1, 4] : tensor<4x256x2x64xf32>, tensor<4x256x2x64xf32> -> tensor<4x2x256x256xf32>
  %e = math.exp %s : tensor<4x2x256x256xf32>
  %o = fusion.matmul %k [0, 1, 2, 3], %e [0, 2, 4, 1] into [0, 4, 2, 3] : tensor<4x256x2x64xf32>, tensor<4x2x256x256xf32> -> tensor<4x256x2x64xf32>
  %d = fusion.matmul %o [0, 1, 2, 3], %k [0, 4, 2, 3] into [0, 2, 1, 4] : tensor<4x256x2x64xf32>, tensor<4x256x2x64xf32> -> tensor<4x2x256x256xf32>
  %g = arith.mulf %d, %e : tensor<4x2x256x256xf32>
  %r = fusion.matmul %g [0, 1, 2, 3], %q [0, 2, 1, 4] into [0, 3, 1, 4] : tensor<4x2x256x256xf32>, tensor<4x256x2x64xf32> -> tensor<4x256x2x64xf32>
  return %o, %r : tensor<4x256x2x64xf32>, tensor<4x256x2x64xf32>
}

// Weights that are a result have to be written: no columns are left out, and what is between matmuls and memory is only the scores.
// CHECK-LABEL: func.func @weights_are_a_result
// CHECK: %[[T:.*]]:2 = fusion.tiled(
// CHECK: fusion.tile_store %{{.*}} to 0 at [0, 0, 0, 0] : tensor<1x1x64x128xf32>
// CHECK: return %[[T]]#1, %[[T]]#0
func.func @weights_are_a_result(%q: !qkv, %k: !qkv) -> (!qkv, !s) {
  %s = fusion.matmul %q [0, 1, 2, 3], %k [0, 4, 2, 3] into [0, 2, 1, 4] : !qkv, !qkv -> !s
  %e = math.exp %s : !s
  %o = fusion.matmul %k [0, 1, 2, 3], %e [0, 2, 4, 1] into [0, 4, 2, 3] : !qkv, !s -> !qkv
  return %o, %e : !qkv, !s
}

// The two matmuls have no batch dimension in common.
// CHECK-LABEL: func.func @two_layers
// CHECK-NOT: fusion.tiled
// CHECK: return
func.func @two_layers(%x: tensor<1024x64xf32>, %w: tensor<64x1024xf32>, %u: tensor<1024x64xf32>) -> tensor<1024x64xf32> {
  %h = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : tensor<1024x64xf32>, tensor<64x1024xf32> -> tensor<1024x1024xf32>
  %e = math.exp %h : tensor<1024x1024xf32>
  %o = fusion.matmul %e [0, 1], %u [1, 2] into [0, 2] : tensor<1024x1024xf32>, tensor<1024x64xf32> -> tensor<1024x64xf32>
  return %o : tensor<1024x64xf32>
}

// Small scores stay in the cache anyway.
// CHECK-LABEL: func.func @small
// CHECK-NOT: fusion.tiled
// CHECK: return
func.func @small(%q: tensor<4x32x2x8xf32>, %k: tensor<4x32x2x8xf32>) -> tensor<4x32x2x8xf32> {
  %s = fusion.matmul %q [0, 1, 2, 3], %k [0, 4, 2, 3] into [0, 2, 1, 4] : tensor<4x32x2x8xf32>, tensor<4x32x2x8xf32> -> tensor<4x2x32x32xf32>
  %e = math.exp %s : tensor<4x2x32x32xf32>
  %o = fusion.matmul %k [0, 1, 2, 3], %e [0, 2, 4, 1] into [0, 4, 2, 3] : tensor<4x32x2x8xf32>, tensor<4x2x32x32xf32> -> tensor<4x32x2x8xf32>
  return %o : tensor<4x32x2x8xf32>
}

// The sum of the scores comes between the matmuls: what depends on it cannot be in the same group.
// CHECK-LABEL: func.func @not_convex
// CHECK: fusion.tiled
// CHECK: fusion.matmul
// CHECK: return
func.func @not_convex(%q: !qkv, %k: !qkv) -> (!qkv, !qkv) {
  %s = fusion.matmul %q [0, 1, 2, 3], %k [0, 4, 2, 3] into [0, 2, 1, 4] : !qkv, !qkv -> !s
  %e = math.exp %s : !s
  %o = fusion.matmul %k [0, 1, 2, 3], %e [0, 2, 4, 1] into [0, 4, 2, 3] : !qkv, !s -> !qkv
  %n = arith.negf %o : !qkv
  %r = fusion.matmul %n [0, 1, 2, 3], %e [0, 2, 4, 1] into [0, 4, 2, 3] : !qkv, !s -> !qkv
  return %o, %r : !qkv, !qkv
}

// -----

// A kernel that reads a large value and has no matmul is no group: the value is not computed again for it.
// CHECK-LABEL: func.func @no_product
// CHECK-COUNT-2: fusion.cluster(
// CHECK-NOT: fusion.cluster(
// CHECK: return
func.func @no_product(%a: tensor<2x256xf32>, %v: tensor<2x256x8xf32>) -> tensor<2x256x256xf32> {
  %x = fusion.cluster(%a) {
  ^bb0(%p: tensor<2x256xf32>):
    %r = sgd.broadcast_in_dim %p dims = [0, 1] : tensor<2x256xf32> -> tensor<2x256x256xf32>
    %c = sgd.broadcast_in_dim %p dims = [0, 2] : tensor<2x256xf32> -> tensor<2x256x256xf32>
    %m = arith.mulf %r, %c : tensor<2x256x256xf32>
    fusion.yield %m : tensor<2x256x256xf32>
  } : (tensor<2x256xf32>) -> tensor<2x256x256xf32>
  %o = fusion.matmul %x [0, 1, 2], %v [0, 2, 3] into [0, 1, 3] : tensor<2x256x256xf32>, tensor<2x256x8xf32> -> tensor<2x256x8xf32>
  %y = fusion.cluster(%x, %o) {
  ^bb0(%p: tensor<2x256x256xf32>, %q: tensor<2x256x8xf32>):
    %s = sgd.reduce add %q dimensions = [2] : tensor<2x256x8xf32> -> tensor<2x256xf32>
    %b = sgd.broadcast_in_dim %s dims = [0, 1] : tensor<2x256xf32> -> tensor<2x256x256xf32>
    %m = arith.mulf %p, %b : tensor<2x256x256xf32>
    fusion.yield %m : tensor<2x256x256xf32>
  } : (tensor<2x256x256xf32>, tensor<2x256x8xf32>) -> tensor<2x256x256xf32>
  return %y : tensor<2x256x256xf32>
}
