// RUN: sgd-opt %s --sgd-keep-uncommitted --split-input-file --verify-diagnostics | FileCheck %s

// New state is selected; metrics, and state that stays, are what they were.
// CHECK-LABEL: @by_attribute
// CHECK-SAME: (%[[W:[^:]*]]: tensor<4xf32>, %[[STEP:[^:]*]]: tensor<i32>, %{{[^:]*}}: tensor<4xf32>, %[[OK:[^:]*]]: tensor<i1>
// CHECK: %[[NEXT:.*]] = arith.subf %[[W]]
// CHECK: %[[COUNT:.*]] = arith.addi %[[STEP]]
// CHECK: %[[ALL:.*]] = sgd.broadcast_in_dim %[[OK]] dims = [] : tensor<i1> -> tensor<4xi1>
// CHECK: %[[KEPT:.*]] = arith.select %[[ALL]], %[[NEXT]], %[[W]] : tensor<4xi1>, tensor<4xf32>
// CHECK: %[[COUNTED:.*]] = arith.select %[[OK]], %[[COUNT]], %[[STEP]] : tensor<i1>, tensor<i32>
// CHECK: return %[[KEPT]], %[[COUNTED]], %{{.*}}, %[[OK]], %[[NEXT]]
func.func @by_attribute(%w: tensor<4xf32>, %step: tensor<i32>, %rate: tensor<4xf32>, %ok: tensor<i1>)
    -> (tensor<4xf32> {sgd.carry = 0 : i64}, tensor<i32> {sgd.carry = 1 : i64}, tensor<4xf32> {sgd.carry = 2 : i64}, tensor<i1> {sgd.commit}, tensor<4xf32>) {
  %c1 = arith.constant dense<1> : tensor<i32>
  %0 = arith.subf %w, %rate : tensor<4xf32>
  %1 = arith.addi %step, %c1 : tensor<i32>
  return %0, %1, %rate, %ok, %0 : tensor<4xf32>, tensor<i32>, tensor<4xf32>, tensor<i1>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @by_name
// CHECK-SAME: tensor<i1> {sgd.commit, sgd.name = "result[1]['commit']"}
// CHECK: arith.select
func.func @by_name(%w: tensor<4xf32>, %ok: tensor<i1>)
    -> (tensor<4xf32> {sgd.carry = 0 : i64}, tensor<i1> {sgd.name = "result[1]['commit']"}) {
  %0 = arith.negf %w : tensor<4xf32>
  return %0, %ok : tensor<4xf32>, tensor<i1>
}

// -----

// Names of other tensors say nothing.
// CHECK-LABEL: @other_names
// CHECK-NOT: sgd.commit
// CHECK-NOT: arith.select
func.func @other_names(%w: tensor<4xf32>, %ok: tensor<i1>)
    -> (tensor<4xf32> {sgd.carry = 0 : i64}, tensor<i1> {sgd.carry = 1 : i64, sgd.name = "result[0]['commit']"}, tensor<f32> {sgd.name = "result[1]['commit']"}, tensor<i1> {sgd.name = "result[1]['committed']"}) {
  %0 = arith.negf %w : tensor<4xf32>
  %1 = arith.constant dense<1.0> : tensor<f32>
  return %0, %ok, %1, %ok : tensor<4xf32>, tensor<i1>, tensor<f32>, tensor<i1>
}

// -----

// expected-error @+1 {{result 0 decides about the commit, and is carried to argument 0 of the next step; expected a result that is not; return the decision as a result of its own}}
func.func @carried(%ok: tensor<i1>) -> (tensor<i1> {sgd.carry = 0 : i64, sgd.commit}) {
  return %ok : tensor<i1>
}

// -----

// expected-error @+1 {{results 0 and 1 are called 'commit', and either could decide whether a step is committed; expected one; rename the other}}
func.func @two_names(%ok: tensor<i1>) -> (tensor<i1> {sgd.name = "result['a']['commit']"}, tensor<i1> {sgd.name = "result['b']['commit']"}) {
  return %ok, %ok : tensor<i1>, tensor<i1>
}

// -----

// expected-error @+1 {{'func.func' op results 0 and 1 decide about the commit; expected one}}
func.func @two_attributes(%ok: tensor<i1>) -> (tensor<i1> {sgd.commit}, tensor<i1> {sgd.commit}) {
  return %ok, %ok : tensor<i1>, tensor<i1>
}

// -----

// expected-error @+1 {{'func.func' op result 0 decides about the commit and is 'tensor<2xi1>'; expected a scalar i1}}
func.func @no_scalar(%ok: tensor<2xi1>) -> (tensor<2xi1> {sgd.commit}) {
  return %ok : tensor<2xi1>
}

// -----

// expected-error @+1 {{result 0 decides about the commit, but the program is written by stages, and others have state too; expected a whole program; let each stage select between new and old state}}
func.func @stage(%ok: tensor<i1>) -> (tensor<i1> {sgd.commit}) attributes {sgd.stage = 0 : i64} {
  return %ok : tensor<i1>
}
