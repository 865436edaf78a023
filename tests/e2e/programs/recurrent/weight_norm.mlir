module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<8x8xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<8xf32>, %arg5: tensor<8xf32>, %arg6: tensor<8x8xf32>, %arg7: tensor<8x8xf32>, %arg8: tensor<8x8xf32>, %arg9: tensor<8xf32>, %arg10: tensor<8x16x8xf32>, %arg11: tensor<8x16x8xf32>) -> (tensor<8xf32> {jax.result_info = "result[0]['g']"}, tensor<8x8xf32> {jax.result_info = "result[0]['h']"}, tensor<8x8xf32> {jax.result_info = "result[0]['head']"}, tensor<8x8xf32> {jax.result_info = "result[0]['i']"}, tensor<8xf32> {jax.result_info = "result[0]['start']"}, tensor<8xf32> {jax.result_info = "result[1]['g']"}, tensor<8x8xf32> {jax.result_info = "result[1]['h']"}, tensor<8x8xf32> {jax.result_info = "result[1]['head']"}, tensor<8x8xf32> {jax.result_info = "result[1]['i']"}, tensor<8xf32> {jax.result_info = "result[1]['start']"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.transpose %arg10, dims = [1, 0, 2] : (tensor<8x16x8xf32>) -> tensor<16x8x8xf32>
    %2 = stablehlo.multiply %arg1, %arg1 : tensor<8x8xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %4 = stablehlo.multiply %3, %arg1 : tensor<8x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    %6 = stablehlo.rsqrt %5 : tensor<8xf32>
    %7 = stablehlo.divide %6, %5 : tensor<8xf32>
    %cst_1 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<8xf32>
    %10 = stablehlo.broadcast_in_dim %6, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
    %12 = stablehlo.multiply %arg1, %11 : tensor<8x8xf32>
    %13 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
    %15 = stablehlo.multiply %12, %14 : tensor<8x8xf32>
    %c = stablehlo.constant dense<3> : tensor<i32>
    %16:2 = call @remainder(%c) : (tensor<i32>) -> (tensor<i32>, tensor<i1>)
    %17 = stablehlo.multiply %arg0, %arg0 : tensor<8xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %19 = stablehlo.multiply %18, %arg0 : tensor<8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%17 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %cst_4 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %21 = stablehlo.multiply %cst_4, %20 : tensor<f32>
    %cst_5 = stablehlo.constant dense<2.500000e+00> : tensor<f32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<16xi32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %30:18 = stablehlo.while(%iterArg = %1, %iterArg_40 = %16#0, %iterArg_41 = %16#1, %iterArg_42 = %arg3, %iterArg_43 = %15, %iterArg_44 = %21, %iterArg_45 = %c_15, %iterArg_46 = %0, %iterArg_47 = %cst_5, %iterArg_48 = %c_6, %iterArg_49 = %22, %iterArg_50 = %23, %iterArg_51 = %24, %iterArg_52 = %25, %iterArg_53 = %26, %iterArg_54 = %27, %iterArg_55 = %28, %iterArg_56 = %29) : tensor<16x8x8xf32>, tensor<i32>, tensor<i1>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<i32>, tensor<8x8xf32>, tensor<f32>, tensor<i32>, tensor<16x8x8xf32>, tensor<16xi32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>
    cond {
      %c_57 = stablehlo.constant dense<16> : tensor<i32>
      %84 = stablehlo.compare LT, %iterArg_45, %c_57, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %84 : tensor<i1>
    } do {
      %84 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_45) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %85:11 = func.call @closed_call(%iterArg_40, %iterArg_41, %iterArg_42, %iterArg_43, %iterArg_44, %iterArg_46, %iterArg_47, %iterArg_48, %84) : (tensor<i32>, tensor<i1>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<8x8xf32>, tensor<f32>, tensor<i32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<f32>, tensor<i32>, tensor<8x8xf32>, tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
      %86 = func.call @dynamic_update_index_in_dim(%iterArg_49, %85#3, %iterArg_45) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %87 = func.call @dynamic_update_index_in_dim_1(%iterArg_50, %85#4, %iterArg_45) : (tensor<16xi32>, tensor<i32>, tensor<i32>) -> tensor<16xi32>
      %88 = func.call @dynamic_update_index_in_dim(%iterArg_51, %85#5, %iterArg_45) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %89 = func.call @dynamic_update_index_in_dim(%iterArg_52, %85#6, %iterArg_45) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %90 = func.call @dynamic_update_index_in_dim(%iterArg_53, %85#7, %iterArg_45) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %91 = func.call @dynamic_update_index_in_dim(%iterArg_54, %85#8, %iterArg_45) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %92 = func.call @dynamic_update_index_in_dim(%iterArg_55, %85#9, %iterArg_45) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %93 = func.call @dynamic_update_index_in_dim(%iterArg_56, %85#10, %iterArg_45) : (tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<16x8x8xf32>
      %c_57 = stablehlo.constant dense<1> : tensor<i32>
      %94 = stablehlo.add %iterArg_45, %c_57 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_40, %iterArg_41, %iterArg_42, %iterArg_43, %iterArg_44, %94, %85#0, %85#1, %85#2, %86, %87, %88, %89, %90, %91, %92, %93 : tensor<16x8x8xf32>, tensor<i32>, tensor<i1>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<i32>, tensor<8x8xf32>, tensor<f32>, tensor<i32>, tensor<16x8x8xf32>, tensor<16xi32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>
    }
    %31 = stablehlo.dot_general %30#10, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8x8xf32>, tensor<8x8xf32>) -> tensor<16x8x8xf32>
    %32 = stablehlo.transpose %arg11, dims = [1, 0, 2] : (tensor<8x16x8xf32>) -> tensor<16x8x8xf32>
    %33 = stablehlo.subtract %31, %32 : tensor<16x8x8xf32>
    %34 = stablehlo.multiply %33, %33 : tensor<16x8x8xf32>
    %cst_16 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %36 = stablehlo.multiply %35, %33 : tensor<16x8x8xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%34 init: %cst_17) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<16x8x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_18 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %38 = stablehlo.divide %37, %cst_18 : tensor<f32>
    %cst_19 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %39 = stablehlo.multiply %cst_19, %30#8 : tensor<f32>
    %40 = stablehlo.add %38, %39 : tensor<f32>
    %cst_20 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %41 = stablehlo.multiply %cst_20, %cst_21 : tensor<f32>
    %cst_22 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_23 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %42 = stablehlo.divide %cst_22, %cst_23 : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [] : (tensor<f32>) -> tensor<16x8x8xf32>
    %44 = stablehlo.multiply %43, %36 : tensor<16x8x8xf32>
    %45 = stablehlo.dot_general %44, %30#10, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x8x8xf32>, tensor<16x8x8xf32>) -> tensor<8x8xf32>
    %46 = stablehlo.transpose %45, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %47 = stablehlo.dot_general %44, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x8x8xf32>, tensor<8x8xf32>) -> tensor<16x8x8xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %c_28 = stablehlo.constant dense<0> : tensor<i32>
    %52:21 = stablehlo.while(%iterArg = %47, %iterArg_40 = %30#11, %iterArg_41 = %30#12, %iterArg_42 = %30#13, %iterArg_43 = %30#14, %iterArg_44 = %30#15, %iterArg_45 = %30#16, %iterArg_46 = %30#17, %iterArg_47 = %4, %iterArg_48 = %9, %iterArg_49 = %10, %iterArg_50 = %arg1, %iterArg_51 = %13, %iterArg_52 = %12, %iterArg_53 = %19, %iterArg_54 = %c_28, %iterArg_55 = %49, %iterArg_56 = %50, %iterArg_57 = %51, %iterArg_58 = %48, %iterArg_59 = %41) : tensor<16x8x8xf32>, tensor<16xi32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<1x8xf32>, tensor<8x8xf32>, tensor<1x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<i32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>
    cond {
      %c_60 = stablehlo.constant dense<16> : tensor<i32>
      %84 = stablehlo.compare LT, %iterArg_54, %c_60, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %84 : tensor<i1>
    } do {
      %c_60 = stablehlo.constant dense<16> : tensor<i32>
      %84 = stablehlo.subtract %c_60, %iterArg_54 : tensor<i32>
      %c_61 = stablehlo.constant dense<1> : tensor<i32>
      %85 = stablehlo.subtract %84, %c_61 : tensor<i32>
      %86 = func.call @dynamic_index_in_dim(%iterArg, %85) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %87 = func.call @dynamic_index_in_dim_2(%iterArg_40, %85) : (tensor<16xi32>, tensor<i32>) -> tensor<i32>
      %88 = func.call @dynamic_index_in_dim(%iterArg_41, %85) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %89 = func.call @dynamic_index_in_dim(%iterArg_42, %85) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %90 = func.call @dynamic_index_in_dim(%iterArg_43, %85) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %91 = func.call @dynamic_index_in_dim(%iterArg_44, %85) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %92 = func.call @dynamic_index_in_dim(%iterArg_45, %85) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %93 = func.call @dynamic_index_in_dim(%iterArg_46, %85) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %94:5 = func.call @closed_call_3(%iterArg_47, %iterArg_48, %iterArg_49, %iterArg_50, %iterArg_51, %iterArg_52, %iterArg_53, %iterArg_55, %iterArg_56, %iterArg_57, %iterArg_58, %iterArg_59, %86, %87, %88, %89, %90, %91, %92, %93) : (tensor<8x8xf32>, tensor<8xf32>, tensor<1x8xf32>, tensor<8x8xf32>, tensor<1x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<8x8xf32>, tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>)
      %c_62 = stablehlo.constant dense<1> : tensor<i32>
      %95 = stablehlo.add %iterArg_54, %c_62 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_40, %iterArg_41, %iterArg_42, %iterArg_43, %iterArg_44, %iterArg_45, %iterArg_46, %iterArg_47, %iterArg_48, %iterArg_49, %iterArg_50, %iterArg_51, %iterArg_52, %iterArg_53, %95, %94#0, %94#1, %94#2, %94#3, %94#4 : tensor<16x8x8xf32>, tensor<16xi32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<16x8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<1x8xf32>, tensor<8x8xf32>, tensor<1x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<i32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>
    }
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.reduce(%52#19 init: %cst_29) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    %cst_30 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %55 = stablehlo.multiply %54, %arg5 : tensor<8xf32>
    %56 = stablehlo.add %55, %52#17 : tensor<8xf32>
    %cst_31 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %58 = stablehlo.multiply %57, %arg6 : tensor<8x8xf32>
    %59 = stablehlo.add %58, %52#16 : tensor<8x8xf32>
    %cst_32 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %61 = stablehlo.multiply %60, %arg7 : tensor<8x8xf32>
    %62 = stablehlo.add %61, %46 : tensor<8x8xf32>
    %cst_33 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %64 = stablehlo.multiply %63, %arg8 : tensor<8x8xf32>
    %65 = stablehlo.add %64, %52#18 : tensor<8x8xf32>
    %cst_34 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %67 = stablehlo.multiply %66, %arg9 : tensor<8xf32>
    %68 = stablehlo.add %67, %53 : tensor<8xf32>
    %cst_35 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %70 = stablehlo.multiply %69, %56 : tensor<8xf32>
    %71 = stablehlo.subtract %arg0, %70 : tensor<8xf32>
    %cst_36 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %73 = stablehlo.multiply %72, %59 : tensor<8x8xf32>
    %74 = stablehlo.subtract %arg1, %73 : tensor<8x8xf32>
    %cst_37 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %76 = stablehlo.multiply %75, %62 : tensor<8x8xf32>
    %77 = stablehlo.subtract %arg2, %76 : tensor<8x8xf32>
    %cst_38 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %79 = stablehlo.multiply %78, %65 : tensor<8x8xf32>
    %80 = stablehlo.subtract %arg3, %79 : tensor<8x8xf32>
    %cst_39 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %82 = stablehlo.multiply %81, %68 : tensor<8xf32>
    %83 = stablehlo.subtract %arg4, %82 : tensor<8xf32>
    return %71, %74, %77, %80, %83, %56, %59, %62, %65, %68, %40 : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<f32>
  }
  func.func private @remainder(%arg0: tensor<i32>) -> (tensor<i32>, tensor<i1>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare EQ, %arg0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = call @_where(%0, %c_0, %arg0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.compare LT, %1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    return %1, %2 : tensor<i32>, tensor<i1>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<16x8x8xf32>, %arg1: tensor<i32>) -> tensor<8x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 8] : (tensor<16x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<i1>, %arg2: tensor<8x8xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<f32>, %arg5: tensor<8x8xf32>, %arg6: tensor<f32>, %arg7: tensor<i32>, %arg8: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<f32>, tensor<i32>, tensor<8x8xf32>, tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = call @remainder_0(%arg7, %arg0, %arg1) : (tensor<i32>, tensor<i32>, tensor<i1>) -> tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.convert %1 : (tensor<i1>) -> tensor<i32>
    %3:6 = "stablehlo.case"(%2) ({
      %cst_3 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %13 = stablehlo.multiply %12, %arg5 : tensor<8x8xf32>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %14 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %15 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %16 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %17 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %18 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      stablehlo.return %13, %14, %15, %16, %17, %18 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
    }, {
      %12 = stablehlo.dot_general %arg8, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %13 = stablehlo.dot_general %arg5, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %14 = stablehlo.add %12, %13 : tensor<8x8xf32>
      %15 = stablehlo.tanh %14 : tensor<8x8xf32>
      %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %17 = stablehlo.subtract %16, %15 : tensor<8x8xf32>
      stablehlo.return %15, %arg8, %arg3, %arg5, %15, %17 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
    }) : (tensor<i32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
    %4 = stablehlo.multiply %3#0, %3#0 : tensor<8x8xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %6 = stablehlo.multiply %5, %3#0 : tensor<8x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %8 = stablehlo.divide %7, %cst_1 : tensor<f32>
    %9 = stablehlo.add %arg6, %8 : tensor<f32>
    %10 = stablehlo.add %9, %arg4 : tensor<f32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %11 = stablehlo.add %arg7, %c_2 : tensor<i32>
    return %3#0, %10, %11, %3#0, %2, %3#1, %3#2, %3#3, %3#4, %3#5, %6 : tensor<8x8xf32>, tensor<f32>, tensor<i32>, tensor<8x8xf32>, tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  func.func private @remainder_0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i1>) -> tensor<i32> {
    %0 = stablehlo.remainder %arg0, %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare NE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.compare LT, %0, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.compare NE, %2, %arg2, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %4 = stablehlo.and %3, %1 : tensor<i1>
    %5 = stablehlo.add %0, %arg1 : tensor<i32>
    %6 = stablehlo.select %4, %5, %0 : tensor<i1>, tensor<i32>
    return %6 : tensor<i32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<16x8x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<i32>) -> tensor<16x8x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<16x8x8xf32>, tensor<1x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<16x8x8xf32>
    return %1 : tensor<16x8x8xf32>
  }
  func.func private @dynamic_update_index_in_dim_1(%arg0: tensor<16xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<16xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<16xi32>, tensor<1xi32>, tensor<i32>) -> tensor<16xi32>
    return %1 : tensor<16xi32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<16xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<16xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @closed_call_3(%arg0: tensor<8x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<1x8xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<1x8xf32>, %arg5: tensor<8x8xf32>, %arg6: tensor<8xf32>, %arg7: tensor<8x8xf32>, %arg8: tensor<8xf32>, %arg9: tensor<8x8xf32>, %arg10: tensor<8x8xf32>, %arg11: tensor<f32>, %arg12: tensor<8x8xf32>, %arg13: tensor<i32>, %arg14: tensor<8x8xf32>, %arg15: tensor<8x8xf32>, %arg16: tensor<8x8xf32>, %arg17: tensor<8x8xf32>, %arg18: tensor<8x8xf32>, %arg19: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>) {
    %0 = stablehlo.add %arg10, %arg12 : tensor<8x8xf32>
    %cst = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1 = stablehlo.multiply %cst, %arg11 : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %3 = stablehlo.multiply %2, %arg6 : tensor<8xf32>
    %4 = stablehlo.add %arg8, %3 : tensor<8xf32>
    %cst_0 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %5 = stablehlo.divide %arg11, %cst_0 : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %7 = stablehlo.multiply %6, %arg19 : tensor<8x8xf32>
    %8 = stablehlo.add %0, %7 : tensor<8x8xf32>
    %9:3 = "stablehlo.case"(%arg13) ({
      %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %30 = stablehlo.multiply %29, %8 : tensor<8x8xf32>
      %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %31 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %32 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      stablehlo.return %31, %32, %30 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
    }, {
      %29 = stablehlo.multiply %8, %arg18 : tensor<8x8xf32>
      %30 = stablehlo.multiply %29, %arg17 : tensor<8x8xf32>
      %31 = stablehlo.add %29, %30 : tensor<8x8xf32>
      %32 = stablehlo.dot_general %31, %arg16, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %33 = stablehlo.transpose %32, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %34 = stablehlo.dot_general %31, %arg15, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %35 = stablehlo.dot_general %31, %arg14, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %36 = stablehlo.transpose %35, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
      stablehlo.return %36, %33, %34 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
    }) : (tensor<i32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
    %10 = stablehlo.add %arg9, %9#0 : tensor<8x8xf32>
    %11 = stablehlo.multiply %arg5, %9#1 : tensor<8x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    %13 = stablehlo.reshape %12 : (tensor<8xf32>) -> tensor<1x8xf32>
    %14 = stablehlo.broadcast_in_dim %arg4, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
    %15 = stablehlo.multiply %9#1, %14 : tensor<8x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%13 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %17 = stablehlo.add %4, %16 : tensor<8xf32>
    %18 = stablehlo.multiply %arg3, %15 : tensor<8x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    %20 = stablehlo.reshape %19 : (tensor<8xf32>) -> tensor<1x8xf32>
    %21 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
    %22 = stablehlo.multiply %15, %21 : tensor<8x8xf32>
    %23 = stablehlo.add %arg7, %22 : tensor<8x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%20 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %25 = stablehlo.multiply %24, %arg1 : tensor<8xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [1] : (tensor<8xf32>) -> tensor<8x8xf32>
    %27 = stablehlo.multiply %26, %arg0 : tensor<8x8xf32>
    %28 = stablehlo.add %23, %27 : tensor<8x8xf32>
    return %28, %17, %10, %9#2, %arg11 : tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>
  }
}
