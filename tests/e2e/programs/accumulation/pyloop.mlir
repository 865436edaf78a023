module @jit_pyloop attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10x12xf32>, %arg1: tensor<12x24xf32>, %arg2: tensor<24x10xf32>, %arg3: tensor<10x12xf32>, %arg4: tensor<12x24xf32>, %arg5: tensor<24x10xf32>, %arg6: tensor<16x6xf32>, %arg7: tensor<16x6xi32>, %arg8: tensor<16x6xi32>) -> (tensor<10x12xf32> {jax.result_info = "result[0][0]['emb']"}, tensor<12x24xf32> {jax.result_info = "result[0][0]['w0']"}, tensor<24x10xf32> {jax.result_info = "result[0][0]['w1']"}, tensor<10x12xf32> {jax.result_info = "result[0][1]['emb']"}, tensor<12x24xf32> {jax.result_info = "result[0][1]['w0']"}, tensor<24x10xf32> {jax.result_info = "result[0][1]['w1']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.reshape %arg6 : (tensor<16x6xf32>) -> tensor<4x4x6xf32>
    %1 = stablehlo.reshape %arg7 : (tensor<16x6xi32>) -> tensor<4x4x6xi32>
    %2 = stablehlo.reshape %arg8 : (tensor<16x6xi32>) -> tensor<4x4x6xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %6 = stablehlo.slice %0 [0:1, 0:4, 0:6] : (tensor<4x4x6xf32>) -> tensor<1x4x6xf32>
    %7 = stablehlo.reshape %6 : (tensor<1x4x6xf32>) -> tensor<4x6xf32>
    %8 = stablehlo.slice %1 [0:1, 0:4, 0:6] : (tensor<4x4x6xi32>) -> tensor<1x4x6xi32>
    %9 = stablehlo.reshape %8 : (tensor<1x4x6xi32>) -> tensor<4x6xi32>
    %10 = stablehlo.slice %2 [0:1, 0:4, 0:6] : (tensor<4x4x6xi32>) -> tensor<1x4x6xi32>
    %11 = stablehlo.reshape %10 : (tensor<1x4x6xi32>) -> tensor<4x6xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %13 = stablehlo.compare LT, %11, %12, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_2 = stablehlo.constant dense<10> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %15 = stablehlo.add %11, %14 : tensor<4x6xi32>
    %16 = stablehlo.select %13, %15, %11 : tensor<4x6xi1>, tensor<4x6xi32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %18 = "stablehlo.gather"(%arg0, %17) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 12>}> : (tensor<10x12xf32>, tensor<4x6x1xi32>) -> tensor<4x6x12xf32>
    %19 = stablehlo.dot_general %18, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x12xf32>, tensor<12x24xf32>) -> tensor<4x6x24xf32>
    %20 = stablehlo.tanh %19 : tensor<4x6x24xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x6x24xf32>
    %22 = stablehlo.subtract %21, %20 : tensor<4x6x24xf32>
    %23 = stablehlo.dot_general %20, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<24x10xf32>) -> tensor<4x6x10xf32>
    %24:3 = call @log_softmax(%23) : (tensor<4x6x10xf32>) -> (tensor<4x6x10xf32>, tensor<4x6x10xf32>, tensor<4x6x1xf32>)
    %25 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %26:2 = call @take_along_axis(%24#0, %25) : (tensor<4x6x10xf32>, tensor<4x6x1xi32>) -> (tensor<4x6x1xf32>, tensor<4x6x1x1xi32>)
    %27 = stablehlo.reshape %26#0 : (tensor<4x6x1xf32>) -> tensor<4x6xf32>
    %28 = stablehlo.negate %27 : tensor<4x6xf32>
    %29 = stablehlo.multiply %28, %7 : tensor<4x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%7 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %32 = stablehlo.maximum %31, %cst_6 : tensor<f32>
    %33 = stablehlo.divide %30, %32 : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %34 = stablehlo.divide %cst_7, %32 : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %36 = stablehlo.multiply %35, %7 : tensor<4x6xf32>
    %37 = stablehlo.negate %36 : tensor<4x6xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %39 = call @take_along_axis_0(%26#1, %38) : (tensor<4x6x1x1xi32>, tensor<4x6x1xf32>) -> tensor<4x6x10xf32>
    %40 = call @log_softmax_1(%24#1, %24#2, %39) : (tensor<4x6x10xf32>, tensor<4x6x1xf32>, tensor<4x6x10xf32>) -> tensor<4x6x10xf32>
    %41 = stablehlo.dot_general %40, %20, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x10xf32>, tensor<4x6x24xf32>) -> tensor<10x24xf32>
    %42 = stablehlo.transpose %41, dims = [1, 0] : (tensor<10x24xf32>) -> tensor<24x10xf32>
    %43 = stablehlo.dot_general %40, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x10xf32>, tensor<24x10xf32>) -> tensor<4x6x24xf32>
    %44 = stablehlo.multiply %43, %22 : tensor<4x6x24xf32>
    %45 = stablehlo.multiply %44, %20 : tensor<4x6x24xf32>
    %46 = stablehlo.add %44, %45 : tensor<4x6x24xf32>
    %47 = stablehlo.dot_general %46, %18, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<4x6x12xf32>) -> tensor<24x12xf32>
    %48 = stablehlo.transpose %47, dims = [1, 0] : (tensor<24x12xf32>) -> tensor<12x24xf32>
    %49 = stablehlo.dot_general %46, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<12x24xf32>) -> tensor<4x6x12xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %51 = "stablehlo.scatter"(%50, %17, %49) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %231 = stablehlo.add %arg9, %arg10 : tensor<f32>
      stablehlo.return %231 : tensor<f32>
    }) : (tensor<10x12xf32>, tensor<4x6x1xi32>, tensor<4x6x12xf32>) -> tensor<10x12xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.add %cst_9, %33 : tensor<f32>
    %53 = stablehlo.add %3, %51 : tensor<10x12xf32>
    %54 = stablehlo.add %4, %48 : tensor<12x24xf32>
    %55 = stablehlo.add %5, %42 : tensor<24x10xf32>
    %56 = stablehlo.slice %0 [1:2, 0:4, 0:6] : (tensor<4x4x6xf32>) -> tensor<1x4x6xf32>
    %57 = stablehlo.reshape %56 : (tensor<1x4x6xf32>) -> tensor<4x6xf32>
    %58 = stablehlo.slice %1 [1:2, 0:4, 0:6] : (tensor<4x4x6xi32>) -> tensor<1x4x6xi32>
    %59 = stablehlo.reshape %58 : (tensor<1x4x6xi32>) -> tensor<4x6xi32>
    %60 = stablehlo.slice %2 [1:2, 0:4, 0:6] : (tensor<4x4x6xi32>) -> tensor<1x4x6xi32>
    %61 = stablehlo.reshape %60 : (tensor<1x4x6xi32>) -> tensor<4x6xi32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %62 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %63 = stablehlo.compare LT, %61, %62, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_11 = stablehlo.constant dense<10> : tensor<i32>
    %64 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %65 = stablehlo.add %61, %64 : tensor<4x6xi32>
    %66 = stablehlo.select %63, %65, %61 : tensor<4x6xi1>, tensor<4x6xi32>
    %67 = stablehlo.broadcast_in_dim %66, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %68 = "stablehlo.gather"(%arg0, %67) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 12>}> : (tensor<10x12xf32>, tensor<4x6x1xi32>) -> tensor<4x6x12xf32>
    %69 = stablehlo.dot_general %68, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x12xf32>, tensor<12x24xf32>) -> tensor<4x6x24xf32>
    %70 = stablehlo.tanh %69 : tensor<4x6x24xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x6x24xf32>
    %72 = stablehlo.subtract %71, %70 : tensor<4x6x24xf32>
    %73 = stablehlo.dot_general %70, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<24x10xf32>) -> tensor<4x6x10xf32>
    %74:3 = call @log_softmax(%73) : (tensor<4x6x10xf32>) -> (tensor<4x6x10xf32>, tensor<4x6x10xf32>, tensor<4x6x1xf32>)
    %75 = stablehlo.broadcast_in_dim %59, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %76:2 = call @take_along_axis(%74#0, %75) : (tensor<4x6x10xf32>, tensor<4x6x1xi32>) -> (tensor<4x6x1xf32>, tensor<4x6x1x1xi32>)
    %77 = stablehlo.reshape %76#0 : (tensor<4x6x1xf32>) -> tensor<4x6xf32>
    %78 = stablehlo.negate %77 : tensor<4x6xf32>
    %79 = stablehlo.multiply %78, %57 : tensor<4x6xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %80 = stablehlo.reduce(%79 init: %cst_13) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %81 = stablehlo.reduce(%57 init: %cst_14) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %82 = stablehlo.maximum %81, %cst_15 : tensor<f32>
    %83 = stablehlo.divide %80, %82 : tensor<f32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %84 = stablehlo.divide %cst_16, %82 : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %84, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %86 = stablehlo.multiply %85, %57 : tensor<4x6xf32>
    %87 = stablehlo.negate %86 : tensor<4x6xf32>
    %88 = stablehlo.broadcast_in_dim %87, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %89 = call @take_along_axis_0(%76#1, %88) : (tensor<4x6x1x1xi32>, tensor<4x6x1xf32>) -> tensor<4x6x10xf32>
    %90 = call @log_softmax_1(%74#1, %74#2, %89) : (tensor<4x6x10xf32>, tensor<4x6x1xf32>, tensor<4x6x10xf32>) -> tensor<4x6x10xf32>
    %91 = stablehlo.dot_general %90, %70, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x10xf32>, tensor<4x6x24xf32>) -> tensor<10x24xf32>
    %92 = stablehlo.transpose %91, dims = [1, 0] : (tensor<10x24xf32>) -> tensor<24x10xf32>
    %93 = stablehlo.dot_general %90, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x10xf32>, tensor<24x10xf32>) -> tensor<4x6x24xf32>
    %94 = stablehlo.multiply %93, %72 : tensor<4x6x24xf32>
    %95 = stablehlo.multiply %94, %70 : tensor<4x6x24xf32>
    %96 = stablehlo.add %94, %95 : tensor<4x6x24xf32>
    %97 = stablehlo.dot_general %96, %68, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<4x6x12xf32>) -> tensor<24x12xf32>
    %98 = stablehlo.transpose %97, dims = [1, 0] : (tensor<24x12xf32>) -> tensor<12x24xf32>
    %99 = stablehlo.dot_general %96, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<12x24xf32>) -> tensor<4x6x12xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %101 = "stablehlo.scatter"(%100, %67, %99) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %231 = stablehlo.add %arg9, %arg10 : tensor<f32>
      stablehlo.return %231 : tensor<f32>
    }) : (tensor<10x12xf32>, tensor<4x6x1xi32>, tensor<4x6x12xf32>) -> tensor<10x12xf32>
    %102 = stablehlo.add %52, %83 : tensor<f32>
    %103 = stablehlo.add %53, %101 : tensor<10x12xf32>
    %104 = stablehlo.add %54, %98 : tensor<12x24xf32>
    %105 = stablehlo.add %55, %92 : tensor<24x10xf32>
    %106 = stablehlo.slice %0 [2:3, 0:4, 0:6] : (tensor<4x4x6xf32>) -> tensor<1x4x6xf32>
    %107 = stablehlo.reshape %106 : (tensor<1x4x6xf32>) -> tensor<4x6xf32>
    %108 = stablehlo.slice %1 [2:3, 0:4, 0:6] : (tensor<4x4x6xi32>) -> tensor<1x4x6xi32>
    %109 = stablehlo.reshape %108 : (tensor<1x4x6xi32>) -> tensor<4x6xi32>
    %110 = stablehlo.slice %2 [2:3, 0:4, 0:6] : (tensor<4x4x6xi32>) -> tensor<1x4x6xi32>
    %111 = stablehlo.reshape %110 : (tensor<1x4x6xi32>) -> tensor<4x6xi32>
    %c_18 = stablehlo.constant dense<0> : tensor<i32>
    %112 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %113 = stablehlo.compare LT, %111, %112, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_19 = stablehlo.constant dense<10> : tensor<i32>
    %114 = stablehlo.broadcast_in_dim %c_19, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %115 = stablehlo.add %111, %114 : tensor<4x6xi32>
    %116 = stablehlo.select %113, %115, %111 : tensor<4x6xi1>, tensor<4x6xi32>
    %117 = stablehlo.broadcast_in_dim %116, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %118 = "stablehlo.gather"(%arg0, %117) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 12>}> : (tensor<10x12xf32>, tensor<4x6x1xi32>) -> tensor<4x6x12xf32>
    %119 = stablehlo.dot_general %118, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x12xf32>, tensor<12x24xf32>) -> tensor<4x6x24xf32>
    %120 = stablehlo.tanh %119 : tensor<4x6x24xf32>
    %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4x6x24xf32>
    %122 = stablehlo.subtract %121, %120 : tensor<4x6x24xf32>
    %123 = stablehlo.dot_general %120, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<24x10xf32>) -> tensor<4x6x10xf32>
    %124:3 = call @log_softmax(%123) : (tensor<4x6x10xf32>) -> (tensor<4x6x10xf32>, tensor<4x6x10xf32>, tensor<4x6x1xf32>)
    %125 = stablehlo.broadcast_in_dim %109, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %126:2 = call @take_along_axis(%124#0, %125) : (tensor<4x6x10xf32>, tensor<4x6x1xi32>) -> (tensor<4x6x1xf32>, tensor<4x6x1x1xi32>)
    %127 = stablehlo.reshape %126#0 : (tensor<4x6x1xf32>) -> tensor<4x6xf32>
    %128 = stablehlo.negate %127 : tensor<4x6xf32>
    %129 = stablehlo.multiply %128, %107 : tensor<4x6xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %130 = stablehlo.reduce(%129 init: %cst_21) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %131 = stablehlo.reduce(%107 init: %cst_22) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_23 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %132 = stablehlo.maximum %131, %cst_23 : tensor<f32>
    %133 = stablehlo.divide %130, %132 : tensor<f32>
    %cst_24 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %134 = stablehlo.divide %cst_24, %132 : tensor<f32>
    %135 = stablehlo.broadcast_in_dim %134, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %136 = stablehlo.multiply %135, %107 : tensor<4x6xf32>
    %137 = stablehlo.negate %136 : tensor<4x6xf32>
    %138 = stablehlo.broadcast_in_dim %137, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %139 = call @take_along_axis_0(%126#1, %138) : (tensor<4x6x1x1xi32>, tensor<4x6x1xf32>) -> tensor<4x6x10xf32>
    %140 = call @log_softmax_1(%124#1, %124#2, %139) : (tensor<4x6x10xf32>, tensor<4x6x1xf32>, tensor<4x6x10xf32>) -> tensor<4x6x10xf32>
    %141 = stablehlo.dot_general %140, %120, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x10xf32>, tensor<4x6x24xf32>) -> tensor<10x24xf32>
    %142 = stablehlo.transpose %141, dims = [1, 0] : (tensor<10x24xf32>) -> tensor<24x10xf32>
    %143 = stablehlo.dot_general %140, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x10xf32>, tensor<24x10xf32>) -> tensor<4x6x24xf32>
    %144 = stablehlo.multiply %143, %122 : tensor<4x6x24xf32>
    %145 = stablehlo.multiply %144, %120 : tensor<4x6x24xf32>
    %146 = stablehlo.add %144, %145 : tensor<4x6x24xf32>
    %147 = stablehlo.dot_general %146, %118, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<4x6x12xf32>) -> tensor<24x12xf32>
    %148 = stablehlo.transpose %147, dims = [1, 0] : (tensor<24x12xf32>) -> tensor<12x24xf32>
    %149 = stablehlo.dot_general %146, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<12x24xf32>) -> tensor<4x6x12xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %151 = "stablehlo.scatter"(%150, %117, %149) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %231 = stablehlo.add %arg9, %arg10 : tensor<f32>
      stablehlo.return %231 : tensor<f32>
    }) : (tensor<10x12xf32>, tensor<4x6x1xi32>, tensor<4x6x12xf32>) -> tensor<10x12xf32>
    %152 = stablehlo.add %102, %133 : tensor<f32>
    %153 = stablehlo.add %103, %151 : tensor<10x12xf32>
    %154 = stablehlo.add %104, %148 : tensor<12x24xf32>
    %155 = stablehlo.add %105, %142 : tensor<24x10xf32>
    %156 = stablehlo.slice %0 [3:4, 0:4, 0:6] : (tensor<4x4x6xf32>) -> tensor<1x4x6xf32>
    %157 = stablehlo.reshape %156 : (tensor<1x4x6xf32>) -> tensor<4x6xf32>
    %158 = stablehlo.slice %1 [3:4, 0:4, 0:6] : (tensor<4x4x6xi32>) -> tensor<1x4x6xi32>
    %159 = stablehlo.reshape %158 : (tensor<1x4x6xi32>) -> tensor<4x6xi32>
    %160 = stablehlo.slice %2 [3:4, 0:4, 0:6] : (tensor<4x4x6xi32>) -> tensor<1x4x6xi32>
    %161 = stablehlo.reshape %160 : (tensor<1x4x6xi32>) -> tensor<4x6xi32>
    %c_26 = stablehlo.constant dense<0> : tensor<i32>
    %162 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %163 = stablehlo.compare LT, %161, %162, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_27 = stablehlo.constant dense<10> : tensor<i32>
    %164 = stablehlo.broadcast_in_dim %c_27, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %165 = stablehlo.add %161, %164 : tensor<4x6xi32>
    %166 = stablehlo.select %163, %165, %161 : tensor<4x6xi1>, tensor<4x6xi32>
    %167 = stablehlo.broadcast_in_dim %166, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %168 = "stablehlo.gather"(%arg0, %167) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 12>}> : (tensor<10x12xf32>, tensor<4x6x1xi32>) -> tensor<4x6x12xf32>
    %169 = stablehlo.dot_general %168, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x12xf32>, tensor<12x24xf32>) -> tensor<4x6x24xf32>
    %170 = stablehlo.tanh %169 : tensor<4x6x24xf32>
    %cst_28 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %171 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<4x6x24xf32>
    %172 = stablehlo.subtract %171, %170 : tensor<4x6x24xf32>
    %173 = stablehlo.dot_general %170, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<24x10xf32>) -> tensor<4x6x10xf32>
    %174:3 = call @log_softmax(%173) : (tensor<4x6x10xf32>) -> (tensor<4x6x10xf32>, tensor<4x6x10xf32>, tensor<4x6x1xf32>)
    %175 = stablehlo.broadcast_in_dim %159, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %176:2 = call @take_along_axis(%174#0, %175) : (tensor<4x6x10xf32>, tensor<4x6x1xi32>) -> (tensor<4x6x1xf32>, tensor<4x6x1x1xi32>)
    %177 = stablehlo.reshape %176#0 : (tensor<4x6x1xf32>) -> tensor<4x6xf32>
    %178 = stablehlo.negate %177 : tensor<4x6xf32>
    %179 = stablehlo.multiply %178, %157 : tensor<4x6xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %180 = stablehlo.reduce(%179 init: %cst_29) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %181 = stablehlo.reduce(%157 init: %cst_30) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_31 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %182 = stablehlo.maximum %181, %cst_31 : tensor<f32>
    %183 = stablehlo.divide %180, %182 : tensor<f32>
    %cst_32 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %184 = stablehlo.divide %cst_32, %182 : tensor<f32>
    %185 = stablehlo.broadcast_in_dim %184, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %186 = stablehlo.multiply %185, %157 : tensor<4x6xf32>
    %187 = stablehlo.negate %186 : tensor<4x6xf32>
    %188 = stablehlo.broadcast_in_dim %187, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %189 = call @take_along_axis_0(%176#1, %188) : (tensor<4x6x1x1xi32>, tensor<4x6x1xf32>) -> tensor<4x6x10xf32>
    %190 = call @log_softmax_1(%174#1, %174#2, %189) : (tensor<4x6x10xf32>, tensor<4x6x1xf32>, tensor<4x6x10xf32>) -> tensor<4x6x10xf32>
    %191 = stablehlo.dot_general %190, %170, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x10xf32>, tensor<4x6x24xf32>) -> tensor<10x24xf32>
    %192 = stablehlo.transpose %191, dims = [1, 0] : (tensor<10x24xf32>) -> tensor<24x10xf32>
    %193 = stablehlo.dot_general %190, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x10xf32>, tensor<24x10xf32>) -> tensor<4x6x24xf32>
    %194 = stablehlo.multiply %193, %172 : tensor<4x6x24xf32>
    %195 = stablehlo.multiply %194, %170 : tensor<4x6x24xf32>
    %196 = stablehlo.add %194, %195 : tensor<4x6x24xf32>
    %197 = stablehlo.dot_general %196, %168, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<4x6x12xf32>) -> tensor<24x12xf32>
    %198 = stablehlo.transpose %197, dims = [1, 0] : (tensor<24x12xf32>) -> tensor<12x24xf32>
    %199 = stablehlo.dot_general %196, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<12x24xf32>) -> tensor<4x6x12xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %200 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %201 = "stablehlo.scatter"(%200, %167, %199) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %231 = stablehlo.add %arg9, %arg10 : tensor<f32>
      stablehlo.return %231 : tensor<f32>
    }) : (tensor<10x12xf32>, tensor<4x6x1xi32>, tensor<4x6x12xf32>) -> tensor<10x12xf32>
    %202 = stablehlo.add %152, %183 : tensor<f32>
    %203 = stablehlo.add %153, %201 : tensor<10x12xf32>
    %204 = stablehlo.add %154, %198 : tensor<12x24xf32>
    %205 = stablehlo.add %155, %192 : tensor<24x10xf32>
    %cst_34 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %206 = stablehlo.divide %202, %cst_34 : tensor<f32>
    %cst_35 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %207 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %208 = stablehlo.divide %203, %207 : tensor<10x12xf32>
    %cst_36 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %209 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %210 = stablehlo.divide %204, %209 : tensor<12x24xf32>
    %cst_37 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %211 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %212 = stablehlo.divide %205, %211 : tensor<24x10xf32>
    %cst_38 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %213 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %214 = stablehlo.multiply %213, %arg3 : tensor<10x12xf32>
    %215 = stablehlo.add %214, %208 : tensor<10x12xf32>
    %cst_39 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %216 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %217 = stablehlo.multiply %216, %arg4 : tensor<12x24xf32>
    %218 = stablehlo.add %217, %210 : tensor<12x24xf32>
    %cst_40 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %219 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %220 = stablehlo.multiply %219, %arg5 : tensor<24x10xf32>
    %221 = stablehlo.add %220, %212 : tensor<24x10xf32>
    %cst_41 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %222 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %223 = stablehlo.multiply %222, %215 : tensor<10x12xf32>
    %224 = stablehlo.subtract %arg0, %223 : tensor<10x12xf32>
    %cst_42 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %225 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %226 = stablehlo.multiply %225, %218 : tensor<12x24xf32>
    %227 = stablehlo.subtract %arg1, %226 : tensor<12x24xf32>
    %cst_43 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %228 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %229 = stablehlo.multiply %228, %221 : tensor<24x10xf32>
    %230 = stablehlo.subtract %arg2, %229 : tensor<24x10xf32>
    return %224, %227, %230, %215, %218, %221, %206 : tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>, tensor<f32>
  }
  func.func private @log_softmax(%arg0: tensor<4x6x10xf32>) -> (tensor<4x6x10xf32>, tensor<4x6x10xf32>, tensor<4x6x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<4x6x10xf32>, tensor<f32>) -> tensor<4x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<4x6xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x6x10xf32>
    %6 = stablehlo.exponential %5 : tensor<4x6x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<4x6x10xf32>, tensor<f32>) -> tensor<4x6xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %9 = stablehlo.log %8 : tensor<4x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<4x6x10xf32>
    return %11, %6, %8 : tensor<4x6x10xf32>, tensor<4x6x10xf32>, tensor<4x6x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<4x6x10xf32>, %arg1: tensor<4x6x1xi32>) -> (tensor<4x6x1xf32>, tensor<4x6x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x6x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x6x1xi32>, tensor<4x6x1xi32>) -> tensor<4x6x1xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x6x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4x6x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4x6x1xi1>, tensor<4x6x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<4x6x1xi32>) -> tensor<4x6x1x1xi32>
    %c_1 = stablehlo.constant dense<9> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x6x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x6x1x1xi32>, tensor<4x6x1x1xi32>) -> tensor<4x6x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<4x6x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x6x1x1xi32>, tensor<4x6x1x1xi32>) -> tensor<4x6x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<4x6x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<4x6x1x1xi1>, tensor<i1>) -> tensor<4x6x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x6x10xf32>, tensor<4x6x1x1xi32>) -> tensor<4x6x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<4x6x1xi1>, tensor<4x6x1xf32>
    return %15, %5 : tensor<4x6x1xf32>, tensor<4x6x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<4x6x1x1xi32>, %arg1: tensor<4x6x1xf32>) -> tensor<4x6x10xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6x10xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x6x10xf32>, tensor<4x6x1x1xi32>, tensor<4x6x1xf32>) -> tensor<4x6x10xf32>
    return %1 : tensor<4x6x10xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<4x6x10xf32>, %arg1: tensor<4x6x1xf32>, %arg2: tensor<4x6x10xf32>) -> tensor<4x6x10xf32> {
    %0 = stablehlo.negate %arg2 : tensor<4x6x10xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x6x10xf32>, tensor<f32>) -> tensor<4x6xf32>
    %2 = stablehlo.reshape %1 : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<4x6x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<4x6x1xf32>, tensor<f32>) -> tensor<4x6xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x10xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<4x6x10xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<4x6x10xf32>
    return %7 : tensor<4x6x10xf32>
  }
}
