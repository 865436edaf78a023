// Arguments and results that JAX leaves unreduced are whole at the border of a program; within it, they are reduced where their users need it.
// RUN: sgd-opt %s -sgd-import-stablehlo | FileCheck %s

// CHECK: func.func @main(%arg0: tensor<4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}) -> (tensor<4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>})
// CHECK: sgd.sharding_constraint %{{.*}} <@mesh, [{}], unreduced={"data"}>
sdy.mesh @mesh = <["data"=2]>
func.func @main(%w: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"data"}>})
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"data"}>}) {
  %0 = stablehlo.add %w, %w : tensor<4xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}], unreduced={"data"}> : tensor<4xf32>
  return %1 : tensor<4xf32>
}
