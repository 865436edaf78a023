// For targets without code for transforms: short ones are one matmul with a table; longer ones two with twiddle factors between them. Transformed dimensions are whole, others open.
// RUN: sgd-opt %s -sgd-import-stablehlo=transforms-by-matmuls=true -split-input-file | FileCheck %s

sdy.mesh @mesh = <["data"=2]>
// CHECK-LABEL: func @short
func.func @short(%z: tensor<4x8xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<4x8xcomplex<f32>> {
  // CHECK: sgd.sharding_constraint {{.*}} <@mesh, [{?}, {}]> : tensor<4x8xf32>
  // CHECK: arith.constant dense<{{.*}}> : tensor<2x8x2x8xf32>
  // CHECK: sgd.dot_general {{.*}} : tensor<4x2x8xf32>, tensor<2x8x2x8xf32> -> tensor<4x2x8xf32>
  // CHECK-NOT: sgd.dot_general
  %0 = stablehlo.fft %z, type = FFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  return %0 : tensor<4x8xcomplex<f32>>
}

// -----

// CHECK-LABEL: func @long
func.func @long(%z: tensor<4x1024xcomplex<f64>>) -> tensor<4x1024xcomplex<f64>> {
  // CHECK-COUNT-2: sgd.dot_general {{.*}} tensor<2x32x2x32xf64>
  // CHECK-NOT: sgd.dot_general
  %0 = stablehlo.fft %z, type = IFFT, length = [1024] : (tensor<4x1024xcomplex<f64>>) -> tensor<4x1024xcomplex<f64>>
  return %0 : tensor<4x1024xcomplex<f64>>
}

// -----

// Of real tensors half of the elements are computed: a complex transform of half the length.
// CHECK-LABEL: func @real
func.func @real(%x: tensor<4x512xf32>) -> tensor<4x512xf32> {
  // CHECK: sgd.dot_general {{.*}} tensor<2x16x2x16xf32>
  // CHECK: sgd.dot_general {{.*}} tensor<2x16x2x16xf32>
  // CHECK: sgd.concatenate {{.*}} tensor<4x2x257xf32>
  // CHECK-COUNT-2: sgd.dot_general {{.*}} tensor<2x16x2x16xf32>
  // CHECK-NOT: sgd.dot_general
  %0 = stablehlo.fft %x, type = RFFT, length = [512] : (tensor<4x512xf32>) -> tensor<4x257xcomplex<f32>>
  %1 = stablehlo.fft %0, type = IRFFT, length = [512] : (tensor<4x257xcomplex<f32>>) -> tensor<4x512xf32>
  return %1 : tensor<4x512xf32>
}

// -----

// A prime length is a convolution of a length of small factors: 2,048 for 1,009.
// CHECK-LABEL: func @prime
func.func @prime(%z: tensor<1009xcomplex<f32>>) -> tensor<1009xcomplex<f32>> {
  // CHECK: sgd.concatenate {{.*}} tensor<2x2048xf32>
  %0 = stablehlo.fft %z, type = FFT, length = [1009] : (tensor<1009xcomplex<f32>>) -> tensor<1009xcomplex<f32>>
  return %0 : tensor<1009xcomplex<f32>>
}
