module @jit_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["context"=4]> {stablehlo.mesh = {axes = [{name = "context", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<2048x512xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<512x8x64xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %arg2: tensor<8x64x512xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %arg3: tensor<512x8x64xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %arg4: tensor<512x2048xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg5: tensor<512x8x64xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %arg6: tensor<1x96x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}]>}, %arg7: tensor<1x96x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"context"}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<2048x512xf32> {jax.result_info = "result[1]['down']"}, tensor<512x8x64xf32> {jax.result_info = "result[1]['k']"}, tensor<8x64x512xf32> {jax.result_info = "result[1]['out']"}, tensor<512x8x64xf32> {jax.result_info = "result[1]['q']"}, tensor<512x2048xf32> {jax.result_info = "result[1]['up']"}, tensor<512x8x64xf32> {jax.result_info = "result[1]['v']"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg6 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<1x96x512xf32>, tensor<f32>) -> tensor<1x96xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x96xf32>) -> tensor<1x96x1xf32>
    %cst_0 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x96x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x96x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<1x96x1xf32>) -> tensor<1x96x512xf32>
    %5 = stablehlo.subtract %arg6, %4 : tensor<1x96x512xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<1x96x512xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<1x96x512xf32>, tensor<f32>) -> tensor<1x96xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x96xf32>) -> tensor<1x96x1xf32>
    %cst_2 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x96x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<1x96x1xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x96x1xf32>
    %12 = stablehlo.add %10, %11 : tensor<1x96x1xf32>
    %13 = stablehlo.rsqrt %12 : tensor<1x96x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<1x96x1xf32>) -> tensor<1x96x512xf32>
    %15 = stablehlo.multiply %5, %14 : tensor<1x96x512xf32>
    %16 = stablehlo.dot_general %15, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x96x512xf32>, tensor<512x8x64xf32>) -> tensor<1x96x8x64xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%arg6 init: %cst_4) applies stablehlo.add across dimensions = [2] : (tensor<1x96x512xf32>, tensor<f32>) -> tensor<1x96xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<1x96xf32>) -> tensor<1x96x1xf32>
    %cst_5 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x96x1xf32>
    %20 = stablehlo.divide %18, %19 : tensor<1x96x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<1x96x1xf32>) -> tensor<1x96x512xf32>
    %22 = stablehlo.subtract %arg6, %21 : tensor<1x96x512xf32>
    %23 = stablehlo.multiply %22, %22 : tensor<1x96x512xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<1x96x512xf32>, tensor<f32>) -> tensor<1x96xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<1x96xf32>) -> tensor<1x96x1xf32>
    %cst_7 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x96x1xf32>
    %27 = stablehlo.divide %25, %26 : tensor<1x96x1xf32>
    %cst_8 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x96x1xf32>
    %29 = stablehlo.add %27, %28 : tensor<1x96x1xf32>
    %30 = stablehlo.rsqrt %29 : tensor<1x96x1xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2] : (tensor<1x96x1xf32>) -> tensor<1x96x512xf32>
    %32 = stablehlo.multiply %22, %31 : tensor<1x96x512xf32>
    %33 = stablehlo.dot_general %32, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x96x512xf32>, tensor<512x8x64xf32>) -> tensor<1x96x8x64xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%arg6 init: %cst_9) applies stablehlo.add across dimensions = [2] : (tensor<1x96x512xf32>, tensor<f32>) -> tensor<1x96xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1] : (tensor<1x96xf32>) -> tensor<1x96x1xf32>
    %cst_10 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1x96x1xf32>
    %37 = stablehlo.divide %35, %36 : tensor<1x96x1xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2] : (tensor<1x96x1xf32>) -> tensor<1x96x512xf32>
    %39 = stablehlo.subtract %arg6, %38 : tensor<1x96x512xf32>
    %40 = stablehlo.multiply %39, %39 : tensor<1x96x512xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<1x96x512xf32>, tensor<f32>) -> tensor<1x96xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0, 1] : (tensor<1x96xf32>) -> tensor<1x96x1xf32>
    %cst_12 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<1x96x1xf32>
    %44 = stablehlo.divide %42, %43 : tensor<1x96x1xf32>
    %cst_13 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<1x96x1xf32>
    %46 = stablehlo.add %44, %45 : tensor<1x96x1xf32>
    %47 = stablehlo.rsqrt %46 : tensor<1x96x1xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2] : (tensor<1x96x1xf32>) -> tensor<1x96x512xf32>
    %49 = stablehlo.multiply %39, %48 : tensor<1x96x512xf32>
    %50 = stablehlo.dot_general %49, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x96x512xf32>, tensor<512x8x64xf32>) -> tensor<1x96x8x64xf32>
    %51 = stablehlo.dot_general %16, %33, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x96x8x64xf32>, tensor<1x96x8x64xf32>) -> tensor<1x8x96x96xf32>
    %cst_14 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<1x8x96x96xf32>
    %53 = stablehlo.divide %51, %52 : tensor<1x8x96x96xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %54 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<96x96xi1>
    %55 = call @tril(%54) : (tensor<96x96xi1>) -> tensor<96x96xi1>
    %cst_15 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %56:2 = call @_where(%55, %53, %cst_15) : (tensor<96x96xi1>, tensor<1x8x96x96xf32>, tensor<f32>) -> (tensor<1x8x96x96xf32>, tensor<1x8x96x96xi1>)
    %cst_16 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %57 = stablehlo.reduce(%56#0 init: %cst_16) applies stablehlo.maximum across dimensions = [3] : (tensor<1x8x96x96xf32>, tensor<f32>) -> tensor<1x8x96xf32>
    %cst_17 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<1x8x96xf32>
    %59 = stablehlo.maximum %58, %57 : tensor<1x8x96xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2] : (tensor<1x8x96xf32>) -> tensor<1x8x96x1xf32>
    %61 = stablehlo.broadcast_in_dim %60, dims = [0, 1, 2, 3] : (tensor<1x8x96x1xf32>) -> tensor<1x8x96x96xf32>
    %62 = stablehlo.subtract %56#0, %61 : tensor<1x8x96x96xf32>
    %63 = stablehlo.exponential %62 : tensor<1x8x96x96xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %64 = stablehlo.reduce(%63 init: %cst_18) applies stablehlo.add across dimensions = [3] : (tensor<1x8x96x96xf32>, tensor<f32>) -> tensor<1x8x96xf32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2] : (tensor<1x8x96xf32>) -> tensor<1x8x96x1xf32>
    %66 = stablehlo.broadcast_in_dim %65, dims = [0, 1, 2, 3] : (tensor<1x8x96x1xf32>) -> tensor<1x8x96x96xf32>
    %67 = stablehlo.divide %63, %66 : tensor<1x8x96x96xf32>
    %68 = stablehlo.multiply %65, %65 : tensor<1x8x96x1xf32>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<1x8x96x1xf32>
    %70 = stablehlo.divide %69, %68 : tensor<1x8x96x1xf32>
    %71 = stablehlo.dot_general %50, %67, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x96x8x64xf32>, tensor<1x8x96x96xf32>) -> tensor<1x8x64x96xf32>
    %72 = stablehlo.transpose %71, dims = [0, 3, 1, 2] : (tensor<1x8x64x96xf32>) -> tensor<1x96x8x64xf32>
    %73 = stablehlo.dot_general %72, %arg2, contracting_dims = [3, 2] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<1x96x8x64xf32>, tensor<8x64x512xf32>) -> tensor<1x96x512xf32>
    %74 = stablehlo.add %arg6, %73 : tensor<1x96x512xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %75 = stablehlo.reduce(%74 init: %cst_20) applies stablehlo.add across dimensions = [2] : (tensor<1x96x512xf32>, tensor<f32>) -> tensor<1x96xf32>
    %76 = stablehlo.broadcast_in_dim %75, dims = [0, 1] : (tensor<1x96xf32>) -> tensor<1x96x1xf32>
    %cst_21 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<1x96x1xf32>
    %78 = stablehlo.divide %76, %77 : tensor<1x96x1xf32>
    %79 = stablehlo.broadcast_in_dim %78, dims = [0, 1, 2] : (tensor<1x96x1xf32>) -> tensor<1x96x512xf32>
    %80 = stablehlo.subtract %74, %79 : tensor<1x96x512xf32>
    %81 = stablehlo.multiply %80, %80 : tensor<1x96x512xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %82 = stablehlo.reduce(%81 init: %cst_22) applies stablehlo.add across dimensions = [2] : (tensor<1x96x512xf32>, tensor<f32>) -> tensor<1x96xf32>
    %83 = stablehlo.broadcast_in_dim %82, dims = [0, 1] : (tensor<1x96xf32>) -> tensor<1x96x1xf32>
    %cst_23 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<1x96x1xf32>
    %85 = stablehlo.divide %83, %84 : tensor<1x96x1xf32>
    %cst_24 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<1x96x1xf32>
    %87 = stablehlo.add %85, %86 : tensor<1x96x1xf32>
    %88 = stablehlo.rsqrt %87 : tensor<1x96x1xf32>
    %89 = stablehlo.divide %88, %87 : tensor<1x96x1xf32>
    %cst_25 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<1x96x1xf32>
    %91 = stablehlo.multiply %90, %89 : tensor<1x96x1xf32>
    %92 = stablehlo.broadcast_in_dim %88, dims = [0, 1, 2] : (tensor<1x96x1xf32>) -> tensor<1x96x512xf32>
    %93 = stablehlo.multiply %80, %92 : tensor<1x96x512xf32>
    %94 = stablehlo.dot_general %93, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x96x512xf32>, tensor<512x2048xf32>) -> tensor<1x96x2048xf32>
    %95 = stablehlo.multiply %94, %94 : tensor<1x96x2048xf32>
    %96 = stablehlo.multiply %95, %94 : tensor<1x96x2048xf32>
    %97 = stablehlo.multiply %94, %94 : tensor<1x96x2048xf32>
    %cst_26 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<1x96x2048xf32>
    %99 = stablehlo.multiply %98, %97 : tensor<1x96x2048xf32>
    %cst_27 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<1x96x2048xf32>
    %101 = stablehlo.multiply %100, %96 : tensor<1x96x2048xf32>
    %102 = stablehlo.add %94, %101 : tensor<1x96x2048xf32>
    %cst_28 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<1x96x2048xf32>
    %104 = stablehlo.multiply %103, %102 : tensor<1x96x2048xf32>
    %105 = stablehlo.tanh %104 : tensor<1x96x2048xf32>
    %cst_29 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<1x96x2048xf32>
    %107 = stablehlo.subtract %106, %105 : tensor<1x96x2048xf32>
    %cst_30 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %108 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<1x96x2048xf32>
    %109 = stablehlo.add %108, %105 : tensor<1x96x2048xf32>
    %cst_31 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %110 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<1x96x2048xf32>
    %111 = stablehlo.multiply %110, %109 : tensor<1x96x2048xf32>
    %112 = stablehlo.multiply %94, %111 : tensor<1x96x2048xf32>
    %113 = stablehlo.dot_general %112, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x96x2048xf32>, tensor<2048x512xf32>) -> tensor<1x96x512xf32>
    %114 = stablehlo.add %74, %113 : tensor<1x96x512xf32>
    %115 = stablehlo.subtract %114, %arg7 : tensor<1x96x512xf32>
    %116 = stablehlo.multiply %115, %115 : tensor<1x96x512xf32>
    %cst_32 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<1x96x512xf32>
    %118 = stablehlo.multiply %117, %115 : tensor<1x96x512xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %119 = stablehlo.reduce(%116 init: %cst_33) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x96x512xf32>, tensor<f32>) -> tensor<f32>
    %cst_34 = stablehlo.constant dense<4.915200e+04> : tensor<f32>
    %120 = stablehlo.divide %119, %cst_34 : tensor<f32>
    %cst_35 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_36 = stablehlo.constant dense<4.915200e+04> : tensor<f32>
    %121 = stablehlo.divide %cst_35, %cst_36 : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %121, dims = [] : (tensor<f32>) -> tensor<1x96x512xf32>
    %123 = stablehlo.multiply %122, %118 : tensor<1x96x512xf32>
    %124 = stablehlo.dot_general %123, %112, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x96x512xf32>, tensor<1x96x2048xf32>) -> tensor<512x2048xf32>
    %125 = stablehlo.transpose %124, dims = [1, 0] : (tensor<512x2048xf32>) -> tensor<2048x512xf32>
    %126 = stablehlo.dot_general %123, %arg0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x96x512xf32>, tensor<2048x512xf32>) -> tensor<1x96x2048xf32>
    %127 = stablehlo.multiply %94, %126 : tensor<1x96x2048xf32>
    %128 = stablehlo.multiply %126, %111 : tensor<1x96x2048xf32>
    %cst_37 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %129 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<1x96x2048xf32>
    %130 = stablehlo.multiply %129, %127 : tensor<1x96x2048xf32>
    %131 = stablehlo.multiply %130, %107 : tensor<1x96x2048xf32>
    %132 = stablehlo.multiply %131, %105 : tensor<1x96x2048xf32>
    %133 = stablehlo.add %131, %132 : tensor<1x96x2048xf32>
    %cst_38 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<1x96x2048xf32>
    %135 = stablehlo.multiply %134, %133 : tensor<1x96x2048xf32>
    %136 = stablehlo.add %128, %135 : tensor<1x96x2048xf32>
    %cst_39 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<1x96x2048xf32>
    %138 = stablehlo.multiply %137, %135 : tensor<1x96x2048xf32>
    %139 = stablehlo.multiply %138, %99 : tensor<1x96x2048xf32>
    %140 = stablehlo.add %136, %139 : tensor<1x96x2048xf32>
    %141 = stablehlo.dot_general %140, %93, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x96x2048xf32>, tensor<1x96x512xf32>) -> tensor<2048x512xf32>
    %142 = stablehlo.transpose %141, dims = [1, 0] : (tensor<2048x512xf32>) -> tensor<512x2048xf32>
    %143 = stablehlo.dot_general %140, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x96x2048xf32>, tensor<512x2048xf32>) -> tensor<1x96x512xf32>
    %144 = stablehlo.multiply %80, %143 : tensor<1x96x512xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %145 = stablehlo.reduce(%144 init: %cst_40) applies stablehlo.add across dimensions = [2] : (tensor<1x96x512xf32>, tensor<f32>) -> tensor<1x96xf32>
    %146 = stablehlo.reshape %145 : (tensor<1x96xf32>) -> tensor<1x96x1xf32>
    %147 = stablehlo.broadcast_in_dim %88, dims = [0, 1, 2] : (tensor<1x96x1xf32>) -> tensor<1x96x512xf32>
    %148 = stablehlo.multiply %143, %147 : tensor<1x96x512xf32>
    %149 = stablehlo.multiply %146, %91 : tensor<1x96x1xf32>
    %cst_41 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<1x96x1xf32>
    %151 = stablehlo.divide %149, %150 : tensor<1x96x1xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %152 = stablehlo.reduce(%151 init: %cst_42) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x96x1xf32>, tensor<f32>) -> tensor<96xf32>
    %153 = stablehlo.broadcast_in_dim %152, dims = [1] : (tensor<96xf32>) -> tensor<1x96xf32>
    %154 = stablehlo.broadcast_in_dim %153, dims = [0, 1] : (tensor<1x96xf32>) -> tensor<1x96x512xf32>
    %155 = stablehlo.multiply %80, %154 : tensor<1x96x512xf32>
    %156 = stablehlo.add %148, %155 : tensor<1x96x512xf32>
    %157 = stablehlo.multiply %154, %80 : tensor<1x96x512xf32>
    %158 = stablehlo.add %156, %157 : tensor<1x96x512xf32>
    %159 = stablehlo.negate %158 : tensor<1x96x512xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %160 = stablehlo.reduce(%159 init: %cst_43) applies stablehlo.add across dimensions = [2] : (tensor<1x96x512xf32>, tensor<f32>) -> tensor<1x96xf32>
    %161 = stablehlo.reshape %160 : (tensor<1x96xf32>) -> tensor<1x96x1xf32>
    %162 = stablehlo.add %123, %158 : tensor<1x96x512xf32>
    %cst_44 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %163 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<1x96x1xf32>
    %164 = stablehlo.divide %161, %163 : tensor<1x96x1xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %165 = stablehlo.reduce(%164 init: %cst_45) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x96x1xf32>, tensor<f32>) -> tensor<96xf32>
    %166 = stablehlo.broadcast_in_dim %165, dims = [1] : (tensor<96xf32>) -> tensor<1x96xf32>
    %167 = stablehlo.broadcast_in_dim %166, dims = [0, 1] : (tensor<1x96xf32>) -> tensor<1x96x512xf32>
    %168 = stablehlo.add %162, %167 : tensor<1x96x512xf32>
    %169 = stablehlo.dot_general %168, %72, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x96x512xf32>, tensor<1x96x8x64xf32>) -> tensor<512x8x64xf32>
    %170 = stablehlo.transpose %169, dims = [1, 2, 0] : (tensor<512x8x64xf32>) -> tensor<8x64x512xf32>
    %171 = stablehlo.dot_general %168, %arg2, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x96x512xf32>, tensor<8x64x512xf32>) -> tensor<1x96x8x64xf32>
    %172 = stablehlo.transpose %171, dims = [0, 2, 3, 1] : (tensor<1x96x8x64xf32>) -> tensor<1x8x64x96xf32>
    %173 = stablehlo.dot_general %172, %50, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x8x64x96xf32>, tensor<1x96x8x64xf32>) -> tensor<1x8x96x96xf32>
    %174 = stablehlo.dot_general %172, %67, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x8x64x96xf32>, tensor<1x8x96x96xf32>) -> tensor<1x8x64x96xf32>
    %175 = stablehlo.transpose %174, dims = [0, 3, 1, 2] : (tensor<1x8x64x96xf32>) -> tensor<1x96x8x64xf32>
    %176 = stablehlo.broadcast_in_dim %70, dims = [0, 1, 2, 3] : (tensor<1x8x96x1xf32>) -> tensor<1x8x96x96xf32>
    %177 = stablehlo.multiply %173, %176 : tensor<1x8x96x96xf32>
    %178 = stablehlo.multiply %177, %63 : tensor<1x8x96x96xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %179 = stablehlo.reduce(%178 init: %cst_46) applies stablehlo.add across dimensions = [3] : (tensor<1x8x96x96xf32>, tensor<f32>) -> tensor<1x8x96xf32>
    %180 = stablehlo.reshape %179 : (tensor<1x8x96xf32>) -> tensor<1x8x96x1xf32>
    %181 = stablehlo.negate %180 : tensor<1x8x96x1xf32>
    %182 = stablehlo.broadcast_in_dim %65, dims = [0, 1, 2, 3] : (tensor<1x8x96x1xf32>) -> tensor<1x8x96x96xf32>
    %183 = stablehlo.divide %173, %182 : tensor<1x8x96x96xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %184 = stablehlo.reduce(%181 init: %cst_47) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x8x96x1xf32>, tensor<f32>) -> tensor<8x96xf32>
    %185 = stablehlo.broadcast_in_dim %184, dims = [1, 2] : (tensor<8x96xf32>) -> tensor<1x8x96xf32>
    %186 = stablehlo.broadcast_in_dim %185, dims = [0, 1, 2] : (tensor<1x8x96xf32>) -> tensor<1x8x96x96xf32>
    %187 = stablehlo.add %183, %186 : tensor<1x8x96x96xf32>
    %188 = stablehlo.multiply %187, %63 : tensor<1x8x96x96xf32>
    %189 = call @_where_0(%56#1, %188) : (tensor<1x8x96x96xi1>, tensor<1x8x96x96xf32>) -> tensor<1x8x96x96xf32>
    %cst_48 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %190 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<1x8x96x96xf32>
    %191 = stablehlo.divide %189, %190 : tensor<1x8x96x96xf32>
    %192 = stablehlo.dot_general %191, %16, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x8x96x96xf32>, tensor<1x96x8x64xf32>) -> tensor<1x8x96x64xf32>
    %193 = stablehlo.transpose %192, dims = [0, 2, 1, 3] : (tensor<1x8x96x64xf32>) -> tensor<1x96x8x64xf32>
    %194 = stablehlo.dot_general %191, %33, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x8x96x96xf32>, tensor<1x96x8x64xf32>) -> tensor<1x8x96x64xf32>
    %195 = stablehlo.transpose %194, dims = [0, 2, 1, 3] : (tensor<1x8x96x64xf32>) -> tensor<1x96x8x64xf32>
    %196 = stablehlo.dot_general %175, %49, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x96x8x64xf32>, tensor<1x96x512xf32>) -> tensor<8x64x512xf32>
    %197 = stablehlo.transpose %196, dims = [2, 0, 1] : (tensor<8x64x512xf32>) -> tensor<512x8x64xf32>
    %198 = stablehlo.dot_general %193, %32, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x96x8x64xf32>, tensor<1x96x512xf32>) -> tensor<8x64x512xf32>
    %199 = stablehlo.transpose %198, dims = [2, 0, 1] : (tensor<8x64x512xf32>) -> tensor<512x8x64xf32>
    %200 = stablehlo.dot_general %195, %15, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x96x8x64xf32>, tensor<1x96x512xf32>) -> tensor<8x64x512xf32>
    %201 = stablehlo.transpose %200, dims = [2, 0, 1] : (tensor<8x64x512xf32>) -> tensor<512x8x64xf32>
    %cst_49 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %202 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<2048x512xf32>
    %203 = stablehlo.multiply %202, %125 : tensor<2048x512xf32>
    %204 = stablehlo.subtract %arg0, %203 : tensor<2048x512xf32>
    %cst_50 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %205 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<512x8x64xf32>
    %206 = stablehlo.multiply %205, %199 : tensor<512x8x64xf32>
    %207 = stablehlo.subtract %arg1, %206 : tensor<512x8x64xf32>
    %cst_51 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %208 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<8x64x512xf32>
    %209 = stablehlo.multiply %208, %170 : tensor<8x64x512xf32>
    %210 = stablehlo.subtract %arg2, %209 : tensor<8x64x512xf32>
    %cst_52 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %211 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<512x8x64xf32>
    %212 = stablehlo.multiply %211, %201 : tensor<512x8x64xf32>
    %213 = stablehlo.subtract %arg3, %212 : tensor<512x8x64xf32>
    %cst_53 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %214 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<512x2048xf32>
    %215 = stablehlo.multiply %214, %142 : tensor<512x2048xf32>
    %216 = stablehlo.subtract %arg4, %215 : tensor<512x2048xf32>
    %cst_54 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %217 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<512x8x64xf32>
    %218 = stablehlo.multiply %217, %197 : tensor<512x8x64xf32>
    %219 = stablehlo.subtract %arg5, %218 : tensor<512x8x64xf32>
    return %120, %204, %207, %210, %213, %216, %219 : tensor<f32>, tensor<2048x512xf32>, tensor<512x8x64xf32>, tensor<8x64x512xf32>, tensor<512x8x64xf32>, tensor<512x2048xf32>, tensor<512x8x64xf32>
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
  func.func private @_where(%arg0: tensor<96x96xi1>, %arg1: tensor<1x8x96x96xf32>, %arg2: tensor<f32>) -> (tensor<1x8x96x96xf32>, tensor<1x8x96x96xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<96x96xi1>) -> tensor<1x8x96x96xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x8x96x96xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<1x8x96x96xi1>, tensor<1x8x96x96xf32>
    return %3, %1 : tensor<1x8x96x96xf32>, tensor<1x8x96x96xi1>
  }
  func.func private @_where_0(%arg0: tensor<1x8x96x96xi1>, %arg1: tensor<1x8x96x96xf32>) -> tensor<1x8x96x96xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x8x96x96xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<1x8x96x96xi1>, tensor<1x8x96x96xf32>
    return %1 : tensor<1x8x96x96xf32>
  }
}
