// RUN: sgd-opt %s --sgd-to-plan | FileCheck %s
// RUN: sgd-opt %s --sgd-to-plan --sgd-fuse-epilogues | FileCheck %s --check-prefix=FUSED

!x = tensor<8x16xbf16>
!w = tensor<16x32xbf16>
!h = tensor<8x32xbf16>

// CHECK-LABEL: @gelu
// CHECK: %[[AUX:.*]] = plan.alloc : memref<8x32xbf16, {{.*}}
// CHECK: %[[H:.*]] = plan.alloc : memref<8x32xbf16, {{.*}}
// CHECK: plan.matmul {{.*}} outs(%[[H]] : {{.*}}) bias({{.*}}) aux(%[[AUX]] : {{.*}}) sizes [8, 32, 16] {{.*}} epilogue bias activation gelu
// CHECK: plan.matmul {{.*}} aux(%[[AUX]] : {{.*}}) sizes [8, 32, 64] {{.*}} activation gelu_gradient
func.func @gelu(%x: !x, %w: !w, %b: tensor<32xbf16>, %dy: tensor<8x64xbf16>, %v: tensor<64x32xbf16>) -> (!h, !h) {
  %h, %p = sgd.contract_gelu %x [0, 1], %w [1, 2] into [0, 2] bias %b : (!x, !w, tensor<32xbf16>) -> (!h, !h)
  %d = sgd.contract_gelu_gradient %dy [0, 1], %v [1, 2] into [0, 2] at %p : (tensor<8x64xbf16>, tensor<64x32xbf16>, !h) -> !h
  return %h, %d : !h, !h
}

// Nobody reads what was before gelu: it is not kept.
// CHECK-LABEL: @forward_only
// CHECK: plan.matmul
// CHECK-NOT: aux
// CHECK-SAME: activation gelu
func.func @forward_only(%x: !x, %w: !w) -> !h {
  %h, %p = sgd.contract_gelu %x [0, 1], %w [1, 2] into [0, 2] : (!x, !w) -> (!h, !h)
  return %h : !h
}

// What is added to gelu is not added to the product.
// CHECK-LABEL: @sum_after_gelu
// FUSED-LABEL: @sum_after_gelu
// FUSED: plan.matmul {{.*}} activation gelu
// FUSED: plan.launch
func.func @sum_after_gelu(%x: !x, %w: !w, %b: tensor<32xbf16>) -> !h {
  %h, %p = sgd.contract_gelu %x [0, 1], %w [1, 2] into [0, 2] : (!x, !w) -> (!h, !h)
  %1 = sgd.cluster(%h, %b) {
  ^bb0(%y: !h, %q: tensor<32xbf16>):
    %2 = sgd.broadcast_in_dim %q dims = [1] : tensor<32xbf16> -> !h
    %3 = arith.addf %y, %2 : !h
    sgd.yield %3 : !h
  } : (!h, tensor<32xbf16>) -> !h
  return %1 : !h
}
