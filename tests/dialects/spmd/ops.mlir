// Every collective prints and parses back to itself; shapes follow the size of the group.
// RUN: sgd-opt %s --split-input-file --verify-diagnostics | sgd-opt --split-input-file --verify-diagnostics | FileCheck %s

sgd.mesh @mesh = <["data"=4, "model"=2]>

// CHECK-LABEL: @collectives
func.func @collectives(%a: tensor<8x4xf32>, %b: tensor<3xf32>) {
  // CHECK: spmd.partition_id <@mesh, {"data"}> : tensor<i32>
  %0 = spmd.partition_id <@mesh, {"data"}> : tensor<i32>
  // CHECK: spmd.all_reduce add(%{{.*}}, %{{.*}}) <@mesh, {"data", "model"}>
  %1:2 = spmd.all_reduce add (%a, %b) <@mesh, {"data", "model"}> : (tensor<8x4xf32>, tensor<3xf32>) -> (tensor<8x4xf32>, tensor<3xf32>)
  // CHECK: spmd.all_gather(%{{.*}}) dims = [1] <@mesh, {"data":(1)2}>
  %2 = spmd.all_gather (%a) dims = [1] <@mesh, {"data":(1)2}> : (tensor<8x4xf32>) -> tensor<8x8xf32>
  // CHECK: spmd.reduce_scatter add(%{{.*}}) dims = [0] <@mesh, {"data"}>
  %3 = spmd.reduce_scatter add (%a) dims = [0] <@mesh, {"data"}> : (tensor<8x4xf32>) -> tensor<2x4xf32>
  // CHECK: spmd.all_to_all %{{.*}} split = 0 concat = 1 <@mesh, {"model"}>
  %4 = spmd.all_to_all %a split = 0 concat = 1 <@mesh, {"model"}> : tensor<8x4xf32> -> tensor<4x8xf32>
  // CHECK: spmd.collective_permute
  %5 = spmd.collective_permute %a from <@mesh, {"data", "model"}> to <@mesh, {"model", "data"}> : tensor<8x4xf32>
  // CHECK: spmd.gather_range(%{{.*}}, %{{.*}}) ranges = [#sgd.range<dim = 1, size = 15, scale = -4, offset = 11, step = 2>, #sgd.range<dim = 0, size = 12, scale = 3, offset = 0, divisor = 2>] <@mesh, {"data"}> to <@mesh, {"model", "data"}>
  %7:2 = spmd.gather_range(%a, %b) ranges = [#sgd.range<dim = 1, size = 15, scale = -4, offset = 11, step = 2>,
    #sgd.range<dim = 0, size = 12, scale = 3, offset = 0, divisor = 2>] <@mesh, {"data"}> to <@mesh, {"model", "data"}>
    : (tensor<8x4xf32>, tensor<3xf32>) -> (tensor<8x2xf32>, tensor<7xf32>)
  // CHECK: spmd.shard_slice %{{.*}} dim = 0 <@mesh, {"model"}>
  %6 = spmd.shard_slice %a dim = 0 <@mesh, {"model"}> : tensor<8x4xf32> -> tensor<4x4xf32>
  return
}

// Sends and receives have effects: results that nobody reads do not make them go, and equal ones stay apart.
// CHECK-LABEL: @messages
func.func @messages(%a: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {sgd.stage = 1 : i64} {
  // CHECK: spmd.receive channel 3 from stage 0 : tensor<8x4xf32>
  %0 = spmd.receive channel 3 from stage 0 : tensor<8x4xf32>
  // CHECK: spmd.send %{{.*}} to stage 2 channel 1 depth 2 : tensor<8x4xf32>
  spmd.send %0 to stage 2 channel 1 depth 2 : tensor<8x4xf32>
  // CHECK: spmd.send %{{.*}} to stage 0 channel 0 : tensor<8x4xf32>
  spmd.send %0 to stage 0 channel 0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

sgd.mesh @mesh = <["data"=4]>
func.func @uneven(%a: tensor<6xf32>) {
  // expected-error@+1 {{dimension 0 (size 6) does not divide over 4 ranks; expected a multiple; pad the tensor}}
  %0 = spmd.reduce_scatter add (%a) dims = [0] <@mesh, {"data"}> : (tensor<6xf32>) -> tensor<2xf32>
  return
}

// -----

sgd.mesh @mesh = <["data"=4]>
func.func @too_few_tiles(%a: tensor<2xf32>) {
  // expected-error@+1 {{4 tiles of 2 elements do not hold a dimension of size 9}}
  %0 = spmd.gather_range(%a) ranges = [#sgd.range<dim = 0, size = 9, scale = 2, offset = 0>] <@mesh, {"data"}> to <@mesh, {"data"}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

sgd.mesh @mesh = <["data"=4]>
func.func @other_dimension(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{expected [2, 3], with any size of dimension 0; correct the result's type}}
  %0 = spmd.gather_range(%a) ranges = [#sgd.range<dim = 0, size = 8, scale = 2, offset = 0>] <@mesh, {"data"}> to <@mesh, {"data"}> : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

sgd.mesh @mesh = <["data"=4]>
func.func @no_divisor(%a: tensor<2xf32>) {
  // expected-error@+1 {{a range with the divisor 0 and the step 1}}
  %0 = spmd.gather_range(%a) ranges = [#sgd.range<dim = 0, size = 8, scale = 2, offset = 0, divisor = 0>] <@mesh, {"data"}> to <@mesh, {"data"}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
