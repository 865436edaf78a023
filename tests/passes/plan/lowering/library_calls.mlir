// RUN: sgd-opt %s --sgd-lower-to-plan | FileCheck %s
// RUN: sgd-opt %s --sgd-lower-to-plan --sgd-share-buffers | FileCheck %s --check-prefix=SHARED

!x = tensor<8x16xbf16>
!w = tensor<16x32xbf16>
!h = tensor<8x32xbf16>

// CHECK-LABEL: @gelu
// CHECK: %[[AUX:.*]] = plan.alloc : memref<8x32xbf16, {{.*}}
// CHECK: %[[H:.*]] = plan.alloc : memref<8x32xbf16, {{.*}}
// CHECK: plan.matmul {{.*}} outs(%[[H]] : {{.*}}) bias({{.*}}) aux(%[[AUX]] : {{.*}}) sizes [8, 32, 16] {{.*}} epilogue [bias, gelu]
// CHECK: plan.matmul {{.*}} aux(%[[AUX]] : {{.*}}) sizes [8, 32, 64] {{.*}} epilogue [gelu_gradient]
func.func @gelu(%x: !x, %w: !w, %b: tensor<32xbf16>, %dy: tensor<8x64xbf16>, %v: tensor<64x32xbf16>) -> (!h, !h) {
  %h, %p = fusion.library_matmul %x [0, 1], %w [1, 2] into [0, 2] epilogue [bias, gelu] bias %b : (!x, !w, tensor<32xbf16>) -> (!h, !h)
  %d = fusion.library_matmul %dy [0, 1], %v [1, 2] into [0, 2] epilogue [gelu_gradient] at %p : (tensor<8x64xbf16>, tensor<64x32xbf16>, !h) -> !h
  return %h, %d : !h, !h
}

// Nobody reads what was before gelu: it is not kept.
// CHECK-LABEL: @forward_only
// CHECK: plan.matmul
// CHECK-NOT: aux
// CHECK-SAME: epilogue [gelu]
func.func @forward_only(%x: !x, %w: !w) -> !h {
  %h, %p = fusion.library_matmul %x [0, 1], %w [1, 2] into [0, 2] epilogue [gelu] : (!x, !w) -> (!h, !h)
  return %h : !h
}

// CHECK-LABEL: @bias_relu
// CHECK: plan.matmul {{.*}} bias(%{{.*}} : memref<32xbf16, {{.*}}) sizes [8, 32, 16] {{.*}} epilogue [bias, relu]
func.func @bias_relu(%x: !x, %w: !w, %b: tensor<32xbf16>) -> !h {
  %h = fusion.library_matmul %x [0, 1], %w [1, 2] into [0, 2] epilogue [bias, relu] bias %b : (!x, !w, tensor<32xbf16>) -> !h
  return %h : !h
}

// The operands are swapped where that makes rows: the sums follow.
// CHECK-LABEL: @sums
// CHECK: %[[SUMS:.*]] = plan.alloc : memref<16xbf16
// CHECK: plan.matmul {{.*}} reduction(%[[SUMS]] : {{.*}} epilogue [lhs_reduction]
// CHECK: %[[SUMS:.*]] = plan.alloc : memref<16xbf16
// CHECK: plan.matmul {{.*}} reduction(%[[SUMS]] : {{.*}} epilogue [rhs_reduction]
func.func @sums(%x: !x, %dy: !h) -> (tensor<16x32xbf16>, tensor<16xbf16>, tensor<32x16xbf16>, tensor<16xbf16>) {
  %0, %s = fusion.library_matmul %x [0, 1], %dy [0, 2] into [1, 2] epilogue [lhs_reduction] : (!x, !h) -> (tensor<16x32xbf16>, tensor<16xbf16>)
  %1, %t = fusion.library_matmul %x [0, 1], %dy [0, 2] into [2, 1] epilogue [lhs_reduction] : (!x, !h) -> (tensor<32x16xbf16>, tensor<16xbf16>)
  return %0, %s, %1, %t : tensor<16x32xbf16>, tensor<16xbf16>, tensor<32x16xbf16>, tensor<16xbf16>
}

// A copy of the residual, which is the residual itself where that dies.
// CHECK-LABEL: @residual
// CHECK: %[[P:.*]] = plan.alloc
// CHECK: plan.matmul {{.*}} outs(%[[P]] :
// CHECK: %[[C:.*]] = plan.alloc
// CHECK: plan.copy %[[P]]{{.*}} %[[C]]
// CHECK: plan.matmul {{.*}} outs(%[[C]] : {{.*}} epilogue [residual]
// SHARED-LABEL: @residual
// SHARED: plan.matmul {{.*}} outs(%[[P:.*]] : memref
// SHARED-NOT: plan.copy
// SHARED: plan.matmul {{.*}} outs(%[[P]] : {{.*}} epilogue [residual]
func.func @residual(%x: !x, %w: !w, %v: !w) -> !h {
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !h
  %1 = fusion.library_matmul %x [0, 1], %v [1, 2] into [0, 2] epilogue [residual] residual %0 : (!x, !w, !h) -> !h
  return %1 : !h
}

// CHECK-LABEL: @convolutions
// CHECK: plan.convolution {{.*}} bias({{.*}} epilogue [bias, relu]
// CHECK: plan.copy
// CHECK: plan.convolution {{.*}} epilogue [residual]
func.func @convolutions(%x: tensor<2x8x4xf32>, %w: tensor<3x4x8xf32>, %b: tensor<8xf32>) -> tensor<2x8x8xf32> {
  %0 = fusion.library_convolution %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [1] lhs_dilations = [1] rhs_dilations = [1] epilogue [bias, relu] bias %b
    : (tensor<2x8x4xf32>, tensor<3x4x8xf32>, tensor<8xf32>) -> tensor<2x8x8xf32>
  %1 = fusion.library_convolution %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [1] lhs_dilations = [1] rhs_dilations = [1] epilogue [residual] residual %0
    : (tensor<2x8x4xf32>, tensor<3x4x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  return %1 : tensor<2x8x8xf32>
}
