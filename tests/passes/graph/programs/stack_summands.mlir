// RUN: sgd-opt %s --sgd-stack-summands -split-input-file -verify-diagnostics | FileCheck %s

// What is unreduced at a border becomes its summands, one per rank; inside, the sum may stay partial. Others stay as they are.
sgd.mesh @mesh = <["x"=2, "y"=3]>
// CHECK: func.func @main(%[[A:.*]]: tensor<6x8xf32> {sgd.name = "a", sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}, {}]>, sgd.summands},
// CHECK-SAME: %[[B:.*]]: tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>})
// CHECK-SAME: -> (tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {"y"}]>, sgd.summands}, tensor<8xf32>)
func.func @main(%a: tensor<8xf32> {sgd.name = "a", sgd.sharding = #sgd.sharding<@mesh, [{}], unreduced={"x", "y"}>},
                %b: tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"y"}], unreduced={"x"}>}, tensor<8xf32>) {
  // CHECK: %[[SUM:.*]] = sgd.reduce add %[[A]] dimensions = [0] : tensor<6x8xf32> -> tensor<8xf32>
  // CHECK: %[[PARTIAL:.*]] = sgd.sharding_constraint %[[SUM]] <@mesh, [{}], unreduced={"x", "y"}>
  // CHECK: %[[TOTAL:.*]] = arith.addf %[[PARTIAL]], %[[B]]
  %0 = arith.addf %a, %b : tensor<8xf32>
  // CHECK: %[[LEFT:.*]] = sgd.sharding_constraint %[[TOTAL]] <@mesh, [{"y"}], unreduced={"x"}>
  // CHECK: %[[OUT:.*]] = sgd.summands %[[LEFT]] : tensor<8xf32> -> tensor<2x8xf32>
  // CHECK: return %[[OUT]], %[[PARTIAL]]
  return %0, %a : tensor<8xf32>, tensor<8xf32>
}

// -----

// A scalar; and one summand is the value. A buffer is not taken for a result of another type, but it is free.
sgd.mesh @mesh = <["x"=2, "one"=1]>
// CHECK: func.func @main(%{{.*}}: tensor<2xf32> {sgd.donated, sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>, sgd.summands},
// CHECK-SAME: %{{.*}}: tensor<4xf32> {sgd.alias_output = 1 : i64, sgd.sharding = #sgd.sharding<@mesh, [{}]>})
func.func @main(%a: tensor<f32> {sgd.alias_output = 0 : i64, sgd.sharding = #sgd.sharding<@mesh, [], unreduced={"x"}>},
                %b: tensor<4xf32> {sgd.alias_output = 1 : i64, sgd.sharding = #sgd.sharding<@mesh, [{}], unreduced={"one"}>})
    -> (tensor<f32>, tensor<4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}) {
  return %a, %b : tensor<f32>, tensor<4xf32>
}

// -----

sgd.mesh @mesh = <["x"=2]>
// expected-error@+1 {{argument 0 is unreduced and of booleans; expected numbers, which have a sum; convert it}}
func.func @main(%a: tensor<4xi1> {sgd.sharding = #sgd.sharding<@mesh, [{}], unreduced={"x"}>}) {
  return
}
