// Arguments and results that JAX leaves unreduced are whole at the border of a program; within it, they are reduced where their users need it.
// RUN: sgd-opt %s -split-input-file -sgd-import-stablehlo | FileCheck %s

// CHECK: func.func @main(%arg0: tensor<4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}) -> (tensor<4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>})
// CHECK: sgd.sharding_constraint %{{.*}} <@mesh, [{}], unreduced={"data"}>
sdy.mesh @mesh = <["data"=2]>
func.func @main(%w: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"data"}>})
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"data"}>}) {
  %0 = stablehlo.add %w, %w : tensor<4xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}], unreduced={"data"}> : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// The body of a manual computation has summands: of an operand the whole on the first rank and zero on others. A result is the sum of what ranks return.
// CHECK: func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK: sgd.manual_computation
// CHECK-SAME: in [#sgd.sharding<@mesh, [{}]>] out [#sgd.sharding<@mesh, [{}]>] over
// CHECK: %[[RANK:.*]] = spmd.partition_id <@mesh, {"data"}>
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[RANK]]
// CHECK: %[[MASK:.*]] = sgd.broadcast_in_dim %[[FIRST]]
// CHECK: arith.select %[[MASK]]
// CHECK: spmd.all_reduce {{.*}}<@mesh, {"data"}>
sdy.mesh @mesh = <["data"=2]>
func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%w) in_shardings=[<@mesh, [{}], unreduced={"data"}>] out_shardings=[<@mesh, [{}], unreduced={"data"}>]
      manual_axes={"data"} (%part: tensor<4xf32>) {
    %1 = stablehlo.add %part, %part : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
