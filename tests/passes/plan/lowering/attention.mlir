// RUN: sgd-opt %s --sgd-lower-to-plan | FileCheck %s

!q = tensor<4x128x3x2x16xbf16>
!k = tensor<4x128x3x16xbf16>
!r = tensor<4x3x2x128xf32>

// Heads of queries share one of keys in pairs; the bias is for all batches.
// CHECK-LABEL: func.func @shared_keys
// CHECK: %[[WORK:.*]] = plan.alloc : memref<4096xi8,
// CHECK: plan.attention ins({{.*}}) outs({{.*}}) bias({{.*}}) [0, 16384, 128] workspace(%[[WORK]] :
// CHECK-SAME: sizes [4, 6, 3, 128, 128, 16, 16] layouts [12288, 16, 96, 6144, 16, 48, 6144, 16, 48, 12288, 16, 96] steps [2, 6] scale 2.500000e-01 diagonal 0
// CHECK: plan.attention_gradient
// CHECK-SAME: layouts [12288, 16, 96, 6144, 16, 48, 6144, 16, 48, 12288, 16, 96, 12288, 16, 96, 12288, 16, 96, 6144, 16, 48, 6144, 16, 48] steps [4, 6]
func.func @shared_keys(%q: !q, %k: !k, %v: !k, %b: tensor<3x2x128x128xbf16>, %do: !q) -> (!q, !k, !k) {
  %out, %log = fusion.library_attention %q [4, 0, 5, 6, 2], %k [4, 1, 5, 2], %v [4, 1, 5, 3] bias %b [5, 6, 0, 1] into [4, 0, 5, 6, 3] scale = 0.25 diagonal = 0
    steps [2, 6] workspace 4096 : (!q, !k, !k, tensor<3x2x128x128xbf16>) -> (!q, !r)
  %dq, %dk, %dv = fusion.library_attention_gradient %q [4, 0, 5, 6, 2], %k [4, 1, 5, 2], %v [4, 1, 5, 3], %out [4, 0, 5, 6, 3], %do [4, 0, 5, 6, 3] with %log
    bias %b [5, 6, 0, 1] into [4, 0, 5, 6, 2], [4, 1, 5, 2], [4, 1, 5, 3] scale = 0.25 diagonal = 0 : (!q, !k, !k, !q, !q, !r, tensor<3x2x128x128xbf16>) -> (!q, !k, !k)
  return %dq, %dk, %dv : !q, !k, !k
}
