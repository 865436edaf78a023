// Calls of LAPACK as JAX 0.4 wrote them: sizes and options are operands, working memory is among the results.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: @cholesky
// CHECK: sgd.linear_algebra cholesky lower(%arg0)
func.func @cholesky(%a: tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2xi32>) {
  %lower = stablehlo.constant dense<1> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %batch = stablehlo.multiply %one, %two : tensor<i32>
  %n = stablehlo.constant dense<4> : tensor<i32>
  %0:2 = stablehlo.custom_call @lapack_spotrf(%lower, %batch, %n, %a) {operand_layouts = [dense<> : tensor<0xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>, dense<[1, 2, 0]> : tensor<3xindex>],
      output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 3, operand_tuple_indices = []>],
      result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>]}
    : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2x4x4xf32>, tensor<2xi32>
}

// -----

// CHECK-LABEL: @solve
// CHECK: sgd.linear_algebra triangular_solve lower transpose unit_diagonal complex conjugate(
func.func @solve(%a: tensor<4x4xcomplex<f32>>, %b: tensor<4x3xcomplex<f32>>) -> tensor<4x3xcomplex<f32>> {
  %left = stablehlo.constant dense<1> : tensor<i32>
  %adjoint = stablehlo.constant dense<2> : tensor<i32>
  %size = stablehlo.constant dense<4> : tensor<i32>
  %alpha = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.custom_call @blas_ctrsm(%left, %left, %adjoint, %left, %size, %size, %left, %alpha, %a, %b)
    : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<complex<f32>>, tensor<4x4xcomplex<f32>>, tensor<4x3xcomplex<f32>>) -> tensor<4x3xcomplex<f32>>
  return %0 : tensor<4x3xcomplex<f32>>
}

// -----

// Schur vectors come behind the eigenvalues there, before them here.
// CHECK-LABEL: @schur
// CHECK: %[[SCHUR:.*]]:5 = sgd.linear_algebra schur vectors(%arg0)
// CHECK: return %[[SCHUR]]#1 : tensor<4x4xf32>
func.func @schur(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<4> : tensor<i32>
  %vectors = stablehlo.constant dense<86> : tensor<ui8>
  %sort = stablehlo.constant dense<78> : tensor<ui8>
  %0:6 = stablehlo.custom_call @lapack_sgees(%one, %n, %vectors, %sort, %a)
    : (tensor<i32>, tensor<i32>, tensor<ui8>, tensor<ui8>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<i32>)
  return %0#3 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @svd
// CHECK: sgd.linear_algebra svd(%arg0) : (tensor<4x3xf64>) -> (tensor<3xf64>, tensor<i32>)
func.func @svd(%a: tensor<4x3xf64>) -> tensor<3xf64> {
  %no = stablehlo.constant dense<0> : tensor<i32>
  %0:7 = stablehlo.custom_call @lapack_dgesdd(%no, %no, %no, %no, %no, %no, %a)
    : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x3xf64>) -> (tensor<4x3xf64>, tensor<3xf64>, tensor<4x3xf64>, tensor<3x3xf64>, tensor<i32>, tensor<24xi32>, tensor<100xf64>)
  return %0#1 : tensor<3xf64>
}

// -----

func.func @unknown_option(%lower: tensor<i32>, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %n = stablehlo.constant dense<4> : tensor<i32>
  // expected-error@+1 {{'stablehlo.custom_call' @lapack_spotrf has as operand 0 no constant integer, which JAX wrote there; export the program anew, with JAX 0.4.36 or later}}
  %0:2 = stablehlo.custom_call @lapack_spotrf(%lower, %n, %n, %a) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

func.func @other_form(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'stablehlo.custom_call' @lapack_sgetrf has another number of operands; expected 3 constants and 1 tensor, as JAX 0.4 wrote it; export the program anew, with JAX 0.4.36 or later}}
  %0:3 = stablehlo.custom_call @lapack_sgetrf(%a) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

func.func @factor(%alpha: tensor<f32>, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %n = stablehlo.constant dense<1> : tensor<i32>
  // expected-error@+1 {{'stablehlo.custom_call' @blas_strsm has a factor that is not 1}}
  %0 = stablehlo.custom_call @blas_strsm(%n, %n, %n, %n, %n, %n, %n, %alpha, %a, %a)
    : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @working_memory(%a: tensor<4x4xf32>) -> tensor<64xf32> {
  %n = stablehlo.constant dense<4> : tensor<i32>
  // expected-error@+1 {{'stablehlo.custom_call' @lapack_sgeqrf has a use of working memory}}
  %0:4 = stablehlo.custom_call @lapack_sgeqrf(%n, %n, %n, %n, %a) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<i32>, tensor<64xf32>)
  return %0#3 : tensor<64xf32>
}
