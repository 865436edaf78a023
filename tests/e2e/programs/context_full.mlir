module @jit_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["context"=4]> {stablehlo.mesh = {axes = [{name = "context", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg1: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg2: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg3: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}) -> (tensor<2x96x6x16xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, tensor<2x96x6x16xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, tensor<2x96x6x16xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, tensor<2x96x6x16xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x96xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x6x96x96xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x6x96x96xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x6x96x96xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x6x96xf32>
    %5 = stablehlo.maximum %4, %3 : tensor<2x6x96xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<2x6x96xf32>) -> tensor<2x6x96x1xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %8 = stablehlo.subtract %2, %7 : tensor<2x6x96x96xf32>
    %9 = stablehlo.exponential %8 : tensor<2x6x96x96xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x6x96x96xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x6x96xf32>) -> tensor<2x6x96x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %13 = stablehlo.divide %9, %12 : tensor<2x6x96x96xf32>
    %14 = stablehlo.multiply %11, %11 : tensor<2x6x96x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x6x96x1xf32>
    %16 = stablehlo.divide %15, %14 : tensor<2x6x96x1xf32>
    %17 = stablehlo.dot_general %arg2, %13, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x96x6x16xf32>, tensor<2x6x96x96xf32>) -> tensor<2x6x16x96xf32>
    %18 = stablehlo.transpose %17, dims = [0, 3, 1, 2] : (tensor<2x6x16x96xf32>) -> tensor<2x96x6x16xf32>
    %19 = stablehlo.transpose %arg3, dims = [0, 2, 3, 1] : (tensor<2x96x6x16xf32>) -> tensor<2x6x16x96xf32>
    %20 = stablehlo.dot_general %19, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x6x16x96xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x96xf32>
    %21 = stablehlo.dot_general %19, %13, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x6x16x96xf32>, tensor<2x6x96x96xf32>) -> tensor<2x6x16x96xf32>
    %22 = stablehlo.transpose %21, dims = [0, 3, 1, 2] : (tensor<2x6x16x96xf32>) -> tensor<2x96x6x16xf32>
    %23 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %24 = stablehlo.multiply %20, %23 : tensor<2x6x96x96xf32>
    %25 = stablehlo.multiply %24, %9 : tensor<2x6x96x96xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<2x6x96x96xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %27 = stablehlo.reshape %26 : (tensor<2x6x96xf32>) -> tensor<2x6x96x1xf32>
    %28 = stablehlo.negate %27 : tensor<2x6x96x1xf32>
    %29 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %30 = stablehlo.divide %20, %29 : tensor<2x6x96x96xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%28 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x6x96x1xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<2x6x96xf32>) -> tensor<2x6x96x96xf32>
    %33 = stablehlo.add %30, %32 : tensor<2x6x96x96xf32>
    %34 = stablehlo.multiply %33, %9 : tensor<2x6x96x96xf32>
    %cst_6 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x6x96x96xf32>
    %36 = stablehlo.divide %34, %35 : tensor<2x6x96x96xf32>
    %37 = stablehlo.dot_general %36, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x96x96xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x16xf32>
    %38 = stablehlo.transpose %37, dims = [0, 2, 1, 3] : (tensor<2x6x96x16xf32>) -> tensor<2x96x6x16xf32>
    %39 = stablehlo.dot_general %36, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x96x96xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x16xf32>
    %40 = stablehlo.transpose %39, dims = [0, 2, 1, 3] : (tensor<2x6x96x16xf32>) -> tensor<2x96x6x16xf32>
    return %18, %40, %38, %22 : tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>
  }
}
