// Transforms are calls on parts. Transformed dimensions are whole, others open.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file | FileCheck %s

sdy.mesh @mesh = <["data"=2]>
// CHECK-LABEL: func @forward
func.func @forward(%z: tensor<4x8xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<4x8xcomplex<f32>> {
  // CHECK: sgd.sharding_constraint {{.*}} <@mesh, [{?}, {}]> : tensor<4x8xf32>
  // CHECK: sgd.linear_algebra fft({{.*}}) : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  // CHECK: sgd.sharding_constraint {{.*}} <@mesh, [{?}, {}]> : tensor<4x8xf32>
  // CHECK-NOT: sgd.dot_general
  %0 = stablehlo.fft %z, type = FFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  return %0 : tensor<4x8xcomplex<f32>>
}

// -----

// CHECK-LABEL: func @inverse_of_two_dims
func.func @inverse_of_two_dims(%z: tensor<3x4x7xcomplex<f64>>) -> tensor<3x4x7xcomplex<f64>> {
  // CHECK: sgd.linear_algebra fft inverse two_dims({{.*}}) : (tensor<3x4x7xf64>, tensor<3x4x7xf64>) -> (tensor<3x4x7xf64>, tensor<3x4x7xf64>)
  %0 = stablehlo.fft %z, type = IFFT, length = [4, 7] : (tensor<3x4x7xcomplex<f64>>) -> tensor<3x4x7xcomplex<f64>>
  return %0 : tensor<3x4x7xcomplex<f64>>
}

// -----

// A half of the last dimension tells not whether the whole is even or odd: the call says it.
// CHECK-LABEL: func @real
func.func @real(%x: tensor<2x3x9xf32>, %y: tensor<2x3x8xf32>) -> (tensor<2x3x9xf32>, tensor<2x3x8xf32>) {
  // CHECK: sgd.linear_algebra real_fft three_dims({{.*}}) : (tensor<2x3x9xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>)
  %0 = stablehlo.fft %x, type = RFFT, length = [2, 3, 9] : (tensor<2x3x9xf32>) -> tensor<2x3x5xcomplex<f32>>
  // CHECK: sgd.linear_algebra inverse_real_fft odd_length three_dims({{.*}}) : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x9xf32>
  %1 = stablehlo.fft %0, type = IRFFT, length = [2, 3, 9] : (tensor<2x3x5xcomplex<f32>>) -> tensor<2x3x9xf32>
  // CHECK: sgd.linear_algebra real_fft three_dims
  %2 = stablehlo.fft %y, type = RFFT, length = [2, 3, 8] : (tensor<2x3x8xf32>) -> tensor<2x3x5xcomplex<f32>>
  // CHECK: sgd.linear_algebra inverse_real_fft three_dims({{.*}}) : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x8xf32>
  %3 = stablehlo.fft %2, type = IRFFT, length = [2, 3, 8] : (tensor<2x3x5xcomplex<f32>>) -> tensor<2x3x8xf32>
  return %1, %3 : tensor<2x3x9xf32>, tensor<2x3x8xf32>
}
