module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> loc("params['b']"), %arg1: tensor<8x4xf32> loc("params['w']"), %arg2: tensor<i32> loc("opt_state.count"), %arg3: tensor<f32> loc("opt_state.hyperparams['b1']"), %arg4: tensor<f32> loc("opt_state.hyperparams['b2']"), %arg5: tensor<f32> loc("opt_state.hyperparams['eps']"), %arg6: tensor<f32> loc("opt_state.hyperparams['eps_root']"), %arg7: tensor<i32> loc("opt_state.hyperparams_states['learning_rate'].count"), %arg8: tensor<i32> loc("opt_state.inner_state[0].count"), %arg9: tensor<4xf32> loc("opt_state.inner_state[0].mu['b']"), %arg10: tensor<8x4xf32> loc("opt_state.inner_state[0].mu['w']"), %arg11: tensor<4xf32> loc("opt_state.inner_state[0].nu['b']"), %arg12: tensor<8x4xf32> loc("opt_state.inner_state[0].nu['w']"), %arg13: tensor<16x8xf32> loc("x"), %arg14: tensor<16x4xf32> loc("y")) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]['b']"}, tensor<8x4xf32> {jax.result_info = "result[1]['w']"}, tensor<i32> {jax.result_info = "result[2].count"}, tensor<f32> {jax.result_info = "result[2].hyperparams['b1']"}, tensor<f32> {jax.result_info = "result[2].hyperparams['b2']"}, tensor<f32> {jax.result_info = "result[2].hyperparams['eps']"}, tensor<f32> {jax.result_info = "result[2].hyperparams['eps_root']"}, tensor<f32> {jax.result_info = "result[2].hyperparams['learning_rate']"}, tensor<i32> {jax.result_info = "result[2].hyperparams_states['learning_rate'].count"}, tensor<i32> {jax.result_info = "result[2].inner_state[0].count"}, tensor<4xf32> {jax.result_info = "result[2].inner_state[0].mu['b']"}, tensor<8x4xf32> {jax.result_info = "result[2].inner_state[0].mu['w']"}, tensor<4xf32> {jax.result_info = "result[2].inner_state[0].nu['b']"}, tensor<8x4xf32> {jax.result_info = "result[2].inner_state[0].nu['w']"}) {
    %0 = stablehlo.dot_general %arg13, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<16x4xf32>
    %3 = stablehlo.add %0, %2 : tensor<16x4xf32>
    %4 = stablehlo.subtract %3, %arg14 : tensor<16x4xf32>
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
    %16 = stablehlo.dot_general %12, %arg13, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x4xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %17 = stablehlo.transpose %16, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %c = stablehlo.constant dense<2147483647> : tensor<i32>
    %18 = stablehlo.compare LT, %arg7, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_6 = stablehlo.constant dense<1> : tensor<i32>
    %19 = stablehlo.add %arg7, %c_6 : tensor<i32>
    %c_7 = stablehlo.constant dense<2147483647> : tensor<i32>
    %20 = call @_where(%18, %19, %c_7) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %cst_8 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %cst_9 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %21 = stablehlo.multiply %cst_8, %cst_9 : tensor<f32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.subtract %cst_10, %arg3 : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %24 = stablehlo.multiply %23, %15 : tensor<4xf32>
    %25 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %26 = stablehlo.multiply %25, %arg9 : tensor<4xf32>
    %27 = stablehlo.add %24, %26 : tensor<4xf32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %28 = stablehlo.subtract %cst_11, %arg3 : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %30 = stablehlo.multiply %29, %17 : tensor<8x4xf32>
    %31 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %32 = stablehlo.multiply %31, %arg10 : tensor<8x4xf32>
    %33 = stablehlo.add %30, %32 : tensor<8x4xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %34 = stablehlo.subtract %cst_12, %arg4 : tensor<f32>
    %35 = stablehlo.multiply %15, %15 : tensor<4xf32>
    %36 = stablehlo.broadcast_in_dim %34, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %37 = stablehlo.multiply %36, %35 : tensor<4xf32>
    %38 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %39 = stablehlo.multiply %38, %arg11 : tensor<4xf32>
    %40 = stablehlo.add %37, %39 : tensor<4xf32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %41 = stablehlo.subtract %cst_13, %arg4 : tensor<f32>
    %42 = stablehlo.multiply %17, %17 : tensor<8x4xf32>
    %43 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %44 = stablehlo.multiply %43, %42 : tensor<8x4xf32>
    %45 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %46 = stablehlo.multiply %45, %arg12 : tensor<8x4xf32>
    %47 = stablehlo.add %44, %46 : tensor<8x4xf32>
    %c_14 = stablehlo.constant dense<2147483647> : tensor<i32>
    %48 = stablehlo.compare LT, %arg8, %c_14, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_15 = stablehlo.constant dense<1> : tensor<i32>
    %49 = stablehlo.add %arg8, %c_15 : tensor<i32>
    %c_16 = stablehlo.constant dense<2147483647> : tensor<i32>
    %50 = call @_where(%48, %49, %c_16) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %51 = stablehlo.convert %50 : (tensor<i32>) -> tensor<f32>
    %52 = stablehlo.power %arg3, %51 : tensor<f32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %53 = stablehlo.subtract %cst_17, %52 : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %55 = stablehlo.divide %27, %54 : tensor<4xf32>
    %56 = stablehlo.broadcast_in_dim %53, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %57 = stablehlo.divide %33, %56 : tensor<8x4xf32>
    %58 = stablehlo.convert %50 : (tensor<i32>) -> tensor<f32>
    %59 = stablehlo.power %arg4, %58 : tensor<f32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %60 = stablehlo.subtract %cst_18, %59 : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %60, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %62 = stablehlo.divide %40, %61 : tensor<4xf32>
    %63 = stablehlo.broadcast_in_dim %60, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %64 = stablehlo.divide %47, %63 : tensor<8x4xf32>
    %65 = stablehlo.broadcast_in_dim %arg6, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %66 = stablehlo.add %62, %65 : tensor<4xf32>
    %67 = stablehlo.sqrt %66 : tensor<4xf32>
    %68 = stablehlo.broadcast_in_dim %arg5, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %69 = stablehlo.add %67, %68 : tensor<4xf32>
    %70 = stablehlo.divide %55, %69 : tensor<4xf32>
    %71 = stablehlo.broadcast_in_dim %arg6, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %72 = stablehlo.add %64, %71 : tensor<8x4xf32>
    %73 = stablehlo.sqrt %72 : tensor<8x4xf32>
    %74 = stablehlo.broadcast_in_dim %arg5, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %75 = stablehlo.add %73, %74 : tensor<8x4xf32>
    %76 = stablehlo.divide %57, %75 : tensor<8x4xf32>
    %77 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %78 = stablehlo.multiply %77, %70 : tensor<4xf32>
    %79 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %80 = stablehlo.multiply %79, %76 : tensor<8x4xf32>
    %c_19 = stablehlo.constant dense<2147483647> : tensor<i32>
    %81 = stablehlo.compare LT, %arg2, %c_19, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_20 = stablehlo.constant dense<1> : tensor<i32>
    %82 = stablehlo.add %arg2, %c_20 : tensor<i32>
    %c_21 = stablehlo.constant dense<2147483647> : tensor<i32>
    %83 = call @_where(%81, %82, %c_21) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %84 = stablehlo.add %arg0, %78 : tensor<4xf32>
    %85 = stablehlo.add %arg1, %80 : tensor<8x4xf32>
    %cst_22 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    return %9, %84, %85, %83, %arg3, %arg4, %arg5, %arg6, %cst_22, %20, %50, %27, %33, %40, %47 : tensor<f32>, tensor<4xf32>, tensor<8x4xf32>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
