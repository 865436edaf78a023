// Equal collectives merge, neighbouring ones fold, unused ones go.
// RUN: sgd-opt %s --split-input-file --spmd-simplify-collectives | FileCheck %s

sgd.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func.func @equal
// CHECK-COUNT-1: spmd.all_gather
// CHECK-NOT: spmd.
func.func @equal(%a: tensor<4xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %0 = spmd.all_gather(%a) dims = [0] <@mesh, {"x"}> {sgd.decisions = ["one"]} : (tensor<4xf32>) -> tensor<16xf32>
  %1 = spmd.all_gather(%a) dims = [0] <@mesh, {"x"}> {sgd.decisions = ["two"]} : (tensor<4xf32>) -> tensor<16xf32>
  %2 = spmd.all_reduce add(%a) <@mesh, {"x"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<16xf32>, tensor<16xf32>
}

// -----

sgd.mesh @mesh = <["x"=4, "y"=2]>

// Only a slice over the very same group.
// CHECK-LABEL: func.func @slice
// CHECK: spmd.reduce_scatter max(%arg0) dims = [1] <@mesh, {"x"}> : (tensor<8x8xf32>) -> tensor<8x2xf32>
// CHECK: spmd.all_reduce max(%arg1) <@mesh, {"x"}>
// CHECK: spmd.shard_slice %{{.*}} dim = 1 <@mesh, {"y"}>
func.func @slice(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> (tensor<8x2xf32>, tensor<8x4xf32>) {
  %0 = spmd.all_reduce max(%a) <@mesh, {"x"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = spmd.shard_slice %0 dim = 1 <@mesh, {"x"}> : tensor<8x8xf32> -> tensor<8x2xf32>
  %2 = spmd.all_reduce max(%b) <@mesh, {"x"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = spmd.shard_slice %2 dim = 1 <@mesh, {"y"}> : tensor<8x8xf32> -> tensor<8x4xf32>
  return %1, %3 : tensor<8x2xf32>, tensor<8x4xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func.func @sum
// CHECK: %[[S:.*]] = arith.addf %arg0, %arg1
// CHECK: spmd.all_reduce add(%[[S]])
// CHECK: %[[M:.*]] = arith.mulf
// CHECK: return
func.func @sum(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>, %d: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = spmd.all_reduce add(%a) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
  %1 = spmd.all_reduce add(%b) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
  %2 = arith.addf %0, %1 : tensor<8xf32>
  %3 = spmd.all_reduce add(%c) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
  %4 = spmd.all_reduce add(%d) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
  %5 = arith.mulf %3, %4 : tensor<8xf32>
  return %2, %5 : tensor<8xf32>, tensor<8xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Equal ones merge before neighbours fold: both slices are of one sum, and so one reduce_scatter.
// CHECK-LABEL: func.func @equal_slices
// CHECK: %[[S:.*]] = spmd.reduce_scatter add(%arg0) dims = [0] <@mesh, {"x"}>
// CHECK-NOT: spmd.
// CHECK: return %[[S]], %[[S]]
func.func @equal_slices(%a: tensor<8xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = spmd.all_reduce add(%a) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
  %1 = spmd.shard_slice %0 dim = 0 <@mesh, {"x"}> : tensor<8xf32> -> tensor<2xf32>
  %2 = spmd.all_reduce add(%a) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
  %3 = spmd.shard_slice %2 dim = 0 <@mesh, {"x"}> : tensor<8xf32> -> tensor<2xf32>
  return %1, %3 : tensor<2xf32>, tensor<2xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// A sum that something else reads too is sent as it is, once.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-2: spmd.all_reduce
// CHECK-NOT: spmd.
func.func @shared(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = spmd.all_reduce add(%a) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
  %1 = spmd.all_reduce add(%b) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
  %2 = arith.addf %0, %1 : tensor<8xf32>
  %3 = spmd.all_reduce add(%a) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
  %4 = spmd.all_reduce add(%b) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
  %5 = arith.mulf %3, %4 : tensor<8xf32>
  return %2, %5 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Messages are no values: equal ones stay, and those that nothing reads.
// CHECK-LABEL: @messages
func.func @messages(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-COUNT-2: spmd.receive channel 0 from stage 1
  %0 = spmd.receive channel 0 from stage 1 : tensor<4xf32>
  %1 = spmd.receive channel 0 from stage 1 : tensor<4xf32>
  // CHECK-COUNT-2: spmd.send %{{.*}} to stage 1 channel 1
  spmd.send %x to stage 1 channel 1 depth 2 : tensor<4xf32>
  spmd.send %x to stage 1 channel 1 depth 2 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
