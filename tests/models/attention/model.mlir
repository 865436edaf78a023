module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x197x2x16xf32>, %arg1: tensor<2x197x2x16xf32>, %arg2: tensor<2x197x2x16xf32>, %arg3: tensor<2x192xi1>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<2x197x2x16xf32> {jax.result_info = "result[1]"}, tensor<2x197x2x16xf32> {jax.result_info = "result[2]"}, tensor<2x61x2x16xf32> {jax.result_info = "result[3]"}, tensor<2x197x2x16xf32> {jax.result_info = "result[4]"}, tensor<2x197x2x16xf32> {jax.result_info = "result[5]"}, tensor<2x197x2x16xf32> {jax.result_info = "result[6]"}) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<197x197xi1>
    %1 = call @tril(%0) : (tensor<197x197xi1>) -> tensor<197x197xi1>
    %2 = stablehlo.broadcast_in_dim %1, dims = [2, 3] : (tensor<197x197xi1>) -> tensor<1x1x197x197xi1>
    %3 = stablehlo.broadcast_in_dim %arg3, dims = [0, 3] : (tensor<2x192xi1>) -> tensor<2x1x1x192xi1>
    %4 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x197x2x16xf32>, tensor<2x197x2x16xf32>) -> tensor<2x2x197x197xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x197x197xf32>
    %6 = stablehlo.divide %4, %5 : tensor<2x2x197x197xf32>
    %cst_0 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %7:2 = call @_where(%2, %6, %cst_0) : (tensor<1x1x197x197xi1>, tensor<2x2x197x197xf32>, tensor<f32>) -> (tensor<2x2x197x197xf32>, tensor<2x2x197x197xi1>)
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.reduce(%7#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x197x197xf32>, tensor<f32>) -> tensor<2x2x197xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2x197xf32>
    %10 = stablehlo.maximum %9, %8 : tensor<2x2x197xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x2x197xf32>) -> tensor<2x2x197x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x2x197x1xf32>) -> tensor<2x2x197x197xf32>
    %13 = stablehlo.subtract %7#0, %12 : tensor<2x2x197x197xf32>
    %14 = stablehlo.exponential %13 : tensor<2x2x197x197xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x2x197x197xf32>, tensor<f32>) -> tensor<2x2x197xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<2x2x197xf32>) -> tensor<2x2x197x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<2x2x197x1xf32>) -> tensor<2x2x197x197xf32>
    %18 = stablehlo.divide %14, %17 : tensor<2x2x197x197xf32>
    %19 = stablehlo.multiply %16, %16 : tensor<2x2x197x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x2x197x1xf32>
    %21 = stablehlo.divide %20, %19 : tensor<2x2x197x1xf32>
    %22 = stablehlo.dot_general %arg2, %18, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x197x2x16xf32>, tensor<2x2x197x197xf32>) -> tensor<2x2x16x197xf32>
    %23 = stablehlo.transpose %22, dims = [0, 3, 1, 2] : (tensor<2x2x16x197xf32>) -> tensor<2x197x2x16xf32>
    %24 = stablehlo.slice %arg1 [0:2, 0:192, 0:2, 0:16] : (tensor<2x197x2x16xf32>) -> tensor<2x192x2x16xf32>
    %25 = stablehlo.slice %arg2 [0:2, 0:192, 0:2, 0:16] : (tensor<2x197x2x16xf32>) -> tensor<2x192x2x16xf32>
    %26 = stablehlo.dot_general %23, %24, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x197x2x16xf32>, tensor<2x192x2x16xf32>) -> tensor<2x2x197x192xf32>
    %cst_5 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x2x197x192xf32>
    %28 = stablehlo.divide %26, %27 : tensor<2x2x197x192xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %29:2 = call @_where_0(%3, %28, %cst_6) : (tensor<2x1x1x192xi1>, tensor<2x2x197x192xf32>, tensor<f32>) -> (tensor<2x2x197x192xf32>, tensor<2x2x197x192xi1>)
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %30 = stablehlo.reduce(%29#0 init: %cst_7) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x197x192xf32>, tensor<f32>) -> tensor<2x2x197xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x2x197xf32>
    %32 = stablehlo.maximum %31, %30 : tensor<2x2x197xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<2x2x197xf32>) -> tensor<2x2x197x1xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2, 3] : (tensor<2x2x197x1xf32>) -> tensor<2x2x197x192xf32>
    %35 = stablehlo.subtract %29#0, %34 : tensor<2x2x197x192xf32>
    %36 = stablehlo.exponential %35 : tensor<2x2x197x192xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<2x2x197x192xf32>, tensor<f32>) -> tensor<2x2x197xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2] : (tensor<2x2x197xf32>) -> tensor<2x2x197x1xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2, 3] : (tensor<2x2x197x1xf32>) -> tensor<2x2x197x192xf32>
    %40 = stablehlo.divide %36, %39 : tensor<2x2x197x192xf32>
    %41 = stablehlo.multiply %38, %38 : tensor<2x2x197x1xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x2x197x1xf32>
    %43 = stablehlo.divide %42, %41 : tensor<2x2x197x1xf32>
    %44 = stablehlo.dot_general %25, %40, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x192x2x16xf32>, tensor<2x2x197x192xf32>) -> tensor<2x2x16x197xf32>
    %45 = stablehlo.transpose %44, dims = [0, 3, 1, 2] : (tensor<2x2x16x197xf32>) -> tensor<2x197x2x16xf32>
    %46 = stablehlo.slice %45 [0:2, 0:61, 0:2, 0:16] : (tensor<2x197x2x16xf32>) -> tensor<2x61x2x16xf32>
    %47 = stablehlo.dot_general %46, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x61x2x16xf32>, tensor<2x197x2x16xf32>) -> tensor<2x2x61x197xf32>
    %cst_11 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x2x61x197xf32>
    %49 = stablehlo.divide %47, %48 : tensor<2x2x61x197xf32>
    %cst_12 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %50 = stablehlo.reduce(%49 init: %cst_12) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x61x197xf32>, tensor<f32>) -> tensor<2x2x61xf32>
    %cst_13 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x2x61xf32>
    %52 = stablehlo.maximum %51, %50 : tensor<2x2x61xf32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2] : (tensor<2x2x61xf32>) -> tensor<2x2x61x1xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2, 3] : (tensor<2x2x61x1xf32>) -> tensor<2x2x61x197xf32>
    %55 = stablehlo.subtract %49, %54 : tensor<2x2x61x197xf32>
    %56 = stablehlo.exponential %55 : tensor<2x2x61x197xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.reduce(%56 init: %cst_14) applies stablehlo.add across dimensions = [3] : (tensor<2x2x61x197xf32>, tensor<f32>) -> tensor<2x2x61xf32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0, 1, 2] : (tensor<2x2x61xf32>) -> tensor<2x2x61x1xf32>
    %59 = stablehlo.broadcast_in_dim %58, dims = [0, 1, 2, 3] : (tensor<2x2x61x1xf32>) -> tensor<2x2x61x197xf32>
    %60 = stablehlo.divide %56, %59 : tensor<2x2x61x197xf32>
    %61 = stablehlo.multiply %58, %58 : tensor<2x2x61x1xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<2x2x61x1xf32>
    %63 = stablehlo.divide %62, %61 : tensor<2x2x61x1xf32>
    %64 = stablehlo.dot_general %arg2, %60, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x197x2x16xf32>, tensor<2x2x61x197xf32>) -> tensor<2x2x16x61xf32>
    %65 = stablehlo.transpose %64, dims = [0, 3, 1, 2] : (tensor<2x2x16x61xf32>) -> tensor<2x61x2x16xf32>
    %66 = stablehlo.multiply %23, %23 : tensor<2x197x2x16xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.reduce(%66 init: %cst_16) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x197x2x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.reduce(%65 init: %cst_17) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x61x2x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_18 = stablehlo.constant dense<3.904000e+03> : tensor<f32>
    %69 = stablehlo.divide %68, %cst_18 : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [] : (tensor<f32>) -> tensor<2x197x2x16xf32>
    %71 = stablehlo.multiply %45, %70 : tensor<2x197x2x16xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.reduce(%71 init: %cst_19) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x197x2x16xf32>, tensor<f32>) -> tensor<f32>
    %73 = stablehlo.add %67, %72 : tensor<f32>
    %74 = stablehlo.multiply %65, %65 : tensor<2x61x2x16xf32>
    %75 = stablehlo.multiply %74, %65 : tensor<2x61x2x16xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %76 = stablehlo.reduce(%75 init: %cst_20) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x61x2x16xf32>, tensor<f32>) -> tensor<f32>
    %77 = stablehlo.add %73, %76 : tensor<f32>
    %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<2x61x2x16xf32>
    %79 = stablehlo.multiply %74, %78 : tensor<2x61x2x16xf32>
    %80 = stablehlo.multiply %78, %65 : tensor<2x61x2x16xf32>
    %81 = stablehlo.multiply %65, %80 : tensor<2x61x2x16xf32>
    %82 = stablehlo.add %79, %81 : tensor<2x61x2x16xf32>
    %83 = stablehlo.multiply %80, %65 : tensor<2x61x2x16xf32>
    %84 = stablehlo.add %82, %83 : tensor<2x61x2x16xf32>
    %cst_22 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<2x197x2x16xf32>
    %86 = stablehlo.multiply %45, %85 : tensor<2x197x2x16xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %87 = stablehlo.reduce(%86 init: %cst_23) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x197x2x16xf32>, tensor<f32>) -> tensor<f32>
    %88 = stablehlo.broadcast_in_dim %69, dims = [] : (tensor<f32>) -> tensor<2x197x2x16xf32>
    %89 = stablehlo.multiply %85, %88 : tensor<2x197x2x16xf32>
    %cst_24 = stablehlo.constant dense<3.904000e+03> : tensor<f32>
    %90 = stablehlo.divide %87, %cst_24 : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [] : (tensor<f32>) -> tensor<2x61x2x16xf32>
    %92 = stablehlo.add %84, %91 : tensor<2x61x2x16xf32>
    %cst_25 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<2x197x2x16xf32>
    %94 = stablehlo.multiply %23, %93 : tensor<2x197x2x16xf32>
    %95 = stablehlo.multiply %93, %23 : tensor<2x197x2x16xf32>
    %96 = stablehlo.add %94, %95 : tensor<2x197x2x16xf32>
    %97 = stablehlo.transpose %92, dims = [0, 2, 3, 1] : (tensor<2x61x2x16xf32>) -> tensor<2x2x16x61xf32>
    %98 = stablehlo.dot_general %97, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x16x61xf32>, tensor<2x197x2x16xf32>) -> tensor<2x2x61x197xf32>
    %99 = stablehlo.dot_general %97, %60, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x2x16x61xf32>, tensor<2x2x61x197xf32>) -> tensor<2x2x16x197xf32>
    %100 = stablehlo.transpose %99, dims = [0, 3, 1, 2] : (tensor<2x2x16x197xf32>) -> tensor<2x197x2x16xf32>
    %101 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2, 3] : (tensor<2x2x61x1xf32>) -> tensor<2x2x61x197xf32>
    %102 = stablehlo.multiply %98, %101 : tensor<2x2x61x197xf32>
    %103 = stablehlo.multiply %102, %56 : tensor<2x2x61x197xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %104 = stablehlo.reduce(%103 init: %cst_26) applies stablehlo.add across dimensions = [3] : (tensor<2x2x61x197xf32>, tensor<f32>) -> tensor<2x2x61xf32>
    %105 = stablehlo.reshape %104 : (tensor<2x2x61xf32>) -> tensor<2x2x61x1xf32>
    %106 = stablehlo.negate %105 : tensor<2x2x61x1xf32>
    %107 = stablehlo.broadcast_in_dim %58, dims = [0, 1, 2, 3] : (tensor<2x2x61x1xf32>) -> tensor<2x2x61x197xf32>
    %108 = stablehlo.divide %98, %107 : tensor<2x2x61x197xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %109 = stablehlo.reduce(%106 init: %cst_27) applies stablehlo.add across dimensions = [3] : (tensor<2x2x61x1xf32>, tensor<f32>) -> tensor<2x2x61xf32>
    %110 = stablehlo.broadcast_in_dim %109, dims = [0, 1, 2] : (tensor<2x2x61xf32>) -> tensor<2x2x61x197xf32>
    %111 = stablehlo.add %108, %110 : tensor<2x2x61x197xf32>
    %112 = stablehlo.multiply %111, %56 : tensor<2x2x61x197xf32>
    %cst_28 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<2x2x61x197xf32>
    %114 = stablehlo.divide %112, %113 : tensor<2x2x61x197xf32>
    %115 = stablehlo.dot_general %114, %46, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x61x197xf32>, tensor<2x61x2x16xf32>) -> tensor<2x2x197x16xf32>
    %116 = stablehlo.transpose %115, dims = [0, 2, 1, 3] : (tensor<2x2x197x16xf32>) -> tensor<2x197x2x16xf32>
    %117 = stablehlo.dot_general %114, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x61x197xf32>, tensor<2x197x2x16xf32>) -> tensor<2x2x61x16xf32>
    %118 = stablehlo.transpose %117, dims = [0, 2, 1, 3] : (tensor<2x2x61x16xf32>) -> tensor<2x61x2x16xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %119 = stablehlo.pad %118, %cst_29, low = [0, 0, 0, 0], high = [0, 136, 0, 0], interior = [0, 0, 0, 0] : (tensor<2x61x2x16xf32>, tensor<f32>) -> tensor<2x197x2x16xf32>
    %120 = stablehlo.add %89, %119 : tensor<2x197x2x16xf32>
    %121 = stablehlo.transpose %120, dims = [0, 2, 3, 1] : (tensor<2x197x2x16xf32>) -> tensor<2x2x16x197xf32>
    %122 = stablehlo.dot_general %121, %25, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x16x197xf32>, tensor<2x192x2x16xf32>) -> tensor<2x2x197x192xf32>
    %123 = stablehlo.dot_general %121, %40, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x2x16x197xf32>, tensor<2x2x197x192xf32>) -> tensor<2x2x16x192xf32>
    %124 = stablehlo.transpose %123, dims = [0, 3, 1, 2] : (tensor<2x2x16x192xf32>) -> tensor<2x192x2x16xf32>
    %125 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2, 3] : (tensor<2x2x197x1xf32>) -> tensor<2x2x197x192xf32>
    %126 = stablehlo.multiply %122, %125 : tensor<2x2x197x192xf32>
    %127 = stablehlo.multiply %126, %36 : tensor<2x2x197x192xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %128 = stablehlo.reduce(%127 init: %cst_30) applies stablehlo.add across dimensions = [3] : (tensor<2x2x197x192xf32>, tensor<f32>) -> tensor<2x2x197xf32>
    %129 = stablehlo.reshape %128 : (tensor<2x2x197xf32>) -> tensor<2x2x197x1xf32>
    %130 = stablehlo.negate %129 : tensor<2x2x197x1xf32>
    %131 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2, 3] : (tensor<2x2x197x1xf32>) -> tensor<2x2x197x192xf32>
    %132 = stablehlo.divide %122, %131 : tensor<2x2x197x192xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %133 = stablehlo.reduce(%130 init: %cst_31) applies stablehlo.add across dimensions = [3] : (tensor<2x2x197x1xf32>, tensor<f32>) -> tensor<2x2x197xf32>
    %134 = stablehlo.broadcast_in_dim %133, dims = [0, 1, 2] : (tensor<2x2x197xf32>) -> tensor<2x2x197x192xf32>
    %135 = stablehlo.add %132, %134 : tensor<2x2x197x192xf32>
    %136 = stablehlo.multiply %135, %36 : tensor<2x2x197x192xf32>
    %137 = call @_where_1(%29#1, %136) : (tensor<2x2x197x192xi1>, tensor<2x2x197x192xf32>) -> tensor<2x2x197x192xf32>
    %cst_32 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<2x2x197x192xf32>
    %139 = stablehlo.divide %137, %138 : tensor<2x2x197x192xf32>
    %140 = stablehlo.dot_general %139, %23, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x197x192xf32>, tensor<2x197x2x16xf32>) -> tensor<2x2x192x16xf32>
    %141 = stablehlo.transpose %140, dims = [0, 2, 1, 3] : (tensor<2x2x192x16xf32>) -> tensor<2x192x2x16xf32>
    %142 = stablehlo.dot_general %139, %24, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x197x192xf32>, tensor<2x192x2x16xf32>) -> tensor<2x2x197x16xf32>
    %143 = stablehlo.transpose %142, dims = [0, 2, 1, 3] : (tensor<2x2x197x16xf32>) -> tensor<2x197x2x16xf32>
    %144 = stablehlo.add %96, %143 : tensor<2x197x2x16xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %145 = stablehlo.pad %124, %cst_33, low = [0, 0, 0, 0], high = [0, 5, 0, 0], interior = [0, 0, 0, 0] : (tensor<2x192x2x16xf32>, tensor<f32>) -> tensor<2x197x2x16xf32>
    %146 = stablehlo.add %100, %145 : tensor<2x197x2x16xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %147 = stablehlo.pad %141, %cst_34, low = [0, 0, 0, 0], high = [0, 5, 0, 0], interior = [0, 0, 0, 0] : (tensor<2x192x2x16xf32>, tensor<f32>) -> tensor<2x197x2x16xf32>
    %148 = stablehlo.add %116, %147 : tensor<2x197x2x16xf32>
    %149 = stablehlo.transpose %144, dims = [0, 2, 3, 1] : (tensor<2x197x2x16xf32>) -> tensor<2x2x16x197xf32>
    %150 = stablehlo.dot_general %149, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x16x197xf32>, tensor<2x197x2x16xf32>) -> tensor<2x2x197x197xf32>
    %151 = stablehlo.dot_general %149, %18, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x2x16x197xf32>, tensor<2x2x197x197xf32>) -> tensor<2x2x16x197xf32>
    %152 = stablehlo.transpose %151, dims = [0, 3, 1, 2] : (tensor<2x2x16x197xf32>) -> tensor<2x197x2x16xf32>
    %153 = stablehlo.add %146, %152 : tensor<2x197x2x16xf32>
    %154 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<2x2x197x1xf32>) -> tensor<2x2x197x197xf32>
    %155 = stablehlo.multiply %150, %154 : tensor<2x2x197x197xf32>
    %156 = stablehlo.multiply %155, %14 : tensor<2x2x197x197xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %157 = stablehlo.reduce(%156 init: %cst_35) applies stablehlo.add across dimensions = [3] : (tensor<2x2x197x197xf32>, tensor<f32>) -> tensor<2x2x197xf32>
    %158 = stablehlo.reshape %157 : (tensor<2x2x197xf32>) -> tensor<2x2x197x1xf32>
    %159 = stablehlo.negate %158 : tensor<2x2x197x1xf32>
    %160 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<2x2x197x1xf32>) -> tensor<2x2x197x197xf32>
    %161 = stablehlo.divide %150, %160 : tensor<2x2x197x197xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %162 = stablehlo.reduce(%159 init: %cst_36) applies stablehlo.add across dimensions = [3] : (tensor<2x2x197x1xf32>, tensor<f32>) -> tensor<2x2x197xf32>
    %163 = stablehlo.broadcast_in_dim %162, dims = [0, 1, 2] : (tensor<2x2x197xf32>) -> tensor<2x2x197x197xf32>
    %164 = stablehlo.add %161, %163 : tensor<2x2x197x197xf32>
    %165 = stablehlo.multiply %164, %14 : tensor<2x2x197x197xf32>
    %166 = call @_where_2(%7#1, %165) : (tensor<2x2x197x197xi1>, tensor<2x2x197x197xf32>) -> tensor<2x2x197x197xf32>
    %cst_37 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %167 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<2x2x197x197xf32>
    %168 = stablehlo.divide %166, %167 : tensor<2x2x197x197xf32>
    %169 = stablehlo.dot_general %168, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x197x197xf32>, tensor<2x197x2x16xf32>) -> tensor<2x2x197x16xf32>
    %170 = stablehlo.transpose %169, dims = [0, 2, 1, 3] : (tensor<2x2x197x16xf32>) -> tensor<2x197x2x16xf32>
    %171 = stablehlo.add %148, %170 : tensor<2x197x2x16xf32>
    %172 = stablehlo.dot_general %168, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x197x197xf32>, tensor<2x197x2x16xf32>) -> tensor<2x2x197x16xf32>
    %173 = stablehlo.transpose %172, dims = [0, 2, 1, 3] : (tensor<2x2x197x16xf32>) -> tensor<2x197x2x16xf32>
    return %77, %23, %45, %65, %173, %171, %153 : tensor<f32>, tensor<2x197x2x16xf32>, tensor<2x197x2x16xf32>, tensor<2x61x2x16xf32>, tensor<2x197x2x16xf32>, tensor<2x197x2x16xf32>, tensor<2x197x2x16xf32>
  }
  func.func private @tril(%arg0: tensor<197x197xi1>) -> tensor<197x197xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<197x197xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<197x197xi32>
    %2 = stablehlo.add %0, %1 : tensor<197x197xi32>
    %3 = stablehlo.iota dim = 1 : tensor<197x197xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<197x197xi32>, tensor<197x197xi32>) -> tensor<197x197xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<197x197xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<197x197xi1>, tensor<197x197xi1>
    return %6 : tensor<197x197xi1>
  }
  func.func private @_where(%arg0: tensor<1x1x197x197xi1>, %arg1: tensor<2x2x197x197xf32>, %arg2: tensor<f32>) -> (tensor<2x2x197x197xf32>, tensor<2x2x197x197xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2, 3] : (tensor<1x1x197x197xi1>) -> tensor<2x2x197x197xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x197x197xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x197x197xi1>, tensor<2x2x197x197xf32>
    return %3, %1 : tensor<2x2x197x197xf32>, tensor<2x2x197x197xi1>
  }
  func.func private @_where_0(%arg0: tensor<2x1x1x192xi1>, %arg1: tensor<2x2x197x192xf32>, %arg2: tensor<f32>) -> (tensor<2x2x197x192xf32>, tensor<2x2x197x192xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2, 3] : (tensor<2x1x1x192xi1>) -> tensor<2x2x197x192xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x197x192xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x197x192xi1>, tensor<2x2x197x192xf32>
    return %3, %1 : tensor<2x2x197x192xf32>, tensor<2x2x197x192xi1>
  }
  func.func private @_where_1(%arg0: tensor<2x2x197x192xi1>, %arg1: tensor<2x2x197x192xf32>) -> tensor<2x2x197x192xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x197x192xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x2x197x192xi1>, tensor<2x2x197x192xf32>
    return %1 : tensor<2x2x197x192xf32>
  }
  func.func private @_where_2(%arg0: tensor<2x2x197x197xi1>, %arg1: tensor<2x2x197x197xf32>) -> tensor<2x2x197x197xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x197x197xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x2x197x197xi1>, tensor<2x2x197x197xf32>
    return %1 : tensor<2x2x197x197xf32>
  }
}

