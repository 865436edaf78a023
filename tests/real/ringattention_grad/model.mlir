module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["sp"=8]> {stablehlo.mesh = {axes = [{name = "sp", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<1x512x2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"sp"}, {}, {}]>}, %arg1: tensor<1x512x2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"sp"}, {}, {}]>}, %arg2: tensor<1x512x2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"sp"}, {}, {}]>}, %arg3: tensor<1x1x1x512xf32>, %arg4: tensor<1x512xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<1x512x2x8xf32> {jax.result_info = "result[1][0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"sp"}, {}, {}]>}, tensor<1x512x2x8xf32> {jax.result_info = "result[1][1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"sp"}, {}, {}]>}, tensor<1x512x2x8xf32> {jax.result_info = "result[1][2]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"sp"}, {}, {}]>}) {
    %0:3 = sdy.manual_computation(%arg0, %arg1, %arg2, %arg3, %arg4) in_shardings=[<@mesh, [{}, {"sp"}, {}, {}]>, <@mesh, [{}, {"sp"}, {}, {}]>, <@mesh, [{}, {"sp"}, {}, {}]>, <@mesh, [{}, {}, {}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"sp"}, {}, {}]>, <@mesh, [{"sp"}, {}, {}]>, <@mesh, [{}, {"sp"}, {}, {}]>] manual_axes={"sp"} (%arg5: tensor<1x64x2x8xf32>, %arg6: tensor<1x64x2x8xf32>, %arg7: tensor<1x64x2x8xf32>, %arg8: tensor<1x1x1x512xf32>, %arg9: tensor<1x512xi32>) {
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %8 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x64x2x8xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x2x64xf32>
      %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %10 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x2x64xf32>
      %11 = stablehlo.convert %10 : tensor<1x2x64xf32>
      %12 = stablehlo.iota dim = 0 : tensor<8xi32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %13:10 = stablehlo.while(%iterArg = %12, %iterArg_5 = %arg5, %iterArg_6 = %arg8, %iterArg_7 = %arg9, %iterArg_8 = %c, %iterArg_9 = %11, %iterArg_10 = %8, %iterArg_11 = %9, %iterArg_12 = %arg6, %iterArg_13 = %arg7) : tensor<8xi32>, tensor<1x64x2x8xf32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<i32>, tensor<1x2x64xf32>, tensor<1x64x2x8xf32>, tensor<1x2x64xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>
      cond {
        %c_14 = stablehlo.constant dense<8> : tensor<i32>
        %18 = stablehlo.compare LT, %iterArg_8, %c_14, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %18 : tensor<i1>
      } do {
        %18 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_8) : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
        %19:5 = func.call @closed_call(%iterArg_5, %iterArg_6, %iterArg_7, %iterArg_9, %iterArg_10, %iterArg_11, %iterArg_12, %iterArg_13, %18) : (tensor<1x64x2x8xf32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<1x2x64xf32>, tensor<1x64x2x8xf32>, tensor<1x2x64xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<i32>) -> (tensor<1x2x64xf32>, tensor<1x64x2x8xf32>, tensor<1x2x64xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>)
        %c_14 = stablehlo.constant dense<1> : tensor<i32>
        %20 = stablehlo.add %iterArg_8, %c_14 : tensor<i32>
        stablehlo.return %iterArg, %iterArg_5, %iterArg_6, %iterArg_7, %20, %19#0, %19#1, %19#2, %19#3, %19#4 : tensor<8xi32>, tensor<1x64x2x8xf32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<i32>, tensor<1x2x64xf32>, tensor<1x64x2x8xf32>, tensor<1x2x64xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>
      }
      %14 = stablehlo.transpose %13#7, dims = [0, 2, 1] : (tensor<1x2x64xf32>) -> tensor<1x64x2xf32>
      %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<1x64x2xf32>) -> tensor<1x64x2x1xf32>
      %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<1x64x2x1xf32>) -> tensor<1x64x2x8xf32>
      %17 = stablehlo.divide %13#6, %16 : tensor<1x64x2x8xf32>
      sdy.return %13#7, %13#5, %17 : tensor<1x2x64xf32>, tensor<1x2x64xf32>, tensor<1x64x2x8xf32>
    } : (tensor<1x512x2x8xf32>, tensor<1x512x2x8xf32>, tensor<1x512x2x8xf32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>) -> (tensor<8x2x64xf32>, tensor<8x2x64xf32>, tensor<1x512x2x8xf32>)
    %1 = stablehlo.multiply %0#2, %0#2 : tensor<1x512x2x8xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x512x2x8xf32>
    %3 = stablehlo.multiply %2, %0#2 : tensor<1x512x2x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<1x512x2x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x512x2x8xf32>
    %6 = stablehlo.multiply %5, %3 : tensor<1x512x2x8xf32>
    %7:3 = sdy.manual_computation(%6, %0#2, %arg0, %arg1, %arg2, %arg3, %arg4, %0#0, %0#1) in_shardings=[<@mesh, [{}, {"sp"}, {}, {}]>, <@mesh, [{}, {"sp"}, {}, {}]>, <@mesh, [{}, {"sp"}, {}, {}]>, <@mesh, [{}, {"sp"}, {}, {}]>, <@mesh, [{}, {"sp"}, {}, {}]>, <@mesh, [{}, {}, {}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{"sp"}, {}, {}]>, <@mesh, [{"sp"}, {}, {}]>] out_shardings=[<@mesh, [{}, {"sp"}, {}, {}]>, <@mesh, [{}, {"sp"}, {}, {}]>, <@mesh, [{}, {"sp"}, {}, {}]>] manual_axes={"sp"} (%arg5: tensor<1x64x2x8xf32>, %arg6: tensor<1x64x2x8xf32>, %arg7: tensor<1x64x2x8xf32>, %arg8: tensor<1x64x2x8xf32>, %arg9: tensor<1x64x2x8xf32>, %arg10: tensor<1x1x1x512xf32>, %arg11: tensor<1x512xi32>, %arg12: tensor<1x2x64xf32>, %arg13: tensor<1x2x64xf32>) {
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %8 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x64x2x8xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x64x2x8xf32>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %10 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x64x2x8xf32>
      %11 = stablehlo.iota dim = 0 : tensor<8xi32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %12:14 = stablehlo.while(%iterArg = %11, %iterArg_5 = %arg5, %iterArg_6 = %arg6, %iterArg_7 = %arg12, %iterArg_8 = %arg13, %iterArg_9 = %arg7, %iterArg_10 = %arg10, %iterArg_11 = %arg11, %iterArg_12 = %c, %iterArg_13 = %8, %iterArg_14 = %9, %iterArg_15 = %10, %iterArg_16 = %arg8, %iterArg_17 = %arg9) : tensor<8xi32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x2x64xf32>, tensor<1x2x64xf32>, tensor<1x64x2x8xf32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<i32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>
      cond {
        %c_18 = stablehlo.constant dense<8> : tensor<i32>
        %13 = stablehlo.compare LT, %iterArg_12, %c_18, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %13 : tensor<i1>
      } do {
        %13 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_12) : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
        %14:5 = func.call @closed_call_8(%iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11, %iterArg_13, %iterArg_14, %iterArg_15, %iterArg_16, %iterArg_17, %13) : (tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x2x64xf32>, tensor<1x2x64xf32>, tensor<1x64x2x8xf32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<i32>) -> (tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>)
        %c_18 = stablehlo.constant dense<1> : tensor<i32>
        %15 = stablehlo.add %iterArg_12, %c_18 : tensor<i32>
        stablehlo.return %iterArg, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11, %15, %14#0, %14#1, %14#2, %14#3, %14#4 : tensor<8xi32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x2x64xf32>, tensor<1x2x64xf32>, tensor<1x64x2x8xf32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<i32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>
      }
      sdy.return %12#9, %12#10, %12#11 : tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>
    } : (tensor<1x512x2x8xf32>, tensor<1x512x2x8xf32>, tensor<1x512x2x8xf32>, tensor<1x512x2x8xf32>, tensor<1x512x2x8xf32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<8x2x64xf32>, tensor<8x2x64xf32>) -> (tensor<1x512x2x8xf32>, tensor<1x512x2x8xf32>, tensor<1x512x2x8xf32>)
    return %4, %7#0, %7#1, %7#2 : tensor<f32>, tensor<1x512x2x8xf32>, tensor<1x512x2x8xf32>, tensor<1x512x2x8xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<8xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<8xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @closed_call(%arg0: tensor<1x64x2x8xf32>, %arg1: tensor<1x1x1x512xf32>, %arg2: tensor<1x512xi32>, %arg3: tensor<1x2x64xf32>, %arg4: tensor<1x64x2x8xf32>, %arg5: tensor<1x2x64xf32>, %arg6: tensor<1x64x2x8xf32>, %arg7: tensor<1x64x2x8xf32>, %arg8: tensor<i32>) -> (tensor<1x2x64xf32>, tensor<1x64x2x8xf32>, tensor<1x2x64xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>) {
    %c = stablehlo.constant dense<1> : tensor<ui32>
    %c_0 = stablehlo.constant dense<8> : tensor<ui32>
    %0 = stablehlo.partition_id : tensor<ui32>
    %1 = stablehlo.divide %0, %c : tensor<ui32>
    %2 = stablehlo.remainder %1, %c_0 : tensor<ui32>
    %3 = stablehlo.convert %2 : (tensor<ui32>) -> tensor<i32>
    %c_1 = stablehlo.constant dense<8> : tensor<i32>
    %4 = stablehlo.multiply %3, %c_1 : tensor<i32>
    %c_2 = stablehlo.constant dense<1> : tensor<ui32>
    %c_3 = stablehlo.constant dense<8> : tensor<ui32>
    %5 = stablehlo.partition_id : tensor<ui32>
    %6 = stablehlo.divide %5, %c_2 : tensor<ui32>
    %7 = stablehlo.remainder %6, %c_3 : tensor<ui32>
    %8 = stablehlo.convert %7 : (tensor<ui32>) -> tensor<i32>
    %9 = stablehlo.subtract %8, %arg8 : tensor<i32>
    %c_4 = stablehlo.constant dense<8> : tensor<i32>
    %10 = call @remainder(%9, %c_4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %c_5 = stablehlo.constant dense<8> : tensor<i32>
    %11 = stablehlo.multiply %10, %c_5 : tensor<i32>
    %12 = stablehlo.reshape %arg0 : (tensor<1x64x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %13 = stablehlo.reshape %arg6 : (tensor<1x64x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %14 = stablehlo.reshape %arg7 : (tensor<1x64x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %15 = stablehlo.transpose %12, dims = [1, 0, 2, 3, 4] : (tensor<1x8x8x2x8xf32>) -> tensor<8x1x8x2x8xf32>
    %16 = stablehlo.transpose %13, dims = [1, 0, 2, 3, 4] : (tensor<1x8x8x2x8xf32>) -> tensor<8x1x8x2x8xf32>
    %17 = stablehlo.transpose %14, dims = [1, 0, 2, 3, 4] : (tensor<1x8x8x2x8xf32>) -> tensor<8x1x8x2x8xf32>
    %18 = stablehlo.reshape %arg4 : (tensor<1x64x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %19 = stablehlo.transpose %18, dims = [1, 0, 2, 3, 4] : (tensor<1x8x8x2x8xf32>) -> tensor<8x1x8x2x8xf32>
    %20 = stablehlo.reshape %arg5 : (tensor<1x2x64xf32>) -> tensor<1x2x8x8xf32>
    %21 = stablehlo.reshape %arg3 : (tensor<1x2x64xf32>) -> tensor<1x2x8x8xf32>
    %22 = stablehlo.transpose %20, dims = [2, 0, 1, 3] : (tensor<1x2x8x8xf32>) -> tensor<8x1x2x8xf32>
    %23 = stablehlo.transpose %21, dims = [2, 0, 1, 3] : (tensor<1x2x8x8xf32>) -> tensor<8x1x2x8xf32>
    %cst = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %24 = stablehlo.sqrt %cst : tensor<f32>
    %25 = stablehlo.iota dim = 0 : tensor<8xi32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x1x8x2x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x1x2x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x1x2x8xf32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %29:16 = stablehlo.while(%iterArg = %15, %iterArg_10 = %19, %iterArg_11 = %22, %iterArg_12 = %23, %iterArg_13 = %25, %iterArg_14 = %4, %iterArg_15 = %11, %iterArg_16 = %24, %iterArg_17 = %arg1, %iterArg_18 = %arg2, %iterArg_19 = %16, %iterArg_20 = %17, %iterArg_21 = %c_9, %iterArg_22 = %26, %iterArg_23 = %27, %iterArg_24 = %28) : tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8x1x2x8xf32>, tensor<8x1x2x8xf32>, tensor<8xi32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<i32>, tensor<8x1x8x2x8xf32>, tensor<8x1x2x8xf32>, tensor<8x1x2x8xf32>
    cond {
      %c_25 = stablehlo.constant dense<8> : tensor<i32>
      %38 = stablehlo.compare LT, %iterArg_21, %c_25, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %38 : tensor<i1>
    } do {
      %38 = func.call @dynamic_index_in_dim_0(%iterArg, %iterArg_21) : (tensor<8x1x8x2x8xf32>, tensor<i32>) -> tensor<1x8x2x8xf32>
      %39 = func.call @dynamic_index_in_dim_0(%iterArg_10, %iterArg_21) : (tensor<8x1x8x2x8xf32>, tensor<i32>) -> tensor<1x8x2x8xf32>
      %40 = func.call @dynamic_index_in_dim_1(%iterArg_11, %iterArg_21) : (tensor<8x1x2x8xf32>, tensor<i32>) -> tensor<1x2x8xf32>
      %41 = func.call @dynamic_index_in_dim_1(%iterArg_12, %iterArg_21) : (tensor<8x1x2x8xf32>, tensor<i32>) -> tensor<1x2x8xf32>
      %42 = func.call @dynamic_index_in_dim(%iterArg_13, %iterArg_21) : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
      %43:3 = func.call @closed_call_2(%iterArg_14, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %iterArg_19, %iterArg_20, %38, %39, %40, %41, %42) : (tensor<i32>, tensor<i32>, tensor<f32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<i32>) -> (tensor<1x8x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>)
      %44 = func.call @dynamic_update_index_in_dim(%iterArg_22, %43#0, %iterArg_21) : (tensor<8x1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<i32>) -> tensor<8x1x8x2x8xf32>
      %45 = func.call @dynamic_update_index_in_dim_7(%iterArg_23, %43#1, %iterArg_21) : (tensor<8x1x2x8xf32>, tensor<1x2x8xf32>, tensor<i32>) -> tensor<8x1x2x8xf32>
      %46 = func.call @dynamic_update_index_in_dim_7(%iterArg_24, %43#2, %iterArg_21) : (tensor<8x1x2x8xf32>, tensor<1x2x8xf32>, tensor<i32>) -> tensor<8x1x2x8xf32>
      %c_25 = stablehlo.constant dense<1> : tensor<i32>
      %47 = stablehlo.add %iterArg_21, %c_25 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_10, %iterArg_11, %iterArg_12, %iterArg_13, %iterArg_14, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %iterArg_19, %iterArg_20, %47, %44, %45, %46 : tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8x1x2x8xf32>, tensor<8x1x2x8xf32>, tensor<8xi32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<i32>, tensor<8x1x8x2x8xf32>, tensor<8x1x2x8xf32>, tensor<8x1x2x8xf32>
    }
    %30 = stablehlo.transpose %29#13, dims = [1, 0, 2, 3, 4] : (tensor<8x1x8x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %31 = stablehlo.reshape %30 : (tensor<1x8x8x2x8xf32>) -> tensor<1x64x2x8xf32>
    %32 = stablehlo.transpose %29#14, dims = [1, 2, 0, 3] : (tensor<8x1x2x8xf32>) -> tensor<1x2x8x8xf32>
    %33 = stablehlo.transpose %29#15, dims = [1, 2, 0, 3] : (tensor<8x1x2x8xf32>) -> tensor<1x2x8x8xf32>
    %34 = stablehlo.reshape %32 : (tensor<1x2x8x8xf32>) -> tensor<1x2x64xf32>
    %35 = stablehlo.reshape %33 : (tensor<1x2x8x8xf32>) -> tensor<1x2x64xf32>
    %36 = "stablehlo.collective_permute"(%arg6) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1x64x2x8xf32>) -> tensor<1x64x2x8xf32>
    %37 = "stablehlo.collective_permute"(%arg7) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1x64x2x8xf32>) -> tensor<1x64x2x8xf32>
    return %35, %31, %34, %36, %37 : tensor<1x2x64xf32>, tensor<1x64x2x8xf32>, tensor<1x2x64xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>
  }
  func.func private @remainder(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.remainder %arg0, %2 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare NE, %3, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %3, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.compare NE, %5, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %8 = stablehlo.and %7, %4 : tensor<i1>
    %9 = stablehlo.add %3, %2 : tensor<i32>
    %10 = stablehlo.select %8, %9, %3 : tensor<i1>, tensor<i32>
    return %10 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<8x1x8x2x8xf32>, %arg1: tensor<i32>) -> tensor<1x8x2x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, sizes = [1, 1, 8, 2, 8] : (tensor<8x1x8x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x8x2x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x8x2x8xf32>) -> tensor<1x8x2x8xf32>
    return %1 : tensor<1x8x2x8xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<8x1x2x8xf32>, %arg1: tensor<i32>) -> tensor<1x2x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 1, 2, 8] : (tensor<8x1x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x2x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x2x8xf32>) -> tensor<1x2x8xf32>
    return %1 : tensor<1x2x8xf32>
  }
  func.func private @closed_call_2(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<f32>, %arg3: tensor<1x1x1x512xf32>, %arg4: tensor<1x512xi32>, %arg5: tensor<8x1x8x2x8xf32>, %arg6: tensor<8x1x8x2x8xf32>, %arg7: tensor<1x8x2x8xf32>, %arg8: tensor<1x8x2x8xf32>, %arg9: tensor<1x2x8xf32>, %arg10: tensor<1x2x8xf32>, %arg11: tensor<i32>) -> (tensor<1x8x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>) {
    %0 = stablehlo.iota dim = 0 : tensor<8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:14 = stablehlo.while(%iterArg = %arg5, %iterArg_0 = %arg6, %iterArg_1 = %0, %iterArg_2 = %arg0, %iterArg_3 = %arg11, %iterArg_4 = %arg1, %iterArg_5 = %arg7, %iterArg_6 = %arg2, %iterArg_7 = %arg3, %iterArg_8 = %arg4, %iterArg_9 = %c, %iterArg_10 = %arg8, %iterArg_11 = %arg9, %iterArg_12 = %arg10) : tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8xi32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<1x8x2x8xf32>, tensor<f32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<i32>, tensor<1x8x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>
    cond {
      %c_13 = stablehlo.constant dense<8> : tensor<i32>
      %2 = stablehlo.compare LT, %iterArg_9, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = func.call @dynamic_index_in_dim_0(%iterArg, %iterArg_9) : (tensor<8x1x8x2x8xf32>, tensor<i32>) -> tensor<1x8x2x8xf32>
      %3 = func.call @dynamic_index_in_dim_0(%iterArg_0, %iterArg_9) : (tensor<8x1x8x2x8xf32>, tensor<i32>) -> tensor<1x8x2x8xf32>
      %4 = func.call @dynamic_index_in_dim(%iterArg_1, %iterArg_9) : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
      %5:3 = func.call @closed_call_3(%iterArg_2, %iterArg_3, %iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_10, %iterArg_11, %iterArg_12, %2, %3, %4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<1x8x2x8xf32>, tensor<f32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<1x8x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<i32>) -> (tensor<1x8x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>)
      %c_13 = stablehlo.constant dense<1> : tensor<i32>
      %6 = stablehlo.add %iterArg_9, %c_13 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_0, %iterArg_1, %iterArg_2, %iterArg_3, %iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %6, %5#0, %5#1, %5#2 : tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8xi32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<1x8x2x8xf32>, tensor<f32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<i32>, tensor<1x8x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>
    }
    return %1#11, %1#12, %1#13 : tensor<1x8x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>
  }
  func.func private @closed_call_3(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<1x8x2x8xf32>, %arg4: tensor<f32>, %arg5: tensor<1x1x1x512xf32>, %arg6: tensor<1x512xi32>, %arg7: tensor<1x8x2x8xf32>, %arg8: tensor<1x2x8xf32>, %arg9: tensor<1x2x8xf32>, %arg10: tensor<1x8x2x8xf32>, %arg11: tensor<1x8x2x8xf32>, %arg12: tensor<i32>) -> (tensor<1x8x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<i32>
    %1 = stablehlo.add %arg2, %arg12 : tensor<i32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.divide %0, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %3 = stablehlo.divide %1, %c_0 : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %2, %c_1 : tensor<i32>
    %c_2 = stablehlo.constant dense<8> : tensor<i32>
    %5 = stablehlo.multiply %4, %c_2 : tensor<i32>
    %c_3 = stablehlo.constant dense<1> : tensor<i32>
    %6 = stablehlo.subtract %5, %c_3 : tensor<i32>
    %c_4 = stablehlo.constant dense<8> : tensor<i32>
    %7 = stablehlo.multiply %3, %c_4 : tensor<i32>
    %8 = stablehlo.compare GT, %6, %7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %9 = stablehlo.convert %8 : (tensor<i1>) -> tensor<i32>
    %10:3 = "stablehlo.case"(%9) ({
      stablehlo.return %arg7, %arg8, %arg9 : tensor<1x8x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>
    }, {
      %11 = stablehlo.dot_general %arg3, %arg10, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>) -> tensor<1x2x8x8xf32>
      %12 = stablehlo.convert %arg4 : tensor<f32>
      %13 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<1x2x8x8xf32>
      %14 = stablehlo.divide %11, %13 : tensor<1x2x8x8xf32>
      %15 = stablehlo.add %arg0, %arg1 : tensor<i32>
      %16 = stablehlo.add %arg2, %arg12 : tensor<i32>
      %c_5 = stablehlo.constant dense<8> : tensor<i32>
      %17 = stablehlo.multiply %15, %c_5 : tensor<i32>
      %c_6 = stablehlo.constant dense<8> : tensor<i32>
      %18 = stablehlo.multiply %16, %c_6 : tensor<i32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %19 = stablehlo.compare LT, %18, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_8 = stablehlo.constant dense<512> : tensor<i32>
      %20 = stablehlo.add %18, %c_8 : tensor<i32>
      %21 = stablehlo.select %19, %20, %18 : tensor<i1>, tensor<i32>
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %c_10 = stablehlo.constant dense<0> : tensor<i32>
      %c_11 = stablehlo.constant dense<0> : tensor<i32>
      %22 = stablehlo.dynamic_slice %arg5, %c_9, %c_10, %c_11, %21, sizes = [1, 1, 1, 8] : (tensor<1x1x1x512xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x1x8xf32>
      %c_12 = stablehlo.constant dense<0> : tensor<i32>
      %23 = stablehlo.compare LT, %17, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_13 = stablehlo.constant dense<512> : tensor<i32>
      %24 = stablehlo.add %17, %c_13 : tensor<i32>
      %25 = stablehlo.select %23, %24, %17 : tensor<i1>, tensor<i32>
      %c_14 = stablehlo.constant dense<0> : tensor<i32>
      %26 = stablehlo.dynamic_slice %arg6, %c_14, %25, sizes = [1, 8] : (tensor<1x512xi32>, tensor<i32>, tensor<i32>) -> tensor<1x8xi32>
      %c_15 = stablehlo.constant dense<0> : tensor<i32>
      %27 = stablehlo.compare LT, %18, %c_15, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_16 = stablehlo.constant dense<512> : tensor<i32>
      %28 = stablehlo.add %18, %c_16 : tensor<i32>
      %29 = stablehlo.select %27, %28, %18 : tensor<i1>, tensor<i32>
      %c_17 = stablehlo.constant dense<0> : tensor<i32>
      %30 = stablehlo.dynamic_slice %arg6, %c_17, %29, sizes = [1, 8] : (tensor<1x512xi32>, tensor<i32>, tensor<i32>) -> tensor<1x8xi32>
      %31 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<1x8xi32>) -> tensor<1x8x1xi32>
      %32 = stablehlo.broadcast_in_dim %30, dims = [0, 2] : (tensor<1x8xi32>) -> tensor<1x1x8xi32>
      %33 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<1x8x1xi32>) -> tensor<1x8x8xi32>
      %34 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<1x1x8xi32>) -> tensor<1x8x8xi32>
      %35 = stablehlo.compare EQ, %33, %34, SIGNED : (tensor<1x8x8xi32>, tensor<1x8x8xi32>) -> tensor<1x8x8xi1>
      %36 = stablehlo.not %35 : tensor<1x8x8xi1>
      %37 = stablehlo.broadcast_in_dim %36, dims = [0, 2, 3] : (tensor<1x8x8xi1>) -> tensor<1x1x8x8xi1>
      %38 = stablehlo.convert %37 : (tensor<1x1x8x8xi1>) -> tensor<1x1x8x8xf32>
      %cst = stablehlo.constant dense<-3.40282347E+38> : tensor<f32>
      %39 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x1x8x8xf32>
      %40 = stablehlo.multiply %38, %39 : tensor<1x1x8x8xf32>
      %41 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<1x1x1x8xf32>) -> tensor<1x1x8x8xf32>
      %42 = stablehlo.minimum %41, %40 : tensor<1x1x8x8xf32>
      %43 = stablehlo.iota dim = 0 : tensor<8x1xi32>
      %44 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<i32>) -> tensor<8x1xi32>
      %45 = stablehlo.add %43, %44 : tensor<8x1xi32>
      %46 = stablehlo.iota dim = 1 : tensor<1x8xi32>
      %47 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<i32>) -> tensor<1x8xi32>
      %48 = stablehlo.add %46, %47 : tensor<1x8xi32>
      %c_18 = stablehlo.constant dense<1> : tensor<i32>
      %49 = func.call @floor_divide(%45, %c_18) : (tensor<8x1xi32>, tensor<i32>) -> tensor<8x1xi32>
      %c_19 = stablehlo.constant dense<1> : tensor<i32>
      %50 = func.call @floor_divide_5(%48, %c_19) : (tensor<1x8xi32>, tensor<i32>) -> tensor<1x8xi32>
      %51 = stablehlo.broadcast_in_dim %49, dims = [0, 1] : (tensor<8x1xi32>) -> tensor<8x8xi32>
      %52 = stablehlo.broadcast_in_dim %50, dims = [0, 1] : (tensor<1x8xi32>) -> tensor<8x8xi32>
      %53 = stablehlo.compare LT, %51, %52, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
      %54 = stablehlo.convert %53 : (tensor<8x8xi1>) -> tensor<8x8xf32>
      %cst_20 = stablehlo.constant dense<-3.40282347E+38> : tensor<f32>
      %55 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %56 = stablehlo.multiply %54, %55 : tensor<8x8xf32>
      %57 = stablehlo.reshape %56 : (tensor<8x8xf32>) -> tensor<1x1x8x8xf32>
      %58 = stablehlo.minimum %42, %57 : tensor<1x1x8x8xf32>
      %59 = stablehlo.broadcast_in_dim %58, dims = [0, 1, 2, 3] : (tensor<1x1x8x8xf32>) -> tensor<1x2x8x8xf32>
      %60 = stablehlo.add %14, %59 : tensor<1x2x8x8xf32>
      %cst_21 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %61 = stablehlo.reduce(%60 init: %cst_21) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x8x8xf32>, tensor<f32>) -> tensor<1x2x8xf32>
      %62 = stablehlo.maximum %arg9, %61 : tensor<1x2x8xf32>
      %63 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2] : (tensor<1x2x8xf32>) -> tensor<1x2x8x1xf32>
      %64 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2, 3] : (tensor<1x2x8x1xf32>) -> tensor<1x2x8x8xf32>
      %65 = stablehlo.subtract %60, %64 : tensor<1x2x8x8xf32>
      %66 = stablehlo.exponential %65 : tensor<1x2x8x8xf32>
      %67 = stablehlo.dot_general %arg11, %66, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x8x2x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
      %68 = stablehlo.transpose %67, dims = [0, 3, 1, 2] : (tensor<1x2x8x8xf32>) -> tensor<1x8x2x8xf32>
      %69 = stablehlo.subtract %arg9, %62 : tensor<1x2x8xf32>
      %70 = stablehlo.exponential %69 : tensor<1x2x8xf32>
      %71 = stablehlo.transpose %70, dims = [0, 2, 1] : (tensor<1x2x8xf32>) -> tensor<1x8x2xf32>
      %72 = stablehlo.broadcast_in_dim %71, dims = [0, 1, 2] : (tensor<1x8x2xf32>) -> tensor<1x8x2x1xf32>
      %73 = stablehlo.broadcast_in_dim %72, dims = [0, 1, 2, 3] : (tensor<1x8x2x1xf32>) -> tensor<1x8x2x8xf32>
      %74 = stablehlo.multiply %arg7, %73 : tensor<1x8x2x8xf32>
      %75 = stablehlo.add %74, %68 : tensor<1x8x2x8xf32>
      %76 = stablehlo.subtract %arg9, %62 : tensor<1x2x8xf32>
      %77 = stablehlo.exponential %76 : tensor<1x2x8xf32>
      %78 = stablehlo.multiply %arg8, %77 : tensor<1x2x8xf32>
      %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %79 = stablehlo.reduce(%66 init: %cst_22) applies stablehlo.add across dimensions = [3] : (tensor<1x2x8x8xf32>, tensor<f32>) -> tensor<1x2x8xf32>
      %80 = stablehlo.add %78, %79 : tensor<1x2x8xf32>
      stablehlo.return %75, %80, %62 : tensor<1x8x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>
    }) : (tensor<i32>) -> (tensor<1x8x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>)
    return %10#0, %10#1, %10#2 : tensor<1x8x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>
  }
  func.func private @floor_divide(%arg0: tensor<8x1xi32>, %arg1: tensor<i32>) -> tensor<8x1xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<8x1xi32>
    %2 = stablehlo.divide %arg0, %1 : tensor<8x1xi32>
    %3 = stablehlo.sign %arg0 : tensor<8x1xi32>
    %4 = stablehlo.sign %0 : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<8x1xi32>
    %6 = stablehlo.compare NE, %3, %5, SIGNED : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x1xi1>
    %7 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<8x1xi32>
    %8 = stablehlo.remainder %arg0, %7 : tensor<8x1xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x1xi32>
    %10 = stablehlo.compare NE, %8, %9, SIGNED : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x1xi1>
    %11 = stablehlo.and %6, %10 : tensor<8x1xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x1xi32>
    %13 = stablehlo.subtract %2, %12 : tensor<8x1xi32>
    %14 = call @_where_4(%11, %13, %2) : (tensor<8x1xi1>, tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x1xi32>
    return %14 : tensor<8x1xi32>
  }
  func.func private @_where_4(%arg0: tensor<8x1xi1>, %arg1: tensor<8x1xi32>, %arg2: tensor<8x1xi32>) -> tensor<8x1xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<8x1xi1>, tensor<8x1xi32>
    return %0 : tensor<8x1xi32>
  }
  func.func private @floor_divide_5(%arg0: tensor<1x8xi32>, %arg1: tensor<i32>) -> tensor<1x8xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<1x8xi32>
    %2 = stablehlo.divide %arg0, %1 : tensor<1x8xi32>
    %3 = stablehlo.sign %arg0 : tensor<1x8xi32>
    %4 = stablehlo.sign %0 : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<1x8xi32>
    %6 = stablehlo.compare NE, %3, %5, SIGNED : (tensor<1x8xi32>, tensor<1x8xi32>) -> tensor<1x8xi1>
    %7 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<1x8xi32>
    %8 = stablehlo.remainder %arg0, %7 : tensor<1x8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1x8xi32>
    %10 = stablehlo.compare NE, %8, %9, SIGNED : (tensor<1x8xi32>, tensor<1x8xi32>) -> tensor<1x8xi1>
    %11 = stablehlo.and %6, %10 : tensor<1x8xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1x8xi32>
    %13 = stablehlo.subtract %2, %12 : tensor<1x8xi32>
    %14 = call @_where_6(%11, %13, %2) : (tensor<1x8xi1>, tensor<1x8xi32>, tensor<1x8xi32>) -> tensor<1x8xi32>
    return %14 : tensor<1x8xi32>
  }
  func.func private @_where_6(%arg0: tensor<1x8xi1>, %arg1: tensor<1x8xi32>, %arg2: tensor<1x8xi32>) -> tensor<1x8xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<1x8xi1>, tensor<1x8xi32>
    return %0 : tensor<1x8xi32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<8x1x8x2x8xf32>, %arg1: tensor<1x8x2x8xf32>, %arg2: tensor<i32>) -> tensor<8x1x8x2x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4] : (tensor<1x8x2x8xf32>) -> tensor<1x1x8x2x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2 : (tensor<8x1x8x2x8xf32>, tensor<1x1x8x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x1x8x2x8xf32>
    return %1 : tensor<8x1x8x2x8xf32>
  }
  func.func private @dynamic_update_index_in_dim_7(%arg0: tensor<8x1x2x8xf32>, %arg1: tensor<1x2x8xf32>, %arg2: tensor<i32>) -> tensor<8x1x2x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<1x2x8xf32>) -> tensor<1x1x2x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<8x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x1x2x8xf32>
    return %1 : tensor<8x1x2x8xf32>
  }
  func.func private @closed_call_8(%arg0: tensor<1x64x2x8xf32>, %arg1: tensor<1x64x2x8xf32>, %arg2: tensor<1x2x64xf32>, %arg3: tensor<1x2x64xf32>, %arg4: tensor<1x64x2x8xf32>, %arg5: tensor<1x1x1x512xf32>, %arg6: tensor<1x512xi32>, %arg7: tensor<1x64x2x8xf32>, %arg8: tensor<1x64x2x8xf32>, %arg9: tensor<1x64x2x8xf32>, %arg10: tensor<1x64x2x8xf32>, %arg11: tensor<1x64x2x8xf32>, %arg12: tensor<i32>) -> (tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>) {
    %c = stablehlo.constant dense<1> : tensor<ui32>
    %c_0 = stablehlo.constant dense<8> : tensor<ui32>
    %0 = stablehlo.partition_id : tensor<ui32>
    %1 = stablehlo.divide %0, %c : tensor<ui32>
    %2 = stablehlo.remainder %1, %c_0 : tensor<ui32>
    %3 = stablehlo.convert %2 : (tensor<ui32>) -> tensor<i32>
    %c_1 = stablehlo.constant dense<8> : tensor<i32>
    %4 = stablehlo.multiply %3, %c_1 : tensor<i32>
    %c_2 = stablehlo.constant dense<1> : tensor<ui32>
    %c_3 = stablehlo.constant dense<8> : tensor<ui32>
    %5 = stablehlo.partition_id : tensor<ui32>
    %6 = stablehlo.divide %5, %c_2 : tensor<ui32>
    %7 = stablehlo.remainder %6, %c_3 : tensor<ui32>
    %8 = stablehlo.convert %7 : (tensor<ui32>) -> tensor<i32>
    %9 = stablehlo.subtract %8, %arg12 : tensor<i32>
    %c_4 = stablehlo.constant dense<8> : tensor<i32>
    %10 = call @remainder(%9, %c_4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %c_5 = stablehlo.constant dense<8> : tensor<i32>
    %11 = stablehlo.multiply %10, %c_5 : tensor<i32>
    %12 = stablehlo.reshape %arg0 : (tensor<1x64x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %13 = stablehlo.reshape %arg7 : (tensor<1x64x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %14 = stablehlo.reshape %arg8 : (tensor<1x64x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %15 = stablehlo.reshape %arg9 : (tensor<1x64x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %16 = stablehlo.reshape %arg1 : (tensor<1x64x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %17 = stablehlo.transpose %12, dims = [1, 0, 2, 3, 4] : (tensor<1x8x8x2x8xf32>) -> tensor<8x1x8x2x8xf32>
    %18 = stablehlo.transpose %13, dims = [1, 0, 2, 3, 4] : (tensor<1x8x8x2x8xf32>) -> tensor<8x1x8x2x8xf32>
    %19 = stablehlo.transpose %14, dims = [1, 0, 2, 3, 4] : (tensor<1x8x8x2x8xf32>) -> tensor<8x1x8x2x8xf32>
    %20 = stablehlo.transpose %15, dims = [1, 0, 2, 3, 4] : (tensor<1x8x8x2x8xf32>) -> tensor<8x1x8x2x8xf32>
    %21 = stablehlo.transpose %16, dims = [1, 0, 2, 3, 4] : (tensor<1x8x8x2x8xf32>) -> tensor<8x1x8x2x8xf32>
    %22 = stablehlo.reshape %arg2 : (tensor<1x2x64xf32>) -> tensor<1x2x8x8xf32>
    %23 = stablehlo.reshape %arg3 : (tensor<1x2x64xf32>) -> tensor<1x2x8x8xf32>
    %24 = stablehlo.transpose %22, dims = [2, 0, 1, 3] : (tensor<1x2x8x8xf32>) -> tensor<8x1x2x8xf32>
    %25 = stablehlo.transpose %23, dims = [2, 0, 1, 3] : (tensor<1x2x8x8xf32>) -> tensor<8x1x2x8xf32>
    %26 = stablehlo.reshape %arg4 : (tensor<1x64x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %27 = stablehlo.reshape %arg10 : (tensor<1x64x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %28 = stablehlo.reshape %arg11 : (tensor<1x64x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %29 = stablehlo.transpose %26, dims = [1, 0, 2, 3, 4] : (tensor<1x8x8x2x8xf32>) -> tensor<8x1x8x2x8xf32>
    %30 = stablehlo.transpose %27, dims = [1, 0, 2, 3, 4] : (tensor<1x8x8x2x8xf32>) -> tensor<8x1x8x2x8xf32>
    %31 = stablehlo.transpose %28, dims = [1, 0, 2, 3, 4] : (tensor<1x8x8x2x8xf32>) -> tensor<8x1x8x2x8xf32>
    %cst = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %32 = stablehlo.sqrt %cst : tensor<f32>
    %33 = stablehlo.iota dim = 0 : tensor<8xi32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x1x8x2x8xf32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %35:18 = stablehlo.while(%iterArg = %29, %iterArg_8 = %18, %iterArg_9 = %17, %iterArg_10 = %21, %iterArg_11 = %24, %iterArg_12 = %25, %iterArg_13 = %33, %iterArg_14 = %4, %iterArg_15 = %11, %iterArg_16 = %32, %iterArg_17 = %arg5, %iterArg_18 = %arg6, %iterArg_19 = %30, %iterArg_20 = %31, %iterArg_21 = %c_7, %iterArg_22 = %19, %iterArg_23 = %20, %iterArg_24 = %34) : tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8x1x2x8xf32>, tensor<8x1x2x8xf32>, tensor<8xi32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<i32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>
    cond {
      %c_25 = stablehlo.constant dense<8> : tensor<i32>
      %46 = stablehlo.compare LT, %iterArg_21, %c_25, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %46 : tensor<i1>
    } do {
      %46 = func.call @dynamic_index_in_dim_0(%iterArg, %iterArg_21) : (tensor<8x1x8x2x8xf32>, tensor<i32>) -> tensor<1x8x2x8xf32>
      %47 = func.call @dynamic_index_in_dim_0(%iterArg_8, %iterArg_21) : (tensor<8x1x8x2x8xf32>, tensor<i32>) -> tensor<1x8x2x8xf32>
      %48 = func.call @dynamic_index_in_dim_0(%iterArg_9, %iterArg_21) : (tensor<8x1x8x2x8xf32>, tensor<i32>) -> tensor<1x8x2x8xf32>
      %49 = func.call @dynamic_index_in_dim_0(%iterArg_10, %iterArg_21) : (tensor<8x1x8x2x8xf32>, tensor<i32>) -> tensor<1x8x2x8xf32>
      %50 = func.call @dynamic_index_in_dim_1(%iterArg_11, %iterArg_21) : (tensor<8x1x2x8xf32>, tensor<i32>) -> tensor<1x2x8xf32>
      %51 = func.call @dynamic_index_in_dim_1(%iterArg_12, %iterArg_21) : (tensor<8x1x2x8xf32>, tensor<i32>) -> tensor<1x2x8xf32>
      %52 = func.call @dynamic_index_in_dim(%iterArg_13, %iterArg_21) : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
      %53:3 = func.call @closed_call_9(%iterArg_14, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %iterArg_19, %iterArg_20, %iterArg_22, %iterArg_23, %46, %47, %48, %49, %50, %51, %52) : (tensor<i32>, tensor<i32>, tensor<f32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<i32>) -> (tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<1x8x2x8xf32>)
      %54 = func.call @dynamic_update_index_in_dim(%iterArg_24, %53#2, %iterArg_21) : (tensor<8x1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<i32>) -> tensor<8x1x8x2x8xf32>
      %c_25 = stablehlo.constant dense<1> : tensor<i32>
      %55 = stablehlo.add %iterArg_21, %c_25 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11, %iterArg_12, %iterArg_13, %iterArg_14, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %iterArg_19, %iterArg_20, %55, %53#0, %53#1, %54 : tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8x1x2x8xf32>, tensor<8x1x2x8xf32>, tensor<8xi32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<i32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>
    }
    %36 = stablehlo.transpose %35#17, dims = [1, 0, 2, 3, 4] : (tensor<8x1x8x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %37 = stablehlo.transpose %35#15, dims = [1, 0, 2, 3, 4] : (tensor<8x1x8x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %38 = stablehlo.transpose %35#16, dims = [1, 0, 2, 3, 4] : (tensor<8x1x8x2x8xf32>) -> tensor<1x8x8x2x8xf32>
    %39 = stablehlo.reshape %36 : (tensor<1x8x8x2x8xf32>) -> tensor<1x64x2x8xf32>
    %40 = stablehlo.reshape %37 : (tensor<1x8x8x2x8xf32>) -> tensor<1x64x2x8xf32>
    %41 = stablehlo.reshape %38 : (tensor<1x8x8x2x8xf32>) -> tensor<1x64x2x8xf32>
    %42 = "stablehlo.collective_permute"(%arg10) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1x64x2x8xf32>) -> tensor<1x64x2x8xf32>
    %43 = "stablehlo.collective_permute"(%arg11) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1x64x2x8xf32>) -> tensor<1x64x2x8xf32>
    %44 = "stablehlo.collective_permute"(%40) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1x64x2x8xf32>) -> tensor<1x64x2x8xf32>
    %45 = "stablehlo.collective_permute"(%41) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1x64x2x8xf32>) -> tensor<1x64x2x8xf32>
    return %39, %44, %45, %42, %43 : tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>, tensor<1x64x2x8xf32>
  }
  func.func private @closed_call_9(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<f32>, %arg3: tensor<1x1x1x512xf32>, %arg4: tensor<1x512xi32>, %arg5: tensor<8x1x8x2x8xf32>, %arg6: tensor<8x1x8x2x8xf32>, %arg7: tensor<8x1x8x2x8xf32>, %arg8: tensor<8x1x8x2x8xf32>, %arg9: tensor<1x8x2x8xf32>, %arg10: tensor<1x8x2x8xf32>, %arg11: tensor<1x8x2x8xf32>, %arg12: tensor<1x8x2x8xf32>, %arg13: tensor<1x2x8xf32>, %arg14: tensor<1x2x8xf32>, %arg15: tensor<i32>) -> (tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<1x8x2x8xf32>) {
    %0 = stablehlo.dot_general %arg11, %arg12, batching_dims = [0, 2, 1] x [0, 2, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>) -> tensor<1x2x8xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<1x2x8xf32>) -> tensor<1x2x8x1xf32>
    %2 = stablehlo.iota dim = 0 : tensor<8xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x1x8x2x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x1x8x2x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5:18 = stablehlo.while(%iterArg = %arg5, %iterArg_1 = %arg6, %iterArg_2 = %2, %iterArg_3 = %arg0, %iterArg_4 = %arg15, %iterArg_5 = %arg1, %iterArg_6 = %arg9, %iterArg_7 = %arg2, %iterArg_8 = %arg3, %iterArg_9 = %arg4, %iterArg_10 = %arg14, %iterArg_11 = %arg13, %iterArg_12 = %arg11, %iterArg_13 = %1, %iterArg_14 = %c, %iterArg_15 = %arg10, %iterArg_16 = %3, %iterArg_17 = %4) : tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8xi32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<1x8x2x8xf32>, tensor<f32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x2x8x1xf32>, tensor<i32>, tensor<1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>
    cond {
      %c_18 = stablehlo.constant dense<8> : tensor<i32>
      %8 = stablehlo.compare LT, %iterArg_14, %c_18, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %8 = func.call @dynamic_index_in_dim_0(%iterArg, %iterArg_14) : (tensor<8x1x8x2x8xf32>, tensor<i32>) -> tensor<1x8x2x8xf32>
      %9 = func.call @dynamic_index_in_dim_0(%iterArg_1, %iterArg_14) : (tensor<8x1x8x2x8xf32>, tensor<i32>) -> tensor<1x8x2x8xf32>
      %10 = func.call @dynamic_index_in_dim(%iterArg_2, %iterArg_14) : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
      %11:3 = func.call @closed_call_10(%iterArg_3, %iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11, %iterArg_12, %iterArg_13, %iterArg_15, %8, %9, %10) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<1x8x2x8xf32>, tensor<f32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x2x8x1xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<i32>) -> (tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>)
      %12 = func.call @dynamic_update_index_in_dim(%iterArg_16, %11#1, %iterArg_14) : (tensor<8x1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<i32>) -> tensor<8x1x8x2x8xf32>
      %13 = func.call @dynamic_update_index_in_dim(%iterArg_17, %11#2, %iterArg_14) : (tensor<8x1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<i32>) -> tensor<8x1x8x2x8xf32>
      %c_18 = stablehlo.constant dense<1> : tensor<i32>
      %14 = stablehlo.add %iterArg_14, %c_18 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_1, %iterArg_2, %iterArg_3, %iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11, %iterArg_12, %iterArg_13, %14, %11#0, %12, %13 : tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8xi32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<1x8x2x8xf32>, tensor<f32>, tensor<1x1x1x512xf32>, tensor<1x512xi32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x2x8x1xf32>, tensor<i32>, tensor<1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>
    }
    %6 = stablehlo.add %arg7, %5#16 : tensor<8x1x8x2x8xf32>
    %7 = stablehlo.add %arg8, %5#17 : tensor<8x1x8x2x8xf32>
    return %6, %7, %5#15 : tensor<8x1x8x2x8xf32>, tensor<8x1x8x2x8xf32>, tensor<1x8x2x8xf32>
  }
  func.func private @closed_call_10(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<1x8x2x8xf32>, %arg4: tensor<f32>, %arg5: tensor<1x1x1x512xf32>, %arg6: tensor<1x512xi32>, %arg7: tensor<1x2x8xf32>, %arg8: tensor<1x2x8xf32>, %arg9: tensor<1x8x2x8xf32>, %arg10: tensor<1x2x8x1xf32>, %arg11: tensor<1x8x2x8xf32>, %arg12: tensor<1x8x2x8xf32>, %arg13: tensor<1x8x2x8xf32>, %arg14: tensor<i32>) -> (tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<i32>
    %1 = stablehlo.add %arg2, %arg14 : tensor<i32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.divide %0, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %3 = stablehlo.divide %1, %c_0 : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %2, %c_1 : tensor<i32>
    %c_2 = stablehlo.constant dense<8> : tensor<i32>
    %5 = stablehlo.multiply %4, %c_2 : tensor<i32>
    %c_3 = stablehlo.constant dense<1> : tensor<i32>
    %6 = stablehlo.subtract %5, %c_3 : tensor<i32>
    %c_4 = stablehlo.constant dense<8> : tensor<i32>
    %7 = stablehlo.multiply %3, %c_4 : tensor<i32>
    %8 = stablehlo.compare GT, %6, %7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %9 = stablehlo.convert %8 : (tensor<i1>) -> tensor<i32>
    %10:3 = "stablehlo.case"(%9) ({
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x8x2x8xf32>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x8x2x8xf32>
      stablehlo.return %arg11, %11, %12 : tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>
    }, {
      %11 = stablehlo.dot_general %arg3, %arg12, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>) -> tensor<1x2x8x8xf32>
      %12 = stablehlo.convert %arg4 : tensor<f32>
      %13 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<1x2x8x8xf32>
      %14 = stablehlo.divide %11, %13 : tensor<1x2x8x8xf32>
      %15 = stablehlo.add %arg0, %arg1 : tensor<i32>
      %16 = stablehlo.add %arg2, %arg14 : tensor<i32>
      %c_5 = stablehlo.constant dense<8> : tensor<i32>
      %17 = stablehlo.multiply %15, %c_5 : tensor<i32>
      %c_6 = stablehlo.constant dense<8> : tensor<i32>
      %18 = stablehlo.multiply %16, %c_6 : tensor<i32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %19 = stablehlo.compare LT, %18, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_8 = stablehlo.constant dense<512> : tensor<i32>
      %20 = stablehlo.add %18, %c_8 : tensor<i32>
      %21 = stablehlo.select %19, %20, %18 : tensor<i1>, tensor<i32>
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %c_10 = stablehlo.constant dense<0> : tensor<i32>
      %c_11 = stablehlo.constant dense<0> : tensor<i32>
      %22 = stablehlo.dynamic_slice %arg5, %c_9, %c_10, %c_11, %21, sizes = [1, 1, 1, 8] : (tensor<1x1x1x512xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x1x8xf32>
      %c_12 = stablehlo.constant dense<0> : tensor<i32>
      %23 = stablehlo.compare LT, %17, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_13 = stablehlo.constant dense<512> : tensor<i32>
      %24 = stablehlo.add %17, %c_13 : tensor<i32>
      %25 = stablehlo.select %23, %24, %17 : tensor<i1>, tensor<i32>
      %c_14 = stablehlo.constant dense<0> : tensor<i32>
      %26 = stablehlo.dynamic_slice %arg6, %c_14, %25, sizes = [1, 8] : (tensor<1x512xi32>, tensor<i32>, tensor<i32>) -> tensor<1x8xi32>
      %c_15 = stablehlo.constant dense<0> : tensor<i32>
      %27 = stablehlo.compare LT, %18, %c_15, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_16 = stablehlo.constant dense<512> : tensor<i32>
      %28 = stablehlo.add %18, %c_16 : tensor<i32>
      %29 = stablehlo.select %27, %28, %18 : tensor<i1>, tensor<i32>
      %c_17 = stablehlo.constant dense<0> : tensor<i32>
      %30 = stablehlo.dynamic_slice %arg6, %c_17, %29, sizes = [1, 8] : (tensor<1x512xi32>, tensor<i32>, tensor<i32>) -> tensor<1x8xi32>
      %31 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<1x8xi32>) -> tensor<1x8x1xi32>
      %32 = stablehlo.broadcast_in_dim %30, dims = [0, 2] : (tensor<1x8xi32>) -> tensor<1x1x8xi32>
      %33 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<1x8x1xi32>) -> tensor<1x8x8xi32>
      %34 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<1x1x8xi32>) -> tensor<1x8x8xi32>
      %35 = stablehlo.compare EQ, %33, %34, SIGNED : (tensor<1x8x8xi32>, tensor<1x8x8xi32>) -> tensor<1x8x8xi1>
      %36 = stablehlo.not %35 : tensor<1x8x8xi1>
      %37 = stablehlo.broadcast_in_dim %36, dims = [0, 2, 3] : (tensor<1x8x8xi1>) -> tensor<1x1x8x8xi1>
      %38 = stablehlo.convert %37 : (tensor<1x1x8x8xi1>) -> tensor<1x1x8x8xf32>
      %cst = stablehlo.constant dense<-3.40282347E+38> : tensor<f32>
      %39 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x1x8x8xf32>
      %40 = stablehlo.multiply %38, %39 : tensor<1x1x8x8xf32>
      %41 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<1x1x1x8xf32>) -> tensor<1x1x8x8xf32>
      %42 = stablehlo.minimum %41, %40 : tensor<1x1x8x8xf32>
      %43 = stablehlo.iota dim = 0 : tensor<8x1xi32>
      %44 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<i32>) -> tensor<8x1xi32>
      %45 = stablehlo.add %43, %44 : tensor<8x1xi32>
      %46 = stablehlo.iota dim = 1 : tensor<1x8xi32>
      %47 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<i32>) -> tensor<1x8xi32>
      %48 = stablehlo.add %46, %47 : tensor<1x8xi32>
      %c_18 = stablehlo.constant dense<1> : tensor<i32>
      %49 = func.call @floor_divide(%45, %c_18) : (tensor<8x1xi32>, tensor<i32>) -> tensor<8x1xi32>
      %c_19 = stablehlo.constant dense<1> : tensor<i32>
      %50 = func.call @floor_divide_5(%48, %c_19) : (tensor<1x8xi32>, tensor<i32>) -> tensor<1x8xi32>
      %51 = stablehlo.broadcast_in_dim %49, dims = [0, 1] : (tensor<8x1xi32>) -> tensor<8x8xi32>
      %52 = stablehlo.broadcast_in_dim %50, dims = [0, 1] : (tensor<1x8xi32>) -> tensor<8x8xi32>
      %53 = stablehlo.compare LT, %51, %52, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
      %54 = stablehlo.convert %53 : (tensor<8x8xi1>) -> tensor<8x8xf32>
      %cst_20 = stablehlo.constant dense<-3.40282347E+38> : tensor<f32>
      %55 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %56 = stablehlo.multiply %54, %55 : tensor<8x8xf32>
      %57 = stablehlo.reshape %56 : (tensor<8x8xf32>) -> tensor<1x1x8x8xf32>
      %58 = stablehlo.minimum %42, %57 : tensor<1x1x8x8xf32>
      %59 = stablehlo.broadcast_in_dim %58, dims = [0, 1, 2, 3] : (tensor<1x1x8x8xf32>) -> tensor<1x2x8x8xf32>
      %60 = stablehlo.add %14, %59 : tensor<1x2x8x8xf32>
      %61 = stablehlo.broadcast_in_dim %arg7, dims = [0, 1, 2] : (tensor<1x2x8xf32>) -> tensor<1x2x8x1xf32>
      %62 = stablehlo.broadcast_in_dim %61, dims = [0, 1, 2, 3] : (tensor<1x2x8x1xf32>) -> tensor<1x2x8x8xf32>
      %63 = stablehlo.subtract %60, %62 : tensor<1x2x8x8xf32>
      %64 = stablehlo.exponential %63 : tensor<1x2x8x8xf32>
      %65 = stablehlo.broadcast_in_dim %arg8, dims = [0, 1, 2] : (tensor<1x2x8xf32>) -> tensor<1x2x8x1xf32>
      %66 = stablehlo.broadcast_in_dim %65, dims = [0, 1, 2, 3] : (tensor<1x2x8x1xf32>) -> tensor<1x2x8x8xf32>
      %67 = stablehlo.divide %64, %66 : tensor<1x2x8x8xf32>
      %68 = stablehlo.dot_general %arg9, %arg13, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>) -> tensor<1x2x8x8xf32>
      %69 = stablehlo.broadcast_in_dim %arg10, dims = [0, 1, 2, 3] : (tensor<1x2x8x1xf32>) -> tensor<1x2x8x8xf32>
      %70 = stablehlo.subtract %68, %69 : tensor<1x2x8x8xf32>
      %71 = stablehlo.multiply %70, %67 : tensor<1x2x8x8xf32>
      %72 = stablehlo.dot_general %arg12, %71, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x8x2x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
      %73 = stablehlo.transpose %72, dims = [0, 3, 1, 2] : (tensor<1x2x8x8xf32>) -> tensor<1x8x2x8xf32>
      %74 = stablehlo.convert %arg4 : tensor<f32>
      %75 = stablehlo.broadcast_in_dim %74, dims = [] : (tensor<f32>) -> tensor<1x8x2x8xf32>
      %76 = stablehlo.divide %73, %75 : tensor<1x8x2x8xf32>
      %77 = stablehlo.add %arg11, %76 : tensor<1x8x2x8xf32>
      %78 = stablehlo.dot_general %71, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x8x8xf32>, tensor<1x8x2x8xf32>) -> tensor<1x2x8x8xf32>
      %79 = stablehlo.transpose %78, dims = [0, 2, 1, 3] : (tensor<1x2x8x8xf32>) -> tensor<1x8x2x8xf32>
      %80 = stablehlo.convert %arg4 : tensor<f32>
      %81 = stablehlo.broadcast_in_dim %80, dims = [] : (tensor<f32>) -> tensor<1x8x2x8xf32>
      %82 = stablehlo.divide %79, %81 : tensor<1x8x2x8xf32>
      %83 = stablehlo.dot_general %arg9, %67, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x8x2x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
      %84 = stablehlo.transpose %83, dims = [0, 3, 1, 2] : (tensor<1x2x8x8xf32>) -> tensor<1x8x2x8xf32>
      stablehlo.return %77, %82, %84 : tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>
    }) : (tensor<i32>) -> (tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>)
    return %10#0, %10#1, %10#2 : tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>, tensor<1x8x2x8xf32>
  }
}
