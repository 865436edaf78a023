// Arguments and results that JAX leaves unreduced are whole at the border of a program, or stay unreduced; within it, they are reduced where their users need it.
// RUN: sgd-opt %s -split-input-file -sgd-import-stablehlo | FileCheck %s
// RUN: sgd-opt %s -split-input-file -sgd-import-stablehlo=keep-unreduced | FileCheck %s --check-prefix=KEEP

// CHECK: func.func @main(%arg0: tensor<4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}) -> (tensor<4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>})
// CHECK: sgd.sharding_constraint %{{.*}} <@mesh, [{}], unreduced={"data"}>
// KEEP: func.func @main(%arg0: tensor<4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}], unreduced={"data"}>}) -> (tensor<4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}], unreduced={"data"}>})
sdy.mesh @mesh = <["data"=2]>
func.func @main(%w: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"data"}>})
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"data"}>}) {
  %0 = stablehlo.add %w, %w : tensor<4xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}], unreduced={"data"}> : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// The body of a manual computation has a summand of an operand, and of a result.
// CHECK: func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK: sgd.manual_computation
// CHECK-SAME: in [#sgd.sharding<@mesh, [{}], unreduced={"data"}>] out [#sgd.sharding<@mesh, [{}], unreduced={"data"}>] over
// CHECK-NEXT: ^bb0(%[[PART:.*]]: tensor<4xf32>):
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[PART]], %[[PART]]
// CHECK-NEXT: sgd.yield %[[SUM]]
sdy.mesh @mesh = <["data"=2]>
func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%w) in_shardings=[<@mesh, [{}], unreduced={"data"}>] out_shardings=[<@mesh, [{}], unreduced={"data"}>]
      manual_axes={"data"} (%part: tensor<4xf32>) {
    %1 = stablehlo.add %part, %part : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
