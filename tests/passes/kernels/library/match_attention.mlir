// RUN: sgd-opt %s --sgd-match-attention | FileCheck %s
// RUN: sgd-opt %s --sgd-match-attention=depth=15 | FileCheck %s --check-prefix=SHALLOW
// SHALLOW-NOT: fusion.attention

!q = tensor<4x128x2x16xf32>
!s = tensor<4x2x128x128xf32>
!row = tensor<4x2x128xf32>

// CHECK-LABEL: func.func @causal
// CHECK-NEXT: %[[OUT:.*]], %{{.*}}, %{{.*}} = fusion.attention %arg0 [4, 0, 5, 2], %arg1 [4, 1, 5, 2], %arg2 [4, 1, 5, 3] into [4, 0, 5, 3] scale = 2.500000e-01 diagonal = 0
// CHECK-NEXT: return %[[OUT]]
func.func @causal(%q: !q, %k: !q, %v: !q) -> !q {
  %i = sgd.iota dimension = 0 : tensor<128x128xi32>
  %j = sgd.iota dimension = 1 : tensor<128x128xi32>
  %c = arith.cmpi sge, %i, %j : tensor<128x128xi32>
  %mask = sgd.broadcast_in_dim %c dims = [2, 3] : tensor<128x128xi1> -> tensor<4x2x128x128xi1>
  %four = arith.constant dense<4.0> : !s
  %hidden = arith.constant dense<-1.0e9> : !s
  %0 = fusion.matmul %q [0, 1, 2, 3], %k [0, 4, 2, 3] into [0, 2, 1, 4] : !q, !q -> !s
  %1 = arith.divf %0, %four : !s
  %2 = arith.select %mask, %1, %hidden : tensor<4x2x128x128xi1>, !s
  %3 = sgd.reduce max %2 dimensions = [3] : !s -> !row
  %4 = sgd.broadcast_in_dim %3 dims = [0, 1, 2] : !row -> !s
  %5 = arith.subf %2, %4 : !s
  %6 = math.exp %5 : !s
  %7 = sgd.reduce add %6 dimensions = [3] : !s -> !row
  %8 = sgd.broadcast_in_dim %7 dims = [0, 1, 2] : !row -> !s
  %9 = arith.divf %6, %8 : !s
  %10 = fusion.matmul %v [0, 1, 2, 3], %9 [0, 2, 4, 1] into [0, 4, 2, 3] : !q, !s -> !q
  return %10 : !q
}

!nq = tensor<2x32x2x3x16xbf16>
!nk = tensor<2x32x2x16xbf16>
!wq = tensor<2x32x2x3x16xf32>
!wk = tensor<2x32x2x16xf32>
!ws = tensor<2x2x3x32x32xf32>
!ns = tensor<2x2x3x32x32xbf16>

// Three query heads for each key head, padding along the keys, a softmax in f32 between bf16 matmuls: what widens goes.
// CHECK-LABEL: func.func @grouped
// CHECK-NEXT: = fusion.attention %arg0 [4, 0, 5, 6, 2], %arg1 [4, 1, 5, 2], %arg2 [4, 1, 5, 3] mask %arg3 [4, 1] fill = 0xFFF0000000000000 into [4, 5, 6, 3, 0] scale = 1.000000e+00 : (tensor<2x32x2x3x16xbf16>
func.func @grouped(%q: !nq, %k: !nk, %v: !nk, %pad: tensor<2x32xi1>) -> tensor<2x2x3x16x32xbf16> {
  %0 = sgd.broadcast_in_dim %pad dims = [0, 4] : tensor<2x32xi1> -> tensor<2x1x1x1x32xi1>
  %mask = sgd.broadcast_in_dim %0 dims = [0, 1, 2, 3, 4] : tensor<2x1x1x1x32xi1> -> tensor<2x2x3x32x32xi1>
  %hidden = arith.constant dense<0xFF800000> : !ws
  %1 = arith.extf %q : !nq to !wq
  %2 = arith.extf %k : !nk to !wk
  %3 = fusion.matmul %1 [0, 1, 2, 3, 4], %2 [0, 5, 2, 4] into [0, 2, 3, 1, 5] : !wq, !wk -> !ws
  %4 = arith.select %mask, %3, %hidden : tensor<2x2x3x32x32xi1>, !ws
  %5 = sgd.reduce max %4 dimensions = [4] : !ws -> tensor<2x2x3x32xf32>
  %6 = sgd.broadcast_in_dim %5 dims = [0, 1, 2, 3] : tensor<2x2x3x32xf32> -> !ws
  %7 = arith.subf %4, %6 : !ws
  %8 = math.exp %7 : !ws
  %9 = sgd.reduce add %8 dimensions = [4] : !ws -> tensor<2x2x3x32xf32>
  %10 = sgd.broadcast_in_dim %9 dims = [0, 1, 2, 3] : tensor<2x2x3x32xf32> -> !ws
  %11 = arith.divf %8, %10 : !ws
  %12 = arith.truncf %11 : !ws to !ns
  %13 = fusion.matmul %v [0, 1, 2, 4], %12 [0, 2, 3, 5, 1] into [0, 2, 3, 4, 5] : !nk, !ns -> tensor<2x2x3x16x32xbf16>
  return %13 : tensor<2x2x3x16x32xbf16>
}

!m = tensor<8x16xf32>
!w = tensor<8x8xf32>

// Dropped weights are no softmax's.
// CHECK-LABEL: func.func @dropout
// CHECK-NOT: fusion.attention
// CHECK: math.exp
func.func @dropout(%q: !m, %k: !m, %v: !m, %keep: tensor<8x8xi1>) -> !m {
  %zero = arith.constant dense<0.0> : !w
  %0 = fusion.matmul %q [0, 2], %k [1, 2] into [0, 1] : !m, !m -> !w
  %1 = sgd.reduce max %0 dimensions = [1] : !w -> tensor<8xf32>
  %2 = sgd.broadcast_in_dim %1 dims = [0] : tensor<8xf32> -> !w
  %3 = arith.subf %0, %2 : !w
  %4 = math.exp %3 : !w
  %5 = sgd.reduce add %4 dimensions = [1] : !w -> tensor<8xf32>
  %6 = sgd.broadcast_in_dim %5 dims = [0] : tensor<8xf32> -> !w
  %7 = arith.divf %4, %6 : !w
  %8 = arith.select %keep, %7, %zero : tensor<8x8xi1>, !w
  %9 = fusion.matmul %8 [0, 1], %v [1, 2] into [0, 2] : !w, !m -> !m
  return %9 : !m
}

// Relative to another dimension than the one that is summed over.
// CHECK-LABEL: func.func @other_softmax
// CHECK-NOT: fusion.attention
func.func @other_softmax(%q: !m, %k: !m, %v: !m) -> !m {
  %0 = fusion.matmul %q [0, 2], %k [1, 2] into [0, 1] : !m, !m -> !w
  %1 = sgd.reduce max %0 dimensions = [0] : !w -> tensor<8xf32>
  %2 = sgd.broadcast_in_dim %1 dims = [1] : tensor<8xf32> -> !w
  %3 = arith.subf %0, %2 : !w
  %4 = math.exp %3 : !w
  %5 = sgd.reduce add %4 dimensions = [1] : !w -> tensor<8xf32>
  %6 = sgd.broadcast_in_dim %5 dims = [0] : tensor<8xf32> -> !w
  %7 = arith.divf %4, %6 : !w
  %8 = fusion.matmul %7 [0, 1], %v [1, 2] into [0, 2] : !w, !m -> !m
  return %8 : !m
}
