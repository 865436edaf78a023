// RUN: sgd-opt %s --sgd-import-stablehlo | FileCheck %s

// Failures become NaN, as in XLA.
// CHECK-LABEL: @cholesky
// CHECK: %[[FACTOR:.*]]:2 = sgd.linear_algebra cholesky(%arg0)
// CHECK: arith.cmpi eq, %[[FACTOR]]#1
// CHECK: arith.select {{.*}}, %[[FACTOR]]#0
func.func @cholesky(%a: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %0 = stablehlo.cholesky %a : tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}

// CHECK-LABEL: @solve
// CHECK: sgd.linear_algebra triangular_solve lower right transpose unit_diagonal(%arg0, %arg1)
func.func @solve(%a: tensor<4x4xf64>, %b: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = true}>
    : (tensor<4x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

// As programs for TPUs have it.
// CHECK-LABEL: @qr
// CHECK: sgd.linear_algebra qr(%arg0)
// CHECK: sgd.linear_algebra householder_product(
func.func @qr(%a: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0:2 = stablehlo.custom_call @Qr(%a) : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
  %1 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%0#0, %0#1) : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// Complex matrices are real parts and behind them imaginary ones; what is real or an integer is one result.
// CHECK-LABEL: @complex
// CHECK: %[[L:.*]]:3 = sgd.linear_algebra cholesky lower complex(%[[RE:.*]], %[[IM:.*]]) : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2xi32>)
// CHECK: arith.select {{.*}}, %[[L]]#0
// CHECK: arith.select {{.*}}, %[[L]]#1
// CHECK: sgd.linear_algebra triangular_solve lower transpose complex conjugate(
// CHECK: %[[LU:.*]]:4 = sgd.linear_algebra lu complex(
// CHECK-SAME: -> (tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4xi32>, tensor<2xi32>)
// CHECK: return {{.*}}, %[[LU]]#2 :
func.func @complex(%a: tensor<2x4x4xcomplex<f32>>) -> (tensor<2x4x4xcomplex<f32>>, tensor<2x4x4xcomplex<f32>>, tensor<2x4x4xcomplex<f32>>, tensor<2x4xi32>) {
  %0 = stablehlo.cholesky %a, lower = true : tensor<2x4x4xcomplex<f32>>
  %1 = "stablehlo.triangular_solve"(%a, %a) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}>
    : (tensor<2x4x4xcomplex<f32>>, tensor<2x4x4xcomplex<f32>>) -> tensor<2x4x4xcomplex<f32>>
  %2:3 = stablehlo.custom_call @lapack_cgetrf_ffi(%a) {mhlo.backend_config = {}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>],
      output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>],
      result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>]}
    : (tensor<2x4x4xcomplex<f32>>) -> (tensor<2x4x4xcomplex<f32>>, tensor<2x4xi32>, tensor<2xi32>)
  return %0, %1, %2#0, %2#1 : tensor<2x4x4xcomplex<f32>>, tensor<2x4x4xcomplex<f32>>, tensor<2x4x4xcomplex<f32>>, tensor<2x4xi32>
}

// Vectors that are not computed are results of the call, of which nobody may use one.
// CHECK-LABEL: @eig
// CHECK: %[[EIG:.*]]:5 = sgd.linear_algebra eig vectors(%{{.*}}) : (tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<i32>)
func.func @eig(%a: tensor<4x4xf32>) -> (tensor<4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) {
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 86 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
      result_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>, tensor<i32>)
  %1 = stablehlo.complex %0#0, %0#1 : tensor<4xcomplex<f32>>
  return %1, %0#3 : tensor<4xcomplex<f32>>, tensor<4x4xcomplex<f32>>
}

// Of empty matrices there is nothing to compute; no call fails on one.
// CHECK-LABEL: @empty
// CHECK-NOT: sgd.linear_algebra
// CHECK-DAG: arith.constant {{.*}} : tensor<3x0x0xf32>
// CHECK-DAG: arith.constant {{.*}} : tensor<3x0xf32>
// CHECK-DAG: arith.constant dense<0> : tensor<3xi32>
func.func @empty(%a: tensor<3x0x0xf32>) -> (tensor<3x0x0xf32>, tensor<3x0x0xf32>, tensor<3x0xf32>, tensor<3xi32>) {
  %0 = stablehlo.cholesky %a : tensor<3x0x0xf32>
  %1:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>],
      result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>]}
    : (tensor<3x0x0xf32>) -> (tensor<3x0x0xf32>, tensor<3x0xf32>, tensor<3xi32>)
  return %0, %1#0, %1#1, %1#2 : tensor<3x0x0xf32>, tensor<3x0x0xf32>, tensor<3x0xf32>, tensor<3xi32>
}
