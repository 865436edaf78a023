module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> {tf.aliasing_output = 1 : i32} loc("params['b']"), %arg1: tensor<8x4xf32> {tf.aliasing_output = 2 : i32} loc("params['w']"), %arg2: tensor<i32> {tf.aliasing_output = 3 : i32} loc("opt_state.mini_step"), %arg3: tensor<i32> {tf.aliasing_output = 4 : i32} loc("opt_state.gradient_step"), %arg4: tensor<i32> {tf.aliasing_output = 5 : i32} loc("opt_state.inner_opt_state[0].count"), %arg5: tensor<4xf32> {tf.aliasing_output = 6 : i32} loc("opt_state.inner_opt_state[0].mu['b']"), %arg6: tensor<8x4xf32> {tf.aliasing_output = 7 : i32} loc("opt_state.inner_opt_state[0].mu['w']"), %arg7: tensor<4xf32> {tf.aliasing_output = 8 : i32} loc("opt_state.inner_opt_state[0].nu['b']"), %arg8: tensor<8x4xf32> {tf.aliasing_output = 9 : i32} loc("opt_state.inner_opt_state[0].nu['w']"), %arg9: tensor<4xf32> {tf.aliasing_output = 10 : i32} loc("opt_state.acc_grads['b']"), %arg10: tensor<8x4xf32> {tf.aliasing_output = 11 : i32} loc("opt_state.acc_grads['w']"), %arg11: tensor<16x8xf32> loc("x"), %arg12: tensor<16x4xf32> loc("y")) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]['b']"}, tensor<8x4xf32> {jax.result_info = "result[1]['w']"}, tensor<i32> {jax.result_info = "result[2].mini_step"}, tensor<i32> {jax.result_info = "result[2].gradient_step"}, tensor<i32> {jax.result_info = "result[2].inner_opt_state[0].count"}, tensor<4xf32> {jax.result_info = "result[2].inner_opt_state[0].mu['b']"}, tensor<8x4xf32> {jax.result_info = "result[2].inner_opt_state[0].mu['w']"}, tensor<4xf32> {jax.result_info = "result[2].inner_opt_state[0].nu['b']"}, tensor<8x4xf32> {jax.result_info = "result[2].inner_opt_state[0].nu['w']"}, tensor<4xf32> {jax.result_info = "result[2].acc_grads['b']"}, tensor<8x4xf32> {jax.result_info = "result[2].acc_grads['w']"}) {
    %0 = stablehlo.dot_general %arg11, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<16x4xf32>
    %3 = stablehlo.add %0, %2 : tensor<16x4xf32>
    %4 = stablehlo.subtract %3, %arg12 : tensor<16x4xf32>
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
    %16 = stablehlo.dot_general %12, %arg11, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x4xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %17 = stablehlo.transpose %16, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %18:11 = "stablehlo.case"(%c) ({
      %21 = stablehlo.subtract %15, %arg9 : tensor<4xf32>
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %22 = stablehlo.add %arg2, %c_6 : tensor<i32>
      %23 = stablehlo.convert %22 : (tensor<i32>) -> tensor<f32>
      %24 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %25 = stablehlo.divide %21, %24 : tensor<4xf32>
      %26 = stablehlo.add %arg9, %25 : tensor<4xf32>
      %27 = stablehlo.subtract %17, %arg10 : tensor<8x4xf32>
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %28 = stablehlo.add %arg2, %c_7 : tensor<i32>
      %29 = stablehlo.convert %28 : (tensor<i32>) -> tensor<f32>
      %30 = stablehlo.broadcast_in_dim %29, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %31 = stablehlo.divide %27, %30 : tensor<8x4xf32>
      %32 = stablehlo.add %arg10, %31 : tensor<8x4xf32>
      %cst_8 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %33 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %34 = stablehlo.multiply %33, %26 : tensor<4xf32>
      %cst_9 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %35 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %36 = stablehlo.multiply %35, %arg5 : tensor<4xf32>
      %37 = stablehlo.add %34, %36 : tensor<4xf32>
      %cst_10 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %38 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %39 = stablehlo.multiply %38, %32 : tensor<8x4xf32>
      %cst_11 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %40 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %41 = stablehlo.multiply %40, %arg6 : tensor<8x4xf32>
      %42 = stablehlo.add %39, %41 : tensor<8x4xf32>
      %43 = stablehlo.multiply %26, %26 : tensor<4xf32>
      %cst_12 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
      %44 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %45 = stablehlo.multiply %44, %43 : tensor<4xf32>
      %cst_13 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
      %46 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %47 = stablehlo.multiply %46, %arg7 : tensor<4xf32>
      %48 = stablehlo.add %45, %47 : tensor<4xf32>
      %49 = stablehlo.multiply %32, %32 : tensor<8x4xf32>
      %cst_14 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
      %50 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %51 = stablehlo.multiply %50, %49 : tensor<8x4xf32>
      %cst_15 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
      %52 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %53 = stablehlo.multiply %52, %arg8 : tensor<8x4xf32>
      %54 = stablehlo.add %51, %53 : tensor<8x4xf32>
      %c_16 = stablehlo.constant dense<2147483647> : tensor<i32>
      %55 = stablehlo.compare LT, %arg4, %c_16, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_17 = stablehlo.constant dense<1> : tensor<i32>
      %56 = stablehlo.add %arg4, %c_17 : tensor<i32>
      %c_18 = stablehlo.constant dense<2147483647> : tensor<i32>
      %57 = func.call @_where(%55, %56, %c_18) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %cst_19 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %58 = stablehlo.convert %57 : (tensor<i32>) -> tensor<f32>
      %59 = stablehlo.power %cst_19, %58 : tensor<f32>
      %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %60 = stablehlo.subtract %cst_20, %59 : tensor<f32>
      %61 = stablehlo.broadcast_in_dim %60, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %62 = stablehlo.divide %37, %61 : tensor<4xf32>
      %63 = stablehlo.broadcast_in_dim %60, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %64 = stablehlo.divide %42, %63 : tensor<8x4xf32>
      %cst_21 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
      %65 = stablehlo.convert %57 : (tensor<i32>) -> tensor<f32>
      %66 = stablehlo.power %cst_21, %65 : tensor<f32>
      %cst_22 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %67 = stablehlo.subtract %cst_22, %66 : tensor<f32>
      %68 = stablehlo.broadcast_in_dim %67, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %69 = stablehlo.divide %48, %68 : tensor<4xf32>
      %70 = stablehlo.broadcast_in_dim %67, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %71 = stablehlo.divide %54, %70 : tensor<8x4xf32>
      %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %72 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %73 = stablehlo.add %69, %72 : tensor<4xf32>
      %74 = stablehlo.sqrt %73 : tensor<4xf32>
      %cst_24 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
      %75 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %76 = stablehlo.add %74, %75 : tensor<4xf32>
      %77 = stablehlo.divide %62, %76 : tensor<4xf32>
      %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %78 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %79 = stablehlo.add %71, %78 : tensor<8x4xf32>
      %80 = stablehlo.sqrt %79 : tensor<8x4xf32>
      %cst_26 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
      %81 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %82 = stablehlo.add %80, %81 : tensor<8x4xf32>
      %83 = stablehlo.divide %64, %82 : tensor<8x4xf32>
      %cst_27 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
      %84 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %85 = stablehlo.multiply %84, %77 : tensor<4xf32>
      %cst_28 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
      %86 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %87 = stablehlo.multiply %86, %83 : tensor<8x4xf32>
      %c_29 = stablehlo.constant dense<3> : tensor<i32>
      %88 = stablehlo.compare EQ, %arg2, %c_29, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_30 = stablehlo.constant dense<2147483647> : tensor<i32>
      %89 = stablehlo.compare LT, %arg2, %c_30, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_31 = stablehlo.constant dense<1> : tensor<i32>
      %90 = stablehlo.add %arg2, %c_31 : tensor<i32>
      %c_32 = stablehlo.constant dense<2147483647> : tensor<i32>
      %91 = func.call @_where(%89, %90, %c_32) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_33 = stablehlo.constant dense<4> : tensor<i32>
      %92 = func.call @remainder(%91, %c_33) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_34 = stablehlo.constant dense<2147483647> : tensor<i32>
      %93 = stablehlo.compare LT, %arg3, %c_34, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_35 = stablehlo.constant dense<1> : tensor<i32>
      %94 = stablehlo.add %arg3, %c_35 : tensor<i32>
      %c_36 = stablehlo.constant dense<2147483647> : tensor<i32>
      %95 = func.call @_where(%93, %94, %c_36) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %96 = stablehlo.convert %88 : (tensor<i1>) -> tensor<i32>
      %97 = stablehlo.multiply %96, %95 : tensor<i32>
      %98 = stablehlo.convert %88 : (tensor<i1>) -> tensor<i32>
      %c_37 = stablehlo.constant dense<1> : tensor<i32>
      %99 = stablehlo.subtract %c_37, %98 : tensor<i32>
      %100 = stablehlo.convert %99 : tensor<i32>
      %101 = stablehlo.multiply %100, %arg3 : tensor<i32>
      %102 = stablehlo.add %97, %101 : tensor<i32>
      %103 = func.call @_where(%88, %57, %arg4) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %104 = func.call @_where_0(%88, %37, %arg5) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %105 = func.call @_where_1(%88, %42, %arg6) : (tensor<i1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
      %106 = func.call @_where_0(%88, %48, %arg7) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %107 = func.call @_where_1(%88, %54, %arg8) : (tensor<i1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
      %108 = stablehlo.convert %88 : (tensor<i1>) -> tensor<i32>
      %c_38 = stablehlo.constant dense<1> : tensor<i32>
      %109 = stablehlo.subtract %c_38, %108 : tensor<i32>
      %110 = stablehlo.convert %109 : (tensor<i32>) -> tensor<f32>
      %111 = stablehlo.broadcast_in_dim %110, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %112 = stablehlo.multiply %111, %26 : tensor<4xf32>
      %113 = stablehlo.convert %88 : (tensor<i1>) -> tensor<i32>
      %c_39 = stablehlo.constant dense<1> : tensor<i32>
      %114 = stablehlo.subtract %c_39, %113 : tensor<i32>
      %115 = stablehlo.convert %114 : (tensor<i32>) -> tensor<f32>
      %116 = stablehlo.broadcast_in_dim %115, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %117 = stablehlo.multiply %116, %32 : tensor<8x4xf32>
      %118 = stablehlo.convert %88 : (tensor<i1>) -> tensor<f32>
      %119 = stablehlo.broadcast_in_dim %118, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %120 = stablehlo.multiply %119, %85 : tensor<4xf32>
      %121 = stablehlo.convert %88 : (tensor<i1>) -> tensor<f32>
      %122 = stablehlo.broadcast_in_dim %121, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %123 = stablehlo.multiply %122, %87 : tensor<8x4xf32>
      stablehlo.return %120, %123, %92, %102, %103, %104, %105, %106, %107, %112, %117 : tensor<4xf32>, tensor<8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>
    }, {
      %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %21 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %22 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      stablehlo.return %21, %22, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8, %arg9, %arg10 : tensor<4xf32>, tensor<8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>)
    %19 = stablehlo.add %arg0, %18#0 : tensor<4xf32>
    %20 = stablehlo.add %arg1, %18#1 : tensor<8x4xf32>
    return %9, %19, %20, %18#2, %18#3, %18#4, %18#5, %18#6, %18#7, %18#8, %18#9, %18#10 : tensor<f32>, tensor<4xf32>, tensor<8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @remainder(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.remainder %arg0, %2 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare NE, %3, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %3, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.compare NE, %5, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %8 = stablehlo.and %7, %4 : tensor<i1>
    %9 = stablehlo.add %3, %2 : tensor<i32>
    %10 = stablehlo.select %8, %9, %3 : tensor<i1>, tensor<i32>
    return %10 : tensor<i32>
  }
  func.func private @_where_0(%arg0: tensor<i1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<8x4xf32>, %arg2: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}
