// RUN: sgd-opt %s --target=cuda:sm_90 --sgd-offload-attention | FileCheck %s

!q = tensor<4x128x2x16xbf16>
!f = tensor<4x128x2x16xf32>
!r = tensor<4x2x128xf32>

// CHECK-LABEL: func.func @forward
// CHECK-NEXT: %[[OUT:.*]], %{{.*}} = fusion.library_attention %arg0 [4, 0, 5, 2], %arg1 [4, 1, 5, 2], %arg2 [4, 1, 5, 3] into [4, 0, 5, 3] scale = 2.500000e-01 diagonal = 0
// CHECK-SAME: -> (tensor<4x128x2x16xbf16>, tensor<4x2x128xf32>)
// CHECK-NEXT: return %[[OUT]]
func.func @forward(%q: !q, %k: !q, %v: !q) -> !q {
  %out, %max, %sum = fusion.attention %q [4, 0, 5, 2], %k [4, 1, 5, 2], %v [4, 1, 5, 3] into [4, 0, 5, 3] scale = 0.25 diagonal = 0 : (!q, !q, !q) -> (!q, !r, !r)
  return %out : !q
}

// Results of f32 that are only rounded are bf16; both gradients are one call, and the row's dots go away.
// CHECK-LABEL: func.func @training
// CHECK-NEXT: %[[OUT:.*]], %[[LOG:.*]] = fusion.library_attention {{.*}} -> (tensor<4x128x2x16xbf16>, tensor<4x2x128xf32>)
// CHECK-NEXT: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = fusion.library_attention_gradient %arg0 [4, 0, 5, 2], %arg1 [4, 1, 5, 2], %arg2 [4, 1, 5, 3], %[[OUT]] [4, 0, 5, 3], %arg3 [4, 0, 5, 3] with %[[LOG]]
// CHECK-SAME: into [4, 0, 5, 2], [4, 1, 5, 2], [4, 1, 5, 3] scale = 1.000000e+00
// CHECK-NEXT: return %[[OUT]], %[[DQ]], %[[DK]], %[[DV]]
func.func @training(%q: !q, %k: !q, %v: !q, %do: !q) -> (!q, !q, !q, !q) {
  %out, %max, %sum = fusion.attention %q [4, 0, 5, 2], %k [4, 1, 5, 2], %v [4, 1, 5, 3] into [4, 0, 5, 3] scale = 1.0 : (!q, !q, !q) -> (!f, !r, !r)
  %rounded = arith.truncf %out : !f to !q
  %wide = arith.extf %do : !q to !f
  %0 = arith.mulf %out, %wide : !f
  %1 = sgd.transpose %0 permutation = [0, 2, 1, 3] : !f -> tensor<4x2x128x16xf32>
  %dot = sgd.reduce add %1 dimensions = [3] : tensor<4x2x128x16xf32> -> !r
  %dq = fusion.attention_query_gradient %q [4, 0, 5, 2], %k [4, 1, 5, 2], %v [4, 1, 5, 3], %do [4, 0, 5, 3] with %max, %sum, %dot into [4, 0, 5, 2] scale = 1.0
    : (!q, !q, !q, !q, !r, !r, !r) -> !f
  %dk, %dv = fusion.attention_key_gradient %q [4, 0, 5, 2], %k [4, 1, 5, 2], %v [4, 1, 5, 3], %do [4, 0, 5, 3] with %max, %sum, %dot into [4, 1, 5, 2], [4, 1, 5, 3] scale = 1.0
    : (!q, !q, !q, !q, !r, !r, !r) -> (!q, !q)
  %narrow = arith.truncf %dq : !f to !q
  return %rounded, %narrow, %dk, %dv : !q, !q, !q, !q
}

// CHECK-LABEL: func.func @of_f32
// CHECK-NOT: fusion.library_attention
func.func @of_f32(%q: !f, %k: !f, %v: !f) -> !f {
  %out, %max, %sum = fusion.attention %q [4, 0, 5, 2], %k [4, 1, 5, 2], %v [4, 1, 5, 3] into [4, 0, 5, 3] scale = 0.25 : (!f, !f, !f) -> (!f, !r, !r)
  return %out : !f
}

// CHECK-LABEL: func.func @wide_result
// CHECK-NOT: fusion.library_attention
func.func @wide_result(%q: !q, %k: !q, %v: !q) -> !f {
  %out, %max, %sum = fusion.attention %q [4, 0, 5, 2], %k [4, 1, 5, 2], %v [4, 1, 5, 3] into [4, 0, 5, 3] scale = 0.25 : (!q, !q, !q) -> (!f, !r, !r)
  return %out : !f
}

// CHECK-LABEL: func.func @masked
// CHECK-NOT: fusion.library_attention
func.func @masked(%q: !q, %k: !q, %v: !q, %m: tensor<4x128xi1>) -> !q {
  %out, %max, %sum = fusion.attention %q [4, 0, 5, 2], %k [4, 1, 5, 2], %v [4, 1, 5, 3] mask %m [4, 1] fill = -1.0e9 into [4, 0, 5, 3] scale = 0.25
    : (!q, !q, !q, tensor<4x128xi1>) -> (!q, !r, !r)
  return %out : !q
}

// Depths are not contiguous.
// CHECK-LABEL: func.func @transposed
// CHECK-NOT: fusion.library_attention
func.func @transposed(%q: tensor<4x16x128xbf16>, %k: tensor<4x128x16xbf16>, %v: tensor<4x128x16xbf16>) -> tensor<4x128x16xbf16> {
  %out, %max, %sum = fusion.attention %q [4, 2, 0], %k [4, 1, 2], %v [4, 1, 3] into [4, 0, 3] scale = 0.25
    : (tensor<4x16x128xbf16>, tensor<4x128x16xbf16>, tensor<4x128x16xbf16>) -> (tensor<4x128x16xbf16>, tensor<4x128xf32>, tensor<4x128xf32>)
  return %out : tensor<4x128x16xbf16>
}

// A bias that hides whole rows is fine forward, and not backward.
// CHECK-LABEL: func.func @hidden_rows
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: fusion.library_attention
// CHECK-NOT: fusion.library_attention_gradient
func.func @hidden_rows(%q: !q, %k: !q, %v: !q, %do: !q, %m: tensor<4x128xf32>, %dot: !r) -> (!q, !q) {
  %big = arith.constant dense<-1.0e9> : tensor<4x128xf32>
  %bias = arith.mulf %m, %big : tensor<4x128xf32>
  %first, %max0, %sum0 = fusion.attention %q [4, 0, 5, 2], %k [4, 1, 5, 2], %v [4, 1, 5, 3] bias %bias [4, 1] into [4, 0, 5, 3] scale = 0.25
    : (!q, !q, !q, tensor<4x128xf32>) -> (!q, !r, !r)
  %out, %max, %sum = fusion.attention %first [4, 0, 5, 2], %k [4, 1, 5, 2], %v [4, 1, 5, 3] bias %bias [4, 1] into [4, 0, 5, 3] scale = 0.25
    : (!q, !q, !q, tensor<4x128xf32>) -> (!q, !r, !r)
  %dq = fusion.attention_query_gradient %first [4, 0, 5, 2], %k [4, 1, 5, 2], %v [4, 1, 5, 3], %do [4, 0, 5, 3] with %max, %sum, %dot bias %bias [4, 1] into [4, 0, 5, 2]
    scale = 0.25 : (!q, !q, !q, !q, !r, !r, !r, tensor<4x128xf32>) -> !q
  return %out, %dq : !q, !q
}
