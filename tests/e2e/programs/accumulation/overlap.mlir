module @jit_overlap attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
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
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.multiply %arg6, %c_0 : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %1, %c_1 : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %2, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.convert %2 : tensor<i32>
    %c_3 = stablehlo.constant dense<16> : tensor<i32>
    %5 = stablehlo.add %4, %c_3 : tensor<i32>
    %6 = stablehlo.select %3, %5, %2 : tensor<i1>, tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.dynamic_slice %arg0, %6, %c_4, sizes = [4, 6] : (tensor<16x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    %c_5 = stablehlo.constant dense<2> : tensor<i32>
    %8 = stablehlo.multiply %arg6, %c_5 : tensor<i32>
    %c_6 = stablehlo.constant dense<1> : tensor<i32>
    %9 = stablehlo.add %8, %c_6 : tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.compare LT, %9, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %11 = stablehlo.convert %9 : tensor<i32>
    %c_8 = stablehlo.constant dense<16> : tensor<i32>
    %12 = stablehlo.add %11, %c_8 : tensor<i32>
    %13 = stablehlo.select %10, %12, %9 : tensor<i1>, tensor<i32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.dynamic_slice %arg1, %13, %c_9, sizes = [4, 6] : (tensor<16x6xi32>, tensor<i32>, tensor<i32>) -> tensor<4x6xi32>
    %c_10 = stablehlo.constant dense<2> : tensor<i32>
    %15 = stablehlo.multiply %arg6, %c_10 : tensor<i32>
    %c_11 = stablehlo.constant dense<1> : tensor<i32>
    %16 = stablehlo.add %15, %c_11 : tensor<i32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %17 = stablehlo.compare LT, %16, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %18 = stablehlo.convert %16 : tensor<i32>
    %c_13 = stablehlo.constant dense<16> : tensor<i32>
    %19 = stablehlo.add %18, %c_13 : tensor<i32>
    %20 = stablehlo.select %17, %19, %16 : tensor<i1>, tensor<i32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %21 = stablehlo.dynamic_slice %arg2, %20, %c_14, sizes = [4, 6] : (tensor<16x6xi32>, tensor<i32>, tensor<i32>) -> tensor<4x6xi32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %23 = stablehlo.compare LT, %21, %22, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_16 = stablehlo.constant dense<10> : tensor<i32>
    %24 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %25 = stablehlo.add %21, %24 : tensor<4x6xi32>
    %26 = stablehlo.select %23, %25, %21 : tensor<4x6xi1>, tensor<4x6xi32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %28 = "stablehlo.gather"(%arg3, %27) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 12>}> : (tensor<10x12xf32>, tensor<4x6x1xi32>) -> tensor<4x6x12xf32>
    %29 = stablehlo.dot_general %28, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x12xf32>, tensor<12x24xf32>) -> tensor<4x6x24xf32>
    %30 = stablehlo.tanh %29 : tensor<4x6x24xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6x24xf32>
    %32 = stablehlo.subtract %31, %30 : tensor<4x6x24xf32>
    %33 = stablehlo.dot_general %30, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<24x10xf32>) -> tensor<4x6x10xf32>
    %34:3 = call @log_softmax(%33) : (tensor<4x6x10xf32>) -> (tensor<4x6x10xf32>, tensor<4x6x10xf32>, tensor<4x6x1xf32>)
    %35 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %36:2 = call @take_along_axis(%34#0, %35) : (tensor<4x6x10xf32>, tensor<4x6x1xi32>) -> (tensor<4x6x1xf32>, tensor<4x6x1x1xi32>)
    %37 = stablehlo.reshape %36#0 : (tensor<4x6x1xf32>) -> tensor<4x6xf32>
    %38 = stablehlo.negate %37 : tensor<4x6xf32>
    %39 = stablehlo.multiply %38, %7 : tensor<4x6xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%39 init: %cst_17) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%7 init: %cst_18) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %42 = stablehlo.maximum %41, %cst_19 : tensor<f32>
    %43 = stablehlo.divide %40, %42 : tensor<f32>
    %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %44 = stablehlo.divide %cst_20, %42 : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %46 = stablehlo.multiply %45, %7 : tensor<4x6xf32>
    %47 = stablehlo.negate %46 : tensor<4x6xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %49 = call @take_along_axis_0(%36#1, %48) : (tensor<4x6x1x1xi32>, tensor<4x6x1xf32>) -> tensor<4x6x10xf32>
    %50 = call @log_softmax_1(%34#1, %34#2, %49) : (tensor<4x6x10xf32>, tensor<4x6x1xf32>, tensor<4x6x10xf32>) -> tensor<4x6x10xf32>
    %51 = stablehlo.dot_general %50, %30, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x10xf32>, tensor<4x6x24xf32>) -> tensor<10x24xf32>
    %52 = stablehlo.transpose %51, dims = [1, 0] : (tensor<10x24xf32>) -> tensor<24x10xf32>
    %53 = stablehlo.dot_general %50, %arg5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x10xf32>, tensor<24x10xf32>) -> tensor<4x6x24xf32>
    %54 = stablehlo.multiply %53, %32 : tensor<4x6x24xf32>
    %55 = stablehlo.multiply %54, %30 : tensor<4x6x24xf32>
    %56 = stablehlo.add %54, %55 : tensor<4x6x24xf32>
    %57 = stablehlo.dot_general %56, %28, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<4x6x12xf32>) -> tensor<24x12xf32>
    %58 = stablehlo.transpose %57, dims = [1, 0] : (tensor<24x12xf32>) -> tensor<12x24xf32>
    %59 = stablehlo.dot_general %56, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<12x24xf32>) -> tensor<4x6x12xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %61 = "stablehlo.scatter"(%60, %27, %59) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %66 = stablehlo.add %arg11, %arg12 : tensor<f32>
      stablehlo.return %66 : tensor<f32>
    }) : (tensor<10x12xf32>, tensor<4x6x1xi32>, tensor<4x6x12xf32>) -> tensor<10x12xf32>
    %62 = stablehlo.add %arg7, %43 : tensor<f32>
    %63 = stablehlo.add %arg8, %61 : tensor<10x12xf32>
    %64 = stablehlo.add %arg9, %58 : tensor<12x24xf32>
    %65 = stablehlo.add %arg10, %52 : tensor<24x10xf32>
    return %0, %62, %63, %64, %65 : tensor<i32>, tensor<f32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>
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
