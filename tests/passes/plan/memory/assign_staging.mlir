// RUN: sgd-opt %s --sgd-lower-to-plan --sgd-assign-staging --sgd-assign-offsets | FileCheck %s
// RUN: sgd-opt %s --sgd-lower-to-plan --sgd-assign-staging | sgd-opt --verify-roundtrip | FileCheck %s --check-prefix=SIZES

// Parts in rows are packed, whole ones are not. What is dead meanwhile may lie where the staging does.
sgd.mesh @mesh = <["data"=4]>
// CHECK-LABEL: @rows
func.func @rows(%x: tensor<8x6xf32>, %y: tensor<8x3xf32>) -> (tensor<32x6xf32>, tensor<8x24xf32>, tensor<8x3xf32>, tensor<2x12xf32>, tensor<8x7xf32>) {
  // SIZES: plan.collective all_gather({{.*}}) to({{.*}}) dims [0]
  %0 = spmd.all_gather(%x) dims = [0] <@mesh, {"data"}> : (tensor<8x6xf32>) -> tensor<32x6xf32>
  // SIZES: %[[S:.*]] = plan.alloc : memref<768xi8, #plan.space<window>>
  // SIZES: plan.collective all_gather({{.*}}) to({{.*}}) staging(%[[S]] : memref<768xi8, #plan.space<window>>) dims [1]
  // CHECK: plan.alloc offset {{[0-9]+}} : memref<768xi8, #plan.space<window>>
  %1 = spmd.all_gather(%x) dims = [1] <@mesh, {"data"}> : (tensor<8x6xf32>) -> tensor<8x24xf32>
  // SIZES: staging({{.*}} : memref<768xi8, #plan.space<window>>) dims [1]
  %2 = spmd.reduce_scatter add (%1) dims = [1] <@mesh, {"data"}> : (tensor<8x24xf32>) -> tensor<8x6xf32>
  // Three pieces of 48 bytes, packed at the receiver alone.
  // SIZES: staging({{.*}} : memref<192xi8, #plan.space<window>>) dims [0, 1]
  %3 = spmd.all_to_all %y split = 0 concat = 1 <@mesh, {"data"}> : tensor<8x3xf32> -> tensor<2x12xf32>
  // A column from the next rank: packed there and unpacked here.
  // SIZES: plan.collective gather_range({{.*}}) to({{.*}}) staging({{.*}} : memref<128xi8, #plan.space<window>>)
  %4 = spmd.gather_range(%2) ranges = [#sgd.range<dim = 1, size = 24, scale = 6, offset = 0>] <@mesh, {"data"}> to <@mesh, {"data"}> : (tensor<8x6xf32>) -> tensor<8x7xf32>
  %5 = arith.addf %y, %y : tensor<8x3xf32>
  return %0, %1, %5, %3, %4 : tensor<32x6xf32>, tensor<8x24xf32>, tensor<8x3xf32>, tensor<2x12xf32>, tensor<8x7xf32>
}
