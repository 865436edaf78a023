// RUN: sgd-opt %s --sgd-lower-to-plan | FileCheck %s --check-prefix=PLAN
// RUN: sgd-opt %s --sgd-lower-to-plan --sgd-share-buffers --sgd-assign-offsets | FileCheck %s

// A slot begins as a copy; what the body only reads is passed as it is. At last the slot is the argument that its result
// takes the place of, and what the body needs besides lies in scratch.
// PLAN-LABEL: func.func @main(
// PLAN-SAME: %[[X:[^:]*]]: memref<8xf32, {{.*}}, %[[Y:[^:]*]]: memref<8xf32
// PLAN: %[[SLOT:.*]] = plan.alloc
// PLAN: plan.copy %[[X]] to %[[SLOT]]
// PLAN: plan.loop @main_loop ins(%[[Y]] : {{.*}}) iter_args(%[[SLOT]] : {{.*}}) trips 5
// PLAN: return %[[SLOT]]
// PLAN-LABEL: func.func private @main_loop(
// PLAN-SAME: -> (memref<8xf32, {{.*}}> {plan.alias = 1 : i64

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[^:]*]]: memref<8xf32
// CHECK: %[[SCRATCH:.*]] = plan.alloc offset {{.*}} : memref<{{64|128}}xi8, #plan.space<private>>
// CHECK: plan.loop @main_loop ins({{.*}}) iter_args(%[[X]] : {{.*}}) trips 5 private(%[[SCRATCH]] :
// CHECK: return %[[X]]
// CHECK-LABEL: func.func private @main_loop(
// CHECK-SAME: %[[B:[^:]*]]: memref<8xf32, {{.*}}, %[[A:[^:]*]]: memref<8xf32
// CHECK: %[[TEMPORARY:.*]] = plan.alloc offset 0
// CHECK: plan.launch @{{.*}} ins(%[[B]] : {{.*}}) outs(%[[TEMPORARY]]
// CHECK: plan.copy %{{.*}} to %[[A]]
// CHECK: return %[[A]]
func.func @main(%x: tensor<8xf32> {sgd.alias_output = 0 : i64}, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0:2 = sgd.while(%x, %y) trips 5 do {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    %1 = fusion.cluster(%b) {
    ^bb0(%c: tensor<8xf32>):
      %3 = math.exp %c : tensor<8xf32>
      fusion.yield %3 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %2 = fusion.cluster(%a, %1) {
    ^bb0(%c: tensor<8xf32>, %d: tensor<8xf32>):
      %3 = arith.addf %c, %d : tensor<8xf32>
      fusion.yield %3 : tensor<8xf32>
    } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    sgd.yield %2, %b : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0 : tensor<8xf32>
}
