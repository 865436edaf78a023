module @jit_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["context"=4]> {stablehlo.mesh = {axes = [{name = "context", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg1: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg2: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, %arg3: tensor<2x96x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}) -> (tensor<2x96x6x16xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, tensor<2x96x6x16xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, tensor<2x96x6x16xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}, tensor<2x96x6x16xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x96xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x6x96x96xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x6x96x96xf32>
    %3 = stablehlo.iota dim = 0 : tensor<6xi32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %5 = stablehlo.add %4, %3 : tensor<6xi32>
    %6 = stablehlo.negate %5 : tensor<6xi32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.convert %6 : (tensor<6xi32>) -> tensor<6xf32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %9 = stablehlo.power %8, %7 : tensor<6xf32>
    %10 = stablehlo.iota dim = 0 : tensor<96xi32>
    %11 = stablehlo.iota dim = 0 : tensor<96xi32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<96xi32>) -> tensor<96x1xi32>
    %13 = stablehlo.broadcast_in_dim %10, dims = [1] : (tensor<96xi32>) -> tensor<1x96xi32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<1x96xi32>) -> tensor<96x96xi32>
    %15 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<96x1xi32>) -> tensor<96x96xi32>
    %16 = stablehlo.subtract %14, %15 : tensor<96x96xi32>
    %17 = stablehlo.convert %16 : (tensor<96x96xi32>) -> tensor<96x96xf32>
    %18 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<6xf32>) -> tensor<6x1x1xf32>
    %19 = stablehlo.broadcast_in_dim %17, dims = [1, 2] : (tensor<96x96xf32>) -> tensor<1x96x96xf32>
    %20 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<6x1x1xf32>) -> tensor<6x96x96xf32>
    %21 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<1x96x96xf32>) -> tensor<6x96x96xf32>
    %22 = stablehlo.multiply %20, %21 : tensor<6x96x96xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [1, 2, 3] : (tensor<6x96x96xf32>) -> tensor<1x6x96x96xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<1x6x96x96xf32>) -> tensor<2x6x96x96xf32>
    %25 = stablehlo.add %2, %24 : tensor<2x6x96x96xf32>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %26 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<96x96xi1>
    %27 = call @tril(%26) : (tensor<96x96xi1>) -> tensor<96x96xi1>
    %cst_2 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %28:2 = call @_where(%27, %25, %cst_2) : (tensor<96x96xi1>, tensor<2x6x96x96xf32>, tensor<f32>) -> (tensor<2x6x96x96xf32>, tensor<2x6x96x96xi1>)
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %29 = stablehlo.reduce(%28#0 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<2x6x96x96xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x6x96xf32>
    %31 = stablehlo.maximum %30, %29 : tensor<2x6x96xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<2x6x96xf32>) -> tensor<2x6x96x1xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %34 = stablehlo.subtract %28#0, %33 : tensor<2x6x96x96xf32>
    %35 = stablehlo.exponential %34 : tensor<2x6x96x96xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x6x96x96xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2] : (tensor<2x6x96xf32>) -> tensor<2x6x96x1xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %39 = stablehlo.divide %35, %38 : tensor<2x6x96x96xf32>
    %40 = stablehlo.multiply %37, %37 : tensor<2x6x96x1xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x6x96x1xf32>
    %42 = stablehlo.divide %41, %40 : tensor<2x6x96x1xf32>
    %43 = stablehlo.dot_general %arg2, %39, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x96x6x16xf32>, tensor<2x6x96x96xf32>) -> tensor<2x6x16x96xf32>
    %44 = stablehlo.transpose %43, dims = [0, 3, 1, 2] : (tensor<2x6x16x96xf32>) -> tensor<2x96x6x16xf32>
    %45 = stablehlo.transpose %arg3, dims = [0, 2, 3, 1] : (tensor<2x96x6x16xf32>) -> tensor<2x6x16x96xf32>
    %46 = stablehlo.dot_general %45, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x6x16x96xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x96xf32>
    %47 = stablehlo.dot_general %45, %39, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x6x16x96xf32>, tensor<2x6x96x96xf32>) -> tensor<2x6x16x96xf32>
    %48 = stablehlo.transpose %47, dims = [0, 3, 1, 2] : (tensor<2x6x16x96xf32>) -> tensor<2x96x6x16xf32>
    %49 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %50 = stablehlo.multiply %46, %49 : tensor<2x6x96x96xf32>
    %51 = stablehlo.multiply %50, %35 : tensor<2x6x96x96xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.reduce(%51 init: %cst_7) applies stablehlo.add across dimensions = [3] : (tensor<2x6x96x96xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %53 = stablehlo.reshape %52 : (tensor<2x6x96xf32>) -> tensor<2x6x96x1xf32>
    %54 = stablehlo.negate %53 : tensor<2x6x96x1xf32>
    %55 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2, 3] : (tensor<2x6x96x1xf32>) -> tensor<2x6x96x96xf32>
    %56 = stablehlo.divide %46, %55 : tensor<2x6x96x96xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.reduce(%54 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<2x6x96x1xf32>, tensor<f32>) -> tensor<2x6x96xf32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0, 1, 2] : (tensor<2x6x96xf32>) -> tensor<2x6x96x96xf32>
    %59 = stablehlo.add %56, %58 : tensor<2x6x96x96xf32>
    %60 = stablehlo.multiply %59, %35 : tensor<2x6x96x96xf32>
    %61 = call @_where_0(%28#1, %60) : (tensor<2x6x96x96xi1>, tensor<2x6x96x96xf32>) -> tensor<2x6x96x96xf32>
    %cst_9 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x6x96x96xf32>
    %63 = stablehlo.divide %61, %62 : tensor<2x6x96x96xf32>
    %64 = stablehlo.dot_general %63, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x96x96xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x16xf32>
    %65 = stablehlo.transpose %64, dims = [0, 2, 1, 3] : (tensor<2x6x96x16xf32>) -> tensor<2x96x6x16xf32>
    %66 = stablehlo.dot_general %63, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x96x96xf32>, tensor<2x96x6x16xf32>) -> tensor<2x6x96x16xf32>
    %67 = stablehlo.transpose %66, dims = [0, 2, 1, 3] : (tensor<2x6x96x16xf32>) -> tensor<2x96x6x16xf32>
    return %44, %67, %65, %48 : tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>, tensor<2x96x6x16xf32>
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
