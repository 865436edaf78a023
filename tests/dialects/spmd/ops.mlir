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
  // CHECK: spmd.shard_slice %{{.*}} dim = 0 <@mesh, {"model"}>
  %6 = spmd.shard_slice %a dim = 0 <@mesh, {"model"}> : tensor<8x4xf32> -> tensor<4x4xf32>
  return
}

// -----

sgd.mesh @mesh = <["data"=4]>
func.func @uneven(%a: tensor<6xf32>) {
  // expected-error@+1 {{dimension 0 (size 6) does not divide over 4 ranks}}
  %0 = spmd.reduce_scatter add (%a) dims = [0] <@mesh, {"data"}> : (tensor<6xf32>) -> tensor<2xf32>
  return
}
