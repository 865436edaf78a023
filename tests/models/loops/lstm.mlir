module @jit_fn attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x64xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<16x64xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg2: tensor<64xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg3: tensor<16x4xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg4: tensor<24x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {}]>}, %arg5: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<8x64xf32> {jax.result_info = "result[0]"}, tensor<16x64xf32> {jax.result_info = "result[1]"}, tensor<64xf32> {jax.result_info = "result[2]"}, tensor<16x4xf32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[4]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<24x8x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<24x8x16xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<24x8x16xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<24x8x16xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<24x8x16xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<24x8x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<24x8x16xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<24x8x16xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<24x8x16xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<24x8x16xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<24x8x16xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<24x8x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %15:19 = stablehlo.while(%iterArg = %arg4, %iterArg_27 = %arg0, %iterArg_28 = %arg1, %iterArg_29 = %2, %iterArg_30 = %c, %iterArg_31 = %0, %iterArg_32 = %1, %iterArg_33 = %3, %iterArg_34 = %4, %iterArg_35 = %5, %iterArg_36 = %6, %iterArg_37 = %7, %iterArg_38 = %8, %iterArg_39 = %9, %iterArg_40 = %10, %iterArg_41 = %11, %iterArg_42 = %12, %iterArg_43 = %13, %iterArg_44 = %14) : tensor<24x8x8xf32>, tensor<8x64xf32>, tensor<16x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>
    cond {
      %c_45 = stablehlo.constant dense<24> : tensor<i32>
      %46 = stablehlo.compare LT, %iterArg_30, %c_45, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %46 : tensor<i1>
    } do {
      %46 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_30) : (tensor<24x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %47:14 = func.call @closed_call(%iterArg_27, %iterArg_28, %iterArg_29, %iterArg_31, %iterArg_32, %46) : (tensor<8x64xf32>, tensor<16x64xf32>, tensor<1x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x8xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>)
      %48 = func.call @dynamic_update_index_in_dim(%iterArg_33, %47#2, %iterArg_30) : (tensor<24x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<24x8x16xf32>
      %49 = func.call @dynamic_update_index_in_dim(%iterArg_34, %47#3, %iterArg_30) : (tensor<24x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<24x8x16xf32>
      %50 = func.call @dynamic_update_index_in_dim(%iterArg_35, %47#4, %iterArg_30) : (tensor<24x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<24x8x16xf32>
      %51 = func.call @dynamic_update_index_in_dim(%iterArg_36, %47#5, %iterArg_30) : (tensor<24x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<24x8x16xf32>
      %52 = func.call @dynamic_update_index_in_dim(%iterArg_37, %47#6, %iterArg_30) : (tensor<24x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<24x8x16xf32>
      %53 = func.call @dynamic_update_index_in_dim(%iterArg_38, %47#7, %iterArg_30) : (tensor<24x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<24x8x16xf32>
      %54 = func.call @dynamic_update_index_in_dim(%iterArg_39, %47#8, %iterArg_30) : (tensor<24x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<24x8x16xf32>
      %55 = func.call @dynamic_update_index_in_dim(%iterArg_40, %47#9, %iterArg_30) : (tensor<24x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<24x8x16xf32>
      %56 = func.call @dynamic_update_index_in_dim(%iterArg_41, %47#10, %iterArg_30) : (tensor<24x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<24x8x16xf32>
      %57 = func.call @dynamic_update_index_in_dim(%iterArg_42, %47#11, %iterArg_30) : (tensor<24x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<24x8x16xf32>
      %58 = func.call @dynamic_update_index_in_dim(%iterArg_43, %47#12, %iterArg_30) : (tensor<24x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<24x8x16xf32>
      %59 = func.call @dynamic_update_index_in_dim(%iterArg_44, %47#13, %iterArg_30) : (tensor<24x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<24x8x16xf32>
      %c_45 = stablehlo.constant dense<1> : tensor<i32>
      %60 = stablehlo.add %iterArg_30, %c_45 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_27, %iterArg_28, %iterArg_29, %60, %47#0, %47#1, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59 : tensor<24x8x8xf32>, tensor<8x64xf32>, tensor<16x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>
    }
    %16 = stablehlo.dot_general %15#5, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %17 = stablehlo.subtract %16, %arg5 : tensor<8x4xf32>
    %18 = stablehlo.multiply %17, %17 : tensor<8x4xf32>
    %cst_13 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %20 = stablehlo.multiply %19, %17 : tensor<8x4xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%18 init: %cst_14) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_15 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %22 = stablehlo.divide %21, %cst_15 : tensor<f32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_17 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %23 = stablehlo.divide %cst_16, %cst_17 : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %25 = stablehlo.multiply %24, %20 : tensor<8x4xf32>
    %26 = stablehlo.dot_general %25, %15#5, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %27 = stablehlo.transpose %26, dims = [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
    %28 = stablehlo.dot_general %25, %arg3, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4xf32>, tensor<16x4xf32>) -> tensor<8x16xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %c_22 = stablehlo.constant dense<0> : tensor<i32>
    %33:20 = stablehlo.while(%iterArg = %arg4, %iterArg_27 = %15#7, %iterArg_28 = %15#8, %iterArg_29 = %15#9, %iterArg_30 = %15#10, %iterArg_31 = %15#11, %iterArg_32 = %15#12, %iterArg_33 = %15#13, %iterArg_34 = %15#14, %iterArg_35 = %15#15, %iterArg_36 = %15#16, %iterArg_37 = %15#17, %iterArg_38 = %15#18, %iterArg_39 = %arg1, %iterArg_40 = %c_22, %iterArg_41 = %30, %iterArg_42 = %31, %iterArg_43 = %32, %iterArg_44 = %28, %iterArg_45 = %29) : tensor<24x8x8xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<16x64xf32>, tensor<i32>, tensor<8x64xf32>, tensor<16x64xf32>, tensor<64xf32>, tensor<8x16xf32>, tensor<8x16xf32>
    cond {
      %c_46 = stablehlo.constant dense<24> : tensor<i32>
      %46 = stablehlo.compare LT, %iterArg_40, %c_46, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %46 : tensor<i1>
    } do {
      %c_46 = stablehlo.constant dense<24> : tensor<i32>
      %46 = stablehlo.subtract %c_46, %iterArg_40 : tensor<i32>
      %c_47 = stablehlo.constant dense<1> : tensor<i32>
      %47 = stablehlo.subtract %46, %c_47 : tensor<i32>
      %48 = func.call @dynamic_index_in_dim(%iterArg, %47) : (tensor<24x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %49 = func.call @dynamic_index_in_dim_0(%iterArg_27, %47) : (tensor<24x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %50 = func.call @dynamic_index_in_dim_0(%iterArg_28, %47) : (tensor<24x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %51 = func.call @dynamic_index_in_dim_0(%iterArg_29, %47) : (tensor<24x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %52 = func.call @dynamic_index_in_dim_0(%iterArg_30, %47) : (tensor<24x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %53 = func.call @dynamic_index_in_dim_0(%iterArg_31, %47) : (tensor<24x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %54 = func.call @dynamic_index_in_dim_0(%iterArg_32, %47) : (tensor<24x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %55 = func.call @dynamic_index_in_dim_0(%iterArg_33, %47) : (tensor<24x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %56 = func.call @dynamic_index_in_dim_0(%iterArg_34, %47) : (tensor<24x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %57 = func.call @dynamic_index_in_dim_0(%iterArg_35, %47) : (tensor<24x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %58 = func.call @dynamic_index_in_dim_0(%iterArg_36, %47) : (tensor<24x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %59 = func.call @dynamic_index_in_dim_0(%iterArg_37, %47) : (tensor<24x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %60 = func.call @dynamic_index_in_dim_0(%iterArg_38, %47) : (tensor<24x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %61:5 = func.call @closed_call_1(%iterArg_39, %iterArg_41, %iterArg_42, %iterArg_43, %iterArg_44, %iterArg_45, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60) : (tensor<16x64xf32>, tensor<8x64xf32>, tensor<16x64xf32>, tensor<64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x8xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8x64xf32>, tensor<16x64xf32>, tensor<64xf32>, tensor<8x16xf32>, tensor<8x16xf32>)
      %c_48 = stablehlo.constant dense<1> : tensor<i32>
      %62 = stablehlo.add %iterArg_40, %c_48 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_27, %iterArg_28, %iterArg_29, %iterArg_30, %iterArg_31, %iterArg_32, %iterArg_33, %iterArg_34, %iterArg_35, %iterArg_36, %iterArg_37, %iterArg_38, %iterArg_39, %62, %61#0, %61#1, %61#2, %61#3, %61#4 : tensor<24x8x8xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<24x8x16xf32>, tensor<16x64xf32>, tensor<i32>, tensor<8x64xf32>, tensor<16x64xf32>, tensor<64xf32>, tensor<8x16xf32>, tensor<8x16xf32>
    }
    %cst_23 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %35 = stablehlo.multiply %34, %33#15 : tensor<8x64xf32>
    %36 = stablehlo.subtract %arg0, %35 : tensor<8x64xf32>
    %cst_24 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %38 = stablehlo.multiply %37, %33#16 : tensor<16x64xf32>
    %39 = stablehlo.subtract %arg1, %38 : tensor<16x64xf32>
    %cst_25 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %41 = stablehlo.multiply %40, %33#17 : tensor<64xf32>
    %42 = stablehlo.subtract %arg2, %41 : tensor<64xf32>
    %cst_26 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
    %44 = stablehlo.multiply %43, %27 : tensor<16x4xf32>
    %45 = stablehlo.subtract %arg3, %44 : tensor<16x4xf32>
    return %36, %39, %42, %45, %22 : tensor<8x64xf32>, tensor<16x64xf32>, tensor<64xf32>, tensor<16x4xf32>, tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<24x8x8xf32>, %arg1: tensor<i32>) -> tensor<8x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 8] : (tensor<24x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x64xf32>, %arg1: tensor<16x64xf32>, %arg2: tensor<1x64xf32>, %arg3: tensor<8x16xf32>, %arg4: tensor<8x16xf32>, %arg5: tensor<8x8xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
    %0 = stablehlo.dot_general %arg5, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %1 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
    %2 = stablehlo.add %0, %1 : tensor<8x64xf32>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<8x64xf32>
    %4 = stablehlo.add %2, %3 : tensor<8x64xf32>
    %5 = stablehlo.slice %4 [0:8, 0:16] : (tensor<8x64xf32>) -> tensor<8x16xf32>
    %6 = stablehlo.slice %4 [0:8, 16:32] : (tensor<8x64xf32>) -> tensor<8x16xf32>
    %7 = stablehlo.slice %4 [0:8, 32:48] : (tensor<8x64xf32>) -> tensor<8x16xf32>
    %8 = stablehlo.slice %4 [0:8, 48:64] : (tensor<8x64xf32>) -> tensor<8x16xf32>
    %9 = stablehlo.negate %6 : tensor<8x16xf32>
    %10 = stablehlo.exponential %9 : tensor<8x16xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %12 = stablehlo.add %11, %10 : tensor<8x16xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %14 = stablehlo.divide %13, %12 : tensor<8x16xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %16 = stablehlo.subtract %15, %14 : tensor<8x16xf32>
    %17 = stablehlo.multiply %14, %16 : tensor<8x16xf32>
    %18 = stablehlo.multiply %14, %arg4 : tensor<8x16xf32>
    %19 = stablehlo.negate %5 : tensor<8x16xf32>
    %20 = stablehlo.exponential %19 : tensor<8x16xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %22 = stablehlo.add %21, %20 : tensor<8x16xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %24 = stablehlo.divide %23, %22 : tensor<8x16xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %26 = stablehlo.subtract %25, %24 : tensor<8x16xf32>
    %27 = stablehlo.multiply %24, %26 : tensor<8x16xf32>
    %28 = stablehlo.tanh %7 : tensor<8x16xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %30 = stablehlo.subtract %29, %28 : tensor<8x16xf32>
    %31 = stablehlo.multiply %24, %28 : tensor<8x16xf32>
    %32 = stablehlo.add %18, %31 : tensor<8x16xf32>
    %33 = stablehlo.negate %8 : tensor<8x16xf32>
    %34 = stablehlo.exponential %33 : tensor<8x16xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %36 = stablehlo.add %35, %34 : tensor<8x16xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %38 = stablehlo.divide %37, %36 : tensor<8x16xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %40 = stablehlo.subtract %39, %38 : tensor<8x16xf32>
    %41 = stablehlo.multiply %38, %40 : tensor<8x16xf32>
    %42 = stablehlo.tanh %32 : tensor<8x16xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %44 = stablehlo.subtract %43, %42 : tensor<8x16xf32>
    %45 = stablehlo.multiply %38, %42 : tensor<8x16xf32>
    return %45, %32, %arg3, %17, %arg4, %14, %27, %28, %30, %24, %41, %42, %44, %38 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<24x8x16xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<i32>) -> tensor<24x8x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<24x8x16xf32>, tensor<1x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<24x8x16xf32>
    return %1 : tensor<24x8x16xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<24x8x16xf32>, %arg1: tensor<i32>) -> tensor<8x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 16] : (tensor<24x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
  func.func private @closed_call_1(%arg0: tensor<16x64xf32>, %arg1: tensor<8x64xf32>, %arg2: tensor<16x64xf32>, %arg3: tensor<64xf32>, %arg4: tensor<8x16xf32>, %arg5: tensor<8x16xf32>, %arg6: tensor<8x8xf32>, %arg7: tensor<8x16xf32>, %arg8: tensor<8x16xf32>, %arg9: tensor<8x16xf32>, %arg10: tensor<8x16xf32>, %arg11: tensor<8x16xf32>, %arg12: tensor<8x16xf32>, %arg13: tensor<8x16xf32>, %arg14: tensor<8x16xf32>, %arg15: tensor<8x16xf32>, %arg16: tensor<8x16xf32>, %arg17: tensor<8x16xf32>, %arg18: tensor<8x16xf32>) -> (tensor<8x64xf32>, tensor<16x64xf32>, tensor<64xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
    %0 = stablehlo.multiply %arg18, %arg4 : tensor<8x16xf32>
    %1 = stablehlo.multiply %arg4, %arg16 : tensor<8x16xf32>
    %2 = stablehlo.multiply %0, %arg17 : tensor<8x16xf32>
    %3 = stablehlo.add %arg5, %2 : tensor<8x16xf32>
    %4 = stablehlo.multiply %2, %arg16 : tensor<8x16xf32>
    %5 = stablehlo.add %3, %4 : tensor<8x16xf32>
    %6 = stablehlo.multiply %1, %arg15 : tensor<8x16xf32>
    %7 = stablehlo.multiply %arg14, %5 : tensor<8x16xf32>
    %8 = stablehlo.multiply %5, %arg12 : tensor<8x16xf32>
    %9 = stablehlo.multiply %7, %arg13 : tensor<8x16xf32>
    %10 = stablehlo.multiply %9, %arg12 : tensor<8x16xf32>
    %11 = stablehlo.add %9, %10 : tensor<8x16xf32>
    %12 = stablehlo.multiply %8, %arg11 : tensor<8x16xf32>
    %13 = stablehlo.multiply %arg10, %5 : tensor<8x16xf32>
    %14 = stablehlo.multiply %5, %arg9 : tensor<8x16xf32>
    %15 = stablehlo.multiply %14, %arg8 : tensor<8x16xf32>
    %16 = stablehlo.concatenate %12, %15, %11, %6, dim = 1 : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x64xf32>, tensor<f32>) -> tensor<64xf32>
    %18 = stablehlo.reshape %17 : (tensor<64xf32>) -> tensor<1x64xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %20 = stablehlo.add %arg3, %19 : tensor<64xf32>
    %21 = stablehlo.dot_general %16, %arg7, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x64xf32>, tensor<8x16xf32>) -> tensor<64x16xf32>
    %22 = stablehlo.transpose %21, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %23 = stablehlo.add %arg2, %22 : tensor<16x64xf32>
    %24 = stablehlo.dot_general %16, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
    %25 = stablehlo.dot_general %16, %arg6, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x64xf32>, tensor<8x8xf32>) -> tensor<64x8xf32>
    %26 = stablehlo.transpose %25, dims = [1, 0] : (tensor<64x8xf32>) -> tensor<8x64xf32>
    %27 = stablehlo.add %arg1, %26 : tensor<8x64xf32>
    return %27, %23, %20, %24, %13 : tensor<8x64xf32>, tensor<16x64xf32>, tensor<64xf32>, tensor<8x16xf32>, tensor<8x16xf32>
  }
}
