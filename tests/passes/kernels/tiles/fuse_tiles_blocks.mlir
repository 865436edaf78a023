// Tiles of a block of attention in a ring: rows' largest scores come from elsewhere, positions depend on the rank.
// RUN: sgd-opt %s --sgd-lower-dot-generals --sgd-fuse-clusters --sgd-fuse-tiles | FileCheck %s

sgd.mesh @mesh = <["x"=4]>

!x = tensor<8x128x64xf32>
!s = tensor<8x128x128xf32>
!row = tensor<8x128xf32>

// Minus infinity counts for nothing whatever else a row sees: the second half of the columns is left out for the first block of rows, though it is
// not known what they see of the first half.
// CHECK-LABEL: func.func @hidden_by_minus_infinity
// CHECK: fusion.tiled({{.*}}) loops [8]
// CHECK: fusion.matmul {{.*}} -> tensor<1x64x128xf32>
// CHECK: fusion.matmul {{.*}} -> tensor<1x64x64xf32>
// CHECK: return
func.func @hidden_by_minus_infinity(%q: !x, %k: !x, %v: !x, %seen: tensor<128x128xi1>, %before: !row) -> (!x, !row, !row) {
  %s = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : !x, !x -> !s
  %i = sgd.iota dimension = 0 : tensor<128x128xi32>
  %j = sgd.iota dimension = 1 : tensor<128x128xi32>
  %below = arith.cmpi sge, %i, %j : tensor<128x128xi32>
  %both = arith.andi %seen, %below : tensor<128x128xi1>
  %mask = sgd.broadcast_in_dim %both dims = [1, 2] : tensor<128x128xi1> -> tensor<8x128x128xi1>
  %fill = arith.constant dense<0xFF800000> : !s
  %m = arith.select %mask, %s, %fill : tensor<8x128x128xi1>, !s
  %max = sgd.reduce max %m dimensions = [2] : !s -> !row
  %largest = arith.maximumf %before, %max : !row
  %maxb = sgd.broadcast_in_dim %largest dims = [0, 1] : !row -> !s
  %c = arith.subf %m, %maxb : !s
  %e = math.exp %c : !s
  %sum = sgd.reduce add %e dimensions = [2] : !s -> !row
  %o = sgd.dot_general %e, %v batching = [0] x [0] contracting = [2] x [1] : !s, !x -> !x
  return %o, %largest, %sum : !x, !row, !row
}

// Without a reduction, columns are what scores have besides rows.
// CHECK-LABEL: func.func @gradients
// CHECK: fusion.tiled({{.*}}) loops [8]
// CHECK: fusion.matmul {{.*}} -> tensor<1x64x128xf32>
// CHECK: fusion.matmul {{.*}} -> tensor<1x64x64xf32>
// CHECK: return
func.func @gradients(%q: !x, %k: !x, %v: !x, %largest: !row) -> (!x, !x) {
  %s = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : !x, !x -> !s
  %i = sgd.iota dimension = 1 : tensor<8x128x128xi32>
  %j = sgd.iota dimension = 2 : tensor<8x128x128xi32>
  %mask = arith.cmpi sge, %i, %j : tensor<8x128x128xi32>
  %fill = arith.constant dense<0xFF800000> : !s
  %m = arith.select %mask, %s, %fill : tensor<8x128x128xi1>, !s
  %maxb = sgd.broadcast_in_dim %largest dims = [0, 1] : !row -> !s
  %c = arith.subf %m, %maxb : !s
  %e = math.exp %c : !s
  %dq = sgd.dot_general %e, %k batching = [0] x [0] contracting = [2] x [1] : !s, !x -> !x
  %dk = sgd.dot_general %e, %q batching = [0] x [0] contracting = [1] x [1] : !s, !x -> !x
  return %dq, %dk : !x, !x
}

// A tile's kernels are the same on all ranks: the rank's coordinate is computed before them.
// CHECK-LABEL: func.func @of_the_rank
// CHECK: %[[RANK:.*]] = fusion.cluster() {
// CHECK-NEXT: spmd.partition_id
// CHECK: fusion.tiled({{.*}}%[[RANK]]{{.*}}) loops [8]
// CHECK-NOT: spmd.partition_id
// CHECK: return
func.func @of_the_rank(%q: !x, %k: !x, %v: !x) -> !x {
  %s = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : !x, !x -> !s
  %rank = spmd.partition_id <@mesh, {"x"}> : tensor<i32>
  %n = sgd.broadcast_in_dim %rank dims = [] : tensor<i32> -> tensor<8x128x128xi32>
  %j = sgd.iota dimension = 2 : tensor<8x128x128xi32>
  %mask = arith.cmpi sge, %n, %j : tensor<8x128x128xi32>
  %fill = arith.constant dense<-1.0e+09> : !s
  %m = arith.select %mask, %s, %fill : tensor<8x128x128xi1>, !s
  %e = math.exp %m : !s
  %o = sgd.dot_general %e, %v batching = [0] x [0] contracting = [2] x [1] : !s, !x -> !x
  return %o : !x
}

// One head has no dimension for a loop: its scores, of 144 MiB, are in blocks of rows all the same; those of a short sequence are kept.
// CHECK-LABEL: func.func @one_head
// CHECK: fusion.tiled(%arg0, %arg1, %arg2) loops [] cuts [] {
// CHECK: return
func.func @one_head(%q: tensor<6144x64xf32>, %k: tensor<6144x64xf32>, %v: tensor<6144x64xf32>) -> tensor<6144x64xf32> {
  %s = sgd.dot_general %q, %k batching = [] x [] contracting = [1] x [1] : tensor<6144x64xf32>, tensor<6144x64xf32> -> tensor<6144x6144xf32>
  %e = math.exp %s : tensor<6144x6144xf32>
  %o = sgd.dot_general %e, %v batching = [] x [] contracting = [1] x [0] : tensor<6144x6144xf32>, tensor<6144x64xf32> -> tensor<6144x64xf32>
  return %o : tensor<6144x64xf32>
}

// CHECK-LABEL: func.func @one_short_head
// CHECK-NOT: fusion.tiled
// CHECK: return
func.func @one_short_head(%q: tensor<1024x64xf32>, %k: tensor<1024x64xf32>, %v: tensor<1024x64xf32>) -> tensor<1024x64xf32> {
  %s = sgd.dot_general %q, %k batching = [] x [] contracting = [1] x [1] : tensor<1024x64xf32>, tensor<1024x64xf32> -> tensor<1024x1024xf32>
  %e = math.exp %s : tensor<1024x1024xf32>
  %o = sgd.dot_general %e, %v batching = [] x [] contracting = [1] x [0] : tensor<1024x1024xf32>, tensor<1024x64xf32> -> tensor<1024x64xf32>
  return %o : tensor<1024x64xf32>
}
