module @jit_chunked attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10x12xf32>, %arg1: tensor<12x24xf32>, %arg2: tensor<24x10xf32>, %arg3: tensor<10x12xf32>, %arg4: tensor<12x24xf32>, %arg5: tensor<24x10xf32>, %arg6: tensor<16x6xf32>, %arg7: tensor<16x6xi32>, %arg8: tensor<16x6xi32>) -> (tensor<10x12xf32> {jax.result_info = "result[0][0]['emb']"}, tensor<12x24xf32> {jax.result_info = "result[0][0]['w0']"}, tensor<24x10xf32> {jax.result_info = "result[0][0]['w1']"}, tensor<10x12xf32> {jax.result_info = "result[0][1]['emb']"}, tensor<12x24xf32> {jax.result_info = "result[0][1]['w0']"}, tensor<24x10xf32> {jax.result_info = "result[0][1]['w1']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x6xi32>
    %1 = stablehlo.compare LT, %arg8, %0, SIGNED : (tensor<16x6xi32>, tensor<16x6xi32>) -> tensor<16x6xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<16x6xi32>
    %3 = stablehlo.add %arg8, %2 : tensor<16x6xi32>
    %4 = stablehlo.select %1, %3, %arg8 : tensor<16x6xi1>, tensor<16x6xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<16x6xi32>) -> tensor<16x6x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 12>}> : (tensor<10x12xf32>, tensor<16x6x1xi32>) -> tensor<16x6x12xf32>
    %7 = stablehlo.dot_general %6, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x6x12xf32>, tensor<12x24xf32>) -> tensor<16x6x24xf32>
    %8 = stablehlo.tanh %7 : tensor<16x6x24xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x6x24xf32>
    %10 = stablehlo.subtract %9, %8 : tensor<16x6x24xf32>
    %11 = stablehlo.reshape %8 : (tensor<16x6x24xf32>) -> tensor<4x24x24xf32>
    %12 = stablehlo.reshape %arg7 : (tensor<16x6xi32>) -> tensor<4x24xi32>
    %13 = stablehlo.reshape %arg6 : (tensor<16x6xf32>) -> tensor<4x24xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %14:6 = stablehlo.while(%iterArg = %11, %iterArg_16 = %12, %iterArg_17 = %13, %iterArg_18 = %arg2, %iterArg_19 = %c_2, %iterArg_20 = %cst_1) : tensor<4x24x24xf32>, tensor<4x24xi32>, tensor<4x24xf32>, tensor<24x10xf32>, tensor<i32>, tensor<f32>
    cond {
      %c_21 = stablehlo.constant dense<4> : tensor<i32>
      %47 = stablehlo.compare LT, %iterArg_19, %c_21, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %47 : tensor<i1>
    } do {
      %47 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_19) : (tensor<4x24x24xf32>, tensor<i32>) -> tensor<24x24xf32>
      %48 = func.call @dynamic_index_in_dim_0(%iterArg_16, %iterArg_19) : (tensor<4x24xi32>, tensor<i32>) -> tensor<24xi32>
      %49 = func.call @dynamic_index_in_dim_1(%iterArg_17, %iterArg_19) : (tensor<4x24xf32>, tensor<i32>) -> tensor<24xf32>
      %50 = func.call @closed_call(%iterArg_18, %iterArg_20, %47, %48, %49) : (tensor<24x10xf32>, tensor<f32>, tensor<24x24xf32>, tensor<24xi32>, tensor<24xf32>) -> tensor<f32>
      %c_21 = stablehlo.constant dense<1> : tensor<i32>
      %51 = stablehlo.add %iterArg_19, %c_21 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_16, %iterArg_17, %iterArg_18, %51, %50 : tensor<4x24x24xf32>, tensor<4x24xi32>, tensor<4x24xf32>, tensor<24x10xf32>, tensor<i32>, tensor<f32>
    }
    %cst_3 = stablehlo.constant dense<9.600000e+01> : tensor<f32>
    %15 = stablehlo.divide %14#5, %cst_3 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<9.600000e+01> : tensor<f32>
    %16 = stablehlo.divide %cst_4, %cst_5 : tensor<f32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x24x24xf32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %19:8 = stablehlo.while(%iterArg = %11, %iterArg_16 = %12, %iterArg_17 = %13, %iterArg_18 = %arg2, %iterArg_19 = %c_8, %iterArg_20 = %17, %iterArg_21 = %16, %iterArg_22 = %18) : tensor<4x24x24xf32>, tensor<4x24xi32>, tensor<4x24xf32>, tensor<24x10xf32>, tensor<i32>, tensor<24x10xf32>, tensor<f32>, tensor<4x24x24xf32>
    cond {
      %c_23 = stablehlo.constant dense<4> : tensor<i32>
      %47 = stablehlo.compare LT, %iterArg_19, %c_23, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %47 : tensor<i1>
    } do {
      %c_23 = stablehlo.constant dense<4> : tensor<i32>
      %47 = stablehlo.subtract %c_23, %iterArg_19 : tensor<i32>
      %c_24 = stablehlo.constant dense<1> : tensor<i32>
      %48 = stablehlo.subtract %47, %c_24 : tensor<i32>
      %49 = func.call @dynamic_index_in_dim(%iterArg, %48) : (tensor<4x24x24xf32>, tensor<i32>) -> tensor<24x24xf32>
      %50 = func.call @dynamic_index_in_dim_0(%iterArg_16, %48) : (tensor<4x24xi32>, tensor<i32>) -> tensor<24xi32>
      %51 = func.call @dynamic_index_in_dim_1(%iterArg_17, %48) : (tensor<4x24xf32>, tensor<i32>) -> tensor<24xf32>
      %52:3 = func.call @closed_call_2(%iterArg_18, %iterArg_20, %iterArg_21, %49, %50, %51) : (tensor<24x10xf32>, tensor<24x10xf32>, tensor<f32>, tensor<24x24xf32>, tensor<24xi32>, tensor<24xf32>) -> (tensor<24x10xf32>, tensor<f32>, tensor<24x24xf32>)
      %53 = func.call @dynamic_update_index_in_dim(%iterArg_22, %52#2, %48) : (tensor<4x24x24xf32>, tensor<24x24xf32>, tensor<i32>) -> tensor<4x24x24xf32>
      %c_25 = stablehlo.constant dense<1> : tensor<i32>
      %54 = stablehlo.add %iterArg_19, %c_25 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_16, %iterArg_17, %iterArg_18, %54, %52#0, %52#1, %53 : tensor<4x24x24xf32>, tensor<4x24xi32>, tensor<4x24xf32>, tensor<24x10xf32>, tensor<i32>, tensor<24x10xf32>, tensor<f32>, tensor<4x24x24xf32>
    }
    %20 = stablehlo.reshape %19#7 : (tensor<4x24x24xf32>) -> tensor<16x6x24xf32>
    %21 = stablehlo.multiply %20, %10 : tensor<16x6x24xf32>
    %22 = stablehlo.multiply %21, %8 : tensor<16x6x24xf32>
    %23 = stablehlo.add %21, %22 : tensor<16x6x24xf32>
    %24 = stablehlo.dot_general %23, %6, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x6x24xf32>, tensor<16x6x12xf32>) -> tensor<24x12xf32>
    %25 = stablehlo.transpose %24, dims = [1, 0] : (tensor<24x12xf32>) -> tensor<12x24xf32>
    %26 = stablehlo.dot_general %23, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x6x24xf32>, tensor<12x24xf32>) -> tensor<16x6x12xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %28 = "stablehlo.scatter"(%27, %5, %26) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %47 = stablehlo.add %arg9, %arg10 : tensor<f32>
      stablehlo.return %47 : tensor<f32>
    }) : (tensor<10x12xf32>, tensor<16x6x1xi32>, tensor<16x6x12xf32>) -> tensor<10x12xf32>
    %cst_10 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %30 = stablehlo.multiply %29, %arg3 : tensor<10x12xf32>
    %31 = stablehlo.add %30, %28 : tensor<10x12xf32>
    %cst_11 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %33 = stablehlo.multiply %32, %arg4 : tensor<12x24xf32>
    %34 = stablehlo.add %33, %25 : tensor<12x24xf32>
    %cst_12 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %36 = stablehlo.multiply %35, %arg5 : tensor<24x10xf32>
    %37 = stablehlo.add %36, %19#5 : tensor<24x10xf32>
    %cst_13 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<10x12xf32>
    %39 = stablehlo.multiply %38, %31 : tensor<10x12xf32>
    %40 = stablehlo.subtract %arg0, %39 : tensor<10x12xf32>
    %cst_14 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %42 = stablehlo.multiply %41, %34 : tensor<12x24xf32>
    %43 = stablehlo.subtract %arg1, %42 : tensor<12x24xf32>
    %cst_15 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %45 = stablehlo.multiply %44, %37 : tensor<24x10xf32>
    %46 = stablehlo.subtract %arg2, %45 : tensor<24x10xf32>
    return %40, %43, %46, %31, %34, %37, %15 : tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>, tensor<10x12xf32>, tensor<12x24xf32>, tensor<24x10xf32>, tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x24x24xf32>, %arg1: tensor<i32>) -> tensor<24x24xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 24, 24] : (tensor<4x24x24xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x24x24xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x24x24xf32>) -> tensor<24x24xf32>
    return %1 : tensor<24x24xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<4x24xi32>, %arg1: tensor<i32>) -> tensor<24xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 24] : (tensor<4x24xi32>, tensor<i32>, tensor<i32>) -> tensor<1x24xi32>
    %1 = stablehlo.reshape %0 : (tensor<1x24xi32>) -> tensor<24xi32>
    return %1 : tensor<24xi32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<4x24xf32>, %arg1: tensor<i32>) -> tensor<24xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 24] : (tensor<4x24xf32>, tensor<i32>, tensor<i32>) -> tensor<1x24xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x24xf32>) -> tensor<24xf32>
    return %1 : tensor<24xf32>
  }
  func.func private @closed_call(%arg0: tensor<24x10xf32>, %arg1: tensor<f32>, %arg2: tensor<24x24xf32>, %arg3: tensor<24xi32>, %arg4: tensor<24xf32>) -> tensor<f32> {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<24x24xf32>, tensor<24x10xf32>) -> tensor<24x10xf32>
    %1 = call @log_softmax(%0) : (tensor<24x10xf32>) -> tensor<24x10xf32>
    %2 = stablehlo.broadcast_in_dim %arg3, dims = [0] : (tensor<24xi32>) -> tensor<24x1xi32>
    %3 = call @take_along_axis(%1, %2) : (tensor<24x10xf32>, tensor<24x1xi32>) -> tensor<24x1xf32>
    %4 = stablehlo.reshape %3 : (tensor<24x1xf32>) -> tensor<24xf32>
    %5 = stablehlo.negate %4 : tensor<24xf32>
    %6 = stablehlo.multiply %5, %arg4 : tensor<24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<24xf32>, tensor<f32>) -> tensor<f32>
    %8 = stablehlo.convert %arg1 : tensor<f32>
    %9 = stablehlo.add %8, %7 : tensor<f32>
    return %9 : tensor<f32>
  }
  func.func private @log_softmax(%arg0: tensor<24x10xf32>) -> tensor<24x10xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<24x10xf32>, tensor<f32>) -> tensor<24xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<24xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<24xf32>) -> tensor<24x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<24x1xf32>) -> tensor<24x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<24x10xf32>
    %6 = stablehlo.exponential %5 : tensor<24x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<24x10xf32>, tensor<f32>) -> tensor<24xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<24xf32>) -> tensor<24x1xf32>
    %9 = stablehlo.log %8 : tensor<24x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<24x1xf32>) -> tensor<24x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<24x10xf32>
    return %11 : tensor<24x10xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<24x10xf32>, %arg1: tensor<24x1xi32>) -> tensor<24x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<24x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<24x1xi32>, tensor<24x1xi32>) -> tensor<24x1xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<24x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<24x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<24x1xi1>, tensor<24x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<24x1xi32>) -> tensor<24x1x1xi32>
    %c_1 = stablehlo.constant dense<9> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<24x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<24x1x1xi32>, tensor<24x1x1xi32>) -> tensor<24x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<24x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<24x1x1xi32>, tensor<24x1x1xi32>) -> tensor<24x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<24x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<24x1x1xi1>, tensor<i1>) -> tensor<24x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<24x10xf32>, tensor<24x1x1xi32>) -> tensor<24x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<24x1xi1>, tensor<24x1xf32>
    return %15 : tensor<24x1xf32>
  }
  func.func private @closed_call_2(%arg0: tensor<24x10xf32>, %arg1: tensor<24x10xf32>, %arg2: tensor<f32>, %arg3: tensor<24x24xf32>, %arg4: tensor<24xi32>, %arg5: tensor<24xf32>) -> (tensor<24x10xf32>, tensor<f32>, tensor<24x24xf32>) {
    %0:5 = stablehlo.optimization_barrier %arg0, %arg3, %arg4, %arg5, %arg2 : tensor<24x10xf32>, tensor<24x24xf32>, tensor<24xi32>, tensor<24xf32>, tensor<f32>
    %1 = stablehlo.dot_general %0#1, %0#0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<24x24xf32>, tensor<24x10xf32>) -> tensor<24x10xf32>
    %2:2 = call @log_softmax_3(%1) : (tensor<24x10xf32>) -> (tensor<24x10xf32>, tensor<24x1xf32>)
    %3 = stablehlo.broadcast_in_dim %0#2, dims = [0] : (tensor<24xi32>) -> tensor<24x1xi32>
    %4 = call @take_along_axis_4(%3) : (tensor<24x1xi32>) -> tensor<24x1x1xi32>
    %5 = stablehlo.convert %0#4 : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %0#4, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %7 = stablehlo.multiply %6, %0#3 : tensor<24xf32>
    %8 = stablehlo.negate %7 : tensor<24xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<24xf32>) -> tensor<24x1xf32>
    %10 = call @take_along_axis_5(%4, %9) : (tensor<24x1x1xi32>, tensor<24x1xf32>) -> tensor<24x10xf32>
    %11 = call @log_softmax_6(%2#0, %2#1, %10) : (tensor<24x10xf32>, tensor<24x1xf32>, tensor<24x10xf32>) -> tensor<24x10xf32>
    %12 = stablehlo.dot_general %11, %0#1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<24x10xf32>, tensor<24x24xf32>) -> tensor<10x24xf32>
    %13 = stablehlo.transpose %12, dims = [1, 0] : (tensor<10x24xf32>) -> tensor<24x10xf32>
    %14 = stablehlo.dot_general %11, %0#0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<24x10xf32>, tensor<24x10xf32>) -> tensor<24x24xf32>
    %15 = stablehlo.add %arg1, %13 : tensor<24x10xf32>
    return %15, %5, %14 : tensor<24x10xf32>, tensor<f32>, tensor<24x24xf32>
  }
  func.func private @log_softmax_3(%arg0: tensor<24x10xf32>) -> (tensor<24x10xf32>, tensor<24x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<24x10xf32>, tensor<f32>) -> tensor<24xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<24xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<24xf32>) -> tensor<24x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<24x1xf32>) -> tensor<24x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<24x10xf32>
    %6 = stablehlo.exponential %5 : tensor<24x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<24x10xf32>, tensor<f32>) -> tensor<24xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<24xf32>) -> tensor<24x1xf32>
    return %6, %8 : tensor<24x10xf32>, tensor<24x1xf32>
  }
  func.func private @take_along_axis_4(%arg0: tensor<24x1xi32>) -> tensor<24x1x1xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<24x1xi32>
    %1 = stablehlo.compare LT, %arg0, %0, SIGNED : (tensor<24x1xi32>, tensor<24x1xi32>) -> tensor<24x1xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<24x1xi32>
    %3 = stablehlo.add %arg0, %2 : tensor<24x1xi32>
    %4 = stablehlo.select %1, %3, %arg0 : tensor<24x1xi1>, tensor<24x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<24x1xi32>) -> tensor<24x1x1xi32>
    return %5 : tensor<24x1x1xi32>
  }
  func.func private @take_along_axis_5(%arg0: tensor<24x1x1xi32>, %arg1: tensor<24x1xf32>) -> tensor<24x10xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24x10xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<24x10xf32>, tensor<24x1x1xi32>, tensor<24x1xf32>) -> tensor<24x10xf32>
    return %1 : tensor<24x10xf32>
  }
  func.func private @log_softmax_6(%arg0: tensor<24x10xf32>, %arg1: tensor<24x1xf32>, %arg2: tensor<24x10xf32>) -> tensor<24x10xf32> {
    %0 = stablehlo.negate %arg2 : tensor<24x10xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<24x10xf32>, tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.reshape %1 : (tensor<24xf32>) -> tensor<24x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<24x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<24x1xf32>, tensor<f32>) -> tensor<24xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<24xf32>) -> tensor<24x10xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<24x10xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<24x10xf32>
    return %7 : tensor<24x10xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4x24x24xf32>, %arg1: tensor<24x24xf32>, %arg2: tensor<i32>) -> tensor<4x24x24xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<24x24xf32>) -> tensor<1x24x24xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x24x24xf32>, tensor<1x24x24xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x24x24xf32>
    return %1 : tensor<4x24x24xf32>
  }
}
