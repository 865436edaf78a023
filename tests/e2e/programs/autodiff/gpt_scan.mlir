module @jit_flattened attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<17x16xf32>, %arg1: tensor<3x32x16xf32>, %arg2: tensor<3x16xf32>, %arg3: tensor<3x16x16xf32>, %arg4: tensor<3x16x16xf32>, %arg5: tensor<3x16x16xf32>, %arg6: tensor<3x16x32xf32>, %arg7: tensor<3x16x16xf32>, %arg8: tensor<7x16xf32>, %arg9: tensor<2x7xi32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x7xi32>
    %1 = stablehlo.compare LT, %arg9, %0, SIGNED : (tensor<2x7xi32>, tensor<2x7xi32>) -> tensor<2x7xi1>
    %c_0 = stablehlo.constant dense<17> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x7xi32>
    %3 = stablehlo.add %arg9, %2 : tensor<2x7xi32>
    %4 = stablehlo.select %1, %3, %arg9 : tensor<2x7xi1>, tensor<2x7xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x7xi32>) -> tensor<2x7x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<17x16xf32>, tensor<2x7x1xi32>) -> tensor<2x7x16xf32>
    %7 = stablehlo.broadcast_in_dim %arg8, dims = [1, 2] : (tensor<7x16xf32>) -> tensor<1x7x16xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x7x16xf32>) -> tensor<2x7x16xf32>
    %9 = stablehlo.add %6, %8 : tensor<2x7x16xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %10:9 = stablehlo.while(%iterArg = %arg1, %iterArg_3 = %arg2, %iterArg_4 = %arg3, %iterArg_5 = %arg4, %iterArg_6 = %arg5, %iterArg_7 = %arg6, %iterArg_8 = %arg7, %iterArg_9 = %c_1, %iterArg_10 = %9) : tensor<3x32x16xf32>, tensor<3x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x16x32xf32>, tensor<3x16x16xf32>, tensor<i32>, tensor<2x7x16xf32>
    cond {
      %c_11 = stablehlo.constant dense<3> : tensor<i32>
      %21 = stablehlo.compare LT, %iterArg_9, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %21 : tensor<i1>
    } do {
      %21 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_9) : (tensor<3x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %22 = func.call @dynamic_index_in_dim_0(%iterArg_3, %iterArg_9) : (tensor<3x16xf32>, tensor<i32>) -> tensor<16xf32>
      %23 = func.call @dynamic_index_in_dim_1(%iterArg_4, %iterArg_9) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %24 = func.call @dynamic_index_in_dim_1(%iterArg_5, %iterArg_9) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %25 = func.call @dynamic_index_in_dim_1(%iterArg_6, %iterArg_9) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %26 = func.call @dynamic_index_in_dim_2(%iterArg_7, %iterArg_9) : (tensor<3x16x32xf32>, tensor<i32>) -> tensor<16x32xf32>
      %27 = func.call @dynamic_index_in_dim_1(%iterArg_8, %iterArg_9) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %28 = func.call @closed_call(%iterArg_10, %21, %22, %23, %24, %25, %26, %27) : (tensor<2x7x16xf32>, tensor<32x16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x32xf32>, tensor<16x16xf32>) -> tensor<2x7x16xf32>
      %c_11 = stablehlo.constant dense<1> : tensor<i32>
      %29 = stablehlo.add %iterArg_9, %c_11 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %29, %28 : tensor<3x32x16xf32>, tensor<3x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<3x16x32xf32>, tensor<3x16x16xf32>, tensor<i32>, tensor<2x7x16xf32>
    }
    %11 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<17x16xf32>) -> tensor<16x17xf32>
    %12 = stablehlo.dot_general %10#8, %11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x7x16xf32>, tensor<16x17xf32>) -> tensor<2x7x17xf32>
    %13 = stablehlo.slice %12 [0:2, 0:6, 0:17] : (tensor<2x7x17xf32>) -> tensor<2x6x17xf32>
    %14 = stablehlo.slice %arg9 [0:2, 1:7] : (tensor<2x7xi32>) -> tensor<2x6xi32>
    %15 = call @log_softmax(%13) : (tensor<2x6x17xf32>) -> tensor<2x6x17xf32>
    %16 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<2x6xi32>) -> tensor<2x6x1xi32>
    %17 = call @take_along_axis(%15, %16) : (tensor<2x6x17xf32>, tensor<2x6x1xi32>) -> tensor<2x6x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x6x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %19 = stablehlo.divide %18, %cst_2 : tensor<f32>
    %20 = stablehlo.negate %19 : tensor<f32>
    return %20 : tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x32x16xf32>, %arg1: tensor<i32>) -> tensor<32x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 32, 16] : (tensor<3x32x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32x16xf32>) -> tensor<32x16xf32>
    return %1 : tensor<32x16xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<3x16xf32>, %arg1: tensor<i32>) -> tensor<16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 16] : (tensor<3x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16xf32>) -> tensor<16xf32>
    return %1 : tensor<16xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<3x16x16xf32>, %arg1: tensor<i32>) -> tensor<16x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16, 16] : (tensor<3x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<3x16x32xf32>, %arg1: tensor<i32>) -> tensor<16x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16, 32] : (tensor<3x16x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
    return %1 : tensor<16x32xf32>
  }
  func.func private @closed_call(%arg0: tensor<2x7x16xf32>, %arg1: tensor<32x16xf32>, %arg2: tensor<16xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<16x16xf32>, %arg5: tensor<16x16xf32>, %arg6: tensor<16x32xf32>, %arg7: tensor<16x16xf32>) -> tensor<2x7x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x7x16xf32>, tensor<f32>) -> tensor<2x7xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x7xf32>) -> tensor<2x7x1xf32>
    %cst_0 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x7x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x7x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x7x1xf32>) -> tensor<2x7x16xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x7x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = call @_var(%arg0, %c) : (tensor<2x7x16xf32>, tensor<i32>) -> tensor<2x7x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x7x1xf32>
    %8 = stablehlo.add %6, %7 : tensor<2x7x1xf32>
    %9 = stablehlo.rsqrt %8 : tensor<2x7x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x7x1xf32>) -> tensor<2x7x16xf32>
    %11 = stablehlo.multiply %5, %10 : tensor<2x7x16xf32>
    %12 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<2x7x16xf32>
    %14 = stablehlo.multiply %11, %13 : tensor<2x7x16xf32>
    %15 = stablehlo.dot_general %14, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x7x16xf32>, tensor<16x16xf32>) -> tensor<2x7x16xf32>
    %16 = stablehlo.reshape %15 : (tensor<2x7x16xf32>) -> tensor<2x7x4x4xf32>
    %17 = stablehlo.dot_general %14, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x7x16xf32>, tensor<16x16xf32>) -> tensor<2x7x16xf32>
    %18 = stablehlo.reshape %17 : (tensor<2x7x16xf32>) -> tensor<2x7x4x4xf32>
    %19 = stablehlo.dot_general %14, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x7x16xf32>, tensor<16x16xf32>) -> tensor<2x7x16xf32>
    %20 = stablehlo.reshape %19 : (tensor<2x7x16xf32>) -> tensor<2x7x4x4xf32>
    %21 = stablehlo.dot_general %16, %18, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x7x4x4xf32>, tensor<2x7x4x4xf32>) -> tensor<2x4x7x7xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4x7x7xf32>
    %23 = stablehlo.divide %21, %22 : tensor<2x4x7x7xf32>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %24 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i1>) -> tensor<7x7xi1>
    %25 = call @tril(%24) : (tensor<7x7xi1>) -> tensor<7x7xi1>
    %cst_4 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %26 = call @_where_3(%25, %23, %cst_4) : (tensor<7x7xi1>, tensor<2x4x7x7xf32>, tensor<f32>) -> tensor<2x4x7x7xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_5) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x7x7xf32>, tensor<f32>) -> tensor<2x4x7xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x4x7xf32>
    %29 = stablehlo.maximum %28, %27 : tensor<2x4x7xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<2x4x7xf32>) -> tensor<2x4x7x1xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] : (tensor<2x4x7x1xf32>) -> tensor<2x4x7x7xf32>
    %32 = stablehlo.subtract %26, %31 : tensor<2x4x7x7xf32>
    %33 = stablehlo.exponential %32 : tensor<2x4x7x7xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%33 init: %cst_7) applies stablehlo.add across dimensions = [3] : (tensor<2x4x7x7xf32>, tensor<f32>) -> tensor<2x4x7xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2] : (tensor<2x4x7xf32>) -> tensor<2x4x7x1xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] : (tensor<2x4x7x1xf32>) -> tensor<2x4x7x7xf32>
    %37 = stablehlo.divide %33, %36 : tensor<2x4x7x7xf32>
    %38 = stablehlo.dot_general %20, %37, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x7x4x4xf32>, tensor<2x4x7x7xf32>) -> tensor<2x4x4x7xf32>
    %39 = stablehlo.transpose %38, dims = [0, 3, 1, 2] : (tensor<2x4x4x7xf32>) -> tensor<2x7x4x4xf32>
    %40 = stablehlo.reshape %39 : (tensor<2x7x4x4xf32>) -> tensor<2x7x16xf32>
    %41 = stablehlo.dot_general %40, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x7x16xf32>, tensor<16x16xf32>) -> tensor<2x7x16xf32>
    %42 = stablehlo.add %arg0, %41 : tensor<2x7x16xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_8) applies stablehlo.add across dimensions = [2] : (tensor<2x7x16xf32>, tensor<f32>) -> tensor<2x7xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1] : (tensor<2x7xf32>) -> tensor<2x7x1xf32>
    %cst_9 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x7x1xf32>
    %46 = stablehlo.divide %44, %45 : tensor<2x7x1xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<2x7x1xf32>) -> tensor<2x7x16xf32>
    %48 = stablehlo.subtract %42, %47 : tensor<2x7x16xf32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %49 = call @_var(%42, %c_10) : (tensor<2x7x16xf32>, tensor<i32>) -> tensor<2x7x1xf32>
    %cst_11 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x7x1xf32>
    %51 = stablehlo.add %49, %50 : tensor<2x7x1xf32>
    %52 = stablehlo.rsqrt %51 : tensor<2x7x1xf32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2] : (tensor<2x7x1xf32>) -> tensor<2x7x16xf32>
    %54 = stablehlo.multiply %48, %53 : tensor<2x7x16xf32>
    %55 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<2x7x16xf32>
    %57 = stablehlo.multiply %54, %56 : tensor<2x7x16xf32>
    %58 = stablehlo.dot_general %57, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x7x16xf32>, tensor<16x32xf32>) -> tensor<2x7x32xf32>
    %59 = stablehlo.multiply %58, %58 : tensor<2x7x32xf32>
    %60 = stablehlo.multiply %59, %58 : tensor<2x7x32xf32>
    %cst_12 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x7x32xf32>
    %62 = stablehlo.multiply %61, %60 : tensor<2x7x32xf32>
    %63 = stablehlo.add %58, %62 : tensor<2x7x32xf32>
    %cst_13 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x7x32xf32>
    %65 = stablehlo.multiply %64, %63 : tensor<2x7x32xf32>
    %66 = stablehlo.tanh %65 : tensor<2x7x32xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x7x32xf32>
    %68 = stablehlo.add %67, %66 : tensor<2x7x32xf32>
    %cst_15 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<2x7x32xf32>
    %70 = stablehlo.multiply %69, %68 : tensor<2x7x32xf32>
    %71 = stablehlo.multiply %58, %70 : tensor<2x7x32xf32>
    %72 = stablehlo.dot_general %71, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x7x32xf32>, tensor<32x16xf32>) -> tensor<2x7x16xf32>
    %73 = stablehlo.add %42, %72 : tensor<2x7x16xf32>
    return %73 : tensor<2x7x16xf32>
  }
  func.func private @_var(%arg0: tensor<2x7x16xf32>, %arg1: tensor<i32>) -> tensor<2x7x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x7x16xf32>, tensor<f32>) -> tensor<2x7xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x7xf32>) -> tensor<2x7x1xf32>
    %cst_0 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x7x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x7x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x7x1xf32>) -> tensor<2x7x16xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x7x16xf32>
    %6 = chlo.square %5 : tensor<2x7x16xf32> -> tensor<2x7x16xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x7x16xf32>, tensor<f32>) -> tensor<2x7xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x7xf32>) -> tensor<2x7x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<2x7x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<2x7x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = call @_where(%13, %12, %cst_4) : (tensor<i1>, tensor<2x7x1xf32>, tensor<f32>) -> tensor<2x7x1xf32>
    return %14 : tensor<2x7x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<2x7x1xf32>, %arg2: tensor<f32>) -> tensor<2x7x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x7x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<2x7x1xf32>
    return %2 : tensor<2x7x1xf32>
  }
  func.func private @tril(%arg0: tensor<7x7xi1>) -> tensor<7x7xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<7x7xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<7x7xi32>
    %2 = stablehlo.add %0, %1 : tensor<7x7xi32>
    %3 = stablehlo.iota dim = 1 : tensor<7x7xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<7x7xi32>, tensor<7x7xi32>) -> tensor<7x7xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<7x7xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<7x7xi1>, tensor<7x7xi1>
    return %6 : tensor<7x7xi1>
  }
  func.func private @_where_3(%arg0: tensor<7x7xi1>, %arg1: tensor<2x4x7x7xf32>, %arg2: tensor<f32>) -> tensor<2x4x7x7xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<7x7xi1>) -> tensor<2x4x7x7xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x7x7xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x7x7xi1>, tensor<2x4x7x7xf32>
    return %3 : tensor<2x4x7x7xf32>
  }
  func.func private @log_softmax(%arg0: tensor<2x6x17xf32>) -> tensor<2x6x17xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<2x6x17xf32>, tensor<f32>) -> tensor<2x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<2x6xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x17xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x6x17xf32>
    %6 = stablehlo.exponential %5 : tensor<2x6x17xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x6x17xf32>, tensor<f32>) -> tensor<2x6xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %9 = stablehlo.log %8 : tensor<2x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x17xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<2x6x17xf32>
    return %11 : tensor<2x6x17xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<2x6x17xf32>, %arg1: tensor<2x6x1xi32>) -> tensor<2x6x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x6x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<2x6x1xi32>, tensor<2x6x1xi32>) -> tensor<2x6x1xi1>
    %c_0 = stablehlo.constant dense<17> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x6x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<2x6x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<2x6x1xi1>, tensor<2x6x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<2x6x1xi32>) -> tensor<2x6x1x1xi32>
    %c_1 = stablehlo.constant dense<16> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2x6x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<2x6x1x1xi32>, tensor<2x6x1x1xi32>) -> tensor<2x6x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<2x6x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<2x6x1x1xi32>, tensor<2x6x1x1xi32>) -> tensor<2x6x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<2x6x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<2x6x1x1xi1>, tensor<i1>) -> tensor<2x6x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x6x17xf32>, tensor<2x6x1x1xi32>) -> tensor<2x6x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<2x6x1xi1>, tensor<2x6x1xf32>
    return %15 : tensor<2x6x1xf32>
  }
}
