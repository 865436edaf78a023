module @jit_flattened attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x6xf32>, %arg1: tensor<3x5xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<3x6xf32>) -> tensor<3x4xcomplex<f32>>
    %1 = stablehlo.sine %arg0 : tensor<3x6xf32>
    %2 = stablehlo.convert %1 : (tensor<3x6xf32>) -> tensor<3x6xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<3x6xcomplex<f32>>
    %4 = stablehlo.multiply %3, %2 : tensor<3x6xcomplex<f32>>
    %5 = stablehlo.convert %arg0 : (tensor<3x6xf32>) -> tensor<3x6xcomplex<f32>>
    %6 = stablehlo.add %5, %4 : tensor<3x6xcomplex<f32>>
    %7 = call @fft_0(%6) : (tensor<3x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>>
    %8 = stablehlo.real %0 : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xf32>
    %9 = stablehlo.imag %0 : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xf32>
    %10 = stablehlo.negate %9 : tensor<3x4xf32>
    %11 = stablehlo.complex %8, %10 : tensor<3x4xcomplex<f32>>
    %12 = stablehlo.multiply %0, %11 : tensor<3x4xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<3x4xcomplex<f32>>
    %14 = stablehlo.multiply %12, %13 : tensor<3x4xcomplex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %15 = call @_pad(%14, %c) : (tensor<3x4xcomplex<f32>>, tensor<i32>) -> tensor<3x4xcomplex<f32>>
    %16 = call @fft_1(%15) : (tensor<3x4xcomplex<f32>>) -> tensor<3x6xf32>
    %17 = stablehlo.real %0 : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xf32>
    %18 = stablehlo.imag %0 : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xf32>
    %19 = stablehlo.multiply %17, %18 : tensor<3x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<f32>
    %21 = stablehlo.multiply %7, %7 : tensor<3x6xcomplex<f32>>
    %22 = stablehlo.imag %21 : (tensor<3x6xcomplex<f32>>) -> tensor<3x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x6xf32>, tensor<f32>) -> tensor<f32>
    %24 = stablehlo.add %20, %23 : tensor<f32>
    %25 = stablehlo.multiply %16, %16 : tensor<3x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x6xf32>, tensor<f32>) -> tensor<f32>
    %27 = stablehlo.add %24, %26 : tensor<f32>
    %28 = call @fft_2(%7) : (tensor<3x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>>
    %29 = stablehlo.real %28 : (tensor<3x6xcomplex<f32>>) -> tensor<3x6xf32>
    %30 = stablehlo.multiply %29, %29 : tensor<3x6xf32>
    %31 = stablehlo.multiply %30, %29 : tensor<3x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%31 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x6xf32>, tensor<f32>) -> tensor<f32>
    %33 = stablehlo.add %27, %32 : tensor<f32>
    %34 = call @cumprod(%arg1) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    %35 = stablehlo.multiply %34, %34 : tensor<3x5xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<f32>
    %37 = call @cumprod_4(%arg1) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_6) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<f32>
    %39 = stablehlo.add %36, %38 : tensor<f32>
    %40 = call @cumlogsumexp(%arg1) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_7) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<f32>
    %42 = stablehlo.add %39, %41 : tensor<f32>
    %43 = stablehlo.add %33, %42 : tensor<f32>
    return %43 : tensor<f32>
  }
  func.func private @fft(%arg0: tensor<3x6xf32>) -> tensor<3x4xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [6] : (tensor<3x6xf32>) -> tensor<3x4xcomplex<f32>>
    return %0 : tensor<3x4xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<3x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [3, 6] : (tensor<3x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>>
    return %0 : tensor<3x6xcomplex<f32>>
  }
  func.func private @_pad(%arg0: tensor<3x4xcomplex<f32>>, %arg1: tensor<i32>) -> tensor<3x4xcomplex<f32>> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<complex<f32>>
    %1 = stablehlo.pad %arg0, %0, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<3x4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3x4xcomplex<f32>>
    return %1 : tensor<3x4xcomplex<f32>>
  }
  func.func private @fft_1(%arg0: tensor<3x4xcomplex<f32>>) -> tensor<3x6xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [6] : (tensor<3x4xcomplex<f32>>) -> tensor<3x6xf32>
    return %0 : tensor<3x6xf32>
  }
  func.func private @fft_2(%arg0: tensor<3x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [6] : (tensor<3x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>>
    return %0 : tensor<3x6xcomplex<f32>>
  }
  func.func private @cumprod(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
    %0 = call @cumprod_3(%arg0) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }
  func.func private @cumprod_3(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [4, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 5>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.multiply %arg1, %arg2 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }
  func.func private @cumprod_4(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.multiply %arg1, %arg2 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }
  func.func private @cumlogsumexp(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [4, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 5>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      %2 = stablehlo.subtract %arg1, %arg2 : tensor<f32>
      %3 = stablehlo.compare NE, %2, %2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.add %arg1, %arg2 : tensor<f32>
      %5 = stablehlo.abs %2 : tensor<f32>
      %6 = stablehlo.negate %5 : tensor<f32>
      %7 = stablehlo.exponential %6 : tensor<f32>
      %8 = stablehlo.log_plus_one %7 : tensor<f32>
      %9 = stablehlo.add %1, %8 : tensor<f32>
      %10 = stablehlo.select %3, %4, %9 : tensor<i1>, tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }) : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }
}
