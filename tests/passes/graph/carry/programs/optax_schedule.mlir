module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> {tf.aliasing_output = 1 : i32} loc("params['b']"), %arg1: tensor<8x4xf32> {tf.aliasing_output = 2 : i32} loc("params['w']"), %arg2: tensor<4xf32> {tf.aliasing_output = 3 : i32} loc("opt_state[1][0].trace['b']"), %arg3: tensor<8x4xf32> {tf.aliasing_output = 4 : i32} loc("opt_state[1][0].trace['w']"), %arg4: tensor<i32> {tf.aliasing_output = 5 : i32} loc("opt_state[1][1].count"), %arg5: tensor<16x8xf32> loc("x"), %arg6: tensor<16x4xf32> loc("y")) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]['b']"}, tensor<8x4xf32> {jax.result_info = "result[1]['w']"}, tensor<4xf32> {jax.result_info = "result[2][1][0].trace['b']"}, tensor<8x4xf32> {jax.result_info = "result[2][1][0].trace['w']"}, tensor<i32> {jax.result_info = "result[2][1][1].count"}) {
    %0 = stablehlo.dot_general %arg5, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<16x4xf32>
    %3 = stablehlo.add %0, %2 : tensor<16x4xf32>
    %4 = stablehlo.subtract %3, %arg6 : tensor<16x4xf32>
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
    %16 = stablehlo.dot_general %12, %arg5, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x4xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %17 = stablehlo.transpose %16, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %18 = chlo.square %15 : tensor<4xf32> -> tensor<4xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %20 = chlo.square %19 : tensor<4xf32> -> tensor<4xf32>
    %21 = stablehlo.add %18, %20 : tensor<4xf32>
    %22 = chlo.square %17 : tensor<8x4xf32> -> tensor<8x4xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %24 = chlo.square %23 : tensor<8x4xf32> -> tensor<8x4xf32>
    %25 = stablehlo.add %22, %24 : tensor<8x4xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%21 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%25 init: %cst_9) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.add %cst_10, %26 : tensor<f32>
    %29 = stablehlo.add %28, %27 : tensor<f32>
    %30 = stablehlo.sqrt %29 : tensor<f32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %31 = stablehlo.compare LT, %30, %cst_11, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %32 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %33 = stablehlo.divide %15, %32 : tensor<4xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %35 = stablehlo.multiply %33, %34 : tensor<4xf32>
    %36 = stablehlo.select %31, %15, %35 : tensor<i1>, tensor<4xf32>
    %37 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %38 = stablehlo.divide %17, %37 : tensor<8x4xf32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %40 = stablehlo.multiply %38, %39 : tensor<8x4xf32>
    %41 = stablehlo.select %31, %17, %40 : tensor<i1>, tensor<8x4xf32>
    %cst_14 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %43 = stablehlo.multiply %42, %arg2 : tensor<4xf32>
    %44 = stablehlo.add %36, %43 : tensor<4xf32>
    %cst_15 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %46 = stablehlo.multiply %45, %arg3 : tensor<8x4xf32>
    %47 = stablehlo.add %41, %46 : tensor<8x4xf32>
    %48 = stablehlo.convert %arg4 : (tensor<i32>) -> tensor<f32>
    %cst_16 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %49 = stablehlo.minimum %48, %cst_16 : tensor<f32>
    %cst_17 = stablehlo.constant dense<3.14159274> : tensor<f32>
    %50 = stablehlo.multiply %cst_17, %49 : tensor<f32>
    %cst_18 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %51 = stablehlo.divide %50, %cst_18 : tensor<f32>
    %52 = stablehlo.cosine %51 : tensor<f32>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %53 = stablehlo.add %cst_19, %52 : tensor<f32>
    %cst_20 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %54 = stablehlo.multiply %cst_20, %53 : tensor<f32>
    %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %55 = stablehlo.power %54, %cst_21 : tensor<f32>
    %cst_22 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %56 = stablehlo.multiply %cst_22, %55 : tensor<f32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.add %56, %cst_23 : tensor<f32>
    %cst_24 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %58 = stablehlo.multiply %cst_24, %57 : tensor<f32>
    %cst_25 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %59 = stablehlo.multiply %cst_25, %58 : tensor<f32>
    %60 = stablehlo.convert %59 : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %60, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %62 = stablehlo.multiply %61, %44 : tensor<4xf32>
    %63 = stablehlo.convert %59 : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %65 = stablehlo.multiply %64, %47 : tensor<8x4xf32>
    %c = stablehlo.constant dense<2147483647> : tensor<i32>
    %66 = stablehlo.compare LT, %arg4, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_26 = stablehlo.constant dense<1> : tensor<i32>
    %67 = stablehlo.add %arg4, %c_26 : tensor<i32>
    %c_27 = stablehlo.constant dense<2147483647> : tensor<i32>
    %68 = call @_where(%66, %67, %c_27) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %69 = stablehlo.add %arg0, %62 : tensor<4xf32>
    %70 = stablehlo.add %arg1, %65 : tensor<8x4xf32>
    return %9, %69, %70, %44, %47, %68 : tensor<f32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
