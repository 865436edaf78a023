// Complex numbers and the Fourier transform, as JAX 0.10.2 prints it: printed back unchanged, also by way of the generic form.
// RUN: sgd-opt %s > %t
// RUN: grep -v "^//" %s | diff - %t
// RUN: sgd-opt %s -mlir-print-op-generic | sgd-opt | diff - %t
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> (tensor<4x8xf32> {jax.result_info = "result[0]"}, tensor<4x8xf32> {jax.result_info = "result[1]"}, tensor<4x8xf32> {jax.result_info = "result[2]"}, tensor<4x5xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<4x8xcomplex<f32>>
    %1 = stablehlo.complex %arg1, %arg0 : tensor<4x8xcomplex<f32>>
    %2 = stablehlo.multiply %0, %1 : tensor<4x8xcomplex<f32>>
    %3 = stablehlo.real %2 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %4 = stablehlo.complex %arg0, %arg1 : tensor<4x8xcomplex<f32>>
    %5 = stablehlo.imag %4 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %6 = stablehlo.complex %arg0, %arg1 : tensor<4x8xcomplex<f32>>
    %7 = stablehlo.abs %6 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %8 = call @fft(%arg0) : (tensor<4x8xf32>) -> tensor<4x5xcomplex<f32>>
    %9 = stablehlo.real %8 : (tensor<4x5xcomplex<f32>>) -> tensor<4x5xf32>
    return %3, %5, %7, %9 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x5xf32>
  }
  func.func private @fft(%arg0: tensor<4x8xf32>) -> tensor<4x5xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [8] : (tensor<4x8xf32>) -> tensor<4x5xcomplex<f32>>
    return %0 : tensor<4x5xcomplex<f32>>
  }
}

