module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<24xf32>, %arg1: tensor<8x24xf32>, %arg2: tensor<8x24xf32>, %arg3: tensor<24xf32>, %arg4: tensor<8x24xf32>, %arg5: tensor<8x24xf32>, %arg6: tensor<8x8xf32>, %arg7: tensor<24xf32>, %arg8: tensor<8x24xf32>, %arg9: tensor<8x24xf32>, %arg10: tensor<24xf32>, %arg11: tensor<8x24xf32>, %arg12: tensor<8x24xf32>, %arg13: tensor<8x8xf32>, %arg14: tensor<8x16x8xf32>, %arg15: tensor<8x16x8xf32>) -> (tensor<24xf32> {jax.result_info = "result[0]['a']['b']"}, tensor<8x24xf32> {jax.result_info = "result[0]['a']['h']"}, tensor<8x24xf32> {jax.result_info = "result[0]['a']['i']"}, tensor<24xf32> {jax.result_info = "result[0]['b']['b']"}, tensor<8x24xf32> {jax.result_info = "result[0]['b']['h']"}, tensor<8x24xf32> {jax.result_info = "result[0]['b']['i']"}, tensor<8x8xf32> {jax.result_info = "result[0]['head']"}, tensor<24xf32> {jax.result_info = "result[1]['a']['b']"}, tensor<8x24xf32> {jax.result_info = "result[1]['a']['h']"}, tensor<8x24xf32> {jax.result_info = "result[1]['a']['i']"}, tensor<24xf32> {jax.result_info = "result[1]['b']['b']"}, tensor<8x24xf32> {jax.result_info = "result[1]['b']['h']"}, tensor<8x24xf32> {jax.result_info = "result[1]['b']['i']"}, tensor<8x8xf32> {jax.result_info = "result[1]['head']"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %1 = stablehlo.transpose %arg14, dims = [1, 0, 2] : (tensor<8x16x8xf32>) -> tensor<16x8x8xf32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
    %3 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %24:30 = stablehlo.while(%iterArg = %1, %iterArg_50 = %arg2, %iterArg_51 = %arg1, %iterArg_52 = %2, %iterArg_53 = %arg5, %iterArg_54 = %arg4, %iterArg_55 = %3, %iterArg_56 = %c, %iterArg_57 = %0, %iterArg_58 = %0, %iterArg_59 = %4, %iterArg_60 = %5, %iterArg_61 = %6, %iterArg_62 = %7, %iterArg_63 = %8, %iterArg_64 = %9, %iterArg_65 = %10, %iterArg_66 = %11, %iterArg_67 = %12, %iterArg_68 = %13, %iterArg_69 = %14, %iterArg_70 = %15, %iterArg_71 = %16, %iterArg_72 = %17, %iterArg_73 = %18, %iterArg_74 = %19, %iterArg_75 = %20, %iterArg_76 = %21, %iterArg_77 = %22, %iterArg_78 = %23) : tensor<16x8x8xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<1x24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<1x24xf32>, tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>
    cond {
      %c_79 = stablehlo.constant dense<16> : tensor<i32>
      %92 = stablehlo.compare LT, %iterArg_56, %c_79, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %92 : tensor<i1>
    } do {
      %92 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_56) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %93:22 = func.call @closed_call(%iterArg_50, %iterArg_51, %iterArg_52, %iterArg_53, %iterArg_54, %iterArg_55, %iterArg_57, %iterArg_58, %92) : (tensor<8x24xf32>, tensor<8x24xf32>, tensor<1x24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<1x24xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
      %94 = func.call @dynamic_update_index_in_dim(%iterArg_59, %93#2, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %95 = func.call @dynamic_update_index_in_dim(%iterArg_60, %93#3, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %96 = func.call @dynamic_update_index_in_dim(%iterArg_61, %93#4, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %97 = func.call @dynamic_update_index_in_dim(%iterArg_62, %93#5, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %98 = func.call @dynamic_update_index_in_dim(%iterArg_63, %93#6, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %99 = func.call @dynamic_update_index_in_dim(%iterArg_64, %93#7, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %100 = func.call @dynamic_update_index_in_dim(%iterArg_65, %93#8, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %101 = func.call @dynamic_update_index_in_dim(%iterArg_66, %93#9, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %102 = func.call @dynamic_update_index_in_dim(%iterArg_67, %93#10, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %103 = func.call @dynamic_update_index_in_dim(%iterArg_68, %93#11, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %104 = func.call @dynamic_update_index_in_dim(%iterArg_69, %93#12, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %105 = func.call @dynamic_update_index_in_dim(%iterArg_70, %93#13, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %106 = func.call @dynamic_update_index_in_dim(%iterArg_71, %93#14, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %107 = func.call @dynamic_update_index_in_dim(%iterArg_72, %93#15, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %108 = func.call @dynamic_update_index_in_dim(%iterArg_73, %93#16, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %109 = func.call @dynamic_update_index_in_dim(%iterArg_74, %93#17, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %110 = func.call @dynamic_update_index_in_dim(%iterArg_75, %93#18, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %111 = func.call @dynamic_update_index_in_dim(%iterArg_76, %93#19, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %112 = func.call @dynamic_update_index_in_dim(%iterArg_77, %93#20, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %113 = func.call @dynamic_update_index_in_dim(%iterArg_78, %93#21, %iterArg_56) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %c_79 = stablehlo.constant dense<1> : tensor<i32>
      %114 = stablehlo.add %iterArg_56, %c_79 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_50, %iterArg_51, %iterArg_52, %iterArg_53, %iterArg_54, %iterArg_55, %114, %93#0, %93#1, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113 : tensor<16x8x8xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<1x24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<1x24xf32>, tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>
    }
    %25 = stablehlo.dot_general %24#10, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8x8xf32>, tensor<8x8xf32>) -> tensor<16x8x8xf32>
    %26 = stablehlo.transpose %arg15, dims = [1, 0, 2] : (tensor<8x16x8xf32>) -> tensor<16x8x8xf32>
    %27 = stablehlo.subtract %25, %26 : tensor<16x8x8xf32>
    %28 = stablehlo.multiply %27, %27 : tensor<16x8x8xf32>
    %cst_20 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %30 = stablehlo.multiply %29, %27 : tensor<16x8x8xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%28 init: %cst_21) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<16x8x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_22 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %32 = stablehlo.divide %31, %cst_22 : tensor<f32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_25 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_26 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %35 = stablehlo.divide %cst_25, %cst_26 : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %37 = stablehlo.multiply %36, %30 : tensor<16x8x8xf32>
    %38 = stablehlo.dot_general %37, %24#10, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x8x8xf32>, tensor<16x8x8xf32>) -> tensor<8x8xf32>
    %39 = stablehlo.transpose %38, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %40 = stablehlo.dot_general %37, %arg6, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x8x8xf32>, tensor<8x8xf32>) -> tensor<16x8x8xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %c_35 = stablehlo.constant dense<0> : tensor<i32>
    %49:33 = stablehlo.while(%iterArg = %40, %iterArg_50 = %1, %iterArg_51 = %24#11, %iterArg_52 = %24#12, %iterArg_53 = %24#13, %iterArg_54 = %24#14, %iterArg_55 = %24#15, %iterArg_56 = %24#16, %iterArg_57 = %24#17, %iterArg_58 = %24#18, %iterArg_59 = %24#19, %iterArg_60 = %24#20, %iterArg_61 = %24#21, %iterArg_62 = %24#22, %iterArg_63 = %24#23, %iterArg_64 = %24#24, %iterArg_65 = %24#25, %iterArg_66 = %24#26, %iterArg_67 = %24#27, %iterArg_68 = %24#28, %iterArg_69 = %24#29, %iterArg_70 = %arg1, %iterArg_71 = %arg5, %iterArg_72 = %arg4, %iterArg_73 = %c_35, %iterArg_74 = %43, %iterArg_75 = %44, %iterArg_76 = %45, %iterArg_77 = %46, %iterArg_78 = %47, %iterArg_79 = %48, %iterArg_80 = %41, %iterArg_81 = %42) : tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<i32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<8x8xf32>
    cond {
      %c_82 = stablehlo.constant dense<16> : tensor<i32>
      %92 = stablehlo.compare LT, %iterArg_73, %c_82, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %92 : tensor<i1>
    } do {
      %c_82 = stablehlo.constant dense<16> : tensor<i32>
      %92 = stablehlo.subtract %c_82, %iterArg_73 : tensor<i32>
      %c_83 = stablehlo.constant dense<1> : tensor<i32>
      %93 = stablehlo.subtract %92, %c_83 : tensor<i32>
      %94 = func.call @dynamic_index_in_dim(%iterArg, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %95 = func.call @dynamic_index_in_dim(%iterArg_50, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %96 = func.call @dynamic_index_in_dim(%iterArg_51, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %97 = func.call @dynamic_index_in_dim(%iterArg_52, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %98 = func.call @dynamic_index_in_dim(%iterArg_53, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %99 = func.call @dynamic_index_in_dim(%iterArg_54, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %100 = func.call @dynamic_index_in_dim(%iterArg_55, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %101 = func.call @dynamic_index_in_dim(%iterArg_56, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %102 = func.call @dynamic_index_in_dim(%iterArg_57, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %103 = func.call @dynamic_index_in_dim(%iterArg_58, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %104 = func.call @dynamic_index_in_dim(%iterArg_59, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %105 = func.call @dynamic_index_in_dim(%iterArg_60, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %106 = func.call @dynamic_index_in_dim(%iterArg_61, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %107 = func.call @dynamic_index_in_dim(%iterArg_62, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %108 = func.call @dynamic_index_in_dim(%iterArg_63, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %109 = func.call @dynamic_index_in_dim(%iterArg_64, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %110 = func.call @dynamic_index_in_dim(%iterArg_65, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %111 = func.call @dynamic_index_in_dim(%iterArg_66, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %112 = func.call @dynamic_index_in_dim(%iterArg_67, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %113 = func.call @dynamic_index_in_dim(%iterArg_68, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %114 = func.call @dynamic_index_in_dim(%iterArg_69, %93) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %115:8 = func.call @closed_call_0(%iterArg_70, %iterArg_71, %iterArg_72, %iterArg_74, %iterArg_75, %iterArg_76, %iterArg_77, %iterArg_78, %iterArg_79, %iterArg_80, %iterArg_81, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114) : (tensor<8x24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
      %c_84 = stablehlo.constant dense<1> : tensor<i32>
      %116 = stablehlo.add %iterArg_73, %c_84 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_50, %iterArg_51, %iterArg_52, %iterArg_53, %iterArg_54, %iterArg_55, %iterArg_56, %iterArg_57, %iterArg_58, %iterArg_59, %iterArg_60, %iterArg_61, %iterArg_62, %iterArg_63, %iterArg_64, %iterArg_65, %iterArg_66, %iterArg_67, %iterArg_68, %iterArg_69, %iterArg_70, %iterArg_71, %iterArg_72, %116, %115#0, %115#1, %115#2, %115#3, %115#4, %115#5, %115#6, %115#7 : tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<i32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<8x8xf32>
    }
    %cst_36 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %51 = stablehlo.multiply %50, %arg7 : tensor<24xf32>
    %52 = stablehlo.add %51, %49#27 : tensor<24xf32>
    %cst_37 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %54 = stablehlo.multiply %53, %arg8 : tensor<8x24xf32>
    %55 = stablehlo.add %54, %49#26 : tensor<8x24xf32>
    %cst_38 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %57 = stablehlo.multiply %56, %arg9 : tensor<8x24xf32>
    %58 = stablehlo.add %57, %49#25 : tensor<8x24xf32>
    %cst_39 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %60 = stablehlo.multiply %59, %arg10 : tensor<24xf32>
    %61 = stablehlo.add %60, %49#30 : tensor<24xf32>
    %cst_40 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %63 = stablehlo.multiply %62, %arg11 : tensor<8x24xf32>
    %64 = stablehlo.add %63, %49#29 : tensor<8x24xf32>
    %cst_41 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %66 = stablehlo.multiply %65, %arg12 : tensor<8x24xf32>
    %67 = stablehlo.add %66, %49#28 : tensor<8x24xf32>
    %cst_42 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %69 = stablehlo.multiply %68, %arg13 : tensor<8x8xf32>
    %70 = stablehlo.add %69, %39 : tensor<8x8xf32>
    %cst_43 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %72 = stablehlo.multiply %71, %52 : tensor<24xf32>
    %73 = stablehlo.subtract %arg0, %72 : tensor<24xf32>
    %cst_44 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %74 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %75 = stablehlo.multiply %74, %55 : tensor<8x24xf32>
    %76 = stablehlo.subtract %arg1, %75 : tensor<8x24xf32>
    %cst_45 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %78 = stablehlo.multiply %77, %58 : tensor<8x24xf32>
    %79 = stablehlo.subtract %arg2, %78 : tensor<8x24xf32>
    %cst_46 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %81 = stablehlo.multiply %80, %61 : tensor<24xf32>
    %82 = stablehlo.subtract %arg3, %81 : tensor<24xf32>
    %cst_47 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %84 = stablehlo.multiply %83, %64 : tensor<8x24xf32>
    %85 = stablehlo.subtract %arg4, %84 : tensor<8x24xf32>
    %cst_48 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %87 = stablehlo.multiply %86, %67 : tensor<8x24xf32>
    %88 = stablehlo.subtract %arg5, %87 : tensor<8x24xf32>
    %cst_49 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %90 = stablehlo.multiply %89, %70 : tensor<8x8xf32>
    %91 = stablehlo.subtract %arg6, %90 : tensor<8x8xf32>
    return %73, %76, %79, %82, %85, %88, %91, %52, %55, %58, %61, %64, %67, %70, %32 : tensor<24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<8x8xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<8x8xf32>, tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<16x8x8xf32>, %arg1: tensor<i32>) -> tensor<8x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 8] : (tensor<16x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x24xf32>, %arg1: tensor<8x24xf32>, %arg2: tensor<1x24xf32>, %arg3: tensor<8x24xf32>, %arg4: tensor<8x24xf32>, %arg5: tensor<1x24xf32>, %arg6: tensor<8x8xf32>, %arg7: tensor<8x8xf32>, %arg8: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = stablehlo.dot_general %arg8, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x24xf32>) -> tensor<8x24xf32>
    %1 = stablehlo.dot_general %arg6, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x24xf32>) -> tensor<8x24xf32>
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
    %38 = stablehlo.multiply %26, %arg6 : tensor<8x8xf32>
    %39 = stablehlo.add %37, %38 : tensor<8x8xf32>
    %40 = stablehlo.dot_general %39, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x24xf32>) -> tensor<8x24xf32>
    %41 = stablehlo.dot_general %arg7, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x24xf32>) -> tensor<8x24xf32>
    %42 = stablehlo.broadcast_in_dim %arg5, dims = [0, 1] : (tensor<1x24xf32>) -> tensor<8x24xf32>
    %43 = stablehlo.add %41, %42 : tensor<8x24xf32>
    %44 = stablehlo.slice %40 [0:8, 0:8] : (tensor<8x24xf32>) -> tensor<8x8xf32>
    %45 = stablehlo.slice %40 [0:8, 8:16] : (tensor<8x24xf32>) -> tensor<8x8xf32>
    %46 = stablehlo.slice %40 [0:8, 16:24] : (tensor<8x24xf32>) -> tensor<8x8xf32>
    %47 = stablehlo.slice %43 [0:8, 0:8] : (tensor<8x24xf32>) -> tensor<8x8xf32>
    %48 = stablehlo.slice %43 [0:8, 8:16] : (tensor<8x24xf32>) -> tensor<8x8xf32>
    %49 = stablehlo.slice %43 [0:8, 16:24] : (tensor<8x24xf32>) -> tensor<8x8xf32>
    %50 = stablehlo.add %44, %47 : tensor<8x8xf32>
    %51 = stablehlo.negate %50 : tensor<8x8xf32>
    %52 = stablehlo.exponential %51 : tensor<8x8xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %54 = stablehlo.add %53, %52 : tensor<8x8xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %56 = stablehlo.divide %55, %54 : tensor<8x8xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %58 = stablehlo.subtract %57, %56 : tensor<8x8xf32>
    %59 = stablehlo.multiply %56, %58 : tensor<8x8xf32>
    %60 = stablehlo.add %45, %48 : tensor<8x8xf32>
    %61 = stablehlo.negate %60 : tensor<8x8xf32>
    %62 = stablehlo.exponential %61 : tensor<8x8xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %64 = stablehlo.add %63, %62 : tensor<8x8xf32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %66 = stablehlo.divide %65, %64 : tensor<8x8xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %68 = stablehlo.subtract %67, %66 : tensor<8x8xf32>
    %69 = stablehlo.multiply %66, %68 : tensor<8x8xf32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %71 = stablehlo.subtract %70, %66 : tensor<8x8xf32>
    %72 = stablehlo.multiply %56, %49 : tensor<8x8xf32>
    %73 = stablehlo.add %46, %72 : tensor<8x8xf32>
    %74 = stablehlo.tanh %73 : tensor<8x8xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %76 = stablehlo.subtract %75, %74 : tensor<8x8xf32>
    %77 = stablehlo.multiply %71, %74 : tensor<8x8xf32>
    %78 = stablehlo.multiply %66, %arg7 : tensor<8x8xf32>
    %79 = stablehlo.add %77, %78 : tensor<8x8xf32>
    return %39, %79, %79, %arg6, %19, %29, %9, %16, %34, %36, %31, %26, %39, %arg7, %59, %69, %49, %56, %74, %76, %71, %66 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<16x8x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<i32>) -> tensor<16x8x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<16x8x8xf32>, tensor<1x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<16x8x8xf32>
    return %1 : tensor<16x8x8xf32>
  }
  func.func private @closed_call_0(%arg0: tensor<8x24xf32>, %arg1: tensor<8x24xf32>, %arg2: tensor<8x24xf32>, %arg3: tensor<8x24xf32>, %arg4: tensor<8x24xf32>, %arg5: tensor<24xf32>, %arg6: tensor<8x24xf32>, %arg7: tensor<8x24xf32>, %arg8: tensor<24xf32>, %arg9: tensor<8x8xf32>, %arg10: tensor<8x8xf32>, %arg11: tensor<8x8xf32>, %arg12: tensor<8x8xf32>, %arg13: tensor<8x8xf32>, %arg14: tensor<8x8xf32>, %arg15: tensor<8x8xf32>, %arg16: tensor<8x8xf32>, %arg17: tensor<8x8xf32>, %arg18: tensor<8x8xf32>, %arg19: tensor<8x8xf32>, %arg20: tensor<8x8xf32>, %arg21: tensor<8x8xf32>, %arg22: tensor<8x8xf32>, %arg23: tensor<8x8xf32>, %arg24: tensor<8x8xf32>, %arg25: tensor<8x8xf32>, %arg26: tensor<8x8xf32>, %arg27: tensor<8x8xf32>, %arg28: tensor<8x8xf32>, %arg29: tensor<8x8xf32>, %arg30: tensor<8x8xf32>, %arg31: tensor<8x8xf32>) -> (tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = stablehlo.add %arg10, %arg11 : tensor<8x8xf32>
    %1 = stablehlo.multiply %arg31, %0 : tensor<8x8xf32>
    %2 = stablehlo.multiply %0, %arg23 : tensor<8x8xf32>
    %3 = stablehlo.multiply %arg30, %0 : tensor<8x8xf32>
    %4 = stablehlo.multiply %0, %arg28 : tensor<8x8xf32>
    %5 = stablehlo.multiply %3, %arg29 : tensor<8x8xf32>
    %6 = stablehlo.multiply %5, %arg28 : tensor<8x8xf32>
    %7 = stablehlo.add %5, %6 : tensor<8x8xf32>
    %8 = stablehlo.multiply %arg27, %7 : tensor<8x8xf32>
    %9 = stablehlo.multiply %7, %arg26 : tensor<8x8xf32>
    %10 = stablehlo.negate %4 : tensor<8x8xf32>
    %11 = stablehlo.add %2, %10 : tensor<8x8xf32>
    %12 = stablehlo.multiply %11, %arg25 : tensor<8x8xf32>
    %13 = stablehlo.multiply %9, %arg24 : tensor<8x8xf32>
    %14 = stablehlo.concatenate %13, %12, %8, dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x24xf32>
    %15 = stablehlo.concatenate %13, %12, %7, dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%14 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x24xf32>, tensor<f32>) -> tensor<24xf32>
    %17 = stablehlo.reshape %16 : (tensor<24xf32>) -> tensor<1x24xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1x24xf32>, tensor<f32>) -> tensor<24xf32>
    %19 = stablehlo.add %arg8, %18 : tensor<24xf32>
    %20 = stablehlo.dot_general %14, %arg23, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x24xf32>, tensor<8x8xf32>) -> tensor<24x8xf32>
    %21 = stablehlo.transpose %20, dims = [1, 0] : (tensor<24x8xf32>) -> tensor<8x24xf32>
    %22 = stablehlo.add %arg7, %21 : tensor<8x24xf32>
    %23 = stablehlo.dot_general %14, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x24xf32>, tensor<8x24xf32>) -> tensor<8x8xf32>
    %24 = stablehlo.add %1, %23 : tensor<8x8xf32>
    %25 = stablehlo.dot_general %15, %arg22, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x24xf32>, tensor<8x8xf32>) -> tensor<24x8xf32>
    %26 = stablehlo.transpose %25, dims = [1, 0] : (tensor<24x8xf32>) -> tensor<8x24xf32>
    %27 = stablehlo.add %arg6, %26 : tensor<8x24xf32>
    %28 = stablehlo.dot_general %15, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x24xf32>, tensor<8x24xf32>) -> tensor<8x8xf32>
    %29 = stablehlo.add %arg9, %28 : tensor<8x8xf32>
    %30 = stablehlo.multiply %arg21, %29 : tensor<8x8xf32>
    %31 = stablehlo.multiply %29, %arg13 : tensor<8x8xf32>
    %32 = stablehlo.multiply %arg20, %29 : tensor<8x8xf32>
    %33 = stablehlo.multiply %29, %arg18 : tensor<8x8xf32>
    %34 = stablehlo.multiply %32, %arg19 : tensor<8x8xf32>
    %35 = stablehlo.multiply %34, %arg18 : tensor<8x8xf32>
    %36 = stablehlo.add %34, %35 : tensor<8x8xf32>
    %37 = stablehlo.multiply %arg17, %36 : tensor<8x8xf32>
    %38 = stablehlo.multiply %36, %arg16 : tensor<8x8xf32>
    %39 = stablehlo.negate %33 : tensor<8x8xf32>
    %40 = stablehlo.add %31, %39 : tensor<8x8xf32>
    %41 = stablehlo.multiply %40, %arg15 : tensor<8x8xf32>
    %42 = stablehlo.multiply %38, %arg14 : tensor<8x8xf32>
    %43 = stablehlo.concatenate %42, %41, %37, dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x24xf32>
    %44 = stablehlo.concatenate %42, %41, %36, dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x24xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.reduce(%43 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<8x24xf32>, tensor<f32>) -> tensor<24xf32>
    %46 = stablehlo.reshape %45 : (tensor<24xf32>) -> tensor<1x24xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.reduce(%46 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<1x24xf32>, tensor<f32>) -> tensor<24xf32>
    %48 = stablehlo.add %arg5, %47 : tensor<24xf32>
    %49 = stablehlo.dot_general %43, %arg13, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x24xf32>, tensor<8x8xf32>) -> tensor<24x8xf32>
    %50 = stablehlo.transpose %49, dims = [1, 0] : (tensor<24x8xf32>) -> tensor<8x24xf32>
    %51 = stablehlo.add %arg4, %50 : tensor<8x24xf32>
    %52 = stablehlo.dot_general %43, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x24xf32>, tensor<8x24xf32>) -> tensor<8x8xf32>
    %53 = stablehlo.add %30, %52 : tensor<8x8xf32>
    %54 = stablehlo.dot_general %44, %arg12, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x24xf32>, tensor<8x8xf32>) -> tensor<24x8xf32>
    %55 = stablehlo.transpose %54, dims = [1, 0] : (tensor<24x8xf32>) -> tensor<8x24xf32>
    %56 = stablehlo.add %arg3, %55 : tensor<8x24xf32>
    return %56, %51, %48, %27, %22, %19, %53, %24 : tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
}
