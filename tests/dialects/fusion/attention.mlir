// RUN: sgd-opt %s --verify-roundtrip | FileCheck %s

!x = tensor<8x64x16xf32>
!row = tensor<8x64xf32>

// CHECK-LABEL: func.func @attention
// CHECK: fusion.attention %arg0 [4, 0, 2], %arg1 [4, 1, 2], %arg2 [4, 1, 3] bias %arg4 [0, 1] mask %arg5 [4, 1] fill = -1.000000e+09 into [4, 0, 3] scale = 2.500000e-01 :
// CHECK: fusion.attention_query_gradient %arg0 [4, 0, 2], %arg1 [4, 1, 2], %arg2 [4, 1, 3], %arg3 [4, 0, 3] with %{{.*}}, %{{.*}}, %arg6 mask %arg5 [4, 1] fill = 0xFFF0000000000000 into [4, 0, 2] scale = 1.000000e+00 diagonal = 3 :
// CHECK: fusion.attention_key_gradient %arg0 [4, 0, 2], %arg1 [4, 1, 2], %arg2 [4, 1, 3], %arg3 [4, 0, 3] with %{{.*}}, %{{.*}}, %arg6 into [4, 1, 2], [1, 4, 3] scale = 1.000000e+00 diagonal = 0 :
func.func @attention(%q: !x, %k: !x, %v: !x, %do: !x, %b: tensor<64x64xf32>, %m: tensor<8x64xi1>, %dot: !row) {
  %out, %max, %sum = fusion.attention %q [4, 0, 2], %k [4, 1, 2], %v [4, 1, 3] bias %b [0, 1] mask %m [4, 1] fill = -1.0e9 into [4, 0, 3] scale = 2.5e-1
    : (!x, !x, !x, tensor<64x64xf32>, tensor<8x64xi1>) -> (!x, !row, !row)
  %dq = fusion.attention_query_gradient %q [4, 0, 2], %k [4, 1, 2], %v [4, 1, 3], %do [4, 0, 3] with %max, %sum, %dot mask %m [4, 1]
    fill = 0xFFF0000000000000 into [4, 0, 2] scale = 1.0 diagonal = 3 : (!x, !x, !x, !x, !row, !row, !row, tensor<8x64xi1>) -> !x
  %dk, %dv = fusion.attention_key_gradient %q [4, 0, 2], %k [4, 1, 2], %v [4, 1, 3], %do [4, 0, 3] with %max, %sum, %dot into [4, 1, 2], [1, 4, 3]
    scale = 1.0 diagonal = 0 : (!x, !x, !x, !x, !row, !row, !row) -> (!x, tensor<64x8x16xf32>)
  return
}
