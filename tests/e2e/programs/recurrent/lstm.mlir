module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<32xf32>, %arg2: tensor<8x32xf32>, %arg3: tensor<8x32xf32>, %arg4: tensor<32xf32>, %arg5: tensor<8x32xf32>, %arg6: tensor<8x32xf32>, %arg7: tensor<8x8xf32>, %arg8: tensor<32xf32>, %arg9: tensor<8x32xf32>, %arg10: tensor<8x32xf32>, %arg11: tensor<32xf32>, %arg12: tensor<8x32xf32>, %arg13: tensor<8x32xf32>, %arg14: tensor<8x16x8xf32>, %arg15: tensor<8x16x8xf32>) -> (tensor<8x8xf32> {jax.result_info = "result[0]['head']"}, tensor<32xf32> {jax.result_info = "result[0]['rnn0']['bias']"}, tensor<8x32xf32> {jax.result_info = "result[0]['rnn0']['hidden']"}, tensor<8x32xf32> {jax.result_info = "result[0]['rnn0']['input']"}, tensor<32xf32> {jax.result_info = "result[0]['rnn1']['bias']"}, tensor<8x32xf32> {jax.result_info = "result[0]['rnn1']['hidden']"}, tensor<8x32xf32> {jax.result_info = "result[0]['rnn1']['input']"}, tensor<8x8xf32> {jax.result_info = "result[1]['head']"}, tensor<32xf32> {jax.result_info = "result[1]['rnn0']['bias']"}, tensor<8x32xf32> {jax.result_info = "result[1]['rnn0']['hidden']"}, tensor<8x32xf32> {jax.result_info = "result[1]['rnn0']['input']"}, tensor<32xf32> {jax.result_info = "result[1]['rnn1']['bias']"}, tensor<8x32xf32> {jax.result_info = "result[1]['rnn1']['hidden']"}, tensor<8x32xf32> {jax.result_info = "result[1]['rnn1']['input']"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.transpose %arg14, dims = [1, 0, 2] : (tensor<8x16x8xf32>) -> tensor<16x8x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %2 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<32xf32>) -> tensor<1x32xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %16:20 = stablehlo.while(%iterArg = %0, %iterArg_64 = %arg3, %iterArg_65 = %arg2, %iterArg_66 = %2, %iterArg_67 = %c, %iterArg_68 = %1, %iterArg_69 = %1, %iterArg_70 = %3, %iterArg_71 = %4, %iterArg_72 = %5, %iterArg_73 = %6, %iterArg_74 = %7, %iterArg_75 = %8, %iterArg_76 = %9, %iterArg_77 = %10, %iterArg_78 = %11, %iterArg_79 = %12, %iterArg_80 = %13, %iterArg_81 = %14, %iterArg_82 = %15) : tensor<16x8x8xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<1x32xf32>, tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>
    cond {
      %c_83 = stablehlo.constant dense<16> : tensor<i32>
      %106 = stablehlo.compare LT, %iterArg_67, %c_83, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %106 : tensor<i1>
    } do {
      %106 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_67) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %107:15 = func.call @closed_call(%iterArg_64, %iterArg_65, %iterArg_66, %iterArg_68, %iterArg_69, %106) : (tensor<8x32xf32>, tensor<8x32xf32>, tensor<1x32xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
      %108 = func.call @dynamic_update_index_in_dim(%iterArg_70, %107#2, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %109 = func.call @dynamic_update_index_in_dim(%iterArg_71, %107#3, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %110 = func.call @dynamic_update_index_in_dim(%iterArg_72, %107#4, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %111 = func.call @dynamic_update_index_in_dim(%iterArg_73, %107#5, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %112 = func.call @dynamic_update_index_in_dim(%iterArg_74, %107#6, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %113 = func.call @dynamic_update_index_in_dim(%iterArg_75, %107#7, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %114 = func.call @dynamic_update_index_in_dim(%iterArg_76, %107#8, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %115 = func.call @dynamic_update_index_in_dim(%iterArg_77, %107#9, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %116 = func.call @dynamic_update_index_in_dim(%iterArg_78, %107#10, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %117 = func.call @dynamic_update_index_in_dim(%iterArg_79, %107#11, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %118 = func.call @dynamic_update_index_in_dim(%iterArg_80, %107#12, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %119 = func.call @dynamic_update_index_in_dim(%iterArg_81, %107#13, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %120 = func.call @dynamic_update_index_in_dim(%iterArg_82, %107#14, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %c_83 = stablehlo.constant dense<1> : tensor<i32>
      %121 = stablehlo.add %iterArg_67, %c_83 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_64, %iterArg_65, %iterArg_66, %121, %107#0, %107#1, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120 : tensor<16x8x8xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<1x32xf32>, tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>
    }
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %18 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<32xf32>) -> tensor<1x32xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %c_27 = stablehlo.constant dense<0> : tensor<i32>
    %32:20 = stablehlo.while(%iterArg = %16#7, %iterArg_64 = %arg6, %iterArg_65 = %arg5, %iterArg_66 = %18, %iterArg_67 = %c_27, %iterArg_68 = %17, %iterArg_69 = %17, %iterArg_70 = %19, %iterArg_71 = %20, %iterArg_72 = %21, %iterArg_73 = %22, %iterArg_74 = %23, %iterArg_75 = %24, %iterArg_76 = %25, %iterArg_77 = %26, %iterArg_78 = %27, %iterArg_79 = %28, %iterArg_80 = %29, %iterArg_81 = %30, %iterArg_82 = %31) : tensor<16x8x8xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<1x32xf32>, tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>
    cond {
      %c_83 = stablehlo.constant dense<16> : tensor<i32>
      %106 = stablehlo.compare LT, %iterArg_67, %c_83, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %106 : tensor<i1>
    } do {
      %106 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_67) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %107:15 = func.call @closed_call_0(%iterArg_64, %iterArg_65, %iterArg_66, %iterArg_68, %iterArg_69, %106) : (tensor<8x32xf32>, tensor<8x32xf32>, tensor<1x32xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
      %108 = func.call @dynamic_update_index_in_dim(%iterArg_70, %107#2, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %109 = func.call @dynamic_update_index_in_dim(%iterArg_71, %107#3, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %110 = func.call @dynamic_update_index_in_dim(%iterArg_72, %107#4, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %111 = func.call @dynamic_update_index_in_dim(%iterArg_73, %107#5, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %112 = func.call @dynamic_update_index_in_dim(%iterArg_74, %107#6, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %113 = func.call @dynamic_update_index_in_dim(%iterArg_75, %107#7, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %114 = func.call @dynamic_update_index_in_dim(%iterArg_76, %107#8, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %115 = func.call @dynamic_update_index_in_dim(%iterArg_77, %107#9, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %116 = func.call @dynamic_update_index_in_dim(%iterArg_78, %107#10, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %117 = func.call @dynamic_update_index_in_dim(%iterArg_79, %107#11, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %118 = func.call @dynamic_update_index_in_dim(%iterArg_80, %107#12, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %119 = func.call @dynamic_update_index_in_dim(%iterArg_81, %107#13, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %120 = func.call @dynamic_update_index_in_dim(%iterArg_82, %107#14, %iterArg_67) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %c_83 = stablehlo.constant dense<1> : tensor<i32>
      %121 = stablehlo.add %iterArg_67, %c_83 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_64, %iterArg_65, %iterArg_66, %121, %107#0, %107#1, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120 : tensor<16x8x8xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<1x32xf32>, tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>
    }
    %33 = stablehlo.dot_general %32#7, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8x8xf32>, tensor<8x8xf32>) -> tensor<16x8x8xf32>
    %34 = stablehlo.transpose %arg15, dims = [1, 0, 2] : (tensor<8x16x8xf32>) -> tensor<16x8x8xf32>
    %35 = stablehlo.subtract %33, %34 : tensor<16x8x8xf32>
    %36 = stablehlo.multiply %35, %35 : tensor<16x8x8xf32>
    %cst_28 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %38 = stablehlo.multiply %37, %35 : tensor<16x8x8xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.reduce(%36 init: %cst_29) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<16x8x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_30 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %40 = stablehlo.divide %39, %cst_30 : tensor<f32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_35 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_36 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %45 = stablehlo.divide %cst_35, %cst_36 : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %47 = stablehlo.multiply %46, %38 : tensor<16x8x8xf32>
    %48 = stablehlo.dot_general %47, %32#7, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x8x8xf32>, tensor<16x8x8xf32>) -> tensor<8x8xf32>
    %49 = stablehlo.transpose %48, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %50 = stablehlo.dot_general %47, %arg0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x8x8xf32>, tensor<8x8xf32>) -> tensor<16x8x8xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %c_43 = stablehlo.constant dense<0> : tensor<i32>
    %57:23 = stablehlo.while(%iterArg = %50, %iterArg_64 = %16#7, %iterArg_65 = %32#8, %iterArg_66 = %32#9, %iterArg_67 = %32#10, %iterArg_68 = %32#11, %iterArg_69 = %32#12, %iterArg_70 = %32#13, %iterArg_71 = %32#14, %iterArg_72 = %32#15, %iterArg_73 = %32#16, %iterArg_74 = %32#17, %iterArg_75 = %32#18, %iterArg_76 = %32#19, %iterArg_77 = %arg6, %iterArg_78 = %arg5, %iterArg_79 = %c_43, %iterArg_80 = %53, %iterArg_81 = %54, %iterArg_82 = %55, %iterArg_83 = %51, %iterArg_84 = %52, %iterArg_85 = %56) : tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<i32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<16x8x8xf32>
    cond {
      %c_86 = stablehlo.constant dense<16> : tensor<i32>
      %106 = stablehlo.compare LT, %iterArg_79, %c_86, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %106 : tensor<i1>
    } do {
      %c_86 = stablehlo.constant dense<16> : tensor<i32>
      %106 = stablehlo.subtract %c_86, %iterArg_79 : tensor<i32>
      %c_87 = stablehlo.constant dense<1> : tensor<i32>
      %107 = stablehlo.subtract %106, %c_87 : tensor<i32>
      %108 = func.call @dynamic_index_in_dim(%iterArg, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %109 = func.call @dynamic_index_in_dim(%iterArg_64, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %110 = func.call @dynamic_index_in_dim(%iterArg_65, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %111 = func.call @dynamic_index_in_dim(%iterArg_66, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %112 = func.call @dynamic_index_in_dim(%iterArg_67, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %113 = func.call @dynamic_index_in_dim(%iterArg_68, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %114 = func.call @dynamic_index_in_dim(%iterArg_69, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %115 = func.call @dynamic_index_in_dim(%iterArg_70, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %116 = func.call @dynamic_index_in_dim(%iterArg_71, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %117 = func.call @dynamic_index_in_dim(%iterArg_72, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %118 = func.call @dynamic_index_in_dim(%iterArg_73, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %119 = func.call @dynamic_index_in_dim(%iterArg_74, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %120 = func.call @dynamic_index_in_dim(%iterArg_75, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %121 = func.call @dynamic_index_in_dim(%iterArg_76, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %122:6 = func.call @closed_call_1(%iterArg_77, %iterArg_78, %iterArg_80, %iterArg_81, %iterArg_82, %iterArg_83, %iterArg_84, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121) : (tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
      %123 = func.call @dynamic_update_index_in_dim(%iterArg_85, %122#5, %107) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %c_88 = stablehlo.constant dense<1> : tensor<i32>
      %124 = stablehlo.add %iterArg_79, %c_88 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_64, %iterArg_65, %iterArg_66, %iterArg_67, %iterArg_68, %iterArg_69, %iterArg_70, %iterArg_71, %iterArg_72, %iterArg_73, %iterArg_74, %iterArg_75, %iterArg_76, %iterArg_77, %iterArg_78, %124, %122#0, %122#1, %122#2, %122#3, %122#4, %123 : tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<i32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<16x8x8xf32>
    }
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %c_49 = stablehlo.constant dense<0> : tensor<i32>
    %63:21 = stablehlo.while(%iterArg = %57#22, %iterArg_64 = %0, %iterArg_65 = %16#8, %iterArg_66 = %16#9, %iterArg_67 = %16#10, %iterArg_68 = %16#11, %iterArg_69 = %16#12, %iterArg_70 = %16#13, %iterArg_71 = %16#14, %iterArg_72 = %16#15, %iterArg_73 = %16#16, %iterArg_74 = %16#17, %iterArg_75 = %16#18, %iterArg_76 = %16#19, %iterArg_77 = %arg2, %iterArg_78 = %c_49, %iterArg_79 = %60, %iterArg_80 = %61, %iterArg_81 = %62, %iterArg_82 = %58, %iterArg_83 = %59) : tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<8x32xf32>, tensor<i32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8x8xf32>, tensor<8x8xf32>
    cond {
      %c_84 = stablehlo.constant dense<16> : tensor<i32>
      %106 = stablehlo.compare LT, %iterArg_78, %c_84, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %106 : tensor<i1>
    } do {
      %c_84 = stablehlo.constant dense<16> : tensor<i32>
      %106 = stablehlo.subtract %c_84, %iterArg_78 : tensor<i32>
      %c_85 = stablehlo.constant dense<1> : tensor<i32>
      %107 = stablehlo.subtract %106, %c_85 : tensor<i32>
      %108 = func.call @dynamic_index_in_dim(%iterArg, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %109 = func.call @dynamic_index_in_dim(%iterArg_64, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %110 = func.call @dynamic_index_in_dim(%iterArg_65, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %111 = func.call @dynamic_index_in_dim(%iterArg_66, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %112 = func.call @dynamic_index_in_dim(%iterArg_67, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %113 = func.call @dynamic_index_in_dim(%iterArg_68, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %114 = func.call @dynamic_index_in_dim(%iterArg_69, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %115 = func.call @dynamic_index_in_dim(%iterArg_70, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %116 = func.call @dynamic_index_in_dim(%iterArg_71, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %117 = func.call @dynamic_index_in_dim(%iterArg_72, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %118 = func.call @dynamic_index_in_dim(%iterArg_73, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %119 = func.call @dynamic_index_in_dim(%iterArg_74, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %120 = func.call @dynamic_index_in_dim(%iterArg_75, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %121 = func.call @dynamic_index_in_dim(%iterArg_76, %107) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %122:5 = func.call @closed_call_2(%iterArg_77, %iterArg_79, %iterArg_80, %iterArg_81, %iterArg_82, %iterArg_83, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121) : (tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
      %c_86 = stablehlo.constant dense<1> : tensor<i32>
      %123 = stablehlo.add %iterArg_78, %c_86 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_64, %iterArg_65, %iterArg_66, %iterArg_67, %iterArg_68, %iterArg_69, %iterArg_70, %iterArg_71, %iterArg_72, %iterArg_73, %iterArg_74, %iterArg_75, %iterArg_76, %iterArg_77, %123, %122#0, %122#1, %122#2, %122#3, %122#4 : tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<8x32xf32>, tensor<i32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8x8xf32>, tensor<8x8xf32>
    }
    %cst_50 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %65 = stablehlo.multiply %64, %arg7 : tensor<8x8xf32>
    %66 = stablehlo.add %65, %49 : tensor<8x8xf32>
    %cst_51 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %68 = stablehlo.multiply %67, %arg8 : tensor<32xf32>
    %69 = stablehlo.add %68, %63#18 : tensor<32xf32>
    %cst_52 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %71 = stablehlo.multiply %70, %arg9 : tensor<8x32xf32>
    %72 = stablehlo.add %71, %63#17 : tensor<8x32xf32>
    %cst_53 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %74 = stablehlo.multiply %73, %arg10 : tensor<8x32xf32>
    %75 = stablehlo.add %74, %63#16 : tensor<8x32xf32>
    %cst_54 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %77 = stablehlo.multiply %76, %arg11 : tensor<32xf32>
    %78 = stablehlo.add %77, %57#19 : tensor<32xf32>
    %cst_55 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %80 = stablehlo.multiply %79, %arg12 : tensor<8x32xf32>
    %81 = stablehlo.add %80, %57#18 : tensor<8x32xf32>
    %cst_56 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %83 = stablehlo.multiply %82, %arg13 : tensor<8x32xf32>
    %84 = stablehlo.add %83, %57#17 : tensor<8x32xf32>
    %cst_57 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %86 = stablehlo.multiply %85, %66 : tensor<8x8xf32>
    %87 = stablehlo.subtract %arg0, %86 : tensor<8x8xf32>
    %cst_58 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %89 = stablehlo.multiply %88, %69 : tensor<32xf32>
    %90 = stablehlo.subtract %arg1, %89 : tensor<32xf32>
    %cst_59 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %92 = stablehlo.multiply %91, %72 : tensor<8x32xf32>
    %93 = stablehlo.subtract %arg2, %92 : tensor<8x32xf32>
    %cst_60 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %95 = stablehlo.multiply %94, %75 : tensor<8x32xf32>
    %96 = stablehlo.subtract %arg3, %95 : tensor<8x32xf32>
    %cst_61 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %98 = stablehlo.multiply %97, %78 : tensor<32xf32>
    %99 = stablehlo.subtract %arg4, %98 : tensor<32xf32>
    %cst_62 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %101 = stablehlo.multiply %100, %81 : tensor<8x32xf32>
    %102 = stablehlo.subtract %arg5, %101 : tensor<8x32xf32>
    %cst_63 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %104 = stablehlo.multiply %103, %84 : tensor<8x32xf32>
    %105 = stablehlo.subtract %arg6, %104 : tensor<8x32xf32>
    return %87, %90, %93, %96, %99, %102, %105, %66, %69, %72, %75, %78, %81, %84, %40 : tensor<8x8xf32>, tensor<32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x8xf32>, tensor<32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<16x8x8xf32>, %arg1: tensor<i32>) -> tensor<8x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 8] : (tensor<16x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x32xf32>, %arg1: tensor<8x32xf32>, %arg2: tensor<1x32xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<8x8xf32>, %arg5: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = stablehlo.dot_general %arg5, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %1 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %2 = stablehlo.add %0, %1 : tensor<8x32xf32>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<1x32xf32>) -> tensor<8x32xf32>
    %4 = stablehlo.add %2, %3 : tensor<8x32xf32>
    %5 = stablehlo.slice %4 [0:8, 0:8] : (tensor<8x32xf32>) -> tensor<8x8xf32>
    %6 = stablehlo.slice %4 [0:8, 8:16] : (tensor<8x32xf32>) -> tensor<8x8xf32>
    %7 = stablehlo.slice %4 [0:8, 16:24] : (tensor<8x32xf32>) -> tensor<8x8xf32>
    %8 = stablehlo.slice %4 [0:8, 24:32] : (tensor<8x32xf32>) -> tensor<8x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %10 = stablehlo.add %6, %9 : tensor<8x8xf32>
    %11 = stablehlo.negate %10 : tensor<8x8xf32>
    %12 = stablehlo.exponential %11 : tensor<8x8xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %14 = stablehlo.add %13, %12 : tensor<8x8xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %16 = stablehlo.divide %15, %14 : tensor<8x8xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %18 = stablehlo.subtract %17, %16 : tensor<8x8xf32>
    %19 = stablehlo.multiply %16, %18 : tensor<8x8xf32>
    %20 = stablehlo.multiply %16, %arg4 : tensor<8x8xf32>
    %21 = stablehlo.negate %5 : tensor<8x8xf32>
    %22 = stablehlo.exponential %21 : tensor<8x8xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %24 = stablehlo.add %23, %22 : tensor<8x8xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %26 = stablehlo.divide %25, %24 : tensor<8x8xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %28 = stablehlo.subtract %27, %26 : tensor<8x8xf32>
    %29 = stablehlo.multiply %26, %28 : tensor<8x8xf32>
    %30 = stablehlo.tanh %7 : tensor<8x8xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %32 = stablehlo.subtract %31, %30 : tensor<8x8xf32>
    %33 = stablehlo.multiply %26, %30 : tensor<8x8xf32>
    %34 = stablehlo.add %20, %33 : tensor<8x8xf32>
    %35 = stablehlo.negate %8 : tensor<8x8xf32>
    %36 = stablehlo.exponential %35 : tensor<8x8xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %38 = stablehlo.add %37, %36 : tensor<8x8xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %40 = stablehlo.divide %39, %38 : tensor<8x8xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %42 = stablehlo.subtract %41, %40 : tensor<8x8xf32>
    %43 = stablehlo.multiply %40, %42 : tensor<8x8xf32>
    %44 = stablehlo.tanh %34 : tensor<8x8xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %46 = stablehlo.subtract %45, %44 : tensor<8x8xf32>
    %47 = stablehlo.multiply %40, %44 : tensor<8x8xf32>
    return %47, %34, %47, %arg3, %19, %arg4, %16, %29, %30, %32, %26, %43, %44, %46, %40 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<16x8x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<i32>) -> tensor<16x8x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<16x8x8xf32>, tensor<1x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<16x8x8xf32>
    return %1 : tensor<16x8x8xf32>
  }
  func.func private @closed_call_0(%arg0: tensor<8x32xf32>, %arg1: tensor<8x32xf32>, %arg2: tensor<1x32xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<8x8xf32>, %arg5: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = stablehlo.dot_general %arg5, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %1 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %2 = stablehlo.add %0, %1 : tensor<8x32xf32>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<1x32xf32>) -> tensor<8x32xf32>
    %4 = stablehlo.add %2, %3 : tensor<8x32xf32>
    %5 = stablehlo.slice %4 [0:8, 0:8] : (tensor<8x32xf32>) -> tensor<8x8xf32>
    %6 = stablehlo.slice %4 [0:8, 8:16] : (tensor<8x32xf32>) -> tensor<8x8xf32>
    %7 = stablehlo.slice %4 [0:8, 16:24] : (tensor<8x32xf32>) -> tensor<8x8xf32>
    %8 = stablehlo.slice %4 [0:8, 24:32] : (tensor<8x32xf32>) -> tensor<8x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %10 = stablehlo.add %6, %9 : tensor<8x8xf32>
    %11 = stablehlo.negate %10 : tensor<8x8xf32>
    %12 = stablehlo.exponential %11 : tensor<8x8xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %14 = stablehlo.add %13, %12 : tensor<8x8xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %16 = stablehlo.divide %15, %14 : tensor<8x8xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %18 = stablehlo.subtract %17, %16 : tensor<8x8xf32>
    %19 = stablehlo.multiply %16, %18 : tensor<8x8xf32>
    %20 = stablehlo.multiply %16, %arg4 : tensor<8x8xf32>
    %21 = stablehlo.negate %5 : tensor<8x8xf32>
    %22 = stablehlo.exponential %21 : tensor<8x8xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %24 = stablehlo.add %23, %22 : tensor<8x8xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %26 = stablehlo.divide %25, %24 : tensor<8x8xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %28 = stablehlo.subtract %27, %26 : tensor<8x8xf32>
    %29 = stablehlo.multiply %26, %28 : tensor<8x8xf32>
    %30 = stablehlo.tanh %7 : tensor<8x8xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %32 = stablehlo.subtract %31, %30 : tensor<8x8xf32>
    %33 = stablehlo.multiply %26, %30 : tensor<8x8xf32>
    %34 = stablehlo.add %20, %33 : tensor<8x8xf32>
    %35 = stablehlo.negate %8 : tensor<8x8xf32>
    %36 = stablehlo.exponential %35 : tensor<8x8xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %38 = stablehlo.add %37, %36 : tensor<8x8xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %40 = stablehlo.divide %39, %38 : tensor<8x8xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %42 = stablehlo.subtract %41, %40 : tensor<8x8xf32>
    %43 = stablehlo.multiply %40, %42 : tensor<8x8xf32>
    %44 = stablehlo.tanh %34 : tensor<8x8xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %46 = stablehlo.subtract %45, %44 : tensor<8x8xf32>
    %47 = stablehlo.multiply %40, %44 : tensor<8x8xf32>
    return %47, %34, %47, %arg3, %19, %arg4, %16, %29, %30, %32, %26, %43, %44, %46, %40 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  func.func private @closed_call_1(%arg0: tensor<8x32xf32>, %arg1: tensor<8x32xf32>, %arg2: tensor<8x32xf32>, %arg3: tensor<8x32xf32>, %arg4: tensor<32xf32>, %arg5: tensor<8x8xf32>, %arg6: tensor<8x8xf32>, %arg7: tensor<8x8xf32>, %arg8: tensor<8x8xf32>, %arg9: tensor<8x8xf32>, %arg10: tensor<8x8xf32>, %arg11: tensor<8x8xf32>, %arg12: tensor<8x8xf32>, %arg13: tensor<8x8xf32>, %arg14: tensor<8x8xf32>, %arg15: tensor<8x8xf32>, %arg16: tensor<8x8xf32>, %arg17: tensor<8x8xf32>, %arg18: tensor<8x8xf32>, %arg19: tensor<8x8xf32>, %arg20: tensor<8x8xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = stablehlo.add %arg5, %arg7 : tensor<8x8xf32>
    %1 = stablehlo.multiply %arg20, %0 : tensor<8x8xf32>
    %2 = stablehlo.multiply %0, %arg18 : tensor<8x8xf32>
    %3 = stablehlo.multiply %1, %arg19 : tensor<8x8xf32>
    %4 = stablehlo.add %arg6, %3 : tensor<8x8xf32>
    %5 = stablehlo.multiply %3, %arg18 : tensor<8x8xf32>
    %6 = stablehlo.add %4, %5 : tensor<8x8xf32>
    %7 = stablehlo.multiply %2, %arg17 : tensor<8x8xf32>
    %8 = stablehlo.multiply %arg16, %6 : tensor<8x8xf32>
    %9 = stablehlo.multiply %6, %arg14 : tensor<8x8xf32>
    %10 = stablehlo.multiply %8, %arg15 : tensor<8x8xf32>
    %11 = stablehlo.multiply %10, %arg14 : tensor<8x8xf32>
    %12 = stablehlo.add %10, %11 : tensor<8x8xf32>
    %13 = stablehlo.multiply %9, %arg13 : tensor<8x8xf32>
    %14 = stablehlo.multiply %arg12, %6 : tensor<8x8xf32>
    %15 = stablehlo.multiply %6, %arg11 : tensor<8x8xf32>
    %16 = stablehlo.multiply %15, %arg10 : tensor<8x8xf32>
    %17 = stablehlo.concatenate %13, %16, %12, %7, dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x32xf32>, tensor<f32>) -> tensor<32xf32>
    %19 = stablehlo.reshape %18 : (tensor<32xf32>) -> tensor<1x32xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %21 = stablehlo.add %arg4, %20 : tensor<32xf32>
    %22 = stablehlo.dot_general %17, %arg9, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<8x8xf32>) -> tensor<32x8xf32>
    %23 = stablehlo.transpose %22, dims = [1, 0] : (tensor<32x8xf32>) -> tensor<8x32xf32>
    %24 = stablehlo.add %arg3, %23 : tensor<8x32xf32>
    %25 = stablehlo.dot_general %17, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x8xf32>
    %26 = stablehlo.dot_general %17, %arg8, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<8x8xf32>) -> tensor<32x8xf32>
    %27 = stablehlo.transpose %26, dims = [1, 0] : (tensor<32x8xf32>) -> tensor<8x32xf32>
    %28 = stablehlo.add %arg2, %27 : tensor<8x32xf32>
    %29 = stablehlo.dot_general %17, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x8xf32>
    return %28, %24, %21, %25, %14, %29 : tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  func.func private @closed_call_2(%arg0: tensor<8x32xf32>, %arg1: tensor<8x32xf32>, %arg2: tensor<8x32xf32>, %arg3: tensor<32xf32>, %arg4: tensor<8x8xf32>, %arg5: tensor<8x8xf32>, %arg6: tensor<8x8xf32>, %arg7: tensor<8x8xf32>, %arg8: tensor<8x8xf32>, %arg9: tensor<8x8xf32>, %arg10: tensor<8x8xf32>, %arg11: tensor<8x8xf32>, %arg12: tensor<8x8xf32>, %arg13: tensor<8x8xf32>, %arg14: tensor<8x8xf32>, %arg15: tensor<8x8xf32>, %arg16: tensor<8x8xf32>, %arg17: tensor<8x8xf32>, %arg18: tensor<8x8xf32>, %arg19: tensor<8x8xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = stablehlo.add %arg4, %arg6 : tensor<8x8xf32>
    %1 = stablehlo.multiply %arg19, %0 : tensor<8x8xf32>
    %2 = stablehlo.multiply %0, %arg17 : tensor<8x8xf32>
    %3 = stablehlo.multiply %1, %arg18 : tensor<8x8xf32>
    %4 = stablehlo.add %arg5, %3 : tensor<8x8xf32>
    %5 = stablehlo.multiply %3, %arg17 : tensor<8x8xf32>
    %6 = stablehlo.add %4, %5 : tensor<8x8xf32>
    %7 = stablehlo.multiply %2, %arg16 : tensor<8x8xf32>
    %8 = stablehlo.multiply %arg15, %6 : tensor<8x8xf32>
    %9 = stablehlo.multiply %6, %arg13 : tensor<8x8xf32>
    %10 = stablehlo.multiply %8, %arg14 : tensor<8x8xf32>
    %11 = stablehlo.multiply %10, %arg13 : tensor<8x8xf32>
    %12 = stablehlo.add %10, %11 : tensor<8x8xf32>
    %13 = stablehlo.multiply %9, %arg12 : tensor<8x8xf32>
    %14 = stablehlo.multiply %arg11, %6 : tensor<8x8xf32>
    %15 = stablehlo.multiply %6, %arg10 : tensor<8x8xf32>
    %16 = stablehlo.multiply %15, %arg9 : tensor<8x8xf32>
    %17 = stablehlo.concatenate %13, %16, %12, %7, dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x32xf32>, tensor<f32>) -> tensor<32xf32>
    %19 = stablehlo.reshape %18 : (tensor<32xf32>) -> tensor<1x32xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %21 = stablehlo.add %arg3, %20 : tensor<32xf32>
    %22 = stablehlo.dot_general %17, %arg8, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<8x8xf32>) -> tensor<32x8xf32>
    %23 = stablehlo.transpose %22, dims = [1, 0] : (tensor<32x8xf32>) -> tensor<8x32xf32>
    %24 = stablehlo.add %arg2, %23 : tensor<8x32xf32>
    %25 = stablehlo.dot_general %17, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x8xf32>
    %26 = stablehlo.dot_general %17, %arg7, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<8x8xf32>) -> tensor<32x8xf32>
    %27 = stablehlo.transpose %26, dims = [1, 0] : (tensor<32x8xf32>) -> tensor<8x32xf32>
    %28 = stablehlo.add %arg1, %27 : tensor<8x32xf32>
    return %28, %24, %21, %25, %14 : tensor<8x32xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
}
