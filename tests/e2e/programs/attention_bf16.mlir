module @jit_step attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg2: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg3: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg4: tensor<4x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}, %arg5: tensor<4x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<64x32xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<64x64xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<64x64xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<64x32xf32> {jax.result_info = "result[4]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = stablehlo.convert %arg4 : (tensor<4x64x64xf32>) -> tensor<4x64x64xbf16>
    %1 = stablehlo.convert %arg0 : (tensor<64x64xf32>) -> tensor<64x64xbf16>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x64xbf16>, tensor<64x64xbf16>) -> tensor<4x64x64xbf16>
    %3 = stablehlo.reshape %2 : (tensor<4x64x64xbf16>) -> tensor<4x64x4x16xbf16>
    %4 = stablehlo.convert %arg1 : (tensor<64x32xf32>) -> tensor<64x32xbf16>
    %5 = stablehlo.dot_general %0, %4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x64xbf16>, tensor<64x32xbf16>) -> tensor<4x64x32xbf16>
    %6 = stablehlo.reshape %5 : (tensor<4x64x32xbf16>) -> tensor<4x64x2x16xbf16>
    %7 = stablehlo.convert %arg2 : (tensor<64x32xf32>) -> tensor<64x32xbf16>
    %8 = stablehlo.dot_general %0, %7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x64xbf16>, tensor<64x32xbf16>) -> tensor<4x64x32xbf16>
    %9 = stablehlo.reshape %8 : (tensor<4x64x32xbf16>) -> tensor<4x64x2x16xbf16>
    %10 = stablehlo.reshape %3 : (tensor<4x64x4x16xbf16>) -> tensor<4x64x2x2x16xbf16>
    %11 = stablehlo.dot_general %6, %10, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<4x64x2x16xbf16>, tensor<4x64x2x2x16xbf16>) -> tensor<4x2x64x64x2xf32>
    %12 = stablehlo.transpose %11, dims = [0, 1, 4, 3, 2] : (tensor<4x2x64x64x2xf32>) -> tensor<4x2x2x64x64xf32>
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x2x2x64x64xf32>
    %14 = stablehlo.multiply %12, %13 : tensor<4x2x2x64x64xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %15 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<64x64xi1>
    %16 = call @tril(%15) : (tensor<64x64xi1>) -> tensor<64x64xi1>
    %cst_0 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %17:2 = call @_where(%16, %14, %cst_0) : (tensor<64x64xi1>, tensor<4x2x2x64x64xf32>, tensor<f32>) -> (tensor<4x2x2x64x64xf32>, tensor<4x2x2x64x64xi1>)
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.reduce(%17#0 init: %cst_1) applies stablehlo.maximum across dimensions = [4] : (tensor<4x2x2x64x64xf32>, tensor<f32>) -> tensor<4x2x2x64xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x2x2x64xf32>
    %20 = stablehlo.maximum %19, %18 : tensor<4x2x2x64xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<4x2x2x64xf32>) -> tensor<4x2x2x64x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3, 4] : (tensor<4x2x2x64x1xf32>) -> tensor<4x2x2x64x64xf32>
    %23 = stablehlo.subtract %17#0, %22 : tensor<4x2x2x64x64xf32>
    %24 = stablehlo.exponential %23 : tensor<4x2x2x64x64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_3) applies stablehlo.add across dimensions = [4] : (tensor<4x2x2x64x64xf32>, tensor<f32>) -> tensor<4x2x2x64xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3] : (tensor<4x2x2x64xf32>) -> tensor<4x2x2x64x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3, 4] : (tensor<4x2x2x64x1xf32>) -> tensor<4x2x2x64x64xf32>
    %28 = stablehlo.divide %24, %27 : tensor<4x2x2x64x64xf32>
    %29 = stablehlo.multiply %26, %26 : tensor<4x2x2x64x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x2x2x64x1xf32>
    %31 = stablehlo.divide %30, %29 : tensor<4x2x2x64x1xf32>
    %32 = stablehlo.convert %28 : (tensor<4x2x2x64x64xf32>) -> tensor<4x2x2x64x64xbf16>
    %33 = stablehlo.dot_general %9, %32, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<4x64x2x16xbf16>, tensor<4x2x2x64x64xbf16>) -> tensor<4x2x16x2x64xbf16>
    %34 = stablehlo.transpose %33, dims = [0, 4, 1, 3, 2] : (tensor<4x2x16x2x64xbf16>) -> tensor<4x64x2x2x16xbf16>
    %35 = stablehlo.reshape %34 : (tensor<4x64x2x2x16xbf16>) -> tensor<4x64x64xbf16>
    %36 = stablehlo.convert %arg3 : (tensor<64x64xf32>) -> tensor<64x64xbf16>
    %37 = stablehlo.dot_general %35, %36, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x64xbf16>, tensor<64x64xbf16>) -> tensor<4x64x64xbf16>
    %38 = stablehlo.reshape %37 : (tensor<4x64x64xbf16>) -> tensor<4x64x4x16xbf16>
    %39 = stablehlo.reshape %35 : (tensor<4x64x64xbf16>) -> tensor<4x64x4x16xbf16>
    %40 = stablehlo.dot_general %38, %39, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x64x4x16xbf16>, tensor<4x64x4x16xbf16>) -> tensor<4x4x64x64xbf16>
    %cst_5 = stablehlo.constant dense<2.500000e-01> : tensor<bf16>
    %41 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<bf16>) -> tensor<4x4x64x64xbf16>
    %42 = stablehlo.multiply %40, %41 : tensor<4x4x64x64xbf16>
    %43 = stablehlo.convert %arg5 : (tensor<4x64x64xf32>) -> tensor<4x64x64xbf16>
    %44 = stablehlo.broadcast_in_dim %43, dims = [1, 2, 3] : (tensor<4x64x64xbf16>) -> tensor<1x4x64x64xbf16>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2, 3] : (tensor<1x4x64x64xbf16>) -> tensor<4x4x64x64xbf16>
    %46 = stablehlo.add %42, %45 : tensor<4x4x64x64xbf16>
    %47 = stablehlo.convert %46 : (tensor<4x4x64x64xbf16>) -> tensor<4x4x64x64xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %48 = stablehlo.reduce(%47 init: %cst_6) applies stablehlo.maximum across dimensions = [3] : (tensor<4x4x64x64xf32>, tensor<f32>) -> tensor<4x4x64xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x4x64xf32>
    %50 = stablehlo.maximum %49, %48 : tensor<4x4x64xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<4x4x64xf32>) -> tensor<4x4x64x1xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2, 3] : (tensor<4x4x64x1xf32>) -> tensor<4x4x64x64xf32>
    %53 = stablehlo.subtract %47, %52 : tensor<4x4x64x64xf32>
    %54 = stablehlo.exponential %53 : tensor<4x4x64x64xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %55 = stablehlo.reduce(%54 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<4x4x64x64xf32>, tensor<f32>) -> tensor<4x4x64xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2] : (tensor<4x4x64xf32>) -> tensor<4x4x64x1xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2, 3] : (tensor<4x4x64x1xf32>) -> tensor<4x4x64x64xf32>
    %58 = stablehlo.divide %54, %57 : tensor<4x4x64x64xf32>
    %59 = stablehlo.multiply %56, %56 : tensor<4x4x64x1xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x4x64x1xf32>
    %61 = stablehlo.divide %60, %59 : tensor<4x4x64x1xf32>
    %62 = stablehlo.convert %58 : (tensor<4x4x64x64xf32>) -> tensor<4x4x64x64xbf16>
    %63 = stablehlo.dot_general %39, %62, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x64x4x16xbf16>, tensor<4x4x64x64xbf16>) -> tensor<4x4x16x64xbf16>
    %64 = stablehlo.transpose %63, dims = [0, 3, 1, 2] : (tensor<4x4x16x64xbf16>) -> tensor<4x64x4x16xbf16>
    %65 = stablehlo.reshape %64 : (tensor<4x64x4x16xbf16>) -> tensor<4x64x64xbf16>
    %66 = stablehlo.convert %65 : (tensor<4x64x64xbf16>) -> tensor<4x64x64xf32>
    %67 = stablehlo.multiply %66, %66 : tensor<4x64x64xf32>
    %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x64x64xf32>
    %69 = stablehlo.multiply %68, %66 : tensor<4x64x64xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %70 = stablehlo.reduce(%67 init: %cst_11) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x64x64xf32>, tensor<f32>) -> tensor<f32>
    %cst_12 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %71 = stablehlo.divide %70, %cst_12 : tensor<f32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_14 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %72 = stablehlo.divide %cst_13, %cst_14 : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [] : (tensor<f32>) -> tensor<4x64x64xf32>
    %74 = stablehlo.multiply %73, %69 : tensor<4x64x64xf32>
    %75 = stablehlo.convert %74 : (tensor<4x64x64xf32>) -> tensor<4x64x64xbf16>
    %76 = stablehlo.reshape %75 : (tensor<4x64x64xbf16>) -> tensor<4x64x4x16xbf16>
    %77 = stablehlo.transpose %76, dims = [0, 2, 3, 1] : (tensor<4x64x4x16xbf16>) -> tensor<4x4x16x64xbf16>
    %78 = stablehlo.dot_general %77, %39, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x4x16x64xbf16>, tensor<4x64x4x16xbf16>) -> tensor<4x4x64x64xbf16>
    %79 = stablehlo.dot_general %77, %62, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x4x16x64xbf16>, tensor<4x4x64x64xbf16>) -> tensor<4x4x16x64xbf16>
    %80 = stablehlo.transpose %79, dims = [0, 3, 1, 2] : (tensor<4x4x16x64xbf16>) -> tensor<4x64x4x16xbf16>
    %81 = stablehlo.convert %78 : (tensor<4x4x64x64xbf16>) -> tensor<4x4x64x64xf32>
    %82 = stablehlo.broadcast_in_dim %61, dims = [0, 1, 2, 3] : (tensor<4x4x64x1xf32>) -> tensor<4x4x64x64xf32>
    %83 = stablehlo.multiply %81, %82 : tensor<4x4x64x64xf32>
    %84 = stablehlo.multiply %83, %54 : tensor<4x4x64x64xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %85 = stablehlo.reduce(%84 init: %cst_15) applies stablehlo.add across dimensions = [3] : (tensor<4x4x64x64xf32>, tensor<f32>) -> tensor<4x4x64xf32>
    %86 = stablehlo.reshape %85 : (tensor<4x4x64xf32>) -> tensor<4x4x64x1xf32>
    %87 = stablehlo.negate %86 : tensor<4x4x64x1xf32>
    %88 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2, 3] : (tensor<4x4x64x1xf32>) -> tensor<4x4x64x64xf32>
    %89 = stablehlo.divide %81, %88 : tensor<4x4x64x64xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %90 = stablehlo.reduce(%87 init: %cst_16) applies stablehlo.add across dimensions = [3] : (tensor<4x4x64x1xf32>, tensor<f32>) -> tensor<4x4x64xf32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0, 1, 2] : (tensor<4x4x64xf32>) -> tensor<4x4x64x64xf32>
    %92 = stablehlo.add %89, %91 : tensor<4x4x64x64xf32>
    %93 = stablehlo.multiply %92, %54 : tensor<4x4x64x64xf32>
    %94 = stablehlo.convert %93 : (tensor<4x4x64x64xf32>) -> tensor<4x4x64x64xbf16>
    %cst_17 = stablehlo.constant dense<2.500000e-01> : tensor<bf16>
    %95 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<bf16>) -> tensor<4x4x64x64xbf16>
    %96 = stablehlo.multiply %94, %95 : tensor<4x4x64x64xbf16>
    %97 = stablehlo.dot_general %96, %38, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x4x64x64xbf16>, tensor<4x64x4x16xbf16>) -> tensor<4x4x64x16xbf16>
    %98 = stablehlo.transpose %97, dims = [0, 2, 1, 3] : (tensor<4x4x64x16xbf16>) -> tensor<4x64x4x16xbf16>
    %99 = stablehlo.add %80, %98 : tensor<4x64x4x16xbf16>
    %100 = stablehlo.dot_general %96, %39, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x4x64x64xbf16>, tensor<4x64x4x16xbf16>) -> tensor<4x4x64x16xbf16>
    %101 = stablehlo.transpose %100, dims = [0, 2, 1, 3] : (tensor<4x4x64x16xbf16>) -> tensor<4x64x4x16xbf16>
    %102 = stablehlo.reshape %99 : (tensor<4x64x4x16xbf16>) -> tensor<4x64x64xbf16>
    %103 = stablehlo.reshape %101 : (tensor<4x64x4x16xbf16>) -> tensor<4x64x64xbf16>
    %104 = stablehlo.dot_general %103, %35, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x64xbf16>, tensor<4x64x64xbf16>) -> tensor<64x64xbf16>
    %105 = stablehlo.transpose %104, dims = [1, 0] : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
    %106 = stablehlo.dot_general %103, %36, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x64xbf16>, tensor<64x64xbf16>) -> tensor<4x64x64xbf16>
    %107 = stablehlo.add %102, %106 : tensor<4x64x64xbf16>
    %108 = stablehlo.convert %105 : (tensor<64x64xbf16>) -> tensor<64x64xf32>
    %109 = stablehlo.reshape %107 : (tensor<4x64x64xbf16>) -> tensor<4x64x2x2x16xbf16>
    %110 = stablehlo.transpose %109, dims = [0, 2, 4, 3, 1] : (tensor<4x64x2x2x16xbf16>) -> tensor<4x2x16x2x64xbf16>
    %111 = stablehlo.dot_general %110, %9, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x2x64xbf16>, tensor<4x64x2x16xbf16>) -> tensor<4x2x2x64x64xbf16>
    %112 = stablehlo.dot_general %110, %32, batching_dims = [0, 1] x [0, 1], contracting_dims = [3, 4] x [2, 3], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16x2x64xbf16>, tensor<4x2x2x64x64xbf16>) -> tensor<4x2x16x64xbf16>
    %113 = stablehlo.transpose %112, dims = [0, 3, 1, 2] : (tensor<4x2x16x64xbf16>) -> tensor<4x64x2x16xbf16>
    %114 = stablehlo.convert %111 : (tensor<4x2x2x64x64xbf16>) -> tensor<4x2x2x64x64xf32>
    %115 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3, 4] : (tensor<4x2x2x64x1xf32>) -> tensor<4x2x2x64x64xf32>
    %116 = stablehlo.multiply %114, %115 : tensor<4x2x2x64x64xf32>
    %117 = stablehlo.multiply %116, %24 : tensor<4x2x2x64x64xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %118 = stablehlo.reduce(%117 init: %cst_18) applies stablehlo.add across dimensions = [4] : (tensor<4x2x2x64x64xf32>, tensor<f32>) -> tensor<4x2x2x64xf32>
    %119 = stablehlo.reshape %118 : (tensor<4x2x2x64xf32>) -> tensor<4x2x2x64x1xf32>
    %120 = stablehlo.negate %119 : tensor<4x2x2x64x1xf32>
    %121 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3, 4] : (tensor<4x2x2x64x1xf32>) -> tensor<4x2x2x64x64xf32>
    %122 = stablehlo.divide %114, %121 : tensor<4x2x2x64x64xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %123 = stablehlo.reduce(%120 init: %cst_19) applies stablehlo.add across dimensions = [4] : (tensor<4x2x2x64x1xf32>, tensor<f32>) -> tensor<4x2x2x64xf32>
    %124 = stablehlo.broadcast_in_dim %123, dims = [0, 1, 2, 3] : (tensor<4x2x2x64xf32>) -> tensor<4x2x2x64x64xf32>
    %125 = stablehlo.add %122, %124 : tensor<4x2x2x64x64xf32>
    %126 = stablehlo.multiply %125, %24 : tensor<4x2x2x64x64xf32>
    %127 = call @_where_0(%17#1, %126) : (tensor<4x2x2x64x64xi1>, tensor<4x2x2x64x64xf32>) -> tensor<4x2x2x64x64xf32>
    %cst_20 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %128 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4x2x2x64x64xf32>
    %129 = stablehlo.multiply %127, %128 : tensor<4x2x2x64x64xf32>
    %130 = stablehlo.transpose %129, dims = [0, 1, 4, 3, 2] : (tensor<4x2x2x64x64xf32>) -> tensor<4x2x64x64x2xf32>
    %131 = stablehlo.convert %130 : tensor<4x2x64x64x2xf32>
    %132 = stablehlo.convert %6 : (tensor<4x64x2x16xbf16>) -> tensor<4x64x2x16xf32>
    %133 = stablehlo.dot_general %131, %132, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x2x64x64x2xf32>, tensor<4x64x2x16xf32>) -> tensor<4x2x64x2x16xf32>
    %134 = stablehlo.transpose %133, dims = [0, 2, 1, 3, 4] : (tensor<4x2x64x2x16xf32>) -> tensor<4x64x2x2x16xf32>
    %135 = stablehlo.convert %134 : (tensor<4x64x2x2x16xf32>) -> tensor<4x64x2x2x16xbf16>
    %136 = stablehlo.convert %130 : tensor<4x2x64x64x2xf32>
    %137 = stablehlo.convert %10 : (tensor<4x64x2x2x16xbf16>) -> tensor<4x64x2x2x16xf32>
    %138 = stablehlo.dot_general %136, %137, batching_dims = [0, 1] x [0, 2], contracting_dims = [3, 4] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<4x2x64x64x2xf32>, tensor<4x64x2x2x16xf32>) -> tensor<4x2x64x16xf32>
    %139 = stablehlo.transpose %138, dims = [0, 2, 1, 3] : (tensor<4x2x64x16xf32>) -> tensor<4x64x2x16xf32>
    %140 = stablehlo.convert %139 : (tensor<4x64x2x16xf32>) -> tensor<4x64x2x16xbf16>
    %141 = stablehlo.reshape %135 : (tensor<4x64x2x2x16xbf16>) -> tensor<4x64x4x16xbf16>
    %142 = stablehlo.reshape %113 : (tensor<4x64x2x16xbf16>) -> tensor<4x64x32xbf16>
    %143 = stablehlo.dot_general %142, %0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x32xbf16>, tensor<4x64x64xbf16>) -> tensor<32x64xbf16>
    %144 = stablehlo.transpose %143, dims = [1, 0] : (tensor<32x64xbf16>) -> tensor<64x32xbf16>
    %145 = stablehlo.convert %144 : (tensor<64x32xbf16>) -> tensor<64x32xf32>
    %146 = stablehlo.reshape %140 : (tensor<4x64x2x16xbf16>) -> tensor<4x64x32xbf16>
    %147 = stablehlo.dot_general %146, %0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x32xbf16>, tensor<4x64x64xbf16>) -> tensor<32x64xbf16>
    %148 = stablehlo.transpose %147, dims = [1, 0] : (tensor<32x64xbf16>) -> tensor<64x32xbf16>
    %149 = stablehlo.convert %148 : (tensor<64x32xbf16>) -> tensor<64x32xf32>
    %150 = stablehlo.reshape %141 : (tensor<4x64x4x16xbf16>) -> tensor<4x64x64xbf16>
    %151 = stablehlo.dot_general %150, %0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x64xbf16>, tensor<4x64x64xbf16>) -> tensor<64x64xbf16>
    %152 = stablehlo.transpose %151, dims = [1, 0] : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
    %153 = stablehlo.convert %152 : (tensor<64x64xbf16>) -> tensor<64x64xf32>
    return %71, %149, %153, %108, %145 : tensor<f32>, tensor<64x32xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x32xf32>
  }
  func.func private @tril(%arg0: tensor<64x64xi1>) -> tensor<64x64xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<64x64xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64x64xi32>
    %2 = stablehlo.add %0, %1 : tensor<64x64xi32>
    %3 = stablehlo.iota dim = 1 : tensor<64x64xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<64x64xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<64x64xi1>, tensor<64x64xi1>
    return %6 : tensor<64x64xi1>
  }
  func.func private @_where(%arg0: tensor<64x64xi1>, %arg1: tensor<4x2x2x64x64xf32>, %arg2: tensor<f32>) -> (tensor<4x2x2x64x64xf32>, tensor<4x2x2x64x64xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [3, 4] : (tensor<64x64xi1>) -> tensor<4x2x2x64x64xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x2x2x64x64xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<4x2x2x64x64xi1>, tensor<4x2x2x64x64xf32>
    return %3, %1 : tensor<4x2x2x64x64xf32>, tensor<4x2x2x64x64xi1>
  }
  func.func private @_where_0(%arg0: tensor<4x2x2x64x64xi1>, %arg1: tensor<4x2x2x64x64xf32>) -> tensor<4x2x2x64x64xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x2x2x64x64xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<4x2x2x64x64xi1>, tensor<4x2x2x64x64xf32>
    return %1 : tensor<4x2x2x64x64xf32>
  }
}
