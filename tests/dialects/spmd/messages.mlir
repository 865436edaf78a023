// What simplification leaves of sends, receives and the loops that hold them: all of them, in their order.
// RUN: sgd-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: @kept
// CHECK-NEXT: spmd.receive channel 0 from stage 0
// CHECK-NEXT: %[[SECOND:.*]] = spmd.receive channel 0 from stage 0
// CHECK-NEXT: spmd.send %[[SECOND]] to stage 0 channel 1
// CHECK-NEXT: spmd.send %[[SECOND]] to stage 0 channel 1
// CHECK-NEXT: return
func.func @kept() {
  %0 = spmd.receive channel 0 from stage 0 : tensor<8xf32>
  %1 = spmd.receive channel 0 from stage 0 : tensor<8xf32>
  spmd.send %1 to stage 0 channel 1 : tensor<8xf32>
  spmd.send %1 to stage 0 channel 1 : tensor<8xf32>
  return
}

// A loop is there for its messages; one without goes.
// CHECK-LABEL: @loops
// CHECK: sgd.while
// CHECK: spmd.send
// CHECK-NOT: sgd.while
// CHECK: return
func.func @loops(%a: tensor<8xf32>) {
  %0 = sgd.while (%a) trips 4 do {
  ^bb0(%x: tensor<8xf32>):
    spmd.send %x to stage 1 channel 0 : tensor<8xf32>
    %y = arith.negf %x : tensor<8xf32>
    sgd.yield %y : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sgd.while (%a) trips 4 do {
  ^bb0(%x: tensor<8xf32>):
    %y = arith.negf %x : tensor<8xf32>
    sgd.yield %y : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}
