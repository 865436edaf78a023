module @jit_fori attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10x12xf32>, %arg1: tensor<12x24xf32>, %arg2: tensor<24x10xf32>, %arg3: tensor<10x12xf32>, %arg4: tensor<12x24xf32>, %arg5: tensor<24x10xf32>, %arg6: tensor<16x6xf32>, %arg7: tensor<16x6xi32>, %arg8: tensor<16x6xi32>) -> (tensor<10x12xf32> {jax.result_info = "result[0][0]['emb']"}, tensor<12x24xf32> {jax.result_info = "result[0][0]['w0']"}, tensor<24x10xf32> {jax.result_info = "result[0][0]['w1']"}, tensor<10x12xf32> {jax.result_info = "result[0][1]['emb']"}, tensor<12x24xf32> {jax.result_info = "result[0][1]['w0']"}, tensor<24x10xf32> {jax.result_info = "result[0][1]['w1']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %3:12 = stablehlo.while(%iterArg = %arg6, %iterArg_14 = %arg7, %iterArg_15 = %arg8, %iterArg_16 = %arg0, %iterArg_17 = %arg1, %iterArg_18 = %arg2, %iterArg_19 = %c_3, %iterArg_20 = %c, %iterArg_21 = %cst_2, %iterArg_22 = %0, %iterArg_23 = %1, %iterArg_24 = %2) : tensor<16x6xf32>, tensor<16x6xi32>, tensor<16x6xi32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>
    cond {
      %c_25 = stablehlo.constant dense<4> : tensor<i32>
      %29 = stablehlo.compare LT, %iterArg_19, %c_25, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %29 : tensor<i1>
    } do {
      %29:5 = func.call @closed_call(%iterArg, %iterArg_14, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %iterArg_20, %iterArg_21, %iterArg_22, %iterArg_23, %iterArg_24) : (tensor<16x6xf32>, tensor<16x6xi32>, tensor<16x6xi32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>, tensor<i32>, tensor<f32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>) -> (tensor<i32>, tensor<f32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>)
      %c_25 = stablehlo.constant dense<1> : tensor<i32>
      %30 = stablehlo.add %iterArg_19, %c_25 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_14, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %30, %29#0, %29#1, %29#2, %29#3, %29#4 : tensor<16x6xf32>, tensor<16x6xi32>, tensor<16x6xi32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>
    }
    %cst_4 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %4 = stablehlo.divide %3#8, %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %6 = stablehlo.divide %3#9, %5 : tensor<10x12xf32>
    %cst_6 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %8 = stablehlo.divide %3#10, %7 : tensor<12x24xf32>
    %cst_7 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %10 = stablehlo.divide %3#11, %9 : tensor<24x10xf32>
    %cst_8 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %12 = stablehlo.multiply %11, %arg3 : tensor<10x12xf32>
    %13 = stablehlo.add %12, %6 : tensor<10x12xf32>
    %cst_9 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %15 = stablehlo.multiply %14, %arg4 : tensor<12x24xf32>
    %16 = stablehlo.add %15, %8 : tensor<12x24xf32>
    %cst_10 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %18 = stablehlo.multiply %17, %arg5 : tensor<24x10xf32>
    %19 = stablehlo.add %18, %10 : tensor<24x10xf32>
    %cst_11 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %21 = stablehlo.multiply %20, %13 : tensor<10x12xf32>
    %22 = stablehlo.subtract %arg0, %21 : tensor<10x12xf32>
    %cst_12 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %24 = stablehlo.multiply %23, %16 : tensor<12x24xf32>
    %25 = stablehlo.subtract %arg1, %24 : tensor<12x24xf32>
    %cst_13 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %27 = stablehlo.multiply %26, %19 : tensor<24x10xf32>
    %28 = stablehlo.subtract %arg2, %27 : tensor<24x10xf32>
    return %22, %25, %28, %13, %16, %19, %4 : tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>, tensor<f32>
  }
  func.func private @closed_call(%arg0: tensor<16x6xf32>, %arg1: tensor<16x6xi32>, %arg2: tensor<16x6xi32>, %arg3: tensor<10x12xf32>, %arg4: tensor<12x24xf32>, %arg5: tensor<24x10xf32>, %arg6: tensor<i32>, %arg7: tensor<f32>, %arg8: tensor<10x12xf32>, %arg9: tensor<12x24xf32>, %arg10: tensor<24x10xf32>) -> (tensor<i32>, tensor<f32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg6, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %1 = stablehlo.multiply %arg6, %c_0 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.compare LT, %1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.convert %1 : tensor<i32>
    %c_2 = stablehlo.constant dense<16> : tensor<i32>
    %4 = stablehlo.add %3, %c_2 : tensor<i32>
    %5 = stablehlo.select %2, %4, %1 : tensor<i1>, tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.dynamic_slice %arg0, %5, %c_3, sizes = [4, 6] : (tensor<16x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %7 = stablehlo.multiply %arg6, %c_4 : tensor<i32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.compare LT, %7, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %9 = stablehlo.convert %7 : tensor<i32>
    %c_6 = stablehlo.constant dense<16> : tensor<i32>
    %10 = stablehlo.add %9, %c_6 : tensor<i32>
    %11 = stablehlo.select %8, %10, %7 : tensor<i1>, tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.dynamic_slice %arg1, %11, %c_7, sizes = [4, 6] : (tensor<16x6xi32>, tensor<i32>, tensor<i32>) -> tensor<4x6xi32>
    %c_8 = stablehlo.constant dense<4> : tensor<i32>
    %13 = stablehlo.multiply %arg6, %c_8 : tensor<i32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.compare LT, %13, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %15 = stablehlo.convert %13 : tensor<i32>
    %c_10 = stablehlo.constant dense<16> : tensor<i32>
    %16 = stablehlo.add %15, %c_10 : tensor<i32>
    %17 = stablehlo.select %14, %16, %13 : tensor<i1>, tensor<i32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.dynamic_slice %arg2, %17, %c_11, sizes = [4, 6] : (tensor<16x6xi32>, tensor<i32>, tensor<i32>) -> tensor<4x6xi32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %19 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %20 = stablehlo.compare LT, %18, %19, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_13 = stablehlo.constant dense<10> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %22 = stablehlo.add %18, %21 : tensor<4x6xi32>
    %23 = stablehlo.select %20, %22, %18 : tensor<4x6xi1>, tensor<4x6xi32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %25 = "stablehlo.gather"(%arg3, %24) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 12>}> : (tensor<10x12xf32>, tensor<4x6x1xi32>) -> tensor<4x6x12xf32>
    %26 = stablehlo.dot_general %25, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x12xf32>, tensor<12x24xf32>) -> tensor<4x6x24xf32>
    %27 = stablehlo.tanh %26 : tensor<4x6x24xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6x24xf32>
    %29 = stablehlo.subtract %28, %27 : tensor<4x6x24xf32>
    %30 = stablehlo.dot_general %27, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<24x10xf32>) -> tensor<4x6x10xf32>
    %31:3 = call @log_softmax(%30) : (tensor<4x6x10xf32>) -> (tensor<4x6x10xf32>, tensor<4x6x10xf32>, tensor<4x6x1xf32>)
    %32 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %33:2 = call @take_along_axis(%31#0, %32) : (tensor<4x6x10xf32>, tensor<4x6x1xi32>) -> (tensor<4x6x1xf32>, tensor<4x6x1x1xi32>)
    %34 = stablehlo.reshape %33#0 : (tensor<4x6x1xf32>) -> tensor<4x6xf32>
    %35 = stablehlo.negate %34 : tensor<4x6xf32>
    %36 = stablehlo.multiply %35, %6 : tensor<4x6xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_14) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%6 init: %cst_15) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.maximum %38, %cst_16 : tensor<f32>
    %40 = stablehlo.divide %37, %39 : tensor<f32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %41 = stablehlo.divide %cst_17, %39 : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %43 = stablehlo.multiply %42, %6 : tensor<4x6xf32>
    %44 = stablehlo.negate %43 : tensor<4x6xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %46 = call @take_along_axis_0(%33#1, %45) : (tensor<4x6x1x1xi32>, tensor<4x6x1xf32>) -> tensor<4x6x10xf32>
    %47 = call @log_softmax_1(%31#1, %31#2, %46) : (tensor<4x6x10xf32>, tensor<4x6x1xf32>, tensor<4x6x10xf32>) -> tensor<4x6x10xf32>
    %48 = stablehlo.dot_general %47, %27, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x10xf32>, tensor<4x6x24xf32>) -> tensor<10x24xf32>
    %49 = stablehlo.transpose %48, dims = [1, 0] : (tensor<10x24xf32>) -> tensor<24x10xf32>
    %50 = stablehlo.dot_general %47, %arg5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x10xf32>, tensor<24x10xf32>) -> tensor<4x6x24xf32>
    %51 = stablehlo.multiply %50, %29 : tensor<4x6x24xf32>
    %52 = stablehlo.multiply %51, %27 : tensor<4x6x24xf32>
    %53 = stablehlo.add %51, %52 : tensor<4x6x24xf32>
    %54 = stablehlo.dot_general %53, %25, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<4x6x12xf32>) -> tensor<24x12xf32>
    %55 = stablehlo.transpose %54, dims = [1, 0] : (tensor<24x12xf32>) -> tensor<12x24xf32>
    %56 = stablehlo.dot_general %53, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<12x24xf32>) -> tensor<4x6x12xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %58 = "stablehlo.scatter"(%57, %24, %56) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %63 = stablehlo.add %arg11, %arg12 : tensor<f32>
      stablehlo.return %63 : tensor<f32>
    }) : (tensor<10x12xf32>, tensor<4x6x1xi32>, tensor<4x6x12xf32>) -> tensor<10x12xf32>
    %59 = stablehlo.add %arg7, %40 : tensor<f32>
    %60 = stablehlo.add %arg8, %58 : tensor<10x12xf32>
    %61 = stablehlo.add %arg9, %55 : tensor<12x24xf32>
    %62 = stablehlo.add %arg10, %49 : tensor<24x10xf32>
    return %0, %59, %60, %61, %62 : tensor<i32>, tensor<f32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>
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
