// Printed by JAX 0.10.2: a step over four scanned layers in bf16 with f32 masters, random bits for dropout, tied embeddings, a loss of each layer and one of an early head, a masked mean, clipping,
// and rates of their own for the embedding and all else.
module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xui32> loc("state['key']"), %arg1: tensor<24x16xf32> loc("state['momentum']['embed']"), %arg2: tensor<4x32x16xf32> loc("state['momentum']['layers']['down']"), %arg3: tensor<4x16xf32> loc("state['momentum']['layers']['scale']"), %arg4: tensor<4x16x32xf32> loc("state['momentum']['layers']['up']"), %arg5: tensor<16x5xf32> loc("state['momentum']['middle']"), %arg6: tensor<16xf32> loc("state['momentum']['norm']"), %arg7: tensor<24x16xf32> loc("state['params']['embed']"), %arg8: tensor<4x32x16xf32> loc("state['params']['layers']['down']"), %arg9: tensor<4x16xf32> loc("state['params']['layers']['scale']"), %arg10: tensor<4x16x32xf32> loc("state['params']['layers']['up']"), %arg11: tensor<16x5xf32> loc("state['params']['middle']"), %arg12: tensor<16xf32> loc("state['params']['norm']"), %arg13: tensor<f32> loc("state['step']"), %arg14: tensor<16x6xf32> loc("batch['mask']"), %arg15: tensor<16x6xi32> loc("batch['targets']"), %arg16: tensor<16x6xi32> loc("batch['tokens']"), %arg17: tensor<16xi32> loc("batch['topic']")) -> (tensor<4xui32> {jax.result_info = "result[0]['key']"}, tensor<24x16xf32> {jax.result_info = "result[0]['momentum']['embed']"}, tensor<4x32x16xf32> {jax.result_info = "result[0]['momentum']['layers']['down']"}, tensor<4x16xf32> {jax.result_info = "result[0]['momentum']['layers']['scale']"}, tensor<4x16x32xf32> {jax.result_info = "result[0]['momentum']['layers']['up']"}, tensor<16x5xf32> {jax.result_info = "result[0]['momentum']['middle']"}, tensor<16xf32> {jax.result_info = "result[0]['momentum']['norm']"}, tensor<24x16xf32> {jax.result_info = "result[0]['params']['embed']"}, tensor<4x32x16xf32> {jax.result_info = "result[0]['params']['layers']['down']"}, tensor<4x16xf32> {jax.result_info = "result[0]['params']['layers']['scale']"}, tensor<4x16x32xf32> {jax.result_info = "result[0]['params']['layers']['up']"}, tensor<16x5xf32> {jax.result_info = "result[0]['params']['middle']"}, tensor<16xf32> {jax.result_info = "result[0]['params']['norm']"}, tensor<f32> {jax.result_info = "result[0]['step']"}, tensor<f32> {jax.result_info = "result[1]['grad_norm']"}, tensor<f32> {jax.result_info = "result[1]['loss']"}, tensor<f32> {jax.result_info = "result[1]['topic_loss']"}) {
    %0 = stablehlo.convert %arg7 : (tensor<24x16xf32>) -> tensor<24x16xbf16>
    %1 = stablehlo.convert %arg8 : (tensor<4x32x16xf32>) -> tensor<4x32x16xbf16>
    %2 = stablehlo.convert %arg9 : (tensor<4x16xf32>) -> tensor<4x16xbf16>
    %3 = stablehlo.convert %arg10 : (tensor<4x16x32xf32>) -> tensor<4x16x32xbf16>
    %4 = stablehlo.convert %arg11 : (tensor<16x5xf32>) -> tensor<16x5xbf16>
    %5 = stablehlo.convert %arg12 : (tensor<16xf32>) -> tensor<16xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x6xi32>
    %7 = stablehlo.compare LT, %arg16, %6, SIGNED : (tensor<16x6xi32>, tensor<16x6xi32>) -> tensor<16x6xi1>
    %c_0 = stablehlo.constant dense<24> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<16x6xi32>
    %9 = stablehlo.add %arg16, %8 : tensor<16x6xi32>
    %10 = stablehlo.select %7, %9, %arg16 : tensor<16x6xi1>, tensor<16x6xi32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<16x6xi32>) -> tensor<16x6x1xi32>
    %12 = "stablehlo.gather"(%0, %11) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<24x16xbf16>, tensor<16x6x1xi32>) -> tensor<16x6x16xbf16>
    %13 = stablehlo.iota dim = 0 : tensor<4xi32>
    call @relu() : () -> ()
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<16x6x32xbf16>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %15:2 = call @_where(%c_1) : (tensor<i32>) -> (tensor<16x6x16xbf16>, tensor<16x6x16xbf16>)
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<bf16>) -> tensor<4x16x6x16xbf16>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<bf16>) -> tensor<4x16x6x1xbf16>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %19 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<bf16>) -> tensor<4x16x6x1xbf16>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %20 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<bf16>) -> tensor<4x1x1x16xbf16>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %21 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<bf16>) -> tensor<4x16x6x16xbf16>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %22 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<bf16>) -> tensor<4x16x6x16xbf16>
    %c_9 = stablehlo.constant dense<false> : tensor<i1>
    %23 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i1>) -> tensor<4x16x6x32xi1>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %24 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<bf16>) -> tensor<4x16x6x32xbf16>
    %c_11 = stablehlo.constant dense<false> : tensor<i1>
    %25 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i1>) -> tensor<4x16x6x16xi1>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x16x6x16xf32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %27:19 = stablehlo.while(%iterArg = %1, %iterArg_74 = %2, %iterArg_75 = %3, %iterArg_76 = %13, %iterArg_77 = %arg0, %iterArg_78 = %15#1, %iterArg_79 = %c_13, %iterArg_80 = %12, %iterArg_81 = %16, %iterArg_82 = %17, %iterArg_83 = %18, %iterArg_84 = %19, %iterArg_85 = %20, %iterArg_86 = %21, %iterArg_87 = %22, %iterArg_88 = %23, %iterArg_89 = %24, %iterArg_90 = %25, %iterArg_91 = %26) : tensor<4x32x16xbf16>, tensor<4x16xbf16>, tensor<4x16x32xbf16>, tensor<4xi32>, tensor<4xui32>, tensor<16x6x16xbf16>, tensor<i32>, tensor<16x6x16xbf16>, tensor<4xf32>, tensor<4x16x6x16xbf16>, tensor<4x16x6x1xbf16>, tensor<4x16x6x1xbf16>, tensor<4x1x1x16xbf16>, tensor<4x16x6x16xbf16>, tensor<4x16x6x16xbf16>, tensor<4x16x6x32xi1>, tensor<4x16x6x32xbf16>, tensor<4x16x6x16xi1>, tensor<4x16x6x16xf32>
    cond {
      %c_92 = stablehlo.constant dense<4> : tensor<i32>
      %241 = stablehlo.compare LT, %iterArg_79, %c_92, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %241 : tensor<i1>
    } do {
      %241 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_79) : (tensor<4x32x16xbf16>, tensor<i32>) -> tensor<32x16xbf16>
      %242 = func.call @dynamic_index_in_dim_0(%iterArg_74, %iterArg_79) : (tensor<4x16xbf16>, tensor<i32>) -> tensor<16xbf16>
      %243 = func.call @dynamic_index_in_dim_1(%iterArg_75, %iterArg_79) : (tensor<4x16x32xbf16>, tensor<i32>) -> tensor<16x32xbf16>
      %244 = func.call @dynamic_index_in_dim_2(%iterArg_76, %iterArg_79) : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
      %245:12 = func.call @closed_call(%iterArg_77, %iterArg_78, %iterArg_80, %241, %242, %243, %244) : (tensor<4xui32>, tensor<16x6x16xbf16>, tensor<16x6x16xbf16>, tensor<32x16xbf16>, tensor<16xbf16>, tensor<16x32xbf16>, tensor<i32>) -> (tensor<16x6x16xbf16>, tensor<f32>, tensor<16x6x16xbf16>, tensor<16x6x1xbf16>, tensor<16x6x1xbf16>, tensor<1x1x16xbf16>, tensor<16x6x16xbf16>, tensor<16x6x16xbf16>, tensor<16x6x32xi1>, tensor<16x6x32xbf16>, tensor<16x6x16xi1>, tensor<16x6x16xf32>)
      %246 = func.call @dynamic_update_index_in_dim(%iterArg_81, %245#1, %iterArg_79) : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
      %247 = func.call @dynamic_update_index_in_dim_5(%iterArg_82, %245#2, %iterArg_79) : (tensor<4x16x6x16xbf16>, tensor<16x6x16xbf16>, tensor<i32>) -> tensor<4x16x6x16xbf16>
      %248 = func.call @dynamic_update_index_in_dim_6(%iterArg_83, %245#3, %iterArg_79) : (tensor<4x16x6x1xbf16>, tensor<16x6x1xbf16>, tensor<i32>) -> tensor<4x16x6x1xbf16>
      %249 = func.call @dynamic_update_index_in_dim_6(%iterArg_84, %245#4, %iterArg_79) : (tensor<4x16x6x1xbf16>, tensor<16x6x1xbf16>, tensor<i32>) -> tensor<4x16x6x1xbf16>
      %250 = func.call @dynamic_update_index_in_dim_7(%iterArg_85, %245#5, %iterArg_79) : (tensor<4x1x1x16xbf16>, tensor<1x1x16xbf16>, tensor<i32>) -> tensor<4x1x1x16xbf16>
      %251 = func.call @dynamic_update_index_in_dim_5(%iterArg_86, %245#6, %iterArg_79) : (tensor<4x16x6x16xbf16>, tensor<16x6x16xbf16>, tensor<i32>) -> tensor<4x16x6x16xbf16>
      %252 = func.call @dynamic_update_index_in_dim_5(%iterArg_87, %245#7, %iterArg_79) : (tensor<4x16x6x16xbf16>, tensor<16x6x16xbf16>, tensor<i32>) -> tensor<4x16x6x16xbf16>
      %253 = func.call @dynamic_update_index_in_dim_8(%iterArg_88, %245#8, %iterArg_79) : (tensor<4x16x6x32xi1>, tensor<16x6x32xi1>, tensor<i32>) -> tensor<4x16x6x32xi1>
      %254 = func.call @dynamic_update_index_in_dim_9(%iterArg_89, %245#9, %iterArg_79) : (tensor<4x16x6x32xbf16>, tensor<16x6x32xbf16>, tensor<i32>) -> tensor<4x16x6x32xbf16>
      %255 = func.call @dynamic_update_index_in_dim_10(%iterArg_90, %245#10, %iterArg_79) : (tensor<4x16x6x16xi1>, tensor<16x6x16xi1>, tensor<i32>) -> tensor<4x16x6x16xi1>
      %256 = func.call @dynamic_update_index_in_dim_11(%iterArg_91, %245#11, %iterArg_79) : (tensor<4x16x6x16xf32>, tensor<16x6x16xf32>, tensor<i32>) -> tensor<4x16x6x16xf32>
      %c_92 = stablehlo.constant dense<1> : tensor<i32>
      %257 = stablehlo.add %iterArg_79, %c_92 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_74, %iterArg_75, %iterArg_76, %iterArg_77, %iterArg_78, %257, %245#0, %246, %247, %248, %249, %250, %251, %252, %253, %254, %255, %256 : tensor<4x32x16xbf16>, tensor<4x16xbf16>, tensor<4x16x32xbf16>, tensor<4xi32>, tensor<4xui32>, tensor<16x6x16xbf16>, tensor<i32>, tensor<16x6x16xbf16>, tensor<4xf32>, tensor<4x16x6x16xbf16>, tensor<4x16x6x1xbf16>, tensor<4x16x6x1xbf16>, tensor<4x1x1x16xbf16>, tensor<4x16x6x16xbf16>, tensor<4x16x6x16xbf16>, tensor<4x16x6x32xi1>, tensor<4x16x6x32xbf16>, tensor<4x16x6x16xi1>, tensor<4x16x6x16xf32>
    }
    %28 = stablehlo.convert %27#7 : (tensor<16x6x16xbf16>) -> tensor<16x6x16xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%28 init: %cst_14) applies stablehlo.add across dimensions = [1] : (tensor<16x6x16xf32>, tensor<f32>) -> tensor<16x16xf32>
    %cst_15 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %31 = stablehlo.divide %29, %30 : tensor<16x16xf32>
    %32 = stablehlo.convert %31 : (tensor<16x16xf32>) -> tensor<16x16xbf16>
    %33 = stablehlo.dot_general %32, %4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xbf16>, tensor<16x5xbf16>) -> tensor<16x5xbf16>
    %34 = stablehlo.convert %33 : (tensor<16x5xbf16>) -> tensor<16x5xf32>
    %35:3 = call @log_softmax(%34) : (tensor<16x5xf32>) -> (tensor<16x5xf32>, tensor<16x5xf32>, tensor<16x1xf32>)
    %36 = stablehlo.broadcast_in_dim %arg17, dims = [0] : (tensor<16xi32>) -> tensor<16x1xi32>
    %37:2 = call @take_along_axis(%35#0, %36) : (tensor<16x5xf32>, tensor<16x1xi32>) -> (tensor<16x1xf32>, tensor<16x1x1xi32>)
    %38 = stablehlo.reshape %37#0 : (tensor<16x1xf32>) -> tensor<16xf32>
    %39 = stablehlo.negate %38 : tensor<16xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%39 init: %cst_16) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    %cst_17 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %41 = stablehlo.divide %40, %cst_17 : tensor<f32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%27#8 init: %cst_18) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %cst_19 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %43 = stablehlo.multiply %cst_19, %42 : tensor<f32>
    %44 = stablehlo.add %41, %43 : tensor<f32>
    %45 = stablehlo.multiply %27#7, %27#7 : tensor<16x6x16xbf16>
    %46 = stablehlo.convert %45 : (tensor<16x6x16xbf16>) -> tensor<16x6x16xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.reduce(%46 init: %cst_20) applies stablehlo.add across dimensions = [2] : (tensor<16x6x16xf32>, tensor<f32>) -> tensor<16x6xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1] : (tensor<16x6xf32>) -> tensor<16x6x1xf32>
    %cst_21 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<16x6x1xf32>
    %50 = stablehlo.divide %48, %49 : tensor<16x6x1xf32>
    %51 = stablehlo.convert %50 : (tensor<16x6x1xf32>) -> tensor<16x6x1xbf16>
    %cst_22 = stablehlo.constant dense<9.983770e-07> : tensor<bf16>
    %52 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<bf16>) -> tensor<16x6x1xbf16>
    %53 = stablehlo.add %51, %52 : tensor<16x6x1xbf16>
    %54 = stablehlo.rsqrt %53 : tensor<16x6x1xbf16>
    %55 = stablehlo.divide %54, %53 : tensor<16x6x1xbf16>
    %cst_23 = stablehlo.constant dense<-5.000000e-01> : tensor<bf16>
    %56 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<bf16>) -> tensor<16x6x1xbf16>
    %57 = stablehlo.multiply %56, %55 : tensor<16x6x1xbf16>
    %58 = stablehlo.broadcast_in_dim %54, dims = [0, 1, 2] : (tensor<16x6x1xbf16>) -> tensor<16x6x16xbf16>
    %59 = stablehlo.multiply %27#7, %58 : tensor<16x6x16xbf16>
    %60 = stablehlo.broadcast_in_dim %5, dims = [2] : (tensor<16xbf16>) -> tensor<1x1x16xbf16>
    %61 = stablehlo.broadcast_in_dim %60, dims = [0, 1, 2] : (tensor<1x1x16xbf16>) -> tensor<16x6x16xbf16>
    %62 = stablehlo.multiply %59, %61 : tensor<16x6x16xbf16>
    %63 = stablehlo.transpose %0, dims = [1, 0] : (tensor<24x16xbf16>) -> tensor<16x24xbf16>
    %64 = stablehlo.dot_general %62, %63, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x6x16xbf16>, tensor<16x24xbf16>) -> tensor<16x6x24xbf16>
    %65 = stablehlo.convert %64 : (tensor<16x6x24xbf16>) -> tensor<16x6x24xf32>
    %66:3 = call @log_softmax_12(%65) : (tensor<16x6x24xf32>) -> (tensor<16x6x24xf32>, tensor<16x6x24xf32>, tensor<16x6x1xf32>)
    %67 = stablehlo.broadcast_in_dim %arg15, dims = [0, 1] : (tensor<16x6xi32>) -> tensor<16x6x1xi32>
    %68:2 = call @take_along_axis_13(%66#0, %67) : (tensor<16x6x24xf32>, tensor<16x6x1xi32>) -> (tensor<16x6x1xf32>, tensor<16x6x1x1xi32>)
    %69 = stablehlo.reshape %68#0 : (tensor<16x6x1xf32>) -> tensor<16x6xf32>
    %70 = stablehlo.negate %69 : tensor<16x6xf32>
    %71 = stablehlo.multiply %70, %arg14 : tensor<16x6xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.reduce(%71 init: %cst_24) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %73 = stablehlo.reduce(%arg14 init: %cst_25) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x6xf32>, tensor<f32>) -> tensor<f32>
    %74 = stablehlo.divide %72, %73 : tensor<f32>
    %cst_26 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %75 = stablehlo.multiply %cst_26, %44 : tensor<f32>
    %76 = stablehlo.add %74, %75 : tensor<f32>
    %cst_27 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %cst_28 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %77 = stablehlo.multiply %cst_27, %cst_28 : tensor<f32>
    %cst_29 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %78 = stablehlo.divide %cst_29, %73 : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %78, dims = [] : (tensor<f32>) -> tensor<16x6xf32>
    %80 = stablehlo.multiply %79, %arg14 : tensor<16x6xf32>
    %81 = stablehlo.negate %80 : tensor<16x6xf32>
    %82 = stablehlo.broadcast_in_dim %81, dims = [0, 1] : (tensor<16x6xf32>) -> tensor<16x6x1xf32>
    %83 = call @take_along_axis_14(%68#1, %82) : (tensor<16x6x1x1xi32>, tensor<16x6x1xf32>) -> tensor<16x6x24xf32>
    %84 = call @log_softmax_15(%66#1, %66#2, %83) : (tensor<16x6x24xf32>, tensor<16x6x1xf32>, tensor<16x6x24xf32>) -> tensor<16x6x24xf32>
    %85 = stablehlo.convert %84 : (tensor<16x6x24xf32>) -> tensor<16x6x24xbf16>
    %86 = stablehlo.dot_general %85, %62, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x6x24xbf16>, tensor<16x6x16xbf16>) -> tensor<24x16xbf16>
    %87 = stablehlo.transpose %86, dims = [1, 0] : (tensor<24x16xbf16>) -> tensor<16x24xbf16>
    %88 = stablehlo.dot_general %85, %63, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x6x24xbf16>, tensor<16x24xbf16>) -> tensor<16x6x16xbf16>
    %89 = stablehlo.transpose %87, dims = [1, 0] : (tensor<16x24xbf16>) -> tensor<24x16xbf16>
    %90 = stablehlo.multiply %59, %88 : tensor<16x6x16xbf16>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %91 = stablehlo.reduce(%90 init: %cst_30) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x6x16xbf16>, tensor<bf16>) -> tensor<16xbf16>
    %92 = stablehlo.reshape %91 : (tensor<16xbf16>) -> tensor<1x1x16xbf16>
    %93 = stablehlo.broadcast_in_dim %60, dims = [0, 1, 2] : (tensor<1x1x16xbf16>) -> tensor<16x6x16xbf16>
    %94 = stablehlo.multiply %88, %93 : tensor<16x6x16xbf16>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %95 = stablehlo.reduce(%92 init: %cst_31) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x16xbf16>, tensor<bf16>) -> tensor<16xbf16>
    %96 = stablehlo.multiply %27#7, %94 : tensor<16x6x16xbf16>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %97 = stablehlo.reduce(%96 init: %cst_32) applies stablehlo.add across dimensions = [2] : (tensor<16x6x16xbf16>, tensor<bf16>) -> tensor<16x6xbf16>
    %98 = stablehlo.reshape %97 : (tensor<16x6xbf16>) -> tensor<16x6x1xbf16>
    %99 = stablehlo.broadcast_in_dim %54, dims = [0, 1, 2] : (tensor<16x6x1xbf16>) -> tensor<16x6x16xbf16>
    %100 = stablehlo.multiply %94, %99 : tensor<16x6x16xbf16>
    %101 = stablehlo.multiply %98, %57 : tensor<16x6x1xbf16>
    %102 = stablehlo.convert %101 : (tensor<16x6x1xbf16>) -> tensor<16x6x1xf32>
    %cst_33 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<16x6x1xf32>
    %104 = stablehlo.divide %102, %103 : tensor<16x6x1xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %105 = stablehlo.reduce(%104 init: %cst_34) applies stablehlo.add across dimensions = [2] : (tensor<16x6x1xf32>, tensor<f32>) -> tensor<16x6xf32>
    %106 = stablehlo.broadcast_in_dim %105, dims = [0, 1] : (tensor<16x6xf32>) -> tensor<16x6x16xf32>
    %107 = stablehlo.convert %106 : (tensor<16x6x16xf32>) -> tensor<16x6x16xbf16>
    %108 = stablehlo.multiply %27#7, %107 : tensor<16x6x16xbf16>
    %109 = stablehlo.add %100, %108 : tensor<16x6x16xbf16>
    %110 = stablehlo.multiply %107, %27#7 : tensor<16x6x16xbf16>
    %111 = stablehlo.add %109, %110 : tensor<16x6x16xbf16>
    %cst_35 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %112 = stablehlo.multiply %cst_35, %77 : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %112, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %cst_36 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %114 = stablehlo.divide %77, %cst_36 : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %114, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %116 = stablehlo.negate %115 : tensor<16xf32>
    %117 = stablehlo.broadcast_in_dim %116, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
    %118 = call @take_along_axis_16(%37#1, %117) : (tensor<16x1x1xi32>, tensor<16x1xf32>) -> tensor<16x5xf32>
    %119 = call @log_softmax_17(%35#1, %35#2, %118) : (tensor<16x5xf32>, tensor<16x1xf32>, tensor<16x5xf32>) -> tensor<16x5xf32>
    %120 = stablehlo.convert %119 : (tensor<16x5xf32>) -> tensor<16x5xbf16>
    %121 = stablehlo.dot_general %120, %32, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x5xbf16>, tensor<16x16xbf16>) -> tensor<5x16xbf16>
    %122 = stablehlo.transpose %121, dims = [1, 0] : (tensor<5x16xbf16>) -> tensor<16x5xbf16>
    %123 = stablehlo.dot_general %120, %4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x5xbf16>, tensor<16x5xbf16>) -> tensor<16x16xbf16>
    %124 = stablehlo.convert %123 : (tensor<16x16xbf16>) -> tensor<16x16xf32>
    %cst_37 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %126 = stablehlo.divide %124, %125 : tensor<16x16xf32>
    %127 = stablehlo.broadcast_in_dim %126, dims = [0, 2] : (tensor<16x16xf32>) -> tensor<16x6x16xf32>
    %128 = stablehlo.convert %127 : (tensor<16x6x16xf32>) -> tensor<16x6x16xbf16>
    %129 = stablehlo.add %111, %128 : tensor<16x6x16xbf16>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %130 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<bf16>) -> tensor<4x32x16xbf16>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %131 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<bf16>) -> tensor<4x16xbf16>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %132 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<bf16>) -> tensor<4x16x32xbf16>
    %c_41 = stablehlo.constant dense<0> : tensor<i32>
    %133:20 = stablehlo.while(%iterArg = %113, %iterArg_74 = %27#9, %iterArg_75 = %27#10, %iterArg_76 = %27#11, %iterArg_77 = %27#12, %iterArg_78 = %27#13, %iterArg_79 = %3, %iterArg_80 = %27#14, %iterArg_81 = %27#15, %iterArg_82 = %1, %iterArg_83 = %27#16, %iterArg_84 = %27#17, %iterArg_85 = %27#18, %iterArg_86 = %14, %iterArg_87 = %15#0, %iterArg_88 = %c_41, %iterArg_89 = %129, %iterArg_90 = %130, %iterArg_91 = %131, %iterArg_92 = %132) : tensor<4xf32>, tensor<4x16x6x16xbf16>, tensor<4x16x6x1xbf16>, tensor<4x16x6x1xbf16>, tensor<4x1x1x16xbf16>, tensor<4x16x6x16xbf16>, tensor<4x16x32xbf16>, tensor<4x16x6x16xbf16>, tensor<4x16x6x32xi1>, tensor<4x32x16xbf16>, tensor<4x16x6x32xbf16>, tensor<4x16x6x16xi1>, tensor<4x16x6x16xf32>, tensor<16x6x32xbf16>, tensor<16x6x16xbf16>, tensor<i32>, tensor<16x6x16xbf16>, tensor<4x32x16xbf16>, tensor<4x16xbf16>, tensor<4x16x32xbf16>
    cond {
      %c_93 = stablehlo.constant dense<4> : tensor<i32>
      %241 = stablehlo.compare LT, %iterArg_88, %c_93, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %241 : tensor<i1>
    } do {
      %c_93 = stablehlo.constant dense<4> : tensor<i32>
      %241 = stablehlo.subtract %c_93, %iterArg_88 : tensor<i32>
      %c_94 = stablehlo.constant dense<1> : tensor<i32>
      %242 = stablehlo.subtract %241, %c_94 : tensor<i32>
      %243 = func.call @dynamic_index_in_dim_18(%iterArg, %242) : (tensor<4xf32>, tensor<i32>) -> tensor<f32>
      %244 = func.call @dynamic_index_in_dim_19(%iterArg_74, %242) : (tensor<4x16x6x16xbf16>, tensor<i32>) -> tensor<16x6x16xbf16>
      %245 = func.call @dynamic_index_in_dim_20(%iterArg_75, %242) : (tensor<4x16x6x1xbf16>, tensor<i32>) -> tensor<16x6x1xbf16>
      %246 = func.call @dynamic_index_in_dim_20(%iterArg_76, %242) : (tensor<4x16x6x1xbf16>, tensor<i32>) -> tensor<16x6x1xbf16>
      %247 = func.call @dynamic_index_in_dim_21(%iterArg_77, %242) : (tensor<4x1x1x16xbf16>, tensor<i32>) -> tensor<1x1x16xbf16>
      %248 = func.call @dynamic_index_in_dim_19(%iterArg_78, %242) : (tensor<4x16x6x16xbf16>, tensor<i32>) -> tensor<16x6x16xbf16>
      %249 = func.call @dynamic_index_in_dim_1(%iterArg_79, %242) : (tensor<4x16x32xbf16>, tensor<i32>) -> tensor<16x32xbf16>
      %250 = func.call @dynamic_index_in_dim_19(%iterArg_80, %242) : (tensor<4x16x6x16xbf16>, tensor<i32>) -> tensor<16x6x16xbf16>
      %251 = func.call @dynamic_index_in_dim_22(%iterArg_81, %242) : (tensor<4x16x6x32xi1>, tensor<i32>) -> tensor<16x6x32xi1>
      %252 = func.call @dynamic_index_in_dim(%iterArg_82, %242) : (tensor<4x32x16xbf16>, tensor<i32>) -> tensor<32x16xbf16>
      %253 = func.call @dynamic_index_in_dim_23(%iterArg_83, %242) : (tensor<4x16x6x32xbf16>, tensor<i32>) -> tensor<16x6x32xbf16>
      %254 = func.call @dynamic_index_in_dim_24(%iterArg_84, %242) : (tensor<4x16x6x16xi1>, tensor<i32>) -> tensor<16x6x16xi1>
      %255 = func.call @dynamic_index_in_dim_25(%iterArg_85, %242) : (tensor<4x16x6x16xf32>, tensor<i32>) -> tensor<16x6x16xf32>
      %256:4 = func.call @closed_call_26(%iterArg_86, %iterArg_87, %iterArg_89, %243, %244, %245, %246, %247, %248, %249, %250, %251, %252, %253, %254, %255) : (tensor<16x6x32xbf16>, tensor<16x6x16xbf16>, tensor<16x6x16xbf16>, tensor<f32>, tensor<16x6x16xbf16>, tensor<16x6x1xbf16>, tensor<16x6x1xbf16>, tensor<1x1x16xbf16>, tensor<16x6x16xbf16>, tensor<16x32xbf16>, tensor<16x6x16xbf16>, tensor<16x6x32xi1>, tensor<32x16xbf16>, tensor<16x6x32xbf16>, tensor<16x6x16xi1>, tensor<16x6x16xf32>) -> (tensor<16x6x16xbf16>, tensor<32x16xbf16>, tensor<16xbf16>, tensor<16x32xbf16>)
      %257 = func.call @dynamic_update_index_in_dim_28(%iterArg_90, %256#1, %242) : (tensor<4x32x16xbf16>, tensor<32x16xbf16>, tensor<i32>) -> tensor<4x32x16xbf16>
      %258 = func.call @dynamic_update_index_in_dim_29(%iterArg_91, %256#2, %242) : (tensor<4x16xbf16>, tensor<16xbf16>, tensor<i32>) -> tensor<4x16xbf16>
      %259 = func.call @dynamic_update_index_in_dim_30(%iterArg_92, %256#3, %242) : (tensor<4x16x32xbf16>, tensor<16x32xbf16>, tensor<i32>) -> tensor<4x16x32xbf16>
      %c_95 = stablehlo.constant dense<1> : tensor<i32>
      %260 = stablehlo.add %iterArg_88, %c_95 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_74, %iterArg_75, %iterArg_76, %iterArg_77, %iterArg_78, %iterArg_79, %iterArg_80, %iterArg_81, %iterArg_82, %iterArg_83, %iterArg_84, %iterArg_85, %iterArg_86, %iterArg_87, %260, %256#0, %257, %258, %259 : tensor<4xf32>, tensor<4x16x6x16xbf16>, tensor<4x16x6x1xbf16>, tensor<4x16x6x1xbf16>, tensor<4x1x1x16xbf16>, tensor<4x16x6x16xbf16>, tensor<4x16x32xbf16>, tensor<4x16x6x16xbf16>, tensor<4x16x6x32xi1>, tensor<4x32x16xbf16>, tensor<4x16x6x32xbf16>, tensor<4x16x6x16xi1>, tensor<4x16x6x16xf32>, tensor<16x6x32xbf16>, tensor<16x6x16xbf16>, tensor<i32>, tensor<16x6x16xbf16>, tensor<4x32x16xbf16>, tensor<4x16xbf16>, tensor<4x16x32xbf16>
    }
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %134 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<bf16>) -> tensor<24x16xbf16>
    %135 = "stablehlo.scatter"(%134, %11, %133#16) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg18: tensor<bf16>, %arg19: tensor<bf16>):
      %241 = stablehlo.add %arg18, %arg19 : tensor<bf16>
      stablehlo.return %241 : tensor<bf16>
    }) : (tensor<24x16xbf16>, tensor<16x6x1xi32>, tensor<16x6x16xbf16>) -> tensor<24x16xbf16>
    %136 = stablehlo.add %89, %135 : tensor<24x16xbf16>
    %137 = stablehlo.convert %95 : (tensor<16xbf16>) -> tensor<16xf32>
    %138 = stablehlo.convert %122 : (tensor<16x5xbf16>) -> tensor<16x5xf32>
    %139 = stablehlo.convert %133#19 : (tensor<4x16x32xbf16>) -> tensor<4x16x32xf32>
    %140 = stablehlo.convert %133#18 : (tensor<4x16xbf16>) -> tensor<4x16xf32>
    %141 = stablehlo.convert %133#17 : (tensor<4x32x16xbf16>) -> tensor<4x32x16xf32>
    %142 = stablehlo.convert %136 : (tensor<24x16xbf16>) -> tensor<24x16xf32>
    %143 = chlo.square %142 : tensor<24x16xf32> -> tensor<24x16xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<24x16xf32>
    %145 = chlo.square %144 : tensor<24x16xf32> -> tensor<24x16xf32>
    %146 = stablehlo.add %143, %145 : tensor<24x16xf32>
    %147 = chlo.square %141 : tensor<4x32x16xf32> -> tensor<4x32x16xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<4x32x16xf32>
    %149 = chlo.square %148 : tensor<4x32x16xf32> -> tensor<4x32x16xf32>
    %150 = stablehlo.add %147, %149 : tensor<4x32x16xf32>
    %151 = chlo.square %140 : tensor<4x16xf32> -> tensor<4x16xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %153 = chlo.square %152 : tensor<4x16xf32> -> tensor<4x16xf32>
    %154 = stablehlo.add %151, %153 : tensor<4x16xf32>
    %155 = chlo.square %139 : tensor<4x16x32xf32> -> tensor<4x16x32xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<4x16x32xf32>
    %157 = chlo.square %156 : tensor<4x16x32xf32> -> tensor<4x16x32xf32>
    %158 = stablehlo.add %155, %157 : tensor<4x16x32xf32>
    %159 = chlo.square %138 : tensor<16x5xf32> -> tensor<16x5xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<16x5xf32>
    %161 = chlo.square %160 : tensor<16x5xf32> -> tensor<16x5xf32>
    %162 = stablehlo.add %159, %161 : tensor<16x5xf32>
    %163 = chlo.square %137 : tensor<16xf32> -> tensor<16xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %164 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %165 = chlo.square %164 : tensor<16xf32> -> tensor<16xf32>
    %166 = stablehlo.add %163, %165 : tensor<16xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %167 = stablehlo.reduce(%146 init: %cst_49) applies stablehlo.add across dimensions = [0, 1] : (tensor<24x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %168 = stablehlo.reduce(%150 init: %cst_50) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x32x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %169 = stablehlo.reduce(%154 init: %cst_51) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_52 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %170 = stablehlo.reduce(%158 init: %cst_52) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x16x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %171 = stablehlo.reduce(%162 init: %cst_53) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x5xf32>, tensor<f32>) -> tensor<f32>
    %cst_54 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %172 = stablehlo.reduce(%166 init: %cst_54) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    %cst_55 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %173 = stablehlo.add %cst_55, %167 : tensor<f32>
    %174 = stablehlo.add %173, %168 : tensor<f32>
    %175 = stablehlo.add %174, %169 : tensor<f32>
    %176 = stablehlo.add %175, %170 : tensor<f32>
    %177 = stablehlo.add %176, %171 : tensor<f32>
    %178 = stablehlo.add %177, %172 : tensor<f32>
    %179 = stablehlo.sqrt %178 : tensor<f32>
    %cst_56 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %180 = stablehlo.divide %cst_56, %179 : tensor<f32>
    %cst_57 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %181 = stablehlo.minimum %cst_57, %180 : tensor<f32>
    %cst_58 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %182 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<24x16xf32>
    %183 = stablehlo.multiply %182, %arg1 : tensor<24x16xf32>
    %184 = stablehlo.broadcast_in_dim %181, dims = [] : (tensor<f32>) -> tensor<24x16xf32>
    %185 = stablehlo.multiply %142, %184 : tensor<24x16xf32>
    %186 = stablehlo.add %183, %185 : tensor<24x16xf32>
    %cst_59 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %187 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<4x32x16xf32>
    %188 = stablehlo.multiply %187, %arg2 : tensor<4x32x16xf32>
    %189 = stablehlo.broadcast_in_dim %181, dims = [] : (tensor<f32>) -> tensor<4x32x16xf32>
    %190 = stablehlo.multiply %141, %189 : tensor<4x32x16xf32>
    %191 = stablehlo.add %188, %190 : tensor<4x32x16xf32>
    %cst_60 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %192 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %193 = stablehlo.multiply %192, %arg3 : tensor<4x16xf32>
    %194 = stablehlo.broadcast_in_dim %181, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %195 = stablehlo.multiply %140, %194 : tensor<4x16xf32>
    %196 = stablehlo.add %193, %195 : tensor<4x16xf32>
    %cst_61 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %197 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<4x16x32xf32>
    %198 = stablehlo.multiply %197, %arg4 : tensor<4x16x32xf32>
    %199 = stablehlo.broadcast_in_dim %181, dims = [] : (tensor<f32>) -> tensor<4x16x32xf32>
    %200 = stablehlo.multiply %139, %199 : tensor<4x16x32xf32>
    %201 = stablehlo.add %198, %200 : tensor<4x16x32xf32>
    %cst_62 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %202 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<16x5xf32>
    %203 = stablehlo.multiply %202, %arg5 : tensor<16x5xf32>
    %204 = stablehlo.broadcast_in_dim %181, dims = [] : (tensor<f32>) -> tensor<16x5xf32>
    %205 = stablehlo.multiply %138, %204 : tensor<16x5xf32>
    %206 = stablehlo.add %203, %205 : tensor<16x5xf32>
    %cst_63 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %207 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %208 = stablehlo.multiply %207, %arg6 : tensor<16xf32>
    %209 = stablehlo.broadcast_in_dim %181, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %210 = stablehlo.multiply %137, %209 : tensor<16xf32>
    %211 = stablehlo.add %208, %210 : tensor<16xf32>
    %cst_64 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %212 = stablehlo.add %cst_64, %arg13 : tensor<f32>
    %cst_65 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %213 = stablehlo.divide %cst_65, %212 : tensor<f32>
    %cst_66 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %214 = stablehlo.power %cst_66, %arg13 : tensor<f32>
    %cst_67 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %215 = stablehlo.multiply %cst_67, %214 : tensor<f32>
    %cst_68 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %216 = stablehlo.power %cst_68, %arg13 : tensor<f32>
    %cst_69 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %217 = stablehlo.multiply %cst_69, %216 : tensor<f32>
    %cst_70 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %218 = stablehlo.power %cst_70, %arg13 : tensor<f32>
    %cst_71 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %219 = stablehlo.multiply %cst_71, %218 : tensor<f32>
    %220 = stablehlo.broadcast_in_dim %213, dims = [] : (tensor<f32>) -> tensor<24x16xf32>
    %221 = stablehlo.multiply %220, %186 : tensor<24x16xf32>
    %222 = stablehlo.subtract %arg7, %221 : tensor<24x16xf32>
    %223 = stablehlo.broadcast_in_dim %215, dims = [] : (tensor<f32>) -> tensor<4x32x16xf32>
    %224 = stablehlo.multiply %223, %191 : tensor<4x32x16xf32>
    %225 = stablehlo.subtract %arg8, %224 : tensor<4x32x16xf32>
    %226 = stablehlo.broadcast_in_dim %215, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %227 = stablehlo.multiply %226, %196 : tensor<4x16xf32>
    %228 = stablehlo.subtract %arg9, %227 : tensor<4x16xf32>
    %229 = stablehlo.broadcast_in_dim %215, dims = [] : (tensor<f32>) -> tensor<4x16x32xf32>
    %230 = stablehlo.multiply %229, %201 : tensor<4x16x32xf32>
    %231 = stablehlo.subtract %arg10, %230 : tensor<4x16x32xf32>
    %232 = stablehlo.broadcast_in_dim %217, dims = [] : (tensor<f32>) -> tensor<16x5xf32>
    %233 = stablehlo.multiply %232, %206 : tensor<16x5xf32>
    %234 = stablehlo.subtract %arg11, %233 : tensor<16x5xf32>
    %235 = stablehlo.broadcast_in_dim %219, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %236 = stablehlo.multiply %235, %211 : tensor<16xf32>
    %237 = stablehlo.subtract %arg12, %236 : tensor<16xf32>
    %c_72 = stablehlo.constant dense<7> : tensor<ui32>
    %238 = stablehlo.broadcast_in_dim %c_72, dims = [] : (tensor<ui32>) -> tensor<4xui32>
    %239 = stablehlo.add %arg0, %238 : tensor<4xui32>
    %cst_73 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %240 = stablehlo.add %arg13, %cst_73 : tensor<f32>
    return %239, %186, %191, %196, %201, %206, %211, %222, %225, %228, %231, %234, %237, %240, %179, %76, %44 : tensor<4xui32>, tensor<24x16xf32>, tensor<4x32x16xf32>, tensor<4x16xf32>, tensor<4x16x32xf32>, tensor<16x5xf32>, tensor<16xf32>, tensor<24x16xf32>, tensor<4x32x16xf32>, tensor<4x16xf32>, tensor<4x16x32xf32>, tensor<16x5xf32>, tensor<16xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }
  func.func private @relu() {
    return
  }
  func.func private @_where(%arg0: tensor<i32>) -> (tensor<16x6x16xbf16>, tensor<16x6x16xbf16>) {
    %0 = stablehlo.convert %arg0 : (tensor<i32>) -> tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<bf16>) -> tensor<16x6x16xbf16>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<16x6x16xbf16>
    return %2, %1 : tensor<16x6x16xbf16>, tensor<16x6x16xbf16>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x32x16xbf16>, %arg1: tensor<i32>) -> tensor<32x16xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 32, 16] : (tensor<4x32x16xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x16xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x32x16xbf16>) -> tensor<32x16xbf16>
    return %1 : tensor<32x16xbf16>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<4x16xbf16>, %arg1: tensor<i32>) -> tensor<16xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 16] : (tensor<4x16xbf16>, tensor<i32>, tensor<i32>) -> tensor<1x16xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x16xbf16>) -> tensor<16xbf16>
    return %1 : tensor<16xbf16>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<4x16x32xbf16>, %arg1: tensor<i32>) -> tensor<16x32xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16, 32] : (tensor<4x16x32xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x32xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x16x32xbf16>) -> tensor<16x32xbf16>
    return %1 : tensor<16x32xbf16>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<4xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @closed_call(%arg0: tensor<4xui32>, %arg1: tensor<16x6x16xbf16>, %arg2: tensor<16x6x16xbf16>, %arg3: tensor<32x16xbf16>, %arg4: tensor<16xbf16>, %arg5: tensor<16x32xbf16>, %arg6: tensor<i32>) -> (tensor<16x6x16xbf16>, tensor<f32>, tensor<16x6x16xbf16>, tensor<16x6x1xbf16>, tensor<16x6x1xbf16>, tensor<1x1x16xbf16>, tensor<16x6x16xbf16>, tensor<16x6x16xbf16>, tensor<16x6x32xi1>, tensor<16x6x32xbf16>, tensor<16x6x16xi1>, tensor<16x6x16xf32>) {
    %0 = stablehlo.multiply %arg2, %arg2 : tensor<16x6x16xbf16>
    %1 = stablehlo.convert %0 : (tensor<16x6x16xbf16>) -> tensor<16x6x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<16x6x16xf32>, tensor<f32>) -> tensor<16x6xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<16x6xf32>) -> tensor<16x6x1xf32>
    %cst_0 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x6x1xf32>
    %5 = stablehlo.divide %3, %4 : tensor<16x6x1xf32>
    %6 = stablehlo.convert %5 : (tensor<16x6x1xf32>) -> tensor<16x6x1xbf16>
    %cst_1 = stablehlo.constant dense<9.983770e-07> : tensor<bf16>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<16x6x1xbf16>
    %8 = stablehlo.add %6, %7 : tensor<16x6x1xbf16>
    %9 = stablehlo.rsqrt %8 : tensor<16x6x1xbf16>
    %10 = stablehlo.divide %9, %8 : tensor<16x6x1xbf16>
    %cst_2 = stablehlo.constant dense<-5.000000e-01> : tensor<bf16>
    %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<bf16>) -> tensor<16x6x1xbf16>
    %12 = stablehlo.multiply %11, %10 : tensor<16x6x1xbf16>
    %13 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<16x6x1xbf16>) -> tensor<16x6x16xbf16>
    %14 = stablehlo.multiply %arg2, %13 : tensor<16x6x16xbf16>
    %15 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<16xbf16>) -> tensor<1x1x16xbf16>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<1x1x16xbf16>) -> tensor<16x6x16xbf16>
    %17 = stablehlo.multiply %14, %16 : tensor<16x6x16xbf16>
    %18 = stablehlo.convert %arg6 : (tensor<i32>) -> tensor<ui32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<ui32>) -> tensor<4xui32>
    %20 = stablehlo.add %arg0, %19 : tensor<4xui32>
    %21 = stablehlo.dot_general %17, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x6x16xbf16>, tensor<16x32xbf16>) -> tensor<16x6x32xbf16>
    %22 = call @relu_3(%21) : (tensor<16x6x32xbf16>) -> tensor<16x6x32xbf16>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<bf16>) -> tensor<16x6x32xbf16>
    %24 = stablehlo.compare GT, %21, %23, FLOAT : (tensor<16x6x32xbf16>, tensor<16x6x32xbf16>) -> tensor<16x6x32xi1>
    %25 = stablehlo.dot_general %22, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x6x32xbf16>, tensor<32x16xbf16>) -> tensor<16x6x16xbf16>
    %26 = stablehlo.reshape %20 : (tensor<4xui32>) -> tensor<2x2xui32>
    %27 = stablehlo.bitcast_convert %26 : (tensor<2x2xui32>) -> tensor<2xui64>
    %output_state, %output = stablehlo.rng_bit_generator %27, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<16x6x16xui32>)
    %28 = stablehlo.bitcast_convert %output_state : (tensor<2xui64>) -> tensor<2x2xui32>
    %29 = stablehlo.reshape %28 : (tensor<2x2xui32>) -> tensor<4xui32>
    %c = stablehlo.constant dense<3865470566> : tensor<ui32>
    %30 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<16x6x16xui32>
    %31 = stablehlo.compare LT, %output, %30, UNSIGNED : (tensor<16x6x16xui32>, tensor<16x6x16xui32>) -> tensor<16x6x16xi1>
    %cst_4 = stablehlo.constant dense<8.984370e-01> : tensor<bf16>
    %32 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<bf16>) -> tensor<16x6x16xbf16>
    %33 = stablehlo.divide %25, %32 : tensor<16x6x16xbf16>
    %34 = call @_where_4(%31, %33, %arg1) : (tensor<16x6x16xi1>, tensor<16x6x16xbf16>, tensor<16x6x16xbf16>) -> tensor<16x6x16xbf16>
    %35 = stablehlo.add %arg2, %34 : tensor<16x6x16xbf16>
    %36 = stablehlo.convert %35 : (tensor<16x6x16xbf16>) -> tensor<16x6x16xf32>
    %37 = chlo.square %36 : tensor<16x6x16xf32> -> tensor<16x6x16xf32>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<16x6x16xf32>
    %39 = stablehlo.multiply %38, %36 : tensor<16x6x16xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%37 init: %cst_6) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<16x6x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_7 = stablehlo.constant dense<1.536000e+03> : tensor<f32>
    %41 = stablehlo.divide %40, %cst_7 : tensor<f32>
    return %35, %41, %arg2, %12, %9, %15, %14, %17, %24, %22, %31, %39 : tensor<16x6x16xbf16>, tensor<f32>, tensor<16x6x16xbf16>, tensor<16x6x1xbf16>, tensor<16x6x1xbf16>, tensor<1x1x16xbf16>, tensor<16x6x16xbf16>, tensor<16x6x16xbf16>, tensor<16x6x32xi1>, tensor<16x6x32xbf16>, tensor<16x6x16xi1>, tensor<16x6x16xf32>
  }
  func.func private @relu_3(%arg0: tensor<16x6x32xbf16>) -> tensor<16x6x32xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<16x6x32xbf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<16x6x32xbf16>
    return %1 : tensor<16x6x32xbf16>
  }
  func.func private @_where_4(%arg0: tensor<16x6x16xi1>, %arg1: tensor<16x6x16xbf16>, %arg2: tensor<16x6x16xbf16>) -> tensor<16x6x16xbf16> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<16x6x16xi1>, tensor<16x6x16xbf16>
    return %0 : tensor<16x6x16xbf16>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @dynamic_update_index_in_dim_5(%arg0: tensor<4x16x6x16xbf16>, %arg1: tensor<16x6x16xbf16>, %arg2: tensor<i32>) -> tensor<4x16x6x16xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<16x6x16xbf16>) -> tensor<1x16x6x16xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<4x16x6x16xbf16>, tensor<1x16x6x16xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x16x6x16xbf16>
    return %1 : tensor<4x16x6x16xbf16>
  }
  func.func private @dynamic_update_index_in_dim_6(%arg0: tensor<4x16x6x1xbf16>, %arg1: tensor<16x6x1xbf16>, %arg2: tensor<i32>) -> tensor<4x16x6x1xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<16x6x1xbf16>) -> tensor<1x16x6x1xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<4x16x6x1xbf16>, tensor<1x16x6x1xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x16x6x1xbf16>
    return %1 : tensor<4x16x6x1xbf16>
  }
  func.func private @dynamic_update_index_in_dim_7(%arg0: tensor<4x1x1x16xbf16>, %arg1: tensor<1x1x16xbf16>, %arg2: tensor<i32>) -> tensor<4x1x1x16xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<1x1x16xbf16>) -> tensor<1x1x1x16xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<4x1x1x16xbf16>, tensor<1x1x1x16xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x1x1x16xbf16>
    return %1 : tensor<4x1x1x16xbf16>
  }
  func.func private @dynamic_update_index_in_dim_8(%arg0: tensor<4x16x6x32xi1>, %arg1: tensor<16x6x32xi1>, %arg2: tensor<i32>) -> tensor<4x16x6x32xi1> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<16x6x32xi1>) -> tensor<1x16x6x32xi1>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<4x16x6x32xi1>, tensor<1x16x6x32xi1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x16x6x32xi1>
    return %1 : tensor<4x16x6x32xi1>
  }
  func.func private @dynamic_update_index_in_dim_9(%arg0: tensor<4x16x6x32xbf16>, %arg1: tensor<16x6x32xbf16>, %arg2: tensor<i32>) -> tensor<4x16x6x32xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<16x6x32xbf16>) -> tensor<1x16x6x32xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<4x16x6x32xbf16>, tensor<1x16x6x32xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x16x6x32xbf16>
    return %1 : tensor<4x16x6x32xbf16>
  }
  func.func private @dynamic_update_index_in_dim_10(%arg0: tensor<4x16x6x16xi1>, %arg1: tensor<16x6x16xi1>, %arg2: tensor<i32>) -> tensor<4x16x6x16xi1> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<16x6x16xi1>) -> tensor<1x16x6x16xi1>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<4x16x6x16xi1>, tensor<1x16x6x16xi1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x16x6x16xi1>
    return %1 : tensor<4x16x6x16xi1>
  }
  func.func private @dynamic_update_index_in_dim_11(%arg0: tensor<4x16x6x16xf32>, %arg1: tensor<16x6x16xf32>, %arg2: tensor<i32>) -> tensor<4x16x6x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<16x6x16xf32>) -> tensor<1x16x6x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<4x16x6x16xf32>, tensor<1x16x6x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x16x6x16xf32>
    return %1 : tensor<4x16x6x16xf32>
  }
  func.func private @log_softmax(%arg0: tensor<16x5xf32>) -> (tensor<16x5xf32>, tensor<16x5xf32>, tensor<16x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<16x5xf32>, tensor<f32>) -> tensor<16xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<16xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<16x1xf32>) -> tensor<16x5xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<16x5xf32>
    %6 = stablehlo.exponential %5 : tensor<16x5xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<16x5xf32>, tensor<f32>) -> tensor<16xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
    %9 = stablehlo.log %8 : tensor<16x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<16x1xf32>) -> tensor<16x5xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<16x5xf32>
    return %11, %6, %8 : tensor<16x5xf32>, tensor<16x5xf32>, tensor<16x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<16x5xf32>, %arg1: tensor<16x1xi32>) -> (tensor<16x1xf32>, tensor<16x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<16x1xi32>, tensor<16x1xi32>) -> tensor<16x1xi1>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<16x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<16x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<16x1xi1>, tensor<16x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<16x1xi32>) -> tensor<16x1x1xi32>
    %c_1 = stablehlo.constant dense<4> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<16x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<16x1x1xi32>, tensor<16x1x1xi32>) -> tensor<16x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<16x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<16x1x1xi32>, tensor<16x1x1xi32>) -> tensor<16x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<16x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<16x1x1xi1>, tensor<i1>) -> tensor<16x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<16x5xf32>, tensor<16x1x1xi32>) -> tensor<16x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<16x1xi1>, tensor<16x1xf32>
    return %15, %5 : tensor<16x1xf32>, tensor<16x1x1xi32>
  }
  func.func private @log_softmax_12(%arg0: tensor<16x6x24xf32>) -> (tensor<16x6x24xf32>, tensor<16x6x24xf32>, tensor<16x6x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<16x6x24xf32>, tensor<f32>) -> tensor<16x6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x6xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<16x6xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<16x6xf32>) -> tensor<16x6x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<16x6x1xf32>) -> tensor<16x6x24xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<16x6x24xf32>
    %6 = stablehlo.exponential %5 : tensor<16x6x24xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<16x6x24xf32>, tensor<f32>) -> tensor<16x6xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<16x6xf32>) -> tensor<16x6x1xf32>
    %9 = stablehlo.log %8 : tensor<16x6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<16x6x1xf32>) -> tensor<16x6x24xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<16x6x24xf32>
    return %11, %6, %8 : tensor<16x6x24xf32>, tensor<16x6x24xf32>, tensor<16x6x1xf32>
  }
  func.func private @take_along_axis_13(%arg0: tensor<16x6x24xf32>, %arg1: tensor<16x6x1xi32>) -> (tensor<16x6x1xf32>, tensor<16x6x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x6x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<16x6x1xi32>, tensor<16x6x1xi32>) -> tensor<16x6x1xi1>
    %c_0 = stablehlo.constant dense<24> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<16x6x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<16x6x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<16x6x1xi1>, tensor<16x6x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<16x6x1xi32>) -> tensor<16x6x1x1xi32>
    %c_1 = stablehlo.constant dense<23> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<16x6x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<16x6x1x1xi32>, tensor<16x6x1x1xi32>) -> tensor<16x6x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<16x6x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<16x6x1x1xi32>, tensor<16x6x1x1xi32>) -> tensor<16x6x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<16x6x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<16x6x1x1xi1>, tensor<i1>) -> tensor<16x6x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<16x6x24xf32>, tensor<16x6x1x1xi32>) -> tensor<16x6x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x6x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<16x6x1xi1>, tensor<16x6x1xf32>
    return %15, %5 : tensor<16x6x1xf32>, tensor<16x6x1x1xi32>
  }
  func.func private @take_along_axis_14(%arg0: tensor<16x6x1x1xi32>, %arg1: tensor<16x6x1xf32>) -> tensor<16x6x24xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x6x24xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<16x6x24xf32>, tensor<16x6x1x1xi32>, tensor<16x6x1xf32>) -> tensor<16x6x24xf32>
    return %1 : tensor<16x6x24xf32>
  }
  func.func private @log_softmax_15(%arg0: tensor<16x6x24xf32>, %arg1: tensor<16x6x1xf32>, %arg2: tensor<16x6x24xf32>) -> tensor<16x6x24xf32> {
    %0 = stablehlo.negate %arg2 : tensor<16x6x24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<16x6x24xf32>, tensor<f32>) -> tensor<16x6xf32>
    %2 = stablehlo.reshape %1 : (tensor<16x6xf32>) -> tensor<16x6x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<16x6x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<16x6x1xf32>, tensor<f32>) -> tensor<16x6xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<16x6xf32>) -> tensor<16x6x24xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<16x6x24xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<16x6x24xf32>
    return %7 : tensor<16x6x24xf32>
  }
  func.func private @take_along_axis_16(%arg0: tensor<16x1x1xi32>, %arg1: tensor<16x1xf32>) -> tensor<16x5xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x5xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<16x5xf32>, tensor<16x1x1xi32>, tensor<16x1xf32>) -> tensor<16x5xf32>
    return %1 : tensor<16x5xf32>
  }
  func.func private @log_softmax_17(%arg0: tensor<16x5xf32>, %arg1: tensor<16x1xf32>, %arg2: tensor<16x5xf32>) -> tensor<16x5xf32> {
    %0 = stablehlo.negate %arg2 : tensor<16x5xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<16x5xf32>, tensor<f32>) -> tensor<16xf32>
    %2 = stablehlo.reshape %1 : (tensor<16xf32>) -> tensor<16x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<16x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<16x1xf32>, tensor<f32>) -> tensor<16xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<16xf32>) -> tensor<16x5xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<16x5xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<16x5xf32>
    return %7 : tensor<16x5xf32>
  }
  func.func private @dynamic_index_in_dim_18(%arg0: tensor<4xf32>, %arg1: tensor<i32>) -> tensor<f32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @dynamic_index_in_dim_19(%arg0: tensor<4x16x6x16xbf16>, %arg1: tensor<i32>) -> tensor<16x6x16xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 16, 6, 16] : (tensor<4x16x6x16xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x6x16xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x16x6x16xbf16>) -> tensor<16x6x16xbf16>
    return %1 : tensor<16x6x16xbf16>
  }
  func.func private @dynamic_index_in_dim_20(%arg0: tensor<4x16x6x1xbf16>, %arg1: tensor<i32>) -> tensor<16x6x1xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 16, 6, 1] : (tensor<4x16x6x1xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x6x1xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x16x6x1xbf16>) -> tensor<16x6x1xbf16>
    return %1 : tensor<16x6x1xbf16>
  }
  func.func private @dynamic_index_in_dim_21(%arg0: tensor<4x1x1x16xbf16>, %arg1: tensor<i32>) -> tensor<1x1x16xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 1, 1, 16] : (tensor<4x1x1x16xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x1x16xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x1x1x16xbf16>) -> tensor<1x1x16xbf16>
    return %1 : tensor<1x1x16xbf16>
  }
  func.func private @dynamic_index_in_dim_22(%arg0: tensor<4x16x6x32xi1>, %arg1: tensor<i32>) -> tensor<16x6x32xi1> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 16, 6, 32] : (tensor<4x16x6x32xi1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x6x32xi1>
    %1 = stablehlo.reshape %0 : (tensor<1x16x6x32xi1>) -> tensor<16x6x32xi1>
    return %1 : tensor<16x6x32xi1>
  }
  func.func private @dynamic_index_in_dim_23(%arg0: tensor<4x16x6x32xbf16>, %arg1: tensor<i32>) -> tensor<16x6x32xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 16, 6, 32] : (tensor<4x16x6x32xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x6x32xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x16x6x32xbf16>) -> tensor<16x6x32xbf16>
    return %1 : tensor<16x6x32xbf16>
  }
  func.func private @dynamic_index_in_dim_24(%arg0: tensor<4x16x6x16xi1>, %arg1: tensor<i32>) -> tensor<16x6x16xi1> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 16, 6, 16] : (tensor<4x16x6x16xi1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x6x16xi1>
    %1 = stablehlo.reshape %0 : (tensor<1x16x6x16xi1>) -> tensor<16x6x16xi1>
    return %1 : tensor<16x6x16xi1>
  }
  func.func private @dynamic_index_in_dim_25(%arg0: tensor<4x16x6x16xf32>, %arg1: tensor<i32>) -> tensor<16x6x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 16, 6, 16] : (tensor<4x16x6x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x6x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x6x16xf32>) -> tensor<16x6x16xf32>
    return %1 : tensor<16x6x16xf32>
  }
  func.func private @closed_call_26(%arg0: tensor<16x6x32xbf16>, %arg1: tensor<16x6x16xbf16>, %arg2: tensor<16x6x16xbf16>, %arg3: tensor<f32>, %arg4: tensor<16x6x16xbf16>, %arg5: tensor<16x6x1xbf16>, %arg6: tensor<16x6x1xbf16>, %arg7: tensor<1x1x16xbf16>, %arg8: tensor<16x6x16xbf16>, %arg9: tensor<16x32xbf16>, %arg10: tensor<16x6x16xbf16>, %arg11: tensor<16x6x32xi1>, %arg12: tensor<32x16xbf16>, %arg13: tensor<16x6x32xbf16>, %arg14: tensor<16x6x16xi1>, %arg15: tensor<16x6x16xf32>) -> (tensor<16x6x16xbf16>, tensor<32x16xbf16>, tensor<16xbf16>, tensor<16x32xbf16>) {
    %cst = stablehlo.constant dense<1.536000e+03> : tensor<f32>
    %0 = stablehlo.divide %arg3, %cst : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<16x6x16xf32>
    %2 = stablehlo.multiply %1, %arg15 : tensor<16x6x16xf32>
    %3 = stablehlo.convert %2 : (tensor<16x6x16xf32>) -> tensor<16x6x16xbf16>
    %4 = stablehlo.add %arg2, %3 : tensor<16x6x16xbf16>
    %5 = call @_where_27(%arg14, %arg1, %4) : (tensor<16x6x16xi1>, tensor<16x6x16xbf16>, tensor<16x6x16xbf16>) -> tensor<16x6x16xbf16>
    %cst_0 = stablehlo.constant dense<8.984370e-01> : tensor<bf16>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<16x6x16xbf16>
    %7 = stablehlo.divide %5, %6 : tensor<16x6x16xbf16>
    %8 = stablehlo.dot_general %7, %arg13, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x6x16xbf16>, tensor<16x6x32xbf16>) -> tensor<16x32xbf16>
    %9 = stablehlo.transpose %8, dims = [1, 0] : (tensor<16x32xbf16>) -> tensor<32x16xbf16>
    %10 = stablehlo.dot_general %7, %arg12, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x6x16xbf16>, tensor<32x16xbf16>) -> tensor<16x6x32xbf16>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<16x6x32xbf16>
    %12 = stablehlo.select %arg11, %10, %11 : tensor<16x6x32xi1>, tensor<16x6x32xbf16>
    %13 = stablehlo.dot_general %12, %arg10, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x6x32xbf16>, tensor<16x6x16xbf16>) -> tensor<32x16xbf16>
    %14 = stablehlo.transpose %13, dims = [1, 0] : (tensor<32x16xbf16>) -> tensor<16x32xbf16>
    %15 = stablehlo.dot_general %12, %arg9, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x6x32xbf16>, tensor<16x32xbf16>) -> tensor<16x6x16xbf16>
    %16 = stablehlo.multiply %arg8, %15 : tensor<16x6x16xbf16>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %17 = stablehlo.reduce(%16 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x6x16xbf16>, tensor<bf16>) -> tensor<16xbf16>
    %18 = stablehlo.reshape %17 : (tensor<16xbf16>) -> tensor<1x1x16xbf16>
    %19 = stablehlo.broadcast_in_dim %arg7, dims = [0, 1, 2] : (tensor<1x1x16xbf16>) -> tensor<16x6x16xbf16>
    %20 = stablehlo.multiply %15, %19 : tensor<16x6x16xbf16>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %21 = stablehlo.reduce(%18 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x16xbf16>, tensor<bf16>) -> tensor<16xbf16>
    %22 = stablehlo.multiply %arg4, %20 : tensor<16x6x16xbf16>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %23 = stablehlo.reduce(%22 init: %cst_4) applies stablehlo.add across dimensions = [2] : (tensor<16x6x16xbf16>, tensor<bf16>) -> tensor<16x6xbf16>
    %24 = stablehlo.reshape %23 : (tensor<16x6xbf16>) -> tensor<16x6x1xbf16>
    %25 = stablehlo.broadcast_in_dim %arg6, dims = [0, 1, 2] : (tensor<16x6x1xbf16>) -> tensor<16x6x16xbf16>
    %26 = stablehlo.multiply %20, %25 : tensor<16x6x16xbf16>
    %27 = stablehlo.add %4, %26 : tensor<16x6x16xbf16>
    %28 = stablehlo.multiply %24, %arg5 : tensor<16x6x1xbf16>
    %29 = stablehlo.convert %28 : (tensor<16x6x1xbf16>) -> tensor<16x6x1xf32>
    %cst_5 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<16x6x1xf32>
    %31 = stablehlo.divide %29, %30 : tensor<16x6x1xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%31 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<16x6x1xf32>, tensor<f32>) -> tensor<16x6xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1] : (tensor<16x6xf32>) -> tensor<16x6x16xf32>
    %34 = stablehlo.convert %33 : (tensor<16x6x16xf32>) -> tensor<16x6x16xbf16>
    %35 = stablehlo.multiply %arg4, %34 : tensor<16x6x16xbf16>
    %36 = stablehlo.add %27, %35 : tensor<16x6x16xbf16>
    %37 = stablehlo.multiply %34, %arg4 : tensor<16x6x16xbf16>
    %38 = stablehlo.add %36, %37 : tensor<16x6x16xbf16>
    return %38, %9, %21, %14 : tensor<16x6x16xbf16>, tensor<32x16xbf16>, tensor<16xbf16>, tensor<16x32xbf16>
  }
  func.func private @_where_27(%arg0: tensor<16x6x16xi1>, %arg1: tensor<16x6x16xbf16>, %arg2: tensor<16x6x16xbf16>) -> tensor<16x6x16xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<16x6x16xbf16>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<16x6x16xi1>, tensor<16x6x16xbf16>
    return %1 : tensor<16x6x16xbf16>
  }
  func.func private @dynamic_update_index_in_dim_28(%arg0: tensor<4x32x16xbf16>, %arg1: tensor<32x16xbf16>, %arg2: tensor<i32>) -> tensor<4x32x16xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<32x16xbf16>) -> tensor<1x32x16xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x32x16xbf16>, tensor<1x32x16xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x32x16xbf16>
    return %1 : tensor<4x32x16xbf16>
  }
  func.func private @dynamic_update_index_in_dim_29(%arg0: tensor<4x16xbf16>, %arg1: tensor<16xbf16>, %arg2: tensor<i32>) -> tensor<4x16xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<16xbf16>) -> tensor<1x16xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<4x16xbf16>, tensor<1x16xbf16>, tensor<i32>, tensor<i32>) -> tensor<4x16xbf16>
    return %1 : tensor<4x16xbf16>
  }
  func.func private @dynamic_update_index_in_dim_30(%arg0: tensor<4x16x32xbf16>, %arg1: tensor<16x32xbf16>, %arg2: tensor<i32>) -> tensor<4x16x32xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<16x32xbf16>) -> tensor<1x16x32xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x16x32xbf16>, tensor<1x16x32xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x16x32xbf16>
    return %1 : tensor<4x16x32xbf16>
  }
}
