// RUN: sgd-opt %s --sgd-fuse-clusters=elements-per-launch=1048576 | FileCheck %s
// RUN: sgd-opt %s --sgd-fuse-clusters | FileCheck %s --check-prefix=APART

// Statistics of a batch norm from sums of parts: mean, variance, which needs the mean, and scale are one kernel.
// CHECK-LABEL: func.func @statistics
// CHECK: %[[S:.*]]:3 = fusion.cluster
// CHECK: sgd.reduce
// CHECK: sgd.reduce
// CHECK: math.rsqrt
// CHECK-NOT: fusion.cluster
// CHECK: return %[[S]]#
// APART-LABEL: func.func @statistics
// APART-COUNT-3: fusion.cluster
func.func @statistics(%sums: tensor<256x64xf32>, %squares: tensor<256x64xf32>, %running: tensor<64xf32>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %n = arith.constant dense<4096.0> : tensor<64xf32>
  %s = sgd.reduce add %sums dimensions = [0] : tensor<256x64xf32> -> tensor<64xf32>
  %mean = arith.divf %s, %n : tensor<64xf32>
  %r = arith.addf %running, %mean : tensor<64xf32>
  %q = sgd.reduce add %squares dimensions = [0] : tensor<256x64xf32> -> tensor<64xf32>
  %d = arith.divf %q, %n : tensor<64xf32>
  %m2 = arith.mulf %mean, %mean : tensor<64xf32>
  %var = arith.subf %d, %m2 : tensor<64xf32>
  %r2 = arith.addf %r, %var : tensor<64xf32>
  %scale = math.rsqrt %var : tensor<64xf32>
  return %mean, %r2, %scale : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// The kernel that reduces a value by columns stores it.
// CHECK-LABEL: func.func @points
// CHECK: %[[C:.*]]:2 = fusion.cluster
// CHECK: arith.select
// CHECK: sgd.reduce
// CHECK: fusion.matmul %[[C]]#0
// CHECK-NOT: fusion.cluster
// APART-LABEL: func.func @points
// APART-COUNT-2: fusion.cluster
func.func @points(%y: tensor<256x16x64xf32>, %g: tensor<256x16x64xf32>, %w: tensor<64x64xf32>)
    -> (tensor<256x16x64xf32>, tensor<256x64xf32>) {
  %z = arith.constant dense<0.0> : tensor<256x16x64xf32>
  %b = arith.cmpf ogt, %y, %z : tensor<256x16x64xf32>
  %m = arith.select %b, %g, %z : tensor<256x16x64xi1>, tensor<256x16x64xf32>
  %s = sgd.reduce add %m dimensions = [1] : tensor<256x16x64xf32> -> tensor<256x64xf32>
  %p = fusion.matmul %m [0, 1, 2], %w [2, 3] into [0, 1, 3] : tensor<256x16x64xf32>, tensor<64x64xf32> -> tensor<256x16x64xf32>
  return %p, %s : tensor<256x16x64xf32>, tensor<256x64xf32>
}

// Of few columns, too few threads would compute all points.
// CHECK-LABEL: func.func @few_columns
// CHECK-COUNT-2: fusion.cluster
func.func @few_columns(%y: tensor<65536x8xf32>, %g: tensor<65536x8xf32>, %w: tensor<8x8xf32>) -> (tensor<65536x8xf32>, tensor<8xf32>) {
  %m = arith.mulf %y, %g : tensor<65536x8xf32>
  %s = sgd.reduce add %m dimensions = [0] : tensor<65536x8xf32> -> tensor<8xf32>
  %p = fusion.matmul %m [0, 1], %w [1, 2] into [0, 2] : tensor<65536x8xf32>, tensor<8x8xf32> -> tensor<65536x8xf32>
  return %p, %s : tensor<65536x8xf32>, tensor<8xf32>
}

// Read at other places than where it is made, which other threads have.
// CHECK-LABEL: func.func @elsewhere
// CHECK-COUNT-2: fusion.cluster
func.func @elsewhere(%x: tensor<256x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %s = sgd.reduce add %x dimensions = [0] : tensor<256x64xf32> -> tensor<64xf32>
  %e = math.exp %s : tensor<64xf32>
  %r = sgd.reverse %e dimensions = [0] : tensor<64xf32>
  %f = math.exp %r : tensor<64xf32>
  return %e, %f : tensor<64xf32>, tensor<64xf32>
}

// A matmul stands between the two, which cannot wait for it and feed it.
// CHECK-LABEL: func.func @around_a_product
// CHECK: %[[E:.*]] = fusion.cluster(%arg0)
// CHECK: %[[P:.*]] = fusion.matmul %[[E]]
// CHECK: fusion.cluster(%[[E]], %[[P]])
func.func @around_a_product(%x: tensor<256x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %s = sgd.reduce add %x dimensions = [0] : tensor<256x64xf32> -> tensor<64xf32>
  %e = math.exp %s : tensor<64xf32>
  %p = fusion.matmul %e [0], %w [0, 1] into [1] : tensor<64xf32>, tensor<64x64xf32> -> tensor<64xf32>
  %t = math.tanh %e : tensor<64xf32>
  %r = arith.addf %p, %t : tensor<64xf32>
  %f = math.exp %r : tensor<64xf32>
  return %e, %f : tensor<64xf32>, tensor<64xf32>
}
