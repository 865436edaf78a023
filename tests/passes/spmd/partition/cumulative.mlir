// Cumulative ops: within a rank as before (by doubling, after sgd-lower-scans); along a sharded dimension the ranks' totals are gathered.
// RUN: sgd-opt %s --split-input-file --sgd-shard --sgd-localize --sgd-lower-scans --canonicalize | FileCheck %s

// CHECK-LABEL: @whole
sgd.mesh @mesh = <["x"=4]>
func.func @whole(%a: tensor<5xf32>) -> tensor<5xf32> {
  // CHECK: %[[BY1:.*]] = sgd.pad %arg0, %{{.*}} low = [1] high = [-1]
  // CHECK: %[[TWO:.*]] = arith.addf %[[BY1]], %arg0
  // CHECK: %[[BY2:.*]] = sgd.pad %[[TWO]], %{{.*}} low = [2] high = [-2]
  // CHECK: %[[FOUR:.*]] = arith.addf %[[BY2]], %[[TWO]]
  // CHECK: %[[BY4:.*]] = sgd.pad %[[FOUR]], %{{.*}} low = [4] high = [-4]
  // CHECK: %[[ALL:.*]] = arith.addf %[[BY4]], %[[FOUR]]
  // CHECK-NEXT: return %[[ALL]]
  %0 = sgd.cumulative add %a dimension = 0 : tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// CHECK-LABEL: @sharded
sgd.mesh @mesh = <["x"=4]>
func.func @sharded(%a: tensor<8x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x3xf32> {
  // CHECK: %[[OWN:.*]] = arith.maximumf
  // CHECK: %[[TOTAL:.*]] = sgd.slice %[[OWN]] starts = [0, 0] limits = [1, 3]
  // CHECK: %[[TOTALS:.*]] = spmd.all_gather(%[[TOTAL]]) dims = [0] <@mesh, {"x"}>
  // CHECK-SAME: totals of each rank
  // CHECK: %[[LATER:.*]] = arith.cmpi sgt
  // CHECK: %[[MASKED:.*]] = arith.select %[[LATER]], %[[TOTALS]]
  // CHECK: sgd.reduce max %[[MASKED]] dimensions = [0]
  %0 = sgd.cumulative max %a dimension = 0 reverse : tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}
