// An op that moves elements along a sharded dimension fetches the range that a rank lacks.
// RUN: sgd-opt %s --split-input-file --sgd-shard --sgd-localize --canonicalize --spmd-simplify-collectives | FileCheck %s

// Only the elements that are read are sent.
// CHECK-LABEL: @strided
sgd.mesh @mesh = <["x"=4]>
func.func @strided(%a: tensor<16x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x2xf32> {
  // Elements that no other rank needs are cut off before sending.
  // CHECK: %[[CUT:.*]] = sgd.slice %arg0 starts = [0, 1] limits = [4, 3] strides = [1, 1]
  // CHECK-NEXT: spmd.gather_range(%[[CUT]]) ranges = [#sgd.range<dim = 0, size = 16, scale = 3, offset = 1, step = 3>] <@mesh, {"x"}> to <@mesh, {"x"}>
  // CHECK-SAME: cause = "moves", {{.*}}from = "tiles of 4", op = "sgd.slice", {{.*}}to = "1 elements of dimension 0"
  // CHECK-SAME: -> tensor<1x2xf32>
  %0 = sgd.slice %a starts = [1, 1] limits = [11, 3] strides = [3, 1] : tensor<16x4xf32> -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// Every rank's elements are its own: nothing is sent.
// CHECK-LABEL: @own
sgd.mesh @mesh = <["x"=4]>
func.func @own(%a: tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // CHECK-NEXT: sgd.slice %arg0 starts = [1] limits = [4] strides = [2] : tensor<4xf32> -> tensor<2xf32>
  // CHECK-NEXT: return
  %0 = sgd.slice %a starts = [1] limits = [16] strides = [2] : tensor<16xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Elements of a slice are elements of what it is a slice of: the concatenation reads that, and the slices vanish.
// CHECK-LABEL: @roll
sgd.mesh @mesh = <["x"=4]>
func.func @roll(%a: tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<16xf32> {
  // CHECK: %[[BEHIND:.*]] = spmd.gather_range(%arg0) ranges = [#sgd.range<dim = 0, size = 16, scale = 4, offset = 4>]
  // CHECK-NEXT: %[[BEFORE:.*]] = spmd.gather_range(%arg0) ranges = [#sgd.range<dim = 0, size = 4, scale = 4, offset = -12>]
  // CHECK-NOT: = spmd
  // CHECK: arith.select %{{.*}}, %[[BEFORE]], %[[BEHIND]]
  %0 = sgd.slice %a starts = [4] limits = [16] strides = [1] : tensor<16xf32> -> tensor<12xf32>
  %1 = sgd.slice %a starts = [0] limits = [4] strides = [1] : tensor<16xf32> -> tensor<4xf32>
  %2 = sgd.concatenate %0, %1 dimension = 0 : (tensor<12xf32>, tensor<4xf32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}

// -----

// The padding's value goes where the global index is outside; zero is there already.
// CHECK-LABEL: @pad
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @pad(%a: tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"y", "x"}]>}, %v: tensor<f32>) -> (tensor<12xf32>, tensor<12xf32>) {
  // CHECK: %[[RANGE:.*]] = spmd.gather_range(%arg0) ranges = [#sgd.range<dim = 0, size = 8, scale = 3, offset = -3>] <@mesh, {"y", "x"}> to <@mesh, {"y", "x"}>
  // CHECK: %[[VALUE:.*]] = sgd.broadcast_in_dim %arg1
  // CHECK: %[[PADDED:.*]] = arith.select %{{.*}}, %[[RANGE]], %[[VALUE]]
  %0 = sgd.pad %a, %v low = [3] high = [1] interior = [0] : tensor<8xf32>, tensor<f32> -> tensor<12xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %1 = sgd.pad %a, %zero low = [3] high = [1] interior = [0] : tensor<8xf32>, tensor<f32> -> tensor<12xf32>
  // CHECK: return %[[PADDED]], %[[RANGE]]
  return %0, %1 : tensor<12xf32>, tensor<12xf32>
}

// -----

// CHECK-LABEL: @reverse
sgd.mesh @mesh = <["x"=4]>
func.func @reverse(%a: tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // CHECK: %[[RANGE:.*]] = spmd.gather_range(%arg0) ranges = [#sgd.range<dim = 0, size = 8, scale = -2, offset = 6>]
  // CHECK-NEXT: sgd.reverse %[[RANGE]] dimensions = [0]
  %0 = sgd.reverse %a dimensions = [0] : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// One row for all: the ranks that do not have it add nothing to it.
// CHECK-LABEL: @row
sgd.mesh @mesh = <["x"=4]>
func.func @row(%a: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> tensor<1x4xf32> {
  // CHECK-DAG: %[[NOTHING:.*]] = arith.constant dense<-0.000000e+00> : tensor<1x4xf32>
  // CHECK-DAG: %[[OWNER:.*]] = arith.constant dense<1> : tensor<i32>
  // CHECK-DAG: %[[RANK:.*]] = spmd.partition_id
  // CHECK-DAG: %[[ROW:.*]] = sgd.slice %arg0 starts = [1, 0] limits = [2, 4]
  // CHECK: arith.cmpi eq, %[[RANK]], %[[OWNER]]
  // CHECK: %[[SUMMAND:.*]] = arith.select %{{.*}}, %[[ROW]], %[[NOTHING]]
  // CHECK-NEXT: spmd.all_reduce add(%[[SUMMAND]])
  // CHECK-NEXT: return
  %0 = sgd.slice %a starts = [3, 0] limits = [4, 4] strides = [1, 1] : tensor<8x4xf32> -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
