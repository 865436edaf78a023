module @jit_amsgrad attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> loc("params['b']"), %arg1: tensor<8x4xf32> loc("params['w']"), %arg2: tensor<4xf32> loc("m['b']"), %arg3: tensor<8x4xf32> loc("m['w']"), %arg4: tensor<4xf32> loc("v['b']"), %arg5: tensor<8x4xf32> loc("v['w']"), %arg6: tensor<4xf32> loc("largest['b']"), %arg7: tensor<8x4xf32> loc("largest['w']"), %arg8: tensor<16x8xf32> loc("x"), %arg9: tensor<16x4xf32> loc("y")) -> (tensor<4xf32> {jax.result_info = "result[0]['b']"}, tensor<8x4xf32> {jax.result_info = "result[0]['w']"}, tensor<4xf32> {jax.result_info = "result[1]['b']"}, tensor<8x4xf32> {jax.result_info = "result[1]['w']"}, tensor<4xf32> {jax.result_info = "result[2]['b']"}, tensor<8x4xf32> {jax.result_info = "result[2]['w']"}, tensor<4xf32> {jax.result_info = "result[3]['b']"}, tensor<8x4xf32> {jax.result_info = "result[3]['w']"}, tensor<f32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.dot_general %arg8, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<16x4xf32>
    %3 = stablehlo.add %0, %2 : tensor<16x4xf32>
    %4 = stablehlo.subtract %3, %arg9 : tensor<16x4xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<16x4xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
    %7 = stablehlo.multiply %6, %4 : tensor<16x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %9 = stablehlo.divide %8, %cst_1 : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %10 = stablehlo.divide %cst_2, %cst_3 : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
    %12 = stablehlo.multiply %11, %7 : tensor<16x4xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<16x4xf32>, tensor<f32>) -> tensor<4xf32>
    %14 = stablehlo.reshape %13 : (tensor<4xf32>) -> tensor<1x4xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %16 = stablehlo.dot_general %12, %arg8, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x4xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %17 = stablehlo.transpose %16, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %cst_6 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %19 = stablehlo.multiply %18, %arg2 : tensor<4xf32>
    %cst_7 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %21 = stablehlo.multiply %20, %15 : tensor<4xf32>
    %22 = stablehlo.add %19, %21 : tensor<4xf32>
    %cst_8 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %24 = stablehlo.multiply %23, %arg3 : tensor<8x4xf32>
    %cst_9 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %26 = stablehlo.multiply %25, %17 : tensor<8x4xf32>
    %27 = stablehlo.add %24, %26 : tensor<8x4xf32>
    %cst_10 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %29 = stablehlo.multiply %28, %arg4 : tensor<4xf32>
    %cst_11 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %31 = stablehlo.multiply %30, %15 : tensor<4xf32>
    %32 = stablehlo.multiply %31, %15 : tensor<4xf32>
    %33 = stablehlo.add %29, %32 : tensor<4xf32>
    %cst_12 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %35 = stablehlo.multiply %34, %arg5 : tensor<8x4xf32>
    %cst_13 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %37 = stablehlo.multiply %36, %17 : tensor<8x4xf32>
    %38 = stablehlo.multiply %37, %17 : tensor<8x4xf32>
    %39 = stablehlo.add %35, %38 : tensor<8x4xf32>
    %40 = stablehlo.maximum %arg6, %33 : tensor<4xf32>
    %41 = stablehlo.maximum %arg7, %39 : tensor<8x4xf32>
    %cst_14 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %43 = stablehlo.multiply %42, %22 : tensor<4xf32>
    %44 = stablehlo.sqrt %40 : tensor<4xf32>
    %cst_15 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %46 = stablehlo.add %44, %45 : tensor<4xf32>
    %47 = stablehlo.divide %43, %46 : tensor<4xf32>
    %48 = stablehlo.subtract %arg0, %47 : tensor<4xf32>
    %cst_16 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %50 = stablehlo.multiply %49, %27 : tensor<8x4xf32>
    %51 = stablehlo.sqrt %41 : tensor<8x4xf32>
    %cst_17 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %53 = stablehlo.add %51, %52 : tensor<8x4xf32>
    %54 = stablehlo.divide %50, %53 : tensor<8x4xf32>
    %55 = stablehlo.subtract %arg1, %54 : tensor<8x4xf32>
    return %48, %55, %22, %27, %33, %39, %40, %41, %9 : tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<f32>
  }
}
