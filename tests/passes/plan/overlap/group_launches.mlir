// RUN: sgd-opt %s --sgd-group-launches --split-input-file | FileCheck %s

!buffer = memref<8xf32, #plan.space<private>>

plan.kernel @negate {
^bb0(%a: tensor<8xf32>):
  %0 = fusion.cluster(%a) {
  ^bb0(%c: tensor<8xf32>):
    %1 = arith.negf %c : tensor<8xf32>
    fusion.yield %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
}
plan.kernel @negate_over in_place [0] {
^bb0(%a: tensor<8xf32>):
  %0 = fusion.cluster(%a) {
  ^bb0(%c: tensor<8xf32>):
    %1 = arith.negf %c : tensor<8xf32>
    fusion.yield %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
}

// Views and allocs between launches do not matter; a copy does.
// CHECK-LABEL: @updates
func.func @updates(%a: !buffer, %b: !buffer, %c: !buffer, %d: !buffer) -> (!buffer, !buffer, !buffer, !buffer, !buffer) {
  // CHECK: plan.launch {{.*}} group 0
  // CHECK: plan.view
  // CHECK: plan.launch {{.*}} group 0
  // CHECK: plan.copy
  // CHECK: plan.launch {{.*}} group 1
  // CHECK: plan.launch {{.*}} group 1
  plan.launch @negate_over ins() outs(%a : !buffer) range 8 grain 8
  %view = plan.view %b at 0 : !buffer -> !buffer
  plan.launch @negate_over ins() outs(%view : !buffer) range 8 grain 8
  %e = plan.alloc : !buffer
  plan.copy %b to %e : !buffer -> !buffer
  plan.launch @negate_over ins() outs(%c : !buffer) range 8 grain 8
  plan.launch @negate_over ins() outs(%d : !buffer) range 8 grain 8
  return %a, %b, %c, %d, %e : !buffer, !buffer, !buffer, !buffer, !buffer
}

// A launch must neither read nor write what another one of its group writes; both may read.
// CHECK-LABEL: @dependent
func.func @dependent(%a: !buffer, %b: !buffer) -> (!buffer, !buffer, !buffer, !buffer) {
  // CHECK: plan.launch @negate {{.*}} grain 8{{$}}
  // CHECK: plan.launch @negate {{.*}} group 2
  // CHECK: plan.launch @negate {{.*}} group 2
  // CHECK: plan.launch @negate_over {{.*}} grain 8{{$}}
  %0 = plan.alloc : !buffer
  plan.launch @negate ins(%a : !buffer) outs(%0 : !buffer) range 8 grain 8
  %1 = plan.alloc : !buffer
  plan.launch @negate ins(%0 : !buffer) outs(%1 : !buffer) range 8 grain 8
  %2 = plan.alloc : !buffer
  plan.launch @negate ins(%0 : !buffer) outs(%2 : !buffer) range 8 grain 8
  plan.launch @negate_over ins() outs(%0 : !buffer) range 8 grain 8
  return %0, %1, %2, %b : !buffer, !buffer, !buffer, !buffer
}

// -----

!buffer = memref<8xf32, #plan.space<private>>
!scalar = memref<1xf32, #plan.space<private>>

plan.kernel @sum {
^bb0(%a: tensor<8xf32>):
  %0 = fusion.cluster(%a) {
  ^bb0(%c: tensor<8xf32>):
    %1 = sgd.reduce add %c dimensions = [0] : tensor<8xf32> -> tensor<f32>
    %2 = sgd.reshape %1 : tensor<f32> -> tensor<1xf32>
    fusion.yield %2 : tensor<1xf32>
  } : (tensor<8xf32>) -> tensor<1xf32>
}
plan.kernel @repeat {
^bb0(%a: tensor<1xf32>):
  %0 = fusion.cluster(%a) {
  ^bb0(%c: tensor<1xf32>):
    %1 = sgd.broadcast_in_dim %c dims = [0] : tensor<1xf32> -> tensor<8xf32>
    fusion.yield %1 : tensor<8xf32>
  } : (tensor<1xf32>) -> tensor<8xf32>
}

// Both results at once would be more bytes than are ever alive one after another.
// CHECK-LABEL: @peak
// CHECK-NOT: group
func.func @peak(%a: !scalar) -> (!scalar, !scalar) {
  %0 = plan.alloc : !buffer
  plan.launch @repeat ins(%a : !scalar) outs(%0 : !buffer) range 1 grain 1
  %1 = plan.alloc : !scalar
  plan.launch @sum ins(%0 : !buffer) outs(%1 : !scalar) range 1 grain 1
  %2 = plan.alloc : !buffer
  plan.launch @repeat ins(%a : !scalar) outs(%2 : !buffer) range 1 grain 1
  %3 = plan.alloc : !scalar
  plan.launch @sum ins(%2 : !buffer) outs(%3 : !scalar) range 1 grain 1
  return %1, %3 : !scalar, !scalar
}
