// RUN: sgd-opt %s --canonicalize | FileCheck %s

// A counter that nobody asks for goes, with the op that counts; what a loop leaves as it is does not come out of it.
// CHECK-LABEL: @idle
// CHECK-SAME: (%[[X:[^:]*]]: tensor<4xf32>, %[[Y:[^:]*]]: tensor<4xf32>, %{{.*}}: tensor<i32>)
func.func @idle(%x: tensor<4xf32>, %y: tensor<4xf32>, %zero: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[LOOP:.*]]:2 = sgd.while(%[[X]], %[[Y]]) trips 3 do {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>):
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[A]], %[[B]]
  // CHECK-NEXT: sgd.yield %[[SUM]], %[[B]]
  // CHECK: return %[[LOOP]]#0, %[[Y]]
  %0:3 = sgd.while(%zero, %x, %y) trips 3 do {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>, %b: tensor<4xf32>):
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %i, %one : tensor<i32>
    %1 = arith.addf %a, %b : tensor<4xf32>
    sgd.yield %next, %1, %b : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  } : (tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>, tensor<4xf32>)
  return %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>
}

// A loop of one trip stays: it keeps apart what is in it, as the blocks of a ring.
// CHECK-LABEL: func.func @one_trip
func.func @one_trip(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: sgd.while({{.*}}) trips 1 do
  %0:3 = sgd.while(%x, %y, %x) trips 1 do {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>):
    %1 = arith.addf %c, %b : tensor<4xf32>
    sgd.yield %b, %a, %1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
