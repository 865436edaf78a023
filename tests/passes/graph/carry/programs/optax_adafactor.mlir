module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> loc("params['b']"), %arg1: tensor<8x4xf32> loc("params['w']"), %arg2: tensor<i32> loc("opt_state[0].count"), %arg3: tensor<4xf32> loc("opt_state[0].v['b']"), %arg4: tensor<8x4xf32> loc("opt_state[0].v['w']"), %arg5: tensor<16x8xf32> loc("x"), %arg6: tensor<16x4xf32> loc("y")) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]['b']"}, tensor<8x4xf32> {jax.result_info = "result[1]['w']"}, tensor<i32> {jax.result_info = "result[2][0].count"}, tensor<1xf32> {jax.result_info = "result[2][0].v_row['b']"}, tensor<1xf32> {jax.result_info = "result[2][0].v_row['w']"}, tensor<1xf32> {jax.result_info = "result[2][0].v_col['b']"}, tensor<1xf32> {jax.result_info = "result[2][0].v_col['w']"}, tensor<4xf32> {jax.result_info = "result[2][0].v['b']"}, tensor<8x4xf32> {jax.result_info = "result[2][0].v['w']"}) {
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
    %c = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.subtract %arg2, %c : tensor<i32>
    %c_6 = stablehlo.constant dense<1> : tensor<i32>
    %19 = stablehlo.add %18, %c_6 : tensor<i32>
    %20 = stablehlo.convert %19 : (tensor<i32>) -> tensor<f32>
    %cst_7 = stablehlo.constant dense<-8.000000e-01> : tensor<f32>
    %21 = stablehlo.power %20, %cst_7 : tensor<f32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.subtract %cst_8, %21 : tensor<f32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %25 = stablehlo.multiply %15, %15 : tensor<4xf32>
    %cst_11 = stablehlo.constant dense<1.000000e-30> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %27 = stablehlo.add %25, %26 : tensor<4xf32>
    %28 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %29 = stablehlo.multiply %28, %arg3 : tensor<4xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.subtract %cst_12, %22 : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %32 = stablehlo.multiply %31, %27 : tensor<4xf32>
    %33 = stablehlo.add %29, %32 : tensor<4xf32>
    %cst_13 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %35 = stablehlo.power %33, %34 : tensor<4xf32>
    %36 = stablehlo.multiply %15, %35 : tensor<4xf32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %37 = stablehlo.subtract %arg2, %c_14 : tensor<i32>
    %c_15 = stablehlo.constant dense<1> : tensor<i32>
    %38 = stablehlo.add %37, %c_15 : tensor<i32>
    %39 = stablehlo.convert %38 : (tensor<i32>) -> tensor<f32>
    %cst_16 = stablehlo.constant dense<-8.000000e-01> : tensor<f32>
    %40 = stablehlo.power %39, %cst_16 : tensor<f32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %41 = stablehlo.subtract %cst_17, %40 : tensor<f32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %44 = stablehlo.multiply %17, %17 : tensor<8x4xf32>
    %cst_20 = stablehlo.constant dense<1.000000e-30> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %46 = stablehlo.add %44, %45 : tensor<8x4xf32>
    %47 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %48 = stablehlo.multiply %47, %arg4 : tensor<8x4xf32>
    %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %49 = stablehlo.subtract %cst_21, %41 : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %51 = stablehlo.multiply %50, %46 : tensor<8x4xf32>
    %52 = stablehlo.add %48, %51 : tensor<8x4xf32>
    %cst_22 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %54 = stablehlo.power %52, %53 : tensor<8x4xf32>
    %55 = stablehlo.multiply %17, %54 : tensor<8x4xf32>
    %c_23 = stablehlo.constant dense<2147483647> : tensor<i32>
    %56 = stablehlo.compare LT, %arg2, %c_23, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_24 = stablehlo.constant dense<1> : tensor<i32>
    %57 = stablehlo.add %arg2, %c_24 : tensor<i32>
    %c_25 = stablehlo.constant dense<2147483647> : tensor<i32>
    %58 = call @_where(%56, %57, %c_25) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %59 = stablehlo.multiply %36, %36 : tensor<4xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %60 = stablehlo.reduce(%59 init: %cst_26) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %cst_27 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %61 = stablehlo.divide %60, %cst_27 : tensor<f32>
    %62 = stablehlo.sqrt %61 : tensor<f32>
    %cst_28 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %63 = stablehlo.divide %62, %cst_28 : tensor<f32>
    %cst_29 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %64 = stablehlo.maximum %cst_29, %63 : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %66 = stablehlo.divide %36, %65 : tensor<4xf32>
    %67 = stablehlo.multiply %55, %55 : tensor<8x4xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.reduce(%67 init: %cst_30) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_31 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %69 = stablehlo.divide %68, %cst_31 : tensor<f32>
    %70 = stablehlo.sqrt %69 : tensor<f32>
    %cst_32 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %71 = stablehlo.divide %70, %cst_32 : tensor<f32>
    %cst_33 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %72 = stablehlo.maximum %cst_33, %71 : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %74 = stablehlo.divide %55, %73 : tensor<8x4xf32>
    %cst_34 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %76 = stablehlo.multiply %75, %66 : tensor<4xf32>
    %cst_35 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %78 = stablehlo.multiply %77, %74 : tensor<8x4xf32>
    %79 = stablehlo.multiply %arg0, %arg0 : tensor<4xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %80 = stablehlo.reduce(%79 init: %cst_36) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %cst_37 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %81 = stablehlo.divide %80, %cst_37 : tensor<f32>
    %82 = stablehlo.sqrt %81 : tensor<f32>
    %cst_38 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %83 = stablehlo.compare LE, %82, %cst_38, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_39 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %85 = call @_where_0(%83, %84, %arg0) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %cst_40 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %86 = stablehlo.compare LE, %82, %cst_40, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %87 = stablehlo.multiply %85, %85 : tensor<4xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %88 = stablehlo.reduce(%87 init: %cst_41) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %cst_42 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %89 = stablehlo.divide %88, %cst_42 : tensor<f32>
    %90 = stablehlo.sqrt %89 : tensor<f32>
    %cst_43 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %91 = call @_where_1(%86, %cst_43, %90) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %92 = stablehlo.broadcast_in_dim %91, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %93 = stablehlo.multiply %76, %92 : tensor<4xf32>
    %94 = stablehlo.multiply %arg1, %arg1 : tensor<8x4xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %95 = stablehlo.reduce(%94 init: %cst_44) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_45 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %96 = stablehlo.divide %95, %cst_45 : tensor<f32>
    %97 = stablehlo.sqrt %96 : tensor<f32>
    %cst_46 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %98 = stablehlo.compare LE, %97, %cst_46, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_47 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %99 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %100 = call @_where_2(%98, %99, %arg1) : (tensor<i1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %cst_48 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %101 = stablehlo.compare LE, %97, %cst_48, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %102 = stablehlo.multiply %100, %100 : tensor<8x4xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %103 = stablehlo.reduce(%102 init: %cst_49) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_50 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %104 = stablehlo.divide %103, %cst_50 : tensor<f32>
    %105 = stablehlo.sqrt %104 : tensor<f32>
    %cst_51 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %106 = call @_where_1(%101, %cst_51, %105) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %107 = stablehlo.broadcast_in_dim %106, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %108 = stablehlo.multiply %78, %107 : tensor<8x4xf32>
    %cst_52 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %109 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %110 = stablehlo.multiply %109, %93 : tensor<4xf32>
    %cst_53 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %112 = stablehlo.multiply %111, %108 : tensor<8x4xf32>
    %113 = stablehlo.add %arg0, %110 : tensor<4xf32>
    %114 = stablehlo.add %arg1, %112 : tensor<8x4xf32>
    return %9, %113, %114, %58, %23, %42, %24, %43, %33, %52 : tensor<f32>, tensor<4xf32>, tensor<8x4xf32>, tensor<i32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<4xf32>, tensor<8x4xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @_where_0(%arg0: tensor<i1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.select %arg0, %0, %arg2 : tensor<i1>, tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @_where_2(%arg0: tensor<i1>, %arg1: tensor<8x4xf32>, %arg2: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}
