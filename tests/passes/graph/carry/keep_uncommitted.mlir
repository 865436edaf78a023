// RUN: sgd-opt %s --sgd-keep-uncommitted --split-input-file --verify-diagnostics | FileCheck %s

// New state is selected; metrics, and state that stays, are what they were.
// CHECK-LABEL: @by_role
// CHECK-SAME: (%[[W:[^:]*]]: tensor<4xf32>, %[[STEP:[^:]*]]: tensor<i32>, %{{[^:]*}}: tensor<4xf32>, %[[OK:[^:]*]]: tensor<i1>
// CHECK: %[[NEXT:.*]] = arith.subf %[[W]]
// CHECK: %[[COUNT:.*]] = arith.addi %[[STEP]]
// CHECK: %[[ALL:.*]] = sgd.broadcast_in_dim %[[OK]] dims = [] : tensor<i1> -> tensor<4xi1>
// CHECK: %[[KEPT:.*]] = arith.select %[[ALL]], %[[NEXT]], %[[W]] : tensor<4xi1>, tensor<4xf32>
// CHECK: %[[COUNTED:.*]] = arith.select %[[OK]], %[[COUNT]], %[[STEP]] : tensor<i1>, tensor<i32>
// CHECK: return %[[KEPT]], %[[COUNTED]], %{{.*}}, %[[OK]], %[[NEXT]]
func.func @by_role(%w: tensor<4xf32>, %step: tensor<i32>, %rate: tensor<4xf32>, %ok: tensor<i1>)
    -> (tensor<4xf32> {sgd.carry = 0 : i64}, tensor<i32> {sgd.carry = 1 : i64}, tensor<4xf32> {sgd.carry = 2 : i64}, tensor<i1> {sgd.role = #sgd.role<commit>}, tensor<4xf32>) {
  %c1 = arith.constant dense<1> : tensor<i32>
  %0 = arith.subf %w, %rate : tensor<4xf32>
  %1 = arith.addi %step, %c1 : tensor<i32>
  return %0, %1, %rate, %ok, %0 : tensor<4xf32>, tensor<i32>, tensor<4xf32>, tensor<i1>, tensor<4xf32>
}

// -----

// Names say nothing here: sgd-assign-roles reads them.
// CHECK-LABEL: @without_role
// CHECK-NOT: arith.select
func.func @without_role(%w: tensor<4xf32>, %ok: tensor<i1>)
    -> (tensor<4xf32> {sgd.carry = 0 : i64}, tensor<i1> {sgd.name = "result[1]['commit']"}) {
  %0 = arith.negf %w : tensor<4xf32>
  return %0, %ok : tensor<4xf32>, tensor<i1>
}

// -----

// expected-error @+1 {{result 0 decides about the commit, but the program is written by stages, and others have state too; expected a whole program; let each stage select between new and old state}}
func.func @stage(%ok: tensor<i1>) -> (tensor<i1> {sgd.role = #sgd.role<commit>}) attributes {sgd.stage = 0 : i64} {
  return %ok : tensor<i1>
}
