// RUN: sgd-opt %s --sgd-share-buffers --split-input-file | FileCheck %s

!buffer = memref<8xf32, #plan.space<private>>

// CHECK: plan.kernel @add candidates
// CHECK: plan.kernel @add_over_1 in_place [1]
// CHECK: plan.kernel @add_over_0 in_place [0]
plan.kernel @add candidates [0, 0, 0, 1] {
^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
  %0 = fusion.cluster(%a, %b) {
  ^bb0(%c: tensor<8xf32>, %d: tensor<8xf32>):
    %1 = arith.addf %c, %d : tensor<8xf32>
    fusion.yield %1 : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
}

// %1 dies in the second launch; %x belongs to the caller.
// CHECK-LABEL: @in_place
// CHECK-SAME: (%[[X:[^:]*]]: memref
func.func @in_place(%x: !buffer) -> !buffer {
  // CHECK: %[[A:.*]] = plan.alloc
  // CHECK-NEXT: plan.launch @add ins(%[[X]], %[[X]] : {{.*}}) outs(%[[A]]
  // CHECK-NEXT: plan.launch @add_over_0 ins(%[[X]] : {{.*}}) outs(%[[A]]
  // CHECK-NEXT: return %[[A]]
  %1 = plan.alloc : !buffer
  plan.launch @add ins(%x, %x : !buffer, !buffer) outs(%1 : !buffer) range 8 grain 8
  %2 = plan.alloc : !buffer
  plan.launch @add ins(%1, %x : !buffer, !buffer) outs(%2 : !buffer) range 8 grain 8
  return %2 : !buffer
}

// The update is written over the argument that it aliases, although the gradient dies there too.
// CHECK-LABEL: @update
// CHECK-SAME: (%[[W:[^:]*]]: memref{{.*}}, %[[G:[^:]*]]: memref
func.func @update(%w: !buffer, %g: !buffer) -> (!buffer {plan.alias = 0 : i64}) {
  // CHECK: %[[D:.*]] = plan.alloc
  // CHECK: plan.launch @add ins(%[[G]], %[[G]] : {{.*}}) outs(%[[D]]
  // CHECK: plan.launch @add_over_1 ins(%[[D]] : {{.*}}) outs(%[[W]]
  // CHECK: return %[[W]]
  %1 = plan.alloc : !buffer
  plan.launch @add ins(%g, %g : !buffer, !buffer) outs(%1 : !buffer) range 8 grain 8
  %2 = plan.alloc : !buffer
  plan.launch @add ins(%1, %w : !buffer, !buffer) outs(%2 : !buffer) range 8 grain 8
  return %2 : !buffer
}

// Two updates, one after the other, are both written over the argument, also where the first one begins as a copy.
// CHECK-LABEL: @two_updates
// CHECK-SAME: (%[[W:[^:]*]]: memref{{.*}}, %[[V:[^:]*]]: memref{{.*}}, %[[G:[^:]*]]: memref
func.func @two_updates(%w: !buffer, %v: !buffer, %g: !buffer) -> (!buffer {plan.alias = 0 : i64}, !buffer {plan.alias = 1 : i64}) {
  // CHECK-NEXT: plan.launch @add_over_0 ins(%[[G]] : {{.*}}) outs(%[[W]]
  // CHECK-NEXT: plan.launch @add_over_0 ins(%[[G]] : {{.*}}) outs(%[[W]]
  // CHECK-NEXT: plan.launch @add_over_0 ins(%[[G]] : {{.*}}) outs(%[[V]]
  // CHECK-NEXT: return %[[W]], %[[V]]
  %1 = plan.alloc : !buffer
  plan.launch @add ins(%w, %g : !buffer, !buffer) outs(%1 : !buffer) range 8 grain 8
  %2 = plan.alloc : !buffer
  plan.launch @add ins(%1, %g : !buffer, !buffer) outs(%2 : !buffer) range 8 grain 8
  %3 = plan.alloc : !buffer
  plan.copy %v to %3 : !buffer -> !buffer
  %4 = plan.alloc : !buffer
  plan.launch @add ins(%3, %g : !buffer, !buffer) outs(%4 : !buffer) range 8 grain 8
  return %2, %4 : !buffer, !buffer
}

// The argument is read once more between its two updates: the first one is elsewhere.
// CHECK-LABEL: @read_between
// CHECK-SAME: (%[[W:[^:]*]]: memref{{.*}}, %[[G:[^:]*]]: memref
func.func @read_between(%w: !buffer, %g: !buffer) -> (!buffer {plan.alias = 0 : i64}, !buffer) {
  // CHECK: plan.launch @add ins(%[[W]], %[[G]] : {{.*}}) outs(%[[A:[^ ]*]]
  // CHECK: plan.launch @add ins(%[[A]], %[[G]] : {{.*}}) outs(%[[N:[^ ]*]]
  // CHECK: plan.launch @add ins(%[[W]], %[[G]]
  // CHECK: plan.copy %[[N]] to %[[W]]
  // CHECK: return %[[W]]
  %1 = plan.alloc : !buffer
  plan.launch @add ins(%w, %g : !buffer, !buffer) outs(%1 : !buffer) range 8 grain 8
  %2 = plan.alloc : !buffer
  plan.launch @add ins(%1, %g : !buffer, !buffer) outs(%2 : !buffer) range 8 grain 8
  %3 = plan.alloc : !buffer
  plan.launch @add ins(%w, %g : !buffer, !buffer) outs(%3 : !buffer) range 8 grain 8
  return %2, %3 : !buffer, !buffer
}

// Somebody reads the argument after the new value is there: a copy at the end.
// CHECK-LABEL: @late_reader
// CHECK-SAME: (%[[W:[^:]*]]: memref
func.func @late_reader(%w: !buffer, %g: !buffer) -> (!buffer {plan.alias = 0 : i64}, !buffer) {
  // CHECK: plan.launch @add ins(%[[W]], %{{.*}}) outs(%[[N:[^ ]*]]
  // CHECK: plan.launch @add
  // CHECK: plan.copy %[[N]] to %[[W]]
  // CHECK: return %[[W]]
  %1 = plan.alloc : !buffer
  plan.launch @add ins(%w, %g : !buffer, !buffer) outs(%1 : !buffer) range 8 grain 8
  %2 = plan.alloc : !buffer
  plan.launch @add ins(%w, %g : !buffer, !buffer) outs(%2 : !buffer) range 8 grain 8
  return %1, %2 : !buffer, !buffer
}

// -----

sgd.mesh @mesh = <["data"=2]>
!window = memref<8xf32, #plan.space<window>>
!private = memref<8xf32, #plan.space<private>>

// The sum takes its operand's place. The argument that the result aliases moves to the window with it.
// CHECK-LABEL: @all_reduce
// CHECK-SAME: (%[[W:[^:]*]]: memref<8xf32, #plan.space<window>>)
func.func @all_reduce(%w: !private) -> (!window {plan.alias = 0 : i64}) {
  // CHECK: %[[A:.*]] = plan.alloc
  // CHECK: plan.copy %[[W]] to %[[A]]
  // CHECK: plan.collective all_reduce combining add(%[[A]] : {{.*}}) to(%[[A]]
  // CHECK: plan.collective all_reduce combining add(%[[A]] : {{.*}}) to(%[[W]]
  // CHECK: return %[[W]]
  %1 = plan.alloc : !window
  plan.copy %w to %1 : !private -> !window
  %2 = plan.alloc : !window
  plan.collective all_reduce combining add (%1 : !window) to (%2 : !window) dims [] <@mesh, {"data"}>
  %3 = plan.alloc : !window
  plan.collective all_reduce combining add (%2 : !window) to (%3 : !window) dims [] <@mesh, {"data"}>
  return %3 : !window
}
