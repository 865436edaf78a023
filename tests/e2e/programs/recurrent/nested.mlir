module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<3x24xf32>, %arg2: tensor<3x8x24xf32>, %arg3: tensor<3x8x24xf32>, %arg4: tensor<8x8xf32>, %arg5: tensor<3x24xf32>, %arg6: tensor<3x8x24xf32>, %arg7: tensor<3x8x24xf32>, %arg8: tensor<8x16x8xf32>, %arg9: tensor<8x16x8xf32>) -> (tensor<8x8xf32> {jax.result_info = "result[0]['head']"}, tensor<3x24xf32> {jax.result_info = "result[0]['layers']['b']"}, tensor<3x8x24xf32> {jax.result_info = "result[0]['layers']['h']"}, tensor<3x8x24xf32> {jax.result_info = "result[0]['layers']['i']"}, tensor<8x8xf32> {jax.result_info = "result[1]['head']"}, tensor<3x24xf32> {jax.result_info = "result[1]['layers']['b']"}, tensor<3x8x24xf32> {jax.result_info = "result[1]['layers']['h']"}, tensor<3x8x24xf32> {jax.result_info = "result[1]['layers']['i']"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.transpose %arg8, dims = [1, 0, 2] : (tensor<8x16x8xf32>) -> tensor<16x8x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x16x8x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x16x8x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3x16x8x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<3x16x8x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x16x8x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<3x16x8x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3x16x8x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<3x16x8x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<3x16x8x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<3x16x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %12:16 = stablehlo.while(%iterArg = %arg1, %iterArg_28 = %arg2, %iterArg_29 = %arg3, %iterArg_30 = %1, %iterArg_31 = %c, %iterArg_32 = %0, %iterArg_33 = %2, %iterArg_34 = %3, %iterArg_35 = %4, %iterArg_36 = %5, %iterArg_37 = %6, %iterArg_38 = %7, %iterArg_39 = %8, %iterArg_40 = %9, %iterArg_41 = %10, %iterArg_42 = %11) : tensor<3x24xf32>, tensor<3x8x24xf32>, tensor<3x8x24xf32>, tensor<8x8xf32>, tensor<i32>, tensor<16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>
    cond {
      %c_43 = stablehlo.constant dense<3> : tensor<i32>
      %56 = stablehlo.compare LT, %iterArg_31, %c_43, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %56 : tensor<i1>
    } do {
      %56 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_31) : (tensor<3x24xf32>, tensor<i32>) -> tensor<24xf32>
      %57 = func.call @dynamic_index_in_dim_0(%iterArg_28, %iterArg_31) : (tensor<3x8x24xf32>, tensor<i32>) -> tensor<8x24xf32>
      %58 = func.call @dynamic_index_in_dim_0(%iterArg_29, %iterArg_31) : (tensor<3x8x24xf32>, tensor<i32>) -> tensor<8x24xf32>
      %59:11 = func.call @closed_call(%iterArg_30, %iterArg_32, %56, %57, %58) : (tensor<8x8xf32>, tensor<16x8x8xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8x24xf32>) -> (tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>)
      %60 = func.call @dynamic_update_index_in_dim_3(%iterArg_33, %59#1, %iterArg_31) : (tensor<3x16x8x8xf32>, tensor<16x8x8xf32>, tensor<i32>) -> tensor<3x16x8x8xf32>
      %61 = func.call @dynamic_update_index_in_dim_3(%iterArg_34, %59#2, %iterArg_31) : (tensor<3x16x8x8xf32>, tensor<16x8x8xf32>, tensor<i32>) -> tensor<3x16x8x8xf32>
      %62 = func.call @dynamic_update_index_in_dim_3(%iterArg_35, %59#3, %iterArg_31) : (tensor<3x16x8x8xf32>, tensor<16x8x8xf32>, tensor<i32>) -> tensor<3x16x8x8xf32>
      %63 = func.call @dynamic_update_index_in_dim_3(%iterArg_36, %59#4, %iterArg_31) : (tensor<3x16x8x8xf32>, tensor<16x8x8xf32>, tensor<i32>) -> tensor<3x16x8x8xf32>
      %64 = func.call @dynamic_update_index_in_dim_3(%iterArg_37, %59#5, %iterArg_31) : (tensor<3x16x8x8xf32>, tensor<16x8x8xf32>, tensor<i32>) -> tensor<3x16x8x8xf32>
      %65 = func.call @dynamic_update_index_in_dim_3(%iterArg_38, %59#6, %iterArg_31) : (tensor<3x16x8x8xf32>, tensor<16x8x8xf32>, tensor<i32>) -> tensor<3x16x8x8xf32>
      %66 = func.call @dynamic_update_index_in_dim_3(%iterArg_39, %59#7, %iterArg_31) : (tensor<3x16x8x8xf32>, tensor<16x8x8xf32>, tensor<i32>) -> tensor<3x16x8x8xf32>
      %67 = func.call @dynamic_update_index_in_dim_3(%iterArg_40, %59#8, %iterArg_31) : (tensor<3x16x8x8xf32>, tensor<16x8x8xf32>, tensor<i32>) -> tensor<3x16x8x8xf32>
      %68 = func.call @dynamic_update_index_in_dim_3(%iterArg_41, %59#9, %iterArg_31) : (tensor<3x16x8x8xf32>, tensor<16x8x8xf32>, tensor<i32>) -> tensor<3x16x8x8xf32>
      %69 = func.call @dynamic_update_index_in_dim_3(%iterArg_42, %59#10, %iterArg_31) : (tensor<3x16x8x8xf32>, tensor<16x8x8xf32>, tensor<i32>) -> tensor<3x16x8x8xf32>
      %c_43 = stablehlo.constant dense<1> : tensor<i32>
      %70 = stablehlo.add %iterArg_31, %c_43 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_28, %iterArg_29, %iterArg_30, %70, %59#0, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69 : tensor<3x24xf32>, tensor<3x8x24xf32>, tensor<3x8x24xf32>, tensor<8x8xf32>, tensor<i32>, tensor<16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>
    }
    %13 = stablehlo.dot_general %12#5, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8x8xf32>, tensor<8x8xf32>) -> tensor<16x8x8xf32>
    %14 = stablehlo.transpose %arg9, dims = [1, 0, 2] : (tensor<8x16x8xf32>) -> tensor<16x8x8xf32>
    %15 = stablehlo.subtract %13, %14 : tensor<16x8x8xf32>
    %16 = stablehlo.multiply %15, %15 : tensor<16x8x8xf32>
    %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %18 = stablehlo.multiply %17, %15 : tensor<16x8x8xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%16 init: %cst_11) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<16x8x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_12 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %20 = stablehlo.divide %19, %cst_12 : tensor<f32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_15 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %22 = stablehlo.divide %cst_14, %cst_15 : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %24 = stablehlo.multiply %23, %18 : tensor<16x8x8xf32>
    %25 = stablehlo.dot_general %24, %12#5, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x8x8xf32>, tensor<16x8x8xf32>) -> tensor<8x8xf32>
    %26 = stablehlo.transpose %25, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %27 = stablehlo.dot_general %24, %arg0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x8x8xf32>, tensor<8x8xf32>) -> tensor<16x8x8xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<3x24xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<3x8x24xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<3x8x24xf32>
    %c_19 = stablehlo.constant dense<0> : tensor<i32>
    %31:17 = stablehlo.while(%iterArg = %arg3, %iterArg_28 = %arg2, %iterArg_29 = %12#6, %iterArg_30 = %12#7, %iterArg_31 = %12#8, %iterArg_32 = %12#9, %iterArg_33 = %12#10, %iterArg_34 = %12#11, %iterArg_35 = %12#12, %iterArg_36 = %12#13, %iterArg_37 = %12#14, %iterArg_38 = %12#15, %iterArg_39 = %c_19, %iterArg_40 = %27, %iterArg_41 = %28, %iterArg_42 = %29, %iterArg_43 = %30) : tensor<3x8x24xf32>, tensor<3x8x24xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<i32>, tensor<16x8x8xf32>, tensor<3x24xf32>, tensor<3x8x24xf32>, tensor<3x8x24xf32>
    cond {
      %c_44 = stablehlo.constant dense<3> : tensor<i32>
      %56 = stablehlo.compare LT, %iterArg_39, %c_44, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %56 : tensor<i1>
    } do {
      %c_44 = stablehlo.constant dense<3> : tensor<i32>
      %56 = stablehlo.subtract %c_44, %iterArg_39 : tensor<i32>
      %c_45 = stablehlo.constant dense<1> : tensor<i32>
      %57 = stablehlo.subtract %56, %c_45 : tensor<i32>
      %58 = func.call @dynamic_index_in_dim_0(%iterArg, %57) : (tensor<3x8x24xf32>, tensor<i32>) -> tensor<8x24xf32>
      %59 = func.call @dynamic_index_in_dim_0(%iterArg_28, %57) : (tensor<3x8x24xf32>, tensor<i32>) -> tensor<8x24xf32>
      %60 = func.call @dynamic_index_in_dim_4(%iterArg_29, %57) : (tensor<3x16x8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %61 = func.call @dynamic_index_in_dim_4(%iterArg_30, %57) : (tensor<3x16x8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %62 = func.call @dynamic_index_in_dim_4(%iterArg_31, %57) : (tensor<3x16x8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %63 = func.call @dynamic_index_in_dim_4(%iterArg_32, %57) : (tensor<3x16x8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %64 = func.call @dynamic_index_in_dim_4(%iterArg_33, %57) : (tensor<3x16x8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %65 = func.call @dynamic_index_in_dim_4(%iterArg_34, %57) : (tensor<3x16x8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %66 = func.call @dynamic_index_in_dim_4(%iterArg_35, %57) : (tensor<3x16x8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %67 = func.call @dynamic_index_in_dim_4(%iterArg_36, %57) : (tensor<3x16x8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %68 = func.call @dynamic_index_in_dim_4(%iterArg_37, %57) : (tensor<3x16x8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %69 = func.call @dynamic_index_in_dim_4(%iterArg_38, %57) : (tensor<3x16x8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %70:4 = func.call @closed_call_5(%iterArg_40, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69) : (tensor<16x8x8xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>) -> (tensor<16x8x8xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8x24xf32>)
      %71 = func.call @dynamic_update_index_in_dim_7(%iterArg_41, %70#1, %57) : (tensor<3x24xf32>, tensor<24xf32>, tensor<i32>) -> tensor<3x24xf32>
      %72 = func.call @dynamic_update_index_in_dim_8(%iterArg_42, %70#2, %57) : (tensor<3x8x24xf32>, tensor<8x24xf32>, tensor<i32>) -> tensor<3x8x24xf32>
      %73 = func.call @dynamic_update_index_in_dim_8(%iterArg_43, %70#3, %57) : (tensor<3x8x24xf32>, tensor<8x24xf32>, tensor<i32>) -> tensor<3x8x24xf32>
      %c_46 = stablehlo.constant dense<1> : tensor<i32>
      %74 = stablehlo.add %iterArg_39, %c_46 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_28, %iterArg_29, %iterArg_30, %iterArg_31, %iterArg_32, %iterArg_33, %iterArg_34, %iterArg_35, %iterArg_36, %iterArg_37, %iterArg_38, %74, %70#0, %71, %72, %73 : tensor<3x8x24xf32>, tensor<3x8x24xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<3x16x8x8xf32>, tensor<i32>, tensor<16x8x8xf32>, tensor<3x24xf32>, tensor<3x8x24xf32>, tensor<3x8x24xf32>
    }
    %cst_20 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %33 = stablehlo.multiply %32, %arg4 : tensor<8x8xf32>
    %34 = stablehlo.add %33, %26 : tensor<8x8xf32>
    %cst_21 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<3x24xf32>
    %36 = stablehlo.multiply %35, %arg5 : tensor<3x24xf32>
    %37 = stablehlo.add %36, %31#14 : tensor<3x24xf32>
    %cst_22 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<3x8x24xf32>
    %39 = stablehlo.multiply %38, %arg6 : tensor<3x8x24xf32>
    %40 = stablehlo.add %39, %31#15 : tensor<3x8x24xf32>
    %cst_23 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<3x8x24xf32>
    %42 = stablehlo.multiply %41, %arg7 : tensor<3x8x24xf32>
    %43 = stablehlo.add %42, %31#16 : tensor<3x8x24xf32>
    %cst_24 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %45 = stablehlo.multiply %44, %34 : tensor<8x8xf32>
    %46 = stablehlo.subtract %arg0, %45 : tensor<8x8xf32>
    %cst_25 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<3x24xf32>
    %48 = stablehlo.multiply %47, %37 : tensor<3x24xf32>
    %49 = stablehlo.subtract %arg1, %48 : tensor<3x24xf32>
    %cst_26 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<3x8x24xf32>
    %51 = stablehlo.multiply %50, %40 : tensor<3x8x24xf32>
    %52 = stablehlo.subtract %arg2, %51 : tensor<3x8x24xf32>
    %cst_27 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<3x8x24xf32>
    %54 = stablehlo.multiply %53, %43 : tensor<3x8x24xf32>
    %55 = stablehlo.subtract %arg3, %54 : tensor<3x8x24xf32>
    return %46, %49, %52, %55, %34, %37, %40, %43, %20 : tensor<8x8xf32>, tensor<3x24xf32>, tensor<3x8x24xf32>, tensor<3x8x24xf32>, tensor<8x8xf32>, tensor<3x24xf32>, tensor<3x8x24xf32>, tensor<3x8x24xf32>, tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x24xf32>, %arg1: tensor<i32>) -> tensor<24xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 24] : (tensor<3x24xf32>, tensor<i32>, tensor<i32>) -> tensor<1x24xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x24xf32>) -> tensor<24xf32>
    return %1 : tensor<24xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<3x8x24xf32>, %arg1: tensor<i32>) -> tensor<8x24xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 24] : (tensor<3x8x24xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x24xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x24xf32>) -> tensor<8x24xf32>
    return %1 : tensor<8x24xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x8xf32>, %arg1: tensor<16x8x8xf32>, %arg2: tensor<24xf32>, %arg3: tensor<8x24xf32>, %arg4: tensor<8x24xf32>) -> (tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %11:16 = stablehlo.while(%iterArg = %arg1, %iterArg_9 = %arg4, %iterArg_10 = %arg3, %iterArg_11 = %0, %iterArg_12 = %c, %iterArg_13 = %arg0, %iterArg_14 = %1, %iterArg_15 = %2, %iterArg_16 = %3, %iterArg_17 = %4, %iterArg_18 = %5, %iterArg_19 = %6, %iterArg_20 = %7, %iterArg_21 = %8, %iterArg_22 = %9, %iterArg_23 = %10) : tensor<16x8x8xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<1x24xf32>, tensor<i32>, tensor<8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>
    cond {
      %c_24 = stablehlo.constant dense<16> : tensor<i32>
      %12 = stablehlo.compare LT, %iterArg_12, %c_24, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %12 : tensor<i1>
    } do {
      %12 = func.call @dynamic_index_in_dim_1(%iterArg, %iterArg_12) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %13:11 = func.call @closed_call_2(%iterArg_9, %iterArg_10, %iterArg_11, %iterArg_13, %12) : (tensor<8x24xf32>, tensor<8x24xf32>, tensor<1x24xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
      %14 = func.call @dynamic_update_index_in_dim(%iterArg_14, %13#1, %iterArg_12) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %15 = func.call @dynamic_update_index_in_dim(%iterArg_15, %13#2, %iterArg_12) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %16 = func.call @dynamic_update_index_in_dim(%iterArg_16, %13#3, %iterArg_12) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %17 = func.call @dynamic_update_index_in_dim(%iterArg_17, %13#4, %iterArg_12) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %18 = func.call @dynamic_update_index_in_dim(%iterArg_18, %13#5, %iterArg_12) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %19 = func.call @dynamic_update_index_in_dim(%iterArg_19, %13#6, %iterArg_12) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %20 = func.call @dynamic_update_index_in_dim(%iterArg_20, %13#7, %iterArg_12) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %21 = func.call @dynamic_update_index_in_dim(%iterArg_21, %13#8, %iterArg_12) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %22 = func.call @dynamic_update_index_in_dim(%iterArg_22, %13#9, %iterArg_12) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %23 = func.call @dynamic_update_index_in_dim(%iterArg_23, %13#10, %iterArg_12) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %c_24 = stablehlo.constant dense<1> : tensor<i32>
      %24 = stablehlo.add %iterArg_12, %c_24 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_9, %iterArg_10, %iterArg_11, %24, %13#0, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23 : tensor<16x8x8xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<1x24xf32>, tensor<i32>, tensor<8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>
    }
    return %11#6, %arg1, %11#7, %11#8, %11#9, %11#10, %11#11, %11#12, %11#13, %11#14, %11#15 : tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<16x8x8xf32>, %arg1: tensor<i32>) -> tensor<8x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 8] : (tensor<16x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
  func.func private @closed_call_2(%arg0: tensor<8x24xf32>, %arg1: tensor<8x24xf32>, %arg2: tensor<1x24xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = stablehlo.dot_general %arg4, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x24xf32>) -> tensor<8x24xf32>
    %1 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x24xf32>) -> tensor<8x24xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<1x24xf32>) -> tensor<8x24xf32>
    %3 = stablehlo.add %1, %2 : tensor<8x24xf32>
    %4 = stablehlo.slice %0 [0:8, 0:8] : (tensor<8x24xf32>) -> tensor<8x8xf32>
    %5 = stablehlo.slice %0 [0:8, 8:16] : (tensor<8x24xf32>) -> tensor<8x8xf32>
    %6 = stablehlo.slice %0 [0:8, 16:24] : (tensor<8x24xf32>) -> tensor<8x8xf32>
    %7 = stablehlo.slice %3 [0:8, 0:8] : (tensor<8x24xf32>) -> tensor<8x8xf32>
    %8 = stablehlo.slice %3 [0:8, 8:16] : (tensor<8x24xf32>) -> tensor<8x8xf32>
    %9 = stablehlo.slice %3 [0:8, 16:24] : (tensor<8x24xf32>) -> tensor<8x8xf32>
    %10 = stablehlo.add %4, %7 : tensor<8x8xf32>
    %11 = stablehlo.negate %10 : tensor<8x8xf32>
    %12 = stablehlo.exponential %11 : tensor<8x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %14 = stablehlo.add %13, %12 : tensor<8x8xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %16 = stablehlo.divide %15, %14 : tensor<8x8xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %18 = stablehlo.subtract %17, %16 : tensor<8x8xf32>
    %19 = stablehlo.multiply %16, %18 : tensor<8x8xf32>
    %20 = stablehlo.add %5, %8 : tensor<8x8xf32>
    %21 = stablehlo.negate %20 : tensor<8x8xf32>
    %22 = stablehlo.exponential %21 : tensor<8x8xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %24 = stablehlo.add %23, %22 : tensor<8x8xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %26 = stablehlo.divide %25, %24 : tensor<8x8xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %28 = stablehlo.subtract %27, %26 : tensor<8x8xf32>
    %29 = stablehlo.multiply %26, %28 : tensor<8x8xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %31 = stablehlo.subtract %30, %26 : tensor<8x8xf32>
    %32 = stablehlo.multiply %16, %9 : tensor<8x8xf32>
    %33 = stablehlo.add %6, %32 : tensor<8x8xf32>
    %34 = stablehlo.tanh %33 : tensor<8x8xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %36 = stablehlo.subtract %35, %34 : tensor<8x8xf32>
    %37 = stablehlo.multiply %31, %34 : tensor<8x8xf32>
    %38 = stablehlo.multiply %26, %arg3 : tensor<8x8xf32>
    %39 = stablehlo.add %37, %38 : tensor<8x8xf32>
    return %39, %39, %arg3, %19, %29, %9, %16, %34, %36, %31, %26 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<16x8x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<i32>) -> tensor<16x8x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<16x8x8xf32>, tensor<1x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<16x8x8xf32>
    return %1 : tensor<16x8x8xf32>
  }
  func.func private @dynamic_update_index_in_dim_3(%arg0: tensor<3x16x8x8xf32>, %arg1: tensor<16x8x8xf32>, %arg2: tensor<i32>) -> tensor<3x16x8x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<16x8x8xf32>) -> tensor<1x16x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<3x16x8x8xf32>, tensor<1x16x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x8x8xf32>
    return %1 : tensor<3x16x8x8xf32>
  }
  func.func private @dynamic_index_in_dim_4(%arg0: tensor<3x16x8x8xf32>, %arg1: tensor<i32>) -> tensor<16x8x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 16, 8, 8] : (tensor<3x16x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x8x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x8x8xf32>) -> tensor<16x8x8xf32>
    return %1 : tensor<16x8x8xf32>
  }
  func.func private @closed_call_5(%arg0: tensor<16x8x8xf32>, %arg1: tensor<8x24xf32>, %arg2: tensor<8x24xf32>, %arg3: tensor<16x8x8xf32>, %arg4: tensor<16x8x8xf32>, %arg5: tensor<16x8x8xf32>, %arg6: tensor<16x8x8xf32>, %arg7: tensor<16x8x8xf32>, %arg8: tensor<16x8x8xf32>, %arg9: tensor<16x8x8xf32>, %arg10: tensor<16x8x8xf32>, %arg11: tensor<16x8x8xf32>, %arg12: tensor<16x8x8xf32>) -> (tensor<16x8x8xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8x24xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6:19 = stablehlo.while(%iterArg = %arg0, %iterArg_5 = %arg3, %iterArg_6 = %arg4, %iterArg_7 = %arg5, %iterArg_8 = %arg6, %iterArg_9 = %arg7, %iterArg_10 = %arg8, %iterArg_11 = %arg9, %iterArg_12 = %arg10, %iterArg_13 = %arg11, %iterArg_14 = %arg12, %iterArg_15 = %arg1, %iterArg_16 = %arg2, %iterArg_17 = %c, %iterArg_18 = %2, %iterArg_19 = %3, %iterArg_20 = %4, %iterArg_21 = %1, %iterArg_22 = %5) : tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<i32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<16x8x8xf32>
    cond {
      %c_23 = stablehlo.constant dense<16> : tensor<i32>
      %7 = stablehlo.compare LT, %iterArg_17, %c_23, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %c_23 = stablehlo.constant dense<16> : tensor<i32>
      %7 = stablehlo.subtract %c_23, %iterArg_17 : tensor<i32>
      %c_24 = stablehlo.constant dense<1> : tensor<i32>
      %8 = stablehlo.subtract %7, %c_24 : tensor<i32>
      %9 = func.call @dynamic_index_in_dim_1(%iterArg, %8) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %10 = func.call @dynamic_index_in_dim_1(%iterArg_5, %8) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %11 = func.call @dynamic_index_in_dim_1(%iterArg_6, %8) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %12 = func.call @dynamic_index_in_dim_1(%iterArg_7, %8) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %13 = func.call @dynamic_index_in_dim_1(%iterArg_8, %8) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %14 = func.call @dynamic_index_in_dim_1(%iterArg_9, %8) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %15 = func.call @dynamic_index_in_dim_1(%iterArg_10, %8) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %16 = func.call @dynamic_index_in_dim_1(%iterArg_11, %8) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %17 = func.call @dynamic_index_in_dim_1(%iterArg_12, %8) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %18 = func.call @dynamic_index_in_dim_1(%iterArg_13, %8) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %19 = func.call @dynamic_index_in_dim_1(%iterArg_14, %8) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %20:5 = func.call @closed_call_6(%iterArg_15, %iterArg_16, %iterArg_18, %iterArg_19, %iterArg_20, %iterArg_21, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19) : (tensor<8x24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
      %21 = func.call @dynamic_update_index_in_dim(%iterArg_22, %20#4, %8) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %c_25 = stablehlo.constant dense<1> : tensor<i32>
      %22 = stablehlo.add %iterArg_17, %c_25 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11, %iterArg_12, %iterArg_13, %iterArg_14, %iterArg_15, %iterArg_16, %22, %20#0, %20#1, %20#2, %20#3, %21 : tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<i32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<16x8x8xf32>
    }
    return %6#18, %6#16, %6#15, %6#14 : tensor<16x8x8xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8x24xf32>
  }
  func.func private @closed_call_6(%arg0: tensor<8x24xf32>, %arg1: tensor<8x24xf32>, %arg2: tensor<8x24xf32>, %arg3: tensor<8x24xf32>, %arg4: tensor<24xf32>, %arg5: tensor<8x8xf32>, %arg6: tensor<8x8xf32>, %arg7: tensor<8x8xf32>, %arg8: tensor<8x8xf32>, %arg9: tensor<8x8xf32>, %arg10: tensor<8x8xf32>, %arg11: tensor<8x8xf32>, %arg12: tensor<8x8xf32>, %arg13: tensor<8x8xf32>, %arg14: tensor<8x8xf32>, %arg15: tensor<8x8xf32>, %arg16: tensor<8x8xf32>) -> (tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = stablehlo.add %arg5, %arg6 : tensor<8x8xf32>
    %1 = stablehlo.multiply %arg16, %0 : tensor<8x8xf32>
    %2 = stablehlo.multiply %0, %arg8 : tensor<8x8xf32>
    %3 = stablehlo.multiply %arg15, %0 : tensor<8x8xf32>
    %4 = stablehlo.multiply %0, %arg13 : tensor<8x8xf32>
    %5 = stablehlo.multiply %3, %arg14 : tensor<8x8xf32>
    %6 = stablehlo.multiply %5, %arg13 : tensor<8x8xf32>
    %7 = stablehlo.add %5, %6 : tensor<8x8xf32>
    %8 = stablehlo.multiply %arg12, %7 : tensor<8x8xf32>
    %9 = stablehlo.multiply %7, %arg11 : tensor<8x8xf32>
    %10 = stablehlo.negate %4 : tensor<8x8xf32>
    %11 = stablehlo.add %2, %10 : tensor<8x8xf32>
    %12 = stablehlo.multiply %11, %arg10 : tensor<8x8xf32>
    %13 = stablehlo.multiply %9, %arg9 : tensor<8x8xf32>
    %14 = stablehlo.concatenate %13, %12, %8, dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x24xf32>
    %15 = stablehlo.concatenate %13, %12, %7, dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%14 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x24xf32>, tensor<f32>) -> tensor<24xf32>
    %17 = stablehlo.reshape %16 : (tensor<24xf32>) -> tensor<1x24xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1x24xf32>, tensor<f32>) -> tensor<24xf32>
    %19 = stablehlo.add %arg4, %18 : tensor<24xf32>
    %20 = stablehlo.dot_general %14, %arg8, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x24xf32>, tensor<8x8xf32>) -> tensor<24x8xf32>
    %21 = stablehlo.transpose %20, dims = [1, 0] : (tensor<24x8xf32>) -> tensor<8x24xf32>
    %22 = stablehlo.add %arg3, %21 : tensor<8x24xf32>
    %23 = stablehlo.dot_general %14, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x24xf32>, tensor<8x24xf32>) -> tensor<8x8xf32>
    %24 = stablehlo.add %1, %23 : tensor<8x8xf32>
    %25 = stablehlo.dot_general %15, %arg7, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x24xf32>, tensor<8x8xf32>) -> tensor<24x8xf32>
    %26 = stablehlo.transpose %25, dims = [1, 0] : (tensor<24x8xf32>) -> tensor<8x24xf32>
    %27 = stablehlo.add %arg2, %26 : tensor<8x24xf32>
    %28 = stablehlo.dot_general %15, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x24xf32>, tensor<8x24xf32>) -> tensor<8x8xf32>
    return %27, %22, %19, %24, %28 : tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  func.func private @dynamic_update_index_in_dim_7(%arg0: tensor<3x24xf32>, %arg1: tensor<24xf32>, %arg2: tensor<i32>) -> tensor<3x24xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<3x24xf32>, tensor<1x24xf32>, tensor<i32>, tensor<i32>) -> tensor<3x24xf32>
    return %1 : tensor<3x24xf32>
  }
  func.func private @dynamic_update_index_in_dim_8(%arg0: tensor<3x8x24xf32>, %arg1: tensor<8x24xf32>, %arg2: tensor<i32>) -> tensor<3x8x24xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x24xf32>) -> tensor<1x8x24xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<3x8x24xf32>, tensor<1x8x24xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x8x24xf32>
    return %1 : tensor<3x8x24xf32>
  }
}
