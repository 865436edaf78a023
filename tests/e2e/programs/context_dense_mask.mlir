module @jit_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["context"=4]> {stablehlo.mesh = {axes = [{name = "context", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg1: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg2: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg3: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg4: tensor<96x96xi1> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}]>}) -> (tensor<2x96x6x16xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, tensor<2x96x6x16xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, tensor<2x96x6x16xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, tensor<2x96x6x16xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x96xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x6x96x96xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x6x96x96xf32>
    %cst_0 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %3:2 = call @_where(%arg4, %2, %cst_0) : (tensor<96x96xi1>, tensor<2x6x96x96xf32>, tensor<f32>) -> (tensor<2x6x96x96xf32>, tensor<2x6x96x96xi1>)
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%3#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x6x96x96xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x6x96xf32>
    %6 = stablehlo.maximum %5, %4 : tensor<2x6x96xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<2x6x96xf32>) -> tensor<2x6x96x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %9 = stablehlo.subtract %3#0, %8 : tensor<2x6x96x96xf32>
    %10 = stablehlo.exponential %9 : tensor<2x6x96x96xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x6x96x96xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<2x6x96xf32>) -> tensor<2x6x96x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %14 = stablehlo.divide %10, %13 : tensor<2x6x96x96xf32>
    %15 = stablehlo.multiply %12, %12 : tensor<2x6x96x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x6x96x1xf32>
    %17 = stablehlo.divide %16, %15 : tensor<2x6x96x1xf32>
    %18 = stablehlo.dot_general %arg2, %14, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x96x6x16xf32>, tensor<2x6x96x96xf32>) -> tensor<2x6x16x96xf32>
    %19 = stablehlo.transpose %18, dims = [0, 3, 1, 2] : (tensor<2x6x16x96xf32>) -> tensor<2x96x6x16xf32>
    %20 = stablehlo.transpose %arg3, dims = [0, 2, 3, 1] : (tensor<2x96x6x16xf32>) -> tensor<2x6x16x96xf32>
    %21 = stablehlo.dot_general %20, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x6x16x96xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x96xf32>
    %22 = stablehlo.dot_general %20, %14, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x6x16x96xf32>, tensor<2x6x96x96xf32>) -> tensor<2x6x16x96xf32>
    %23 = stablehlo.transpose %22, dims = [0, 3, 1, 2] : (tensor<2x6x16x96xf32>) -> tensor<2x96x6x16xf32>
    %24 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %25 = stablehlo.multiply %21, %24 : tensor<2x6x96x96xf32>
    %26 = stablehlo.multiply %25, %10 : tensor<2x6x96x96xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x6x96x96xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %28 = stablehlo.reshape %27 : (tensor<2x6x96xf32>) -> tensor<2x6x96x1xf32>
    %29 = stablehlo.negate %28 : tensor<2x6x96x1xf32>
    %30 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %31 = stablehlo.divide %21, %30 : tensor<2x6x96x96xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%29 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x6x96x1xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<2x6x96xf32>) -> tensor<2x6x96x96xf32>
    %34 = stablehlo.add %31, %33 : tensor<2x6x96x96xf32>
    %35 = stablehlo.multiply %34, %10 : tensor<2x6x96x96xf32>
    %36 = call @_where_0(%3#1, %35) : (tensor<2x6x96x96xi1>, tensor<2x6x96x96xf32>) -> tensor<2x6x96x96xf32>
    %cst_7 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x6x96x96xf32>
    %38 = stablehlo.divide %36, %37 : tensor<2x6x96x96xf32>
    %39 = stablehlo.dot_general %38, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x96x96xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x16xf32>
    %40 = stablehlo.transpose %39, dims = [0, 2, 1, 3] : (tensor<2x6x96x16xf32>) -> tensor<2x96x6x16xf32>
    %41 = stablehlo.dot_general %38, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x96x96xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x16xf32>
    %42 = stablehlo.transpose %41, dims = [0, 2, 1, 3] : (tensor<2x6x96x16xf32>) -> tensor<2x96x6x16xf32>
    return %19, %42, %40, %23 : tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>
  }
  func.func private @_where(%arg0: tensor<96x96xi1>, %arg1: tensor<2x6x96x96xf32>, %arg2: tensor<f32>) -> (tensor<2x6x96x96xf32>, tensor<2x6x96x96xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<96x96xi1>) -> tensor<2x6x96x96xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x6x96x96xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x6x96x96xi1>, tensor<2x6x96x96xf32>
    return %3, %1 : tensor<2x6x96x96xf32>, tensor<2x6x96x96xi1>
  }
  func.func private @_where_0(%arg0: tensor<2x6x96x96xi1>, %arg1: tensor<2x6x96x96xf32>) -> tensor<2x6x96x96xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x6x96x96xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x6x96x96xi1>, tensor<2x6x96x96xf32>
    return %1 : tensor<2x6x96x96xf32>
  }
}
