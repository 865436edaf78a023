module @jit_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["context"=4]> {stablehlo.mesh = {axes = [{name = "context", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg1: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg2: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg3: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg4: tensor<2x96xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}]>}) -> (tensor<2x96x6x16xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, tensor<2x96x6x16xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, tensor<2x96x6x16xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, tensor<2x96x6x16xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x96xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x6x96x96xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x6x96x96xf32>
    %3 = stablehlo.broadcast_in_dim %arg4, dims = [0, 3] : (tensor<2x96xi32>) -> tensor<2x1x1x96xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x1x1x96xi32>
    %5 = stablehlo.compare GT, %3, %4, SIGNED : (tensor<2x1x1x96xi32>, tensor<2x1x1x96xi32>) -> tensor<2x1x1x96xi1>
    %cst_0 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %6:2 = call @_where(%5, %2, %cst_0) : (tensor<2x1x1x96xi1>, tensor<2x6x96x96xf32>, tensor<f32>) -> (tensor<2x6x96x96xf32>, tensor<2x6x96x96xi1>)
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.reduce(%6#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x6x96x96xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x6x96xf32>
    %9 = stablehlo.maximum %8, %7 : tensor<2x6x96xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x6x96xf32>) -> tensor<2x6x96x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %12 = stablehlo.subtract %6#0, %11 : tensor<2x6x96x96xf32>
    %13 = stablehlo.exponential %12 : tensor<2x6x96x96xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x6x96x96xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<2x6x96xf32>) -> tensor<2x6x96x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %17 = stablehlo.divide %13, %16 : tensor<2x6x96x96xf32>
    %18 = stablehlo.multiply %15, %15 : tensor<2x6x96x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x6x96x1xf32>
    %20 = stablehlo.divide %19, %18 : tensor<2x6x96x1xf32>
    %21 = stablehlo.dot_general %arg2, %17, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x96x6x16xf32>, tensor<2x6x96x96xf32>) -> tensor<2x6x16x96xf32>
    %22 = stablehlo.transpose %21, dims = [0, 3, 1, 2] : (tensor<2x6x16x96xf32>) -> tensor<2x96x6x16xf32>
    %23 = stablehlo.transpose %arg3, dims = [0, 2, 3, 1] : (tensor<2x96x6x16xf32>) -> tensor<2x6x16x96xf32>
    %24 = stablehlo.dot_general %23, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x6x16x96xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x96xf32>
    %25 = stablehlo.dot_general %23, %17, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x6x16x96xf32>, tensor<2x6x96x96xf32>) -> tensor<2x6x16x96xf32>
    %26 = stablehlo.transpose %25, dims = [0, 3, 1, 2] : (tensor<2x6x16x96xf32>) -> tensor<2x96x6x16xf32>
    %27 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %28 = stablehlo.multiply %24, %27 : tensor<2x6x96x96xf32>
    %29 = stablehlo.multiply %28, %13 : tensor<2x6x96x96xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x6x96x96xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %31 = stablehlo.reshape %30 : (tensor<2x6x96xf32>) -> tensor<2x6x96x1xf32>
    %32 = stablehlo.negate %31 : tensor<2x6x96x1xf32>
    %33 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %34 = stablehlo.divide %24, %33 : tensor<2x6x96x96xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%32 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x6x96x1xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2] : (tensor<2x6x96xf32>) -> tensor<2x6x96x96xf32>
    %37 = stablehlo.add %34, %36 : tensor<2x6x96x96xf32>
    %38 = stablehlo.multiply %37, %13 : tensor<2x6x96x96xf32>
    %39 = call @_where_0(%6#1, %38) : (tensor<2x6x96x96xi1>, tensor<2x6x96x96xf32>) -> tensor<2x6x96x96xf32>
    %cst_7 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x6x96x96xf32>
    %41 = stablehlo.divide %39, %40 : tensor<2x6x96x96xf32>
    %42 = stablehlo.dot_general %41, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x96x96xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x16xf32>
    %43 = stablehlo.transpose %42, dims = [0, 2, 1, 3] : (tensor<2x6x96x16xf32>) -> tensor<2x96x6x16xf32>
    %44 = stablehlo.dot_general %41, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x96x96xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x16xf32>
    %45 = stablehlo.transpose %44, dims = [0, 2, 1, 3] : (tensor<2x6x96x16xf32>) -> tensor<2x96x6x16xf32>
    return %22, %45, %43, %26 : tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>
  }
  func.func private @_where(%arg0: tensor<2x1x1x96xi1>, %arg1: tensor<2x6x96x96xf32>, %arg2: tensor<f32>) -> (tensor<2x6x96x96xf32>, tensor<2x6x96x96xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2, 3] : (tensor<2x1x1x96xi1>) -> tensor<2x6x96x96xi1>
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
