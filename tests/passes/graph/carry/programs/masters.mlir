module @jit_masters attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> loc("master['b']"), %arg1: tensor<8x4xf32> loc("master['w']"), %arg2: tensor<4xbf16> loc("params['b']"), %arg3: tensor<8x4xbf16> loc("params['w']"), %arg4: tensor<16x8xf32> loc("x"), %arg5: tensor<16x4xf32> loc("y")) -> (tensor<4xf32> {jax.result_info = "result[0]['b']"}, tensor<8x4xf32> {jax.result_info = "result[0]['w']"}, tensor<4xbf16> {jax.result_info = "result[1]['b']"}, tensor<8x4xbf16> {jax.result_info = "result[1]['w']"}, tensor<bf16> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.convert %arg4 : (tensor<16x8xf32>) -> tensor<16x8xbf16>
    %1 = stablehlo.convert %arg5 : (tensor<16x4xf32>) -> tensor<16x4xbf16>
    %2 = stablehlo.dot_general %0, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xbf16>, tensor<8x4xbf16>) -> tensor<16x4xbf16>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<4xbf16>) -> tensor<1x4xbf16>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x4xbf16>) -> tensor<16x4xbf16>
    %5 = stablehlo.add %2, %4 : tensor<16x4xbf16>
    %6 = stablehlo.subtract %5, %1 : tensor<16x4xbf16>
    %7 = stablehlo.multiply %6, %6 : tensor<16x4xbf16>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<bf16>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<16x4xbf16>
    %9 = stablehlo.multiply %8, %6 : tensor<16x4xbf16>
    %10 = stablehlo.convert %7 : (tensor<16x4xbf16>) -> tensor<16x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %12 = stablehlo.divide %11, %cst_1 : tensor<f32>
    %13 = stablehlo.convert %12 : (tensor<f32>) -> tensor<bf16>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %14 = stablehlo.divide %cst_2, %cst_3 : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
    %16 = stablehlo.convert %15 : (tensor<16x4xf32>) -> tensor<16x4xbf16>
    %17 = stablehlo.multiply %16, %9 : tensor<16x4xbf16>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %18 = stablehlo.reduce(%17 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<16x4xbf16>, tensor<bf16>) -> tensor<4xbf16>
    %19 = stablehlo.reshape %18 : (tensor<4xbf16>) -> tensor<1x4xbf16>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %20 = stablehlo.reduce(%19 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<1x4xbf16>, tensor<bf16>) -> tensor<4xbf16>
    %21 = stablehlo.dot_general %17, %0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x4xbf16>, tensor<16x8xbf16>) -> tensor<4x8xbf16>
    %22 = stablehlo.transpose %21, dims = [1, 0] : (tensor<4x8xbf16>) -> tensor<8x4xbf16>
    %23 = stablehlo.convert %20 : (tensor<4xbf16>) -> tensor<4xf32>
    %cst_6 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %25 = stablehlo.multiply %24, %23 : tensor<4xf32>
    %26 = stablehlo.subtract %arg0, %25 : tensor<4xf32>
    %27 = stablehlo.convert %22 : (tensor<8x4xbf16>) -> tensor<8x4xf32>
    %cst_7 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %29 = stablehlo.multiply %28, %27 : tensor<8x4xf32>
    %30 = stablehlo.subtract %arg1, %29 : tensor<8x4xf32>
    %31 = stablehlo.convert %26 : (tensor<4xf32>) -> tensor<4xbf16>
    %32 = stablehlo.convert %30 : (tensor<8x4xf32>) -> tensor<8x4xbf16>
    return %26, %30, %31, %32, %13 : tensor<4xf32>, tensor<8x4xf32>, tensor<4xbf16>, tensor<8x4xbf16>, tensor<bf16>
  }
}
