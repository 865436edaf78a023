module @jit_ring_grad attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x4xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<8x4xf32>) -> (tensor<8x4xf32> {jax.result_info = "result[0]"}, tensor<8x4xf32> {jax.result_info = "result[1]"}, tensor<8x4xf32> {jax.result_info = "result[2]"}) {
    %0:16 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg3: tensor<2x4xf32>, %arg4: tensor<2x4xf32>, %arg5: tensor<2x4xf32>) {
      %5 = stablehlo.slice %arg3 [0:2, 0:1] : (tensor<2x4xf32>) -> tensor<2x1xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
      %7 = stablehlo.multiply %5, %6 : tensor<2x1xf32>
      %cst_1 = stablehlo.constant dense<1.000000e+30> : tensor<f32>
      %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
      %9 = stablehlo.subtract %7, %8 : tensor<2x1xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
      %11 = stablehlo.multiply %arg3, %10 : tensor<2x4xf32>
      %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %13 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
      %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %14 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
      %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %15 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
      %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %16 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
      %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %17 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
      %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %18 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
      %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %19 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
      %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %20 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x4x2xf32>
      %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %21 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x2x2xf32>
      %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %22 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
      %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %23 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4x2x1xf32>
      %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %24 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x2x1xf32>
      %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %25 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x2x2xf32>
      %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %26 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<4x2x1xf32>
      %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %27 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<4x2x1xf32>
      %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %28 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<4x2x4xf32>
      %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %29 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4x2x4xf32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %30:25 = stablehlo.while(%iterArg = %arg3, %iterArg_24 = %13, %iterArg_25 = %12, %iterArg_26 = %15, %iterArg_27 = %14, %iterArg_28 = %17, %iterArg_29 = %16, %iterArg_30 = %19, %iterArg_31 = %18, %iterArg_32 = %c, %iterArg_33 = %arg4, %iterArg_34 = %arg5, %iterArg_35 = %9, %iterArg_36 = %7, %iterArg_37 = %11, %iterArg_38 = %20, %iterArg_39 = %21, %iterArg_40 = %22, %iterArg_41 = %23, %iterArg_42 = %24, %iterArg_43 = %25, %iterArg_44 = %26, %iterArg_45 = %27, %iterArg_46 = %28, %iterArg_47 = %29) : tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<i32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>, tensor<4x4x2xf32>, tensor<4x2x2xf32>, tensor<4x2xf32>, tensor<4x2x1xf32>, tensor<4x2x1xf32>, tensor<4x2x2xf32>, tensor<4x2x1xf32>, tensor<4x2x1xf32>, tensor<4x2x4xf32>, tensor<4x2x4xf32>
      cond {
        %c_48 = stablehlo.constant dense<4> : tensor<i32>
        %38 = stablehlo.compare LT, %iterArg_32, %c_48, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %38 : tensor<i1>
      } do {
        %38:15 = func.call @closed_call(%iterArg, %iterArg_24, %iterArg_25, %iterArg_26, %iterArg_27, %iterArg_28, %iterArg_29, %iterArg_30, %iterArg_31, %iterArg_33, %iterArg_34, %iterArg_35, %iterArg_36, %iterArg_37) : (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>, tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
        %39 = func.call @dynamic_update_index_in_dim(%iterArg_38, %38#5, %iterArg_32) : (tensor<4x4x2xf32>, tensor<4x2xf32>, tensor<i32>) -> tensor<4x4x2xf32>
        %40 = func.call @dynamic_update_index_in_dim_0(%iterArg_39, %38#6, %iterArg_32) : (tensor<4x2x2xf32>, tensor<2x2xf32>, tensor<i32>) -> tensor<4x2x2xf32>
        %41 = func.call @dynamic_update_index_in_dim_1(%iterArg_40, %38#7, %iterArg_32) : (tensor<4x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4x2xf32>
        %42 = func.call @dynamic_update_index_in_dim_2(%iterArg_41, %38#8, %iterArg_32) : (tensor<4x2x1xf32>, tensor<2x1xf32>, tensor<i32>) -> tensor<4x2x1xf32>
        %43 = func.call @dynamic_update_index_in_dim_2(%iterArg_42, %38#9, %iterArg_32) : (tensor<4x2x1xf32>, tensor<2x1xf32>, tensor<i32>) -> tensor<4x2x1xf32>
        %44 = func.call @dynamic_update_index_in_dim_0(%iterArg_43, %38#10, %iterArg_32) : (tensor<4x2x2xf32>, tensor<2x2xf32>, tensor<i32>) -> tensor<4x2x2xf32>
        %45 = func.call @dynamic_update_index_in_dim_2(%iterArg_44, %38#11, %iterArg_32) : (tensor<4x2x1xf32>, tensor<2x1xf32>, tensor<i32>) -> tensor<4x2x1xf32>
        %46 = func.call @dynamic_update_index_in_dim_2(%iterArg_45, %38#12, %iterArg_32) : (tensor<4x2x1xf32>, tensor<2x1xf32>, tensor<i32>) -> tensor<4x2x1xf32>
        %47 = func.call @dynamic_update_index_in_dim_3(%iterArg_46, %38#13, %iterArg_32) : (tensor<4x2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<4x2x4xf32>
        %48 = func.call @dynamic_update_index_in_dim_3(%iterArg_47, %38#14, %iterArg_32) : (tensor<4x2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<4x2x4xf32>
        %c_48 = stablehlo.constant dense<1> : tensor<i32>
        %49 = stablehlo.add %iterArg_32, %c_48 : tensor<i32>
        stablehlo.return %iterArg, %iterArg_24, %iterArg_25, %iterArg_26, %iterArg_27, %iterArg_28, %iterArg_29, %iterArg_30, %iterArg_31, %49, %38#0, %38#1, %38#2, %38#3, %38#4, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48 : tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<i32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>, tensor<4x4x2xf32>, tensor<4x2x2xf32>, tensor<4x2xf32>, tensor<4x2x1xf32>, tensor<4x2x1xf32>, tensor<4x2x2xf32>, tensor<4x2x1xf32>, tensor<4x2x1xf32>, tensor<4x2x4xf32>, tensor<4x2x4xf32>
      }
      %31 = stablehlo.broadcast_in_dim %30#13, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x4xf32>
      %32 = stablehlo.divide %30#14, %31 : tensor<2x4xf32>
      %33 = stablehlo.multiply %30#13, %30#13 : tensor<2x1xf32>
      %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %34 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
      %35 = stablehlo.divide %34, %33 : tensor<2x1xf32>
      %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %36 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %37 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<1xf32>
      sdy.return %36, %37, %30#15, %30#16, %30#17, %30#18, %30#19, %30#20, %30#21, %30#22, %30#23, %30#24, %30#13, %30#14, %35, %32 : tensor<1xf32>, tensor<1xf32>, tensor<4x4x2xf32>, tensor<4x2x2xf32>, tensor<4x2xf32>, tensor<4x2x1xf32>, tensor<4x2x1xf32>, tensor<4x2x2xf32>, tensor<4x2x1xf32>, tensor<4x2x1xf32>, tensor<4x2x4xf32>, tensor<4x2x4xf32>, tensor<2x1xf32>, tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x4xf32>
    } : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<16x4x2xf32>, tensor<16x2x2xf32>, tensor<16x2xf32>, tensor<16x2x1xf32>, tensor<16x2x1xf32>, tensor<16x2x2xf32>, tensor<16x2x1xf32>, tensor<16x2x1xf32>, tensor<16x2x4xf32>, tensor<16x2x4xf32>, tensor<8x1xf32>, tensor<8x4xf32>, tensor<8x1xf32>, tensor<8x4xf32>)
    %1 = stablehlo.cosine %0#15 : tensor<8x4xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<8x4xf32>
    %4:3 = sdy.manual_computation(%3, %0#0, %0#1, %arg0, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9, %0#10, %0#11, %0#12, %0#13, %0#14) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg3: tensor<2x4xf32>, %arg4: tensor<1xf32>, %arg5: tensor<1xf32>, %arg6: tensor<2x4xf32>, %arg7: tensor<4x4x2xf32>, %arg8: tensor<4x2x2xf32>, %arg9: tensor<4x2xf32>, %arg10: tensor<4x2x1xf32>, %arg11: tensor<4x2x1xf32>, %arg12: tensor<4x2x2xf32>, %arg13: tensor<4x2x1xf32>, %arg14: tensor<4x2x1xf32>, %arg15: tensor<4x2x4xf32>, %arg16: tensor<4x2x4xf32>, %arg17: tensor<2x1xf32>, %arg18: tensor<2x4xf32>, %arg19: tensor<2x1xf32>) {
      %5 = stablehlo.reshape %arg4 : (tensor<1xf32>) -> tensor<f32>
      %6 = stablehlo.reshape %arg5 : (tensor<1xf32>) -> tensor<f32>
      %7 = stablehlo.broadcast_in_dim %arg19, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x4xf32>
      %8 = stablehlo.multiply %arg3, %7 : tensor<2x4xf32>
      %9 = stablehlo.multiply %8, %arg18 : tensor<2x4xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %10 = stablehlo.reduce(%9 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
      %11 = stablehlo.reshape %10 : (tensor<2xf32>) -> tensor<2x1xf32>
      %12 = stablehlo.negate %11 : tensor<2x1xf32>
      %13 = stablehlo.broadcast_in_dim %arg17, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x4xf32>
      %14 = stablehlo.divide %arg3, %13 : tensor<2x4xf32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %19:18 = stablehlo.while(%iterArg = %arg7, %iterArg_6 = %arg8, %iterArg_7 = %arg9, %iterArg_8 = %arg10, %iterArg_9 = %arg11, %iterArg_10 = %arg12, %iterArg_11 = %arg13, %iterArg_12 = %arg14, %iterArg_13 = %arg15, %iterArg_14 = %arg16, %iterArg_15 = %arg6, %iterArg_16 = %c, %iterArg_17 = %18, %iterArg_18 = %15, %iterArg_19 = %16, %iterArg_20 = %17, %iterArg_21 = %12, %iterArg_22 = %14) : tensor<4x4x2xf32>, tensor<4x2x2xf32>, tensor<4x2xf32>, tensor<4x2x1xf32>, tensor<4x2x1xf32>, tensor<4x2x2xf32>, tensor<4x2x1xf32>, tensor<4x2x1xf32>, tensor<4x2x4xf32>, tensor<4x2x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>
      cond {
        %c_23 = stablehlo.constant dense<4> : tensor<i32>
        %28 = stablehlo.compare LT, %iterArg_16, %c_23, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %28 : tensor<i1>
      } do {
        %c_23 = stablehlo.constant dense<4> : tensor<i32>
        %28 = stablehlo.subtract %c_23, %iterArg_16 : tensor<i32>
        %c_24 = stablehlo.constant dense<1> : tensor<i32>
        %29 = stablehlo.subtract %28, %c_24 : tensor<i32>
        %30 = func.call @dynamic_index_in_dim(%iterArg, %29) : (tensor<4x4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
        %31 = func.call @dynamic_index_in_dim_4(%iterArg_6, %29) : (tensor<4x2x2xf32>, tensor<i32>) -> tensor<2x2xf32>
        %32 = func.call @dynamic_index_in_dim_5(%iterArg_7, %29) : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
        %33 = func.call @dynamic_index_in_dim_6(%iterArg_8, %29) : (tensor<4x2x1xf32>, tensor<i32>) -> tensor<2x1xf32>
        %34 = func.call @dynamic_index_in_dim_6(%iterArg_9, %29) : (tensor<4x2x1xf32>, tensor<i32>) -> tensor<2x1xf32>
        %35 = func.call @dynamic_index_in_dim_4(%iterArg_10, %29) : (tensor<4x2x2xf32>, tensor<i32>) -> tensor<2x2xf32>
        %36 = func.call @dynamic_index_in_dim_6(%iterArg_11, %29) : (tensor<4x2x1xf32>, tensor<i32>) -> tensor<2x1xf32>
        %37 = func.call @dynamic_index_in_dim_6(%iterArg_12, %29) : (tensor<4x2x1xf32>, tensor<i32>) -> tensor<2x1xf32>
        %38 = func.call @dynamic_index_in_dim_7(%iterArg_13, %29) : (tensor<4x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
        %39 = func.call @dynamic_index_in_dim_7(%iterArg_14, %29) : (tensor<4x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
        %40:6 = func.call @closed_call_8(%iterArg_15, %iterArg_17, %iterArg_18, %iterArg_19, %iterArg_20, %iterArg_21, %iterArg_22, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>, tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>)
        %c_25 = stablehlo.constant dense<1> : tensor<i32>
        %41 = stablehlo.add %iterArg_16, %c_25 : tensor<i32>
        stablehlo.return %iterArg, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11, %iterArg_12, %iterArg_13, %iterArg_14, %iterArg_15, %41, %40#0, %40#1, %40#2, %40#3, %40#4, %40#5 : tensor<4x4x2xf32>, tensor<4x2x2xf32>, tensor<4x2xf32>, tensor<4x2x1xf32>, tensor<4x2x1xf32>, tensor<4x2x2xf32>, tensor<4x2x1xf32>, tensor<4x2x1xf32>, tensor<4x2x4xf32>, tensor<4x2x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>
      }
      %20 = stablehlo.add %19#15, %19#16 : tensor<2x1xf32>
      %21 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
      %22 = stablehlo.multiply %19#17, %21 : tensor<2x4xf32>
      %23 = stablehlo.add %19#12, %22 : tensor<2x4xf32>
      %24 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
      %25 = stablehlo.multiply %20, %24 : tensor<2x1xf32>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %26 = stablehlo.pad %25, %cst_5, low = [0, 0], high = [0, 3], interior = [0, 0] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x4xf32>
      %27 = stablehlo.add %23, %26 : tensor<2x4xf32>
      sdy.return %27, %19#13, %19#14 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
    } : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<16x4x2xf32>, tensor<16x2x2xf32>, tensor<16x2xf32>, tensor<16x2x1xf32>, tensor<16x2x1xf32>, tensor<16x2x2xf32>, tensor<16x2x1xf32>, tensor<16x2x1xf32>, tensor<16x2x4xf32>, tensor<16x2x4xf32>, tensor<8x1xf32>, tensor<8x4xf32>, tensor<8x1xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
    return %4#0, %4#1, %4#2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  }
  func.func private @closed_call(%arg0: tensor<2x4xf32>, %arg1: tensor<2x1xf32>, %arg2: tensor<2x1xf32>, %arg3: tensor<2x1xf32>, %arg4: tensor<2x1xf32>, %arg5: tensor<2x1xf32>, %arg6: tensor<2x1xf32>, %arg7: tensor<2x1xf32>, %arg8: tensor<2x1xf32>, %arg9: tensor<2x4xf32>, %arg10: tensor<2x4xf32>, %arg11: tensor<2x1xf32>, %arg12: tensor<2x1xf32>, %arg13: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>, tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
    %0 = stablehlo.transpose %arg9, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
    %3 = stablehlo.reshape %2 : (tensor<2xf32>) -> tensor<2x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x2xf32>
    %5 = stablehlo.compare EQ, %1, %4, FLOAT : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    %6 = stablehlo.convert %5 : (tensor<2x2xi1>) -> tensor<2x2xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
    %8 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %9 = stablehlo.maximum %arg11, %8 : tensor<2x1xf32>
    %10 = stablehlo.compare EQ, %arg11, %9, FLOAT : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xi1>
    %11 = stablehlo.select %10, %arg2, %arg1 : tensor<2x1xi1>, tensor<2x1xf32>
    %12 = stablehlo.compare EQ, %8, %9, FLOAT : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xi1>
    %13 = stablehlo.select %12, %arg4, %arg3 : tensor<2x1xi1>, tensor<2x1xf32>
    %14 = stablehlo.divide %11, %13 : tensor<2x1xf32>
    %15 = stablehlo.compare EQ, %8, %9, FLOAT : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xi1>
    %16 = stablehlo.select %15, %arg6, %arg5 : tensor<2x1xi1>, tensor<2x1xf32>
    %17 = stablehlo.compare EQ, %arg11, %9, FLOAT : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xi1>
    %18 = stablehlo.select %17, %arg8, %arg7 : tensor<2x1xi1>, tensor<2x1xf32>
    %19 = stablehlo.divide %16, %18 : tensor<2x1xf32>
    %20 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x2xf32>
    %21 = stablehlo.subtract %1, %20 : tensor<2x2xf32>
    %22 = stablehlo.exponential %21 : tensor<2x2xf32>
    %23 = stablehlo.subtract %arg11, %9 : tensor<2x1xf32>
    %24 = stablehlo.exponential %23 : tensor<2x1xf32>
    %25 = stablehlo.multiply %arg12, %24 : tensor<2x1xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%22 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %28 = stablehlo.add %25, %27 : tensor<2x1xf32>
    %29 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x4xf32>
    %30 = stablehlo.multiply %arg13, %29 : tensor<2x4xf32>
    %31 = stablehlo.dot_general %22, %arg10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %32 = stablehlo.add %30, %31 : tensor<2x4xf32>
    %33 = "stablehlo.collective_permute"(%arg9) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %34 = "stablehlo.collective_permute"(%arg10) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %33, %34, %9, %28, %32, %0, %6, %7, %14, %19, %22, %24, %arg12, %arg13, %arg10 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>, tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4x4x2xf32>, %arg1: tensor<4x2xf32>, %arg2: tensor<i32>) -> tensor<4x4x2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<4x2xf32>) -> tensor<1x4x2xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x4x2xf32>, tensor<1x4x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x4x2xf32>
    return %1 : tensor<4x4x2xf32>
  }
  func.func private @dynamic_update_index_in_dim_0(%arg0: tensor<4x2x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<i32>) -> tensor<4x2x2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x2x2xf32>, tensor<1x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x2x2xf32>
    return %1 : tensor<4x2x2xf32>
  }
  func.func private @dynamic_update_index_in_dim_1(%arg0: tensor<4x2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<i32>) -> tensor<4x2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
    return %1 : tensor<4x2xf32>
  }
  func.func private @dynamic_update_index_in_dim_2(%arg0: tensor<4x2x1xf32>, %arg1: tensor<2x1xf32>, %arg2: tensor<i32>) -> tensor<4x2x1xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<2x1xf32>) -> tensor<1x2x1xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x2x1xf32>, tensor<1x2x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x2x1xf32>
    return %1 : tensor<4x2x1xf32>
  }
  func.func private @dynamic_update_index_in_dim_3(%arg0: tensor<4x2x4xf32>, %arg1: tensor<2x4xf32>, %arg2: tensor<i32>) -> tensor<4x2x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x2x4xf32>
    return %1 : tensor<4x2x4xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x4x2xf32>, %arg1: tensor<i32>) -> tensor<4x2xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 4, 2] : (tensor<4x4x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x2xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4x2xf32>) -> tensor<4x2xf32>
    return %1 : tensor<4x2xf32>
  }
  func.func private @dynamic_index_in_dim_4(%arg0: tensor<4x2x2xf32>, %arg1: tensor<i32>) -> tensor<2x2xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 2, 2] : (tensor<4x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    return %1 : tensor<2x2xf32>
  }
  func.func private @dynamic_index_in_dim_5(%arg0: tensor<4x2xf32>, %arg1: tensor<i32>) -> tensor<2xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  func.func private @dynamic_index_in_dim_6(%arg0: tensor<4x2x1xf32>, %arg1: tensor<i32>) -> tensor<2x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 2, 1] : (tensor<4x2x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x1xf32>) -> tensor<2x1xf32>
    return %1 : tensor<2x1xf32>
  }
  func.func private @dynamic_index_in_dim_7(%arg0: tensor<4x2x4xf32>, %arg1: tensor<i32>) -> tensor<2x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 2, 4] : (tensor<4x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
  func.func private @closed_call_8(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>, %arg2: tensor<2x4xf32>, %arg3: tensor<2x4xf32>, %arg4: tensor<2x1xf32>, %arg5: tensor<2x1xf32>, %arg6: tensor<2x4xf32>, %arg7: tensor<4x2xf32>, %arg8: tensor<2x2xf32>, %arg9: tensor<2xf32>, %arg10: tensor<2x1xf32>, %arg11: tensor<2x1xf32>, %arg12: tensor<2x2xf32>, %arg13: tensor<2x1xf32>, %arg14: tensor<2x1xf32>, %arg15: tensor<2x4xf32>, %arg16: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>) {
    %0 = "stablehlo.collective_permute"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2], [0, 3]]> : tensor<4x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = "stablehlo.collective_permute"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2], [0, 3]]> : tensor<4x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.dot_general %arg6, %arg12, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
    %4 = stablehlo.add %0, %3 : tensor<2x4xf32>
    %5 = stablehlo.dot_general %arg6, %arg16, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
    %6 = stablehlo.multiply %arg15, %arg6 : tensor<2x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
    %8 = stablehlo.reshape %7 : (tensor<2xf32>) -> tensor<2x1xf32>
    %9 = stablehlo.broadcast_in_dim %arg13, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x4xf32>
    %10 = stablehlo.multiply %arg6, %9 : tensor<2x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%arg5 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<2xf32>) -> tensor<2x2xf32>
    %13 = stablehlo.add %5, %12 : tensor<2x2xf32>
    %14 = stablehlo.multiply %arg14, %arg5 : tensor<2x1xf32>
    %15 = stablehlo.add %8, %14 : tensor<2x1xf32>
    %16 = stablehlo.multiply %arg5, %arg13 : tensor<2x1xf32>
    %17 = stablehlo.multiply %15, %arg13 : tensor<2x1xf32>
    %18 = stablehlo.negate %17 : tensor<2x1xf32>
    %19 = stablehlo.add %arg4, %18 : tensor<2x1xf32>
    %20 = stablehlo.multiply %13, %arg12 : tensor<2x2xf32>
    %21 = stablehlo.negate %20 : tensor<2x2xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
    %23 = stablehlo.reshape %22 : (tensor<2xf32>) -> tensor<2x1xf32>
    %24 = stablehlo.add %19, %23 : tensor<2x1xf32>
    %25 = stablehlo.multiply %24, %arg11 : tensor<2x1xf32>
    %26 = stablehlo.multiply %24, %arg10 : tensor<2x1xf32>
    %27 = stablehlo.add %17, %26 : tensor<2x1xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%25 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2xf32>
    %29 = stablehlo.divide %28, %arg9 : tensor<2xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0] : (tensor<2xf32>) -> tensor<2x2xf32>
    %31 = stablehlo.multiply %30, %arg8 : tensor<2x2xf32>
    %32 = stablehlo.add %20, %31 : tensor<2x2xf32>
    %33 = stablehlo.dot_general %32, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %34 = stablehlo.transpose %33, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
    %35 = stablehlo.dot_general %32, %arg7, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<4x2xf32>) -> tensor<2x4xf32>
    %36 = stablehlo.add %arg1, %35 : tensor<2x4xf32>
    %37 = stablehlo.transpose %34, dims = [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
    %38 = stablehlo.add %1, %37 : tensor<2x4xf32>
    return %36, %38, %4, %27, %16, %10 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x4xf32>
  }
}
