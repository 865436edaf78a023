module @jit_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("params['scale']"), %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("params['shift']"), %arg2: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("params['w']"), %arg3: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("stats['mean']"), %arg4: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("stats['var']"), %arg5: tensor<11x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"), %arg6: tensor<11x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("y")) -> (tensor<8xf32> {jax.result_info = "result[0]['scale']"}, tensor<8xf32> {jax.result_info = "result[0]['shift']"}, tensor<8x3xf32> {jax.result_info = "result[0]['w']"}, tensor<8xf32> {jax.result_info = "result[1]['mean']"}, tensor<8xf32> {jax.result_info = "result[1]['var']"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg5 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<11x8xf32>, tensor<f32>) -> tensor<8xf32>
    %cst_0 = stablehlo.constant dense<1.100000e+01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %2 = stablehlo.divide %0, %1 : tensor<8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3 = call @_var(%arg5, %c) : (tensor<11x8xf32>, tensor<i32>) -> tensor<8xf32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<11x8xf32>
    %6 = stablehlo.subtract %arg5, %5 : tensor<11x8xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %8 = stablehlo.add %3, %7 : tensor<8xf32>
    %9 = stablehlo.sqrt %8 : tensor<8xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<11x8xf32>
    %12 = stablehlo.divide %6, %11 : tensor<11x8xf32>
    %13 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<11x8xf32>
    %15 = stablehlo.multiply %12, %14 : tensor<11x8xf32>
    %16 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<11x8xf32>
    %18 = stablehlo.add %15, %17 : tensor<11x8xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_2) applies stablehlo.maximum across dimensions = [1] : (tensor<11x8xf32>, tensor<f32>) -> tensor<11xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<11xf32>
    %21 = stablehlo.maximum %20, %19 : tensor<11xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0] : (tensor<11xf32>) -> tensor<11x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1] : (tensor<11x1xf32>) -> tensor<11x8xf32>
    %24 = stablehlo.subtract %18, %23 : tensor<11x8xf32>
    %25 = stablehlo.exponential %24 : tensor<11x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<11x8xf32>, tensor<f32>) -> tensor<11xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<11xf32>) -> tensor<11x1xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<11x1xf32>) -> tensor<11x8xf32>
    %29 = stablehlo.divide %25, %28 : tensor<11x8xf32>
    %30 = stablehlo.multiply %27, %27 : tensor<11x1xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<11x1xf32>
    %32 = stablehlo.divide %31, %30 : tensor<11x1xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %33 = stablehlo.reduce(%29 init: %cst_6) applies stablehlo.maximum across dimensions = [0] : (tensor<11x8xf32>, tensor<f32>) -> tensor<8xf32>
    %34 = stablehlo.reshape %33 : (tensor<8xf32>) -> tensor<1x8xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<11x8xf32>
    %36 = stablehlo.compare EQ, %29, %35, FLOAT : (tensor<11x8xf32>, tensor<11x8xf32>) -> tensor<11x8xi1>
    %37 = stablehlo.convert %36 : (tensor<11x8xi1>) -> tensor<11x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<11x8xf32>, tensor<f32>) -> tensor<8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.reduce(%33 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %40 = stablehlo.dot_general %29, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<11x8xf32>, tensor<8x3xf32>) -> tensor<11x3xf32>
    %41 = stablehlo.subtract %40, %arg6 : tensor<11x3xf32>
    %42 = stablehlo.multiply %41, %41 : tensor<11x3xf32>
    %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<11x3xf32>
    %44 = stablehlo.multiply %43, %41 : tensor<11x3xf32>
    %45 = stablehlo.negate %42 : tensor<11x3xf32>
    %46 = stablehlo.exponential %45 : tensor<11x3xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.reduce(%46 init: %cst_10) applies stablehlo.add across dimensions = [0, 1] : (tensor<11x3xf32>, tensor<f32>) -> tensor<f32>
    %cst_11 = stablehlo.constant dense<3.300000e+01> : tensor<f32>
    %48 = stablehlo.divide %47, %cst_11 : tensor<f32>
    %49 = stablehlo.add %39, %48 : tensor<f32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_13 = stablehlo.constant dense<3.300000e+01> : tensor<f32>
    %50 = stablehlo.divide %cst_12, %cst_13 : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [] : (tensor<f32>) -> tensor<11x3xf32>
    %52 = stablehlo.multiply %51, %46 : tensor<11x3xf32>
    %53 = stablehlo.negate %52 : tensor<11x3xf32>
    %54 = stablehlo.multiply %53, %44 : tensor<11x3xf32>
    %55 = stablehlo.dot_general %54, %29, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<11x3xf32>, tensor<11x8xf32>) -> tensor<3x8xf32>
    %56 = stablehlo.transpose %55, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
    %57 = stablehlo.dot_general %54, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<11x3xf32>, tensor<8x3xf32>) -> tensor<11x8xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %59 = stablehlo.divide %58, %38 : tensor<8xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [1] : (tensor<8xf32>) -> tensor<11x8xf32>
    %61 = stablehlo.multiply %60, %37 : tensor<11x8xf32>
    %62 = stablehlo.add %57, %61 : tensor<11x8xf32>
    %63 = stablehlo.broadcast_in_dim %32, dims = [0, 1] : (tensor<11x1xf32>) -> tensor<11x8xf32>
    %64 = stablehlo.multiply %62, %63 : tensor<11x8xf32>
    %65 = stablehlo.multiply %64, %25 : tensor<11x8xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %66 = stablehlo.reduce(%65 init: %cst_15) applies stablehlo.add across dimensions = [1] : (tensor<11x8xf32>, tensor<f32>) -> tensor<11xf32>
    %67 = stablehlo.reshape %66 : (tensor<11xf32>) -> tensor<11x1xf32>
    %68 = stablehlo.negate %67 : tensor<11x1xf32>
    %69 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<11x1xf32>) -> tensor<11x8xf32>
    %70 = stablehlo.divide %62, %69 : tensor<11x8xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %71 = stablehlo.reduce(%68 init: %cst_16) applies stablehlo.add across dimensions = [1] : (tensor<11x1xf32>, tensor<f32>) -> tensor<11xf32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [0] : (tensor<11xf32>) -> tensor<11x8xf32>
    %73 = stablehlo.add %70, %72 : tensor<11x8xf32>
    %74 = stablehlo.multiply %73, %25 : tensor<11x8xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %75 = stablehlo.reduce(%74 init: %cst_17) applies stablehlo.add across dimensions = [0] : (tensor<11x8xf32>, tensor<f32>) -> tensor<8xf32>
    %76 = stablehlo.reshape %75 : (tensor<8xf32>) -> tensor<1x8xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %77 = stablehlo.reduce(%76 init: %cst_18) applies stablehlo.add across dimensions = [0] : (tensor<1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %78 = stablehlo.multiply %12, %74 : tensor<11x8xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %79 = stablehlo.reduce(%78 init: %cst_19) applies stablehlo.add across dimensions = [0] : (tensor<11x8xf32>, tensor<f32>) -> tensor<8xf32>
    %80 = stablehlo.reshape %79 : (tensor<8xf32>) -> tensor<1x8xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %81 = stablehlo.reduce(%80 init: %cst_20) applies stablehlo.add across dimensions = [0] : (tensor<1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %cst_21 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %83 = stablehlo.multiply %82, %81 : tensor<8xf32>
    %84 = stablehlo.subtract %arg0, %83 : tensor<8xf32>
    %cst_22 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %86 = stablehlo.multiply %85, %77 : tensor<8xf32>
    %87 = stablehlo.subtract %arg1, %86 : tensor<8xf32>
    %cst_23 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
    %89 = stablehlo.multiply %88, %56 : tensor<8x3xf32>
    %90 = stablehlo.subtract %arg2, %89 : tensor<8x3xf32>
    %cst_24 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %92 = stablehlo.multiply %91, %arg3 : tensor<8xf32>
    %cst_25 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %94 = stablehlo.multiply %93, %2 : tensor<8xf32>
    %95 = stablehlo.add %92, %94 : tensor<8xf32>
    %cst_26 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %97 = stablehlo.multiply %96, %arg4 : tensor<8xf32>
    %cst_27 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %99 = stablehlo.multiply %98, %3 : tensor<8xf32>
    %100 = stablehlo.add %97, %99 : tensor<8xf32>
    return %84, %87, %90, %95, %100, %49 : tensor<8xf32>, tensor<8xf32>, tensor<8x3xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>
  }
  func.func private @_var(%arg0: tensor<11x8xf32>, %arg1: tensor<i32>) -> tensor<8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<11x8xf32>, tensor<f32>) -> tensor<8xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %cst_0 = stablehlo.constant dense<1.100000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x8xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x8xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<11x8xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<11x8xf32>
    %6 = chlo.square %5 : tensor<11x8xf32> -> tensor<11x8xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.100000e+01> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<11x8xf32>, tensor<f32>) -> tensor<8xf32>
    %10 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %11 = stablehlo.divide %9, %10 : tensor<8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %13 = call @_where(%12, %11, %cst_4) : (tensor<i1>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    return %13 : tensor<8xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<8xf32>, %arg2: tensor<f32>) -> tensor<8xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}
