// RUN: sgd-opt %s --spmd-replace-reductions="short-integers=false bits=false" --split-input-file | FileCheck %s
// RUN: sgd-opt %s --spmd-replace-reductions --split-input-file | FileCheck %s --check-prefix=NATIVE

// Of a bucket only what is short gets wider; minima of unsigned numbers are of unsigned ones.
sgd.mesh @mesh = <["data"=4]>
// CHECK-LABEL: @short
// NATIVE-LABEL: @short
func.func @short(%x: tensor<8xi16>, %y: tensor<3xf32>) -> (tensor<8xi16>, tensor<3xf32>, tensor<8xi16>, tensor<2xi16>) {
  // CHECK: %[[WIDE:.*]] = arith.extsi %arg0 : tensor<8xi16> to tensor<8xi32>
  // CHECK: %[[SUM:.*]]:2 = spmd.all_reduce add(%[[WIDE]], %arg1) {{.*}} {sgd.decisions = ["a sum"]} : (tensor<8xi32>, tensor<3xf32>)
  // CHECK: %[[S:.*]] = arith.trunci %[[SUM]]#0 : tensor<8xi32> to tensor<8xi16>
  // NATIVE: spmd.all_reduce add(%arg0, %arg1)
  %0:2 = spmd.all_reduce add (%x, %y) <@mesh, {"data"}> {sgd.decisions = ["a sum"]} : (tensor<8xi16>, tensor<3xf32>) -> (tensor<8xi16>, tensor<3xf32>)
  // CHECK: arith.extui %arg0
  // CHECK: spmd.all_reduce umin
  %1 = spmd.all_reduce umin (%x) <@mesh, {"data"}> : (tensor<8xi16>) -> tensor<8xi16>
  // CHECK: spmd.reduce_scatter max({{.*}}) dims = [0] {{.*}} : (tensor<8xi32>) -> tensor<2xi32>
  %2 = spmd.reduce_scatter max (%x) dims = [0] <@mesh, {"data"}> : (tensor<8xi16>) -> tensor<2xi16>
  // CHECK: return %[[S]], %[[SUM]]#1
  return %0#0, %0#1, %1, %2 : tensor<8xi16>, tensor<3xf32>, tensor<8xi16>, tensor<2xi16>
}

// -----

sgd.mesh @mesh = <["data"=4]>
// CHECK-LABEL: @bits
// NATIVE-LABEL: @bits
func.func @bits(%x: tensor<8x6xi32>, %b: tensor<5xi1>, %s: tensor<i16>) -> (tensor<8x6xi32>, tensor<5xi1>, tensor<8x6xi32>, tensor<2x6xi32>, tensor<5xi1>, tensor<i16>) {
  // Booleans are combined as bytes.
  // CHECK: %[[ROW:.*]] = sgd.reshape %arg0 : tensor<8x6xi32> -> tensor<1x8x6xi32>
  // CHECK: %[[ALL:.*]] = spmd.all_gather(%[[ROW]]) dims = [0] {{.*}} : (tensor<1x8x6xi32>) -> tensor<4x8x6xi32>
  // CHECK: sgd.reduce and %[[ALL]] dimensions = [0]
  // CHECK: spmd.all_reduce and(%arg1) {{.*}} : (tensor<5xi1>)
  // NATIVE: spmd.all_reduce and(%arg0, %arg1)
  %0:2 = spmd.all_reduce and (%x, %b) <@mesh, {"data"}> : (tensor<8x6xi32>, tensor<5xi1>) -> (tensor<8x6xi32>, tensor<5xi1>)
  // CHECK: spmd.all_gather
  // CHECK: sgd.reduce xor
  // NATIVE: spmd.all_gather
  %1 = spmd.all_reduce xor (%x) <@mesh, {"data"}> : (tensor<8x6xi32>) -> tensor<8x6xi32>
  // CHECK: %[[MINE:.*]] = spmd.all_to_all %{{.*}} split = 1 concat = 0 {{.*}} : tensor<1x8x6xi32> -> tensor<4x2x6xi32>
  // CHECK: sgd.reduce or %[[MINE]] dimensions = [0] : tensor<4x2x6xi32> -> tensor<2x6xi32>
  // NATIVE: spmd.reduce_scatter or
  %2 = spmd.reduce_scatter or (%x) dims = [0] <@mesh, {"data"}> : (tensor<8x6xi32>) -> tensor<2x6xi32>
  // The sum of booleans is an xor.
  // CHECK: spmd.all_gather({{.*}}) dims = [0] {{.*}} : (tensor<1x5xi1>) -> tensor<4x5xi1>
  // CHECK: sgd.reduce add
  // NATIVE: spmd.all_gather
  %3 = spmd.all_reduce add (%b) <@mesh, {"data"}> : (tensor<5xi1>) -> tensor<5xi1>
  // CHECK: spmd.all_gather({{.*}}) dims = [0] {{.*}} : (tensor<1xi16>) -> tensor<4xi16>
  // CHECK: sgd.reduce or
  %4 = spmd.all_reduce or (%s) <@mesh, {"data"}> : (tensor<i16>) -> tensor<i16>
  return %0#0, %0#1, %1, %2, %3, %4 : tensor<8x6xi32>, tensor<5xi1>, tensor<8x6xi32>, tensor<2x6xi32>, tensor<5xi1>, tensor<i16>
}
