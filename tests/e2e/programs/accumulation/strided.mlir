module @jit_strided attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10x12xf32>, %arg1: tensor<12x24xf32>, %arg2: tensor<24x10xf32>, %arg3: tensor<10x12xf32>, %arg4: tensor<12x24xf32>, %arg5: tensor<24x10xf32>, %arg6: tensor<16x6xf32>, %arg7: tensor<16x6xi32>, %arg8: tensor<16x6xi32>) -> (tensor<10x12xf32> {jax.result_info = "result[0][0]['emb']"}, tensor<12x24xf32> {jax.result_info = "result[0][0]['w0']"}, tensor<24x10xf32> {jax.result_info = "result[0][0]['w1']"}, tensor<10x12xf32> {jax.result_info = "result[0][1]['emb']"}, tensor<12x24xf32> {jax.result_info = "result[0][1]['w0']"}, tensor<24x10xf32> {jax.result_info = "result[0][1]['w1']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.reshape %arg6 : (tensor<16x6xf32>) -> tensor<4x4x6xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0, 2] : (tensor<4x4x6xf32>) -> tensor<4x4x6xf32>
    %2 = stablehlo.reshape %arg7 : (tensor<16x6xi32>) -> tensor<4x4x6xi32>
    %3 = stablehlo.transpose %2, dims = [1, 0, 2] : (tensor<4x4x6xi32>) -> tensor<4x4x6xi32>
    %4 = stablehlo.reshape %arg8 : (tensor<16x6xi32>) -> tensor<4x4x6xi32>
    %5 = stablehlo.transpose %4, dims = [1, 0, 2] : (tensor<4x4x6xi32>) -> tensor<4x4x6xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9:11 = stablehlo.while(%iterArg = %1, %iterArg_13 = %3, %iterArg_14 = %5, %iterArg_15 = %arg0, %iterArg_16 = %arg1, %iterArg_17 = %arg2, %iterArg_18 = %c, %iterArg_19 = %cst_2, %iterArg_20 = %6, %iterArg_21 = %7, %iterArg_22 = %8) : tensor<4x4x6xf32>, tensor<4x4x6xi32>, tensor<4x4x6xi32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>, tensor<i32>, tensor<f32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>
    cond {
      %c_23 = stablehlo.constant dense<4> : tensor<i32>
      %35 = stablehlo.compare LT, %iterArg_18, %c_23, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %35 : tensor<i1>
    } do {
      %35 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_18) : (tensor<4x4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
      %36 = func.call @dynamic_index_in_dim_0(%iterArg_13, %iterArg_18) : (tensor<4x4x6xi32>, tensor<i32>) -> tensor<4x6xi32>
      %37 = func.call @dynamic_index_in_dim_0(%iterArg_14, %iterArg_18) : (tensor<4x4x6xi32>, tensor<i32>) -> tensor<4x6xi32>
      %38:4 = func.call @closed_call(%iterArg_15, %iterArg_16, %iterArg_17, %iterArg_19, %iterArg_20, %iterArg_21, %iterArg_22, %35, %36, %37) : (tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>, tensor<f32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>, tensor<4x6xf32>, tensor<4x6xi32>, tensor<4x6xi32>) -> (tensor<f32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>)
      %c_23 = stablehlo.constant dense<1> : tensor<i32>
      %39 = stablehlo.add %iterArg_18, %c_23 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_13, %iterArg_14, %iterArg_15, %iterArg_16, %iterArg_17, %39, %38#0, %38#1, %38#2, %38#3 : tensor<4x4x6xf32>, tensor<4x4x6xi32>, tensor<4x4x6xi32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>, tensor<i32>, tensor<f32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>
    }
    %cst_3 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %10 = stablehlo.divide %9#7, %cst_3 : tensor<f32>
    %cst_4 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %12 = stablehlo.divide %9#8, %11 : tensor<10x12xf32>
    %cst_5 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %14 = stablehlo.divide %9#9, %13 : tensor<12x24xf32>
    %cst_6 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %16 = stablehlo.divide %9#10, %15 : tensor<24x10xf32>
    %cst_7 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %18 = stablehlo.multiply %17, %arg3 : tensor<10x12xf32>
    %19 = stablehlo.add %18, %12 : tensor<10x12xf32>
    %cst_8 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %21 = stablehlo.multiply %20, %arg4 : tensor<12x24xf32>
    %22 = stablehlo.add %21, %14 : tensor<12x24xf32>
    %cst_9 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %24 = stablehlo.multiply %23, %arg5 : tensor<24x10xf32>
    %25 = stablehlo.add %24, %16 : tensor<24x10xf32>
    %cst_10 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %27 = stablehlo.multiply %26, %19 : tensor<10x12xf32>
    %28 = stablehlo.subtract %arg0, %27 : tensor<10x12xf32>
    %cst_11 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %30 = stablehlo.multiply %29, %22 : tensor<12x24xf32>
    %31 = stablehlo.subtract %arg1, %30 : tensor<12x24xf32>
    %cst_12 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %33 = stablehlo.multiply %32, %25 : tensor<24x10xf32>
    %34 = stablehlo.subtract %arg2, %33 : tensor<24x10xf32>
    return %28, %31, %34, %19, %22, %25, %10 : tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>, tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x4x6xf32>, %arg1: tensor<i32>) -> tensor<4x6xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 4, 6] : (tensor<4x4x6xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x6xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4x6xf32>) -> tensor<4x6xf32>
    return %1 : tensor<4x6xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<4x4x6xi32>, %arg1: tensor<i32>) -> tensor<4x6xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 4, 6] : (tensor<4x4x6xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x6xi32>
    %1 = stablehlo.reshape %0 : (tensor<1x4x6xi32>) -> tensor<4x6xi32>
    return %1 : tensor<4x6xi32>
  }
  func.func private @closed_call(%arg0: tensor<10x12xf32>, %arg1: tensor<12x24xf32>, %arg2: tensor<24x10xf32>, %arg3: tensor<f32>, %arg4: tensor<10x12xf32>, %arg5: tensor<12x24xf32>, %arg6: tensor<24x10xf32>, %arg7: tensor<4x6xf32>, %arg8: tensor<4x6xi32>, %arg9: tensor<4x6xi32>) -> (tensor<f32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %1 = stablehlo.compare LT, %arg9, %0, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %3 = stablehlo.add %arg9, %2 : tensor<4x6xi32>
    %4 = stablehlo.select %1, %3, %arg9 : tensor<4x6xi1>, tensor<4x6xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 12>}> : (tensor<10x12xf32>, tensor<4x6x1xi32>) -> tensor<4x6x12xf32>
    %7 = stablehlo.dot_general %6, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x12xf32>, tensor<12x24xf32>) -> tensor<4x6x24xf32>
    %8 = stablehlo.tanh %7 : tensor<4x6x24xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6x24xf32>
    %10 = stablehlo.subtract %9, %8 : tensor<4x6x24xf32>
    %11 = stablehlo.dot_general %8, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<24x10xf32>) -> tensor<4x6x10xf32>
    %12:3 = call @log_softmax(%11) : (tensor<4x6x10xf32>) -> (tensor<4x6x10xf32>, tensor<4x6x10xf32>, tensor<4x6x1xf32>)
    %13 = stablehlo.broadcast_in_dim %arg8, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %14:2 = call @take_along_axis(%12#0, %13) : (tensor<4x6x10xf32>, tensor<4x6x1xi32>) -> (tensor<4x6x1xf32>, tensor<4x6x1x1xi32>)
    %15 = stablehlo.reshape %14#0 : (tensor<4x6x1xf32>) -> tensor<4x6xf32>
    %16 = stablehlo.negate %15 : tensor<4x6xf32>
    %17 = stablehlo.multiply %16, %arg7 : tensor<4x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%arg7 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.maximum %19, %cst_3 : tensor<f32>
    %21 = stablehlo.divide %18, %20 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.divide %cst_4, %20 : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %24 = stablehlo.multiply %23, %arg7 : tensor<4x6xf32>
    %25 = stablehlo.negate %24 : tensor<4x6xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %27 = call @take_along_axis_1(%14#1, %26) : (tensor<4x6x1x1xi32>, tensor<4x6x1xf32>) -> tensor<4x6x10xf32>
    %28 = call @log_softmax_2(%12#1, %12#2, %27) : (tensor<4x6x10xf32>, tensor<4x6x1xf32>, tensor<4x6x10xf32>) -> tensor<4x6x10xf32>
    %29 = stablehlo.dot_general %28, %8, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x10xf32>, tensor<4x6x24xf32>) -> tensor<10x24xf32>
    %30 = stablehlo.transpose %29, dims = [1, 0] : (tensor<10x24xf32>) -> tensor<24x10xf32>
    %31 = stablehlo.dot_general %28, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x10xf32>, tensor<24x10xf32>) -> tensor<4x6x24xf32>
    %32 = stablehlo.multiply %31, %10 : tensor<4x6x24xf32>
    %33 = stablehlo.multiply %32, %8 : tensor<4x6x24xf32>
    %34 = stablehlo.add %32, %33 : tensor<4x6x24xf32>
    %35 = stablehlo.dot_general %34, %6, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<4x6x12xf32>) -> tensor<24x12xf32>
    %36 = stablehlo.transpose %35, dims = [1, 0] : (tensor<24x12xf32>) -> tensor<12x24xf32>
    %37 = stablehlo.dot_general %34, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x24xf32>, tensor<12x24xf32>) -> tensor<4x6x12xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %39 = "stablehlo.scatter"(%38, %5, %37) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %44 = stablehlo.add %arg10, %arg11 : tensor<f32>
      stablehlo.return %44 : tensor<f32>
    }) : (tensor<10x12xf32>, tensor<4x6x1xi32>, tensor<4x6x12xf32>) -> tensor<10x12xf32>
    %40 = stablehlo.add %arg3, %21 : tensor<f32>
    %41 = stablehlo.add %arg4, %39 : tensor<10x12xf32>
    %42 = stablehlo.add %arg5, %36 : tensor<12x24xf32>
    %43 = stablehlo.add %arg6, %30 : tensor<24x10xf32>
    return %40, %41, %42, %43 : tensor<f32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>
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
  func.func private @take_along_axis_1(%arg0: tensor<4x6x1x1xi32>, %arg1: tensor<4x6x1xf32>) -> tensor<4x6x10xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6x10xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x6x10xf32>, tensor<4x6x1x1xi32>, tensor<4x6x1xf32>) -> tensor<4x6x10xf32>
    return %1 : tensor<4x6x10xf32>
  }
  func.func private @log_softmax_2(%arg0: tensor<4x6x10xf32>, %arg1: tensor<4x6x1xf32>, %arg2: tensor<4x6x10xf32>) -> tensor<4x6x10xf32> {
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
