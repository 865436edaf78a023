module @jit_train_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> {tf.aliasing_output = 1 : i32} loc("state.params['b']"), %arg1: tensor<8x4xf32> {tf.aliasing_output = 2 : i32} loc("state.params['w']"), %arg2: tensor<i32> {tf.aliasing_output = 0 : i32} loc("state.opt_state[0].count"), %arg3: tensor<4xf32> {tf.aliasing_output = 4 : i32} loc("state.opt_state[0].mu['b']"), %arg4: tensor<8x4xf32> {tf.aliasing_output = 5 : i32} loc("state.opt_state[0].mu['w']"), %arg5: tensor<4xf32> {tf.aliasing_output = 6 : i32} loc("state.opt_state[0].nu['b']"), %arg6: tensor<8x4xf32> {tf.aliasing_output = 7 : i32} loc("state.opt_state[0].nu['w']"), %arg7: tensor<16x4xf32> loc("batch['label']"), %arg8: tensor<16x8xf32> loc("batch['x']")) -> (tensor<i32> {jax.result_info = "result[0].step"}, tensor<4xf32> {jax.result_info = "result[0].params['b']"}, tensor<8x4xf32> {jax.result_info = "result[0].params['w']"}, tensor<i32> {jax.result_info = "result[0].opt_state[0].count"}, tensor<4xf32> {jax.result_info = "result[0].opt_state[0].mu['b']"}, tensor<8x4xf32> {jax.result_info = "result[0].opt_state[0].mu['w']"}, tensor<4xf32> {jax.result_info = "result[0].opt_state[0].nu['b']"}, tensor<8x4xf32> {jax.result_info = "result[0].opt_state[0].nu['w']"}, tensor<16x4xf32> {jax.result_info = "result[1]['label']"}, tensor<f32> {jax.result_info = "result[1]['loss']"}) {
    %0 = stablehlo.dot_general %arg8, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<16x4xf32>
    %3 = stablehlo.add %0, %2 : tensor<16x4xf32>
    %4 = stablehlo.subtract %3, %arg7 : tensor<16x4xf32>
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
    %cst_6 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %19 = stablehlo.multiply %18, %15 : tensor<4xf32>
    %cst_7 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %21 = stablehlo.multiply %20, %arg3 : tensor<4xf32>
    %22 = stablehlo.add %19, %21 : tensor<4xf32>
    %cst_8 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %24 = stablehlo.multiply %23, %17 : tensor<8x4xf32>
    %cst_9 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %26 = stablehlo.multiply %25, %arg4 : tensor<8x4xf32>
    %27 = stablehlo.add %24, %26 : tensor<8x4xf32>
    %28 = stablehlo.multiply %15, %15 : tensor<4xf32>
    %cst_10 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %30 = stablehlo.multiply %29, %28 : tensor<4xf32>
    %cst_11 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %32 = stablehlo.multiply %31, %arg5 : tensor<4xf32>
    %33 = stablehlo.add %30, %32 : tensor<4xf32>
    %34 = stablehlo.multiply %17, %17 : tensor<8x4xf32>
    %cst_12 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %36 = stablehlo.multiply %35, %34 : tensor<8x4xf32>
    %cst_13 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %38 = stablehlo.multiply %37, %arg6 : tensor<8x4xf32>
    %39 = stablehlo.add %36, %38 : tensor<8x4xf32>
    %c = stablehlo.constant dense<2147483647> : tensor<i32>
    %40 = stablehlo.compare LT, %arg2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_14 = stablehlo.constant dense<1> : tensor<i32>
    %41 = stablehlo.add %arg2, %c_14 : tensor<i32>
    %c_15 = stablehlo.constant dense<2147483647> : tensor<i32>
    %42 = call @_where(%40, %41, %c_15) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %cst_16 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %43 = stablehlo.convert %42 : (tensor<i32>) -> tensor<f32>
    %44 = stablehlo.power %cst_16, %43 : tensor<f32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %45 = stablehlo.subtract %cst_17, %44 : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %47 = stablehlo.divide %22, %46 : tensor<4xf32>
    %48 = stablehlo.broadcast_in_dim %45, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %49 = stablehlo.divide %27, %48 : tensor<8x4xf32>
    %cst_18 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %50 = stablehlo.convert %42 : (tensor<i32>) -> tensor<f32>
    %51 = stablehlo.power %cst_18, %50 : tensor<f32>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %52 = stablehlo.subtract %cst_19, %51 : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %54 = stablehlo.divide %33, %53 : tensor<4xf32>
    %55 = stablehlo.broadcast_in_dim %52, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %56 = stablehlo.divide %39, %55 : tensor<8x4xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %58 = stablehlo.add %54, %57 : tensor<4xf32>
    %59 = stablehlo.sqrt %58 : tensor<4xf32>
    %cst_21 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %61 = stablehlo.add %59, %60 : tensor<4xf32>
    %62 = stablehlo.divide %47, %61 : tensor<4xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %64 = stablehlo.add %56, %63 : tensor<8x4xf32>
    %65 = stablehlo.sqrt %64 : tensor<8x4xf32>
    %cst_23 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %67 = stablehlo.add %65, %66 : tensor<8x4xf32>
    %68 = stablehlo.divide %49, %67 : tensor<8x4xf32>
    %cst_24 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %70 = stablehlo.multiply %69, %62 : tensor<4xf32>
    %cst_25 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %72 = stablehlo.multiply %71, %68 : tensor<8x4xf32>
    %73 = stablehlo.add %arg0, %70 : tensor<4xf32>
    %74 = stablehlo.add %arg1, %72 : tensor<8x4xf32>
    %c_26 = stablehlo.constant dense<1> : tensor<i32>
    %75 = stablehlo.add %42, %c_26 : tensor<i32>
    %76 = stablehlo.dot_general %arg8, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    return %75, %73, %74, %42, %22, %27, %33, %39, %76, %9 : tensor<i32>, tensor<4xf32>, tensor<8x4xf32>, tensor<i32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<16x4xf32>, tensor<f32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
