module @jit_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["context"=4]> {stablehlo.mesh = {axes = [{name = "context", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg1: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg2: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg3: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg4: tensor<2x96xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}]>}) -> (tensor<2x96x6x16xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, tensor<2x96x6x16xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, tensor<2x96x6x16xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, tensor<2x96x6x16xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x96xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x6x96x96xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x6x96x96xf32>
    %3 = stablehlo.broadcast_in_dim %arg4, dims = [0, 2] : (tensor<2x96xi32>) -> tensor<2x1x96x1xi32>
    %4 = stablehlo.broadcast_in_dim %arg4, dims = [0, 3] : (tensor<2x96xi32>) -> tensor<2x1x1x96xi32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<2x1x96x1xi32>) -> tensor<2x1x96x96xi32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3] : (tensor<2x1x1x96xi32>) -> tensor<2x1x96x96xi32>
    %7 = stablehlo.compare EQ, %5, %6, SIGNED : (tensor<2x1x96x96xi32>, tensor<2x1x96x96xi32>) -> tensor<2x1x96x96xi1>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %8 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<96x96xi1>
    %9 = call @tril(%8) : (tensor<96x96xi1>) -> tensor<96x96xi1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [2, 3] : (tensor<96x96xi1>) -> tensor<1x1x96x96xi1>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<1x1x96x96xi1>) -> tensor<2x1x96x96xi1>
    %12 = stablehlo.and %7, %11 : tensor<2x1x96x96xi1>
    %cst_0 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %13:2 = call @_where(%12, %2, %cst_0) : (tensor<2x1x96x96xi1>, tensor<2x6x96x96xf32>, tensor<f32>) -> (tensor<2x6x96x96xf32>, tensor<2x6x96x96xi1>)
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %14 = stablehlo.reduce(%13#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x6x96x96xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x6x96xf32>
    %16 = stablehlo.maximum %15, %14 : tensor<2x6x96xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<2x6x96xf32>) -> tensor<2x6x96x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %19 = stablehlo.subtract %13#0, %18 : tensor<2x6x96x96xf32>
    %20 = stablehlo.exponential %19 : tensor<2x6x96x96xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x6x96x96xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x6x96xf32>) -> tensor<2x6x96x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %24 = stablehlo.divide %20, %23 : tensor<2x6x96x96xf32>
    %25 = stablehlo.multiply %22, %22 : tensor<2x6x96x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x6x96x1xf32>
    %27 = stablehlo.divide %26, %25 : tensor<2x6x96x1xf32>
    %28 = stablehlo.dot_general %arg2, %24, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x96x6x16xf32>, tensor<2x6x96x96xf32>) -> tensor<2x6x16x96xf32>
    %29 = stablehlo.transpose %28, dims = [0, 3, 1, 2] : (tensor<2x6x16x96xf32>) -> tensor<2x96x6x16xf32>
    %30 = stablehlo.transpose %arg3, dims = [0, 2, 3, 1] : (tensor<2x96x6x16xf32>) -> tensor<2x6x16x96xf32>
    %31 = stablehlo.dot_general %30, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x6x16x96xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x96xf32>
    %32 = stablehlo.dot_general %30, %24, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x6x16x96xf32>, tensor<2x6x96x96xf32>) -> tensor<2x6x16x96xf32>
    %33 = stablehlo.transpose %32, dims = [0, 3, 1, 2] : (tensor<2x6x16x96xf32>) -> tensor<2x96x6x16xf32>
    %34 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %35 = stablehlo.multiply %31, %34 : tensor<2x6x96x96xf32>
    %36 = stablehlo.multiply %35, %20 : tensor<2x6x96x96xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x6x96x96xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %38 = stablehlo.reshape %37 : (tensor<2x6x96xf32>) -> tensor<2x6x96x1xf32>
    %39 = stablehlo.negate %38 : tensor<2x6x96x1xf32>
    %40 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %41 = stablehlo.divide %31, %40 : tensor<2x6x96x96xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%39 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x6x96x1xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2] : (tensor<2x6x96xf32>) -> tensor<2x6x96x96xf32>
    %44 = stablehlo.add %41, %43 : tensor<2x6x96x96xf32>
    %45 = stablehlo.multiply %44, %20 : tensor<2x6x96x96xf32>
    %46 = call @_where_0(%13#1, %45) : (tensor<2x6x96x96xi1>, tensor<2x6x96x96xf32>) -> tensor<2x6x96x96xf32>
    %cst_7 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x6x96x96xf32>
    %48 = stablehlo.divide %46, %47 : tensor<2x6x96x96xf32>
    %49 = stablehlo.dot_general %48, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x96x96xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x16xf32>
    %50 = stablehlo.transpose %49, dims = [0, 2, 1, 3] : (tensor<2x6x96x16xf32>) -> tensor<2x96x6x16xf32>
    %51 = stablehlo.dot_general %48, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x96x96xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x16xf32>
    %52 = stablehlo.transpose %51, dims = [0, 2, 1, 3] : (tensor<2x6x96x16xf32>) -> tensor<2x96x6x16xf32>
    return %29, %52, %50, %33 : tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>
  }
  func.func private @tril(%arg0: tensor<96x96xi1>) -> tensor<96x96xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<96x96xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<96x96xi32>
    %2 = stablehlo.add %0, %1 : tensor<96x96xi32>
    %3 = stablehlo.iota dim = 1 : tensor<96x96xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<96x96xi32>, tensor<96x96xi32>) -> tensor<96x96xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<96x96xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<96x96xi1>, tensor<96x96xi1>
    return %6 : tensor<96x96xi1>
  }
  func.func private @_where(%arg0: tensor<2x1x96x96xi1>, %arg1: tensor<2x6x96x96xf32>, %arg2: tensor<f32>) -> (tensor<2x6x96x96xf32>, tensor<2x6x96x96xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2, 3] : (tensor<2x1x96x96xi1>) -> tensor<2x6x96x96xi1>
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
