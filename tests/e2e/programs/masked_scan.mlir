module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x32xf32>, %arg1: tensor<6x32x32xf32>, %arg2: tensor<16x8x32xf32>, %arg3: tensor<16x8xf32>) -> (tensor<6x32xf32> {jax.result_info = "result[0]['s']"}, tensor<6x32x32xf32> {jax.result_info = "result[0]['w']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x1x1x32xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6x16x8x32xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x16x8x32xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6x16x8x32xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x16x8x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5:9 = stablehlo.while(%iterArg = %arg0, %iterArg_15 = %arg1, %iterArg_16 = %c, %iterArg_17 = %arg2, %iterArg_18 = %0, %iterArg_19 = %1, %iterArg_20 = %2, %iterArg_21 = %3, %iterArg_22 = %4) : tensor<6x32xf32>, tensor<6x32x32xf32>, tensor<i32>, tensor<16x8x32xf32>, tensor<6x1x1x32xf32>, tensor<6x16x8x32xf32>, tensor<6x16x8x32xf32>, tensor<6x16x8x32xf32>, tensor<6x16x8x32xf32>
    cond {
      %c_23 = stablehlo.constant dense<6> : tensor<i32>
      %32 = stablehlo.compare LT, %iterArg_16, %c_23, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %32 : tensor<i1>
    } do {
      %32 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_16) : (tensor<6x32xf32>, tensor<i32>) -> tensor<32xf32>
      %33 = func.call @dynamic_index_in_dim_0(%iterArg_15, %iterArg_16) : (tensor<6x32x32xf32>, tensor<i32>) -> tensor<32x32xf32>
      %34:6 = func.call @closed_call(%iterArg_17, %32, %33) : (tensor<16x8x32xf32>, tensor<32xf32>, tensor<32x32xf32>) -> (tensor<16x8x32xf32>, tensor<1x1x32xf32>, tensor<16x8x32xf32>, tensor<16x8x32xf32>, tensor<16x8x32xf32>, tensor<16x8x32xf32>)
      %35 = func.call @dynamic_update_index_in_dim(%iterArg_18, %34#1, %iterArg_16) : (tensor<6x1x1x32xf32>, tensor<1x1x32xf32>, tensor<i32>) -> tensor<6x1x1x32xf32>
      %36 = func.call @dynamic_update_index_in_dim_1(%iterArg_19, %34#2, %iterArg_16) : (tensor<6x16x8x32xf32>, tensor<16x8x32xf32>, tensor<i32>) -> tensor<6x16x8x32xf32>
      %37 = func.call @dynamic_update_index_in_dim_1(%iterArg_20, %34#3, %iterArg_16) : (tensor<6x16x8x32xf32>, tensor<16x8x32xf32>, tensor<i32>) -> tensor<6x16x8x32xf32>
      %38 = func.call @dynamic_update_index_in_dim_1(%iterArg_21, %34#4, %iterArg_16) : (tensor<6x16x8x32xf32>, tensor<16x8x32xf32>, tensor<i32>) -> tensor<6x16x8x32xf32>
      %39 = func.call @dynamic_update_index_in_dim_1(%iterArg_22, %34#5, %iterArg_16) : (tensor<6x16x8x32xf32>, tensor<16x8x32xf32>, tensor<i32>) -> tensor<6x16x8x32xf32>
      %c_23 = stablehlo.constant dense<1> : tensor<i32>
      %40 = stablehlo.add %iterArg_16, %c_23 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_15, %40, %34#0, %35, %36, %37, %38, %39 : tensor<6x32xf32>, tensor<6x32x32xf32>, tensor<i32>, tensor<16x8x32xf32>, tensor<6x1x1x32xf32>, tensor<6x16x8x32xf32>, tensor<6x16x8x32xf32>, tensor<6x16x8x32xf32>, tensor<6x16x8x32xf32>
    }
    %6 = stablehlo.multiply %5#3, %5#3 : tensor<16x8x32xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_4) applies stablehlo.add across dimensions = [2] : (tensor<16x8x32xf32>, tensor<f32>) -> tensor<16x8xf32>
    %cst_5 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %9 = stablehlo.divide %7, %8 : tensor<16x8xf32>
    %10 = stablehlo.multiply %9, %arg3 : tensor<16x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_6) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%arg3 init: %cst_7) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x8xf32>, tensor<f32>) -> tensor<f32>
    %13 = stablehlo.divide %11, %12 : tensor<f32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.divide %cst_8, %12 : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %16 = stablehlo.multiply %15, %arg3 : tensor<16x8xf32>
    %cst_9 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %18 = stablehlo.divide %16, %17 : tensor<16x8xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1] : (tensor<16x8xf32>) -> tensor<16x8x32xf32>
    %20 = stablehlo.multiply %5#3, %19 : tensor<16x8x32xf32>
    %21 = stablehlo.multiply %19, %5#3 : tensor<16x8x32xf32>
    %22 = stablehlo.add %20, %21 : tensor<16x8x32xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<6x32xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<6x32x32xf32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %25:10 = stablehlo.while(%iterArg = %5#4, %iterArg_15 = %5#5, %iterArg_16 = %arg1, %iterArg_17 = %5#6, %iterArg_18 = %5#7, %iterArg_19 = %5#8, %iterArg_20 = %c_12, %iterArg_21 = %22, %iterArg_22 = %23, %iterArg_23 = %24) : tensor<6x1x1x32xf32>, tensor<6x16x8x32xf32>, tensor<6x32x32xf32>, tensor<6x16x8x32xf32>, tensor<6x16x8x32xf32>, tensor<6x16x8x32xf32>, tensor<i32>, tensor<16x8x32xf32>, tensor<6x32xf32>, tensor<6x32x32xf32>
    cond {
      %c_24 = stablehlo.constant dense<6> : tensor<i32>
      %32 = stablehlo.compare LT, %iterArg_20, %c_24, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %32 : tensor<i1>
    } do {
      %c_24 = stablehlo.constant dense<6> : tensor<i32>
      %32 = stablehlo.subtract %c_24, %iterArg_20 : tensor<i32>
      %c_25 = stablehlo.constant dense<1> : tensor<i32>
      %33 = stablehlo.subtract %32, %c_25 : tensor<i32>
      %34 = func.call @dynamic_index_in_dim_2(%iterArg, %33) : (tensor<6x1x1x32xf32>, tensor<i32>) -> tensor<1x1x32xf32>
      %35 = func.call @dynamic_index_in_dim_3(%iterArg_15, %33) : (tensor<6x16x8x32xf32>, tensor<i32>) -> tensor<16x8x32xf32>
      %36 = func.call @dynamic_index_in_dim_0(%iterArg_16, %33) : (tensor<6x32x32xf32>, tensor<i32>) -> tensor<32x32xf32>
      %37 = func.call @dynamic_index_in_dim_3(%iterArg_17, %33) : (tensor<6x16x8x32xf32>, tensor<i32>) -> tensor<16x8x32xf32>
      %38 = func.call @dynamic_index_in_dim_3(%iterArg_18, %33) : (tensor<6x16x8x32xf32>, tensor<i32>) -> tensor<16x8x32xf32>
      %39 = func.call @dynamic_index_in_dim_3(%iterArg_19, %33) : (tensor<6x16x8x32xf32>, tensor<i32>) -> tensor<16x8x32xf32>
      %40:3 = func.call @closed_call_4(%iterArg_21, %34, %35, %36, %37, %38, %39) : (tensor<16x8x32xf32>, tensor<1x1x32xf32>, tensor<16x8x32xf32>, tensor<32x32xf32>, tensor<16x8x32xf32>, tensor<16x8x32xf32>, tensor<16x8x32xf32>) -> (tensor<16x8x32xf32>, tensor<32xf32>, tensor<32x32xf32>)
      %41 = func.call @dynamic_update_index_in_dim_5(%iterArg_22, %40#1, %33) : (tensor<6x32xf32>, tensor<32xf32>, tensor<i32>) -> tensor<6x32xf32>
      %42 = func.call @dynamic_update_index_in_dim_6(%iterArg_23, %40#2, %33) : (tensor<6x32x32xf32>, tensor<32x32xf32>, tensor<i32>) -> tensor<6x32x32xf32>
      %c_26 = stablehlo.constant dense<1> : tensor<i32>
      %43 = stablehlo.add %iterArg_20, %c_26 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %iterArg_19, %43, %40#0, %41, %42 : tensor<6x1x1x32xf32>, tensor<6x16x8x32xf32>, tensor<6x32x32xf32>, tensor<6x16x8x32xf32>, tensor<6x16x8x32xf32>, tensor<6x16x8x32xf32>, tensor<i32>, tensor<16x8x32xf32>, tensor<6x32xf32>, tensor<6x32x32xf32>
    }
    %cst_13 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<6x32xf32>
    %27 = stablehlo.multiply %26, %25#8 : tensor<6x32xf32>
    %28 = stablehlo.subtract %arg0, %27 : tensor<6x32xf32>
    %cst_14 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<6x32x32xf32>
    %30 = stablehlo.multiply %29, %25#9 : tensor<6x32x32xf32>
    %31 = stablehlo.subtract %arg1, %30 : tensor<6x32x32xf32>
    return %28, %31, %13 : tensor<6x32xf32>, tensor<6x32x32xf32>, tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<6x32xf32>, %arg1: tensor<i32>) -> tensor<32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 32] : (tensor<6x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32xf32>) -> tensor<32xf32>
    return %1 : tensor<32xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<6x32x32xf32>, %arg1: tensor<i32>) -> tensor<32x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 32, 32] : (tensor<6x32x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32x32xf32>) -> tensor<32x32xf32>
    return %1 : tensor<32x32xf32>
  }
  func.func private @closed_call(%arg0: tensor<16x8x32xf32>, %arg1: tensor<32xf32>, %arg2: tensor<32x32xf32>) -> (tensor<16x8x32xf32>, tensor<1x1x32xf32>, tensor<16x8x32xf32>, tensor<16x8x32xf32>, tensor<16x8x32xf32>, tensor<16x8x32xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<16x8x32xf32>
    %2 = stablehlo.multiply %arg0, %1 : tensor<16x8x32xf32>
    %3 = stablehlo.dot_general %2, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8x32xf32>, tensor<32x32xf32>) -> tensor<16x8x32xf32>
    %4 = stablehlo.tanh %3 : tensor<16x8x32xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x8x32xf32>
    %6 = stablehlo.subtract %5, %4 : tensor<16x8x32xf32>
    %7 = stablehlo.add %arg0, %4 : tensor<16x8x32xf32>
    return %7, %0, %arg0, %2, %4, %6 : tensor<16x8x32xf32>, tensor<1x1x32xf32>, tensor<16x8x32xf32>, tensor<16x8x32xf32>, tensor<16x8x32xf32>, tensor<16x8x32xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<6x1x1x32xf32>, %arg1: tensor<1x1x32xf32>, %arg2: tensor<i32>) -> tensor<6x1x1x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<1x1x32xf32>) -> tensor<1x1x1x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<6x1x1x32xf32>, tensor<1x1x1x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x1x1x32xf32>
    return %1 : tensor<6x1x1x32xf32>
  }
  func.func private @dynamic_update_index_in_dim_1(%arg0: tensor<6x16x8x32xf32>, %arg1: tensor<16x8x32xf32>, %arg2: tensor<i32>) -> tensor<6x16x8x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<16x8x32xf32>) -> tensor<1x16x8x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<6x16x8x32xf32>, tensor<1x16x8x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x16x8x32xf32>
    return %1 : tensor<6x16x8x32xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<6x1x1x32xf32>, %arg1: tensor<i32>) -> tensor<1x1x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 1, 1, 32] : (tensor<6x1x1x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x1x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x1x32xf32>) -> tensor<1x1x32xf32>
    return %1 : tensor<1x1x32xf32>
  }
  func.func private @dynamic_index_in_dim_3(%arg0: tensor<6x16x8x32xf32>, %arg1: tensor<i32>) -> tensor<16x8x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 16, 8, 32] : (tensor<6x16x8x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x8x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x8x32xf32>) -> tensor<16x8x32xf32>
    return %1 : tensor<16x8x32xf32>
  }
  func.func private @closed_call_4(%arg0: tensor<16x8x32xf32>, %arg1: tensor<1x1x32xf32>, %arg2: tensor<16x8x32xf32>, %arg3: tensor<32x32xf32>, %arg4: tensor<16x8x32xf32>, %arg5: tensor<16x8x32xf32>, %arg6: tensor<16x8x32xf32>) -> (tensor<16x8x32xf32>, tensor<32xf32>, tensor<32x32xf32>) {
    %0 = stablehlo.multiply %arg0, %arg6 : tensor<16x8x32xf32>
    %1 = stablehlo.multiply %0, %arg5 : tensor<16x8x32xf32>
    %2 = stablehlo.add %0, %1 : tensor<16x8x32xf32>
    %3 = stablehlo.dot_general %2, %arg4, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<16x8x32xf32>, tensor<16x8x32xf32>) -> tensor<32x32xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %5 = stablehlo.dot_general %2, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x8x32xf32>, tensor<32x32xf32>) -> tensor<16x8x32xf32>
    %6 = stablehlo.multiply %arg2, %5 : tensor<16x8x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x8x32xf32>, tensor<f32>) -> tensor<32xf32>
    %8 = stablehlo.reshape %7 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %9 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<16x8x32xf32>
    %10 = stablehlo.multiply %5, %9 : tensor<16x8x32xf32>
    %11 = stablehlo.add %arg0, %10 : tensor<16x8x32xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%8 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    return %11, %12, %4 : tensor<16x8x32xf32>, tensor<32xf32>, tensor<32x32xf32>
  }
  func.func private @dynamic_update_index_in_dim_5(%arg0: tensor<6x32xf32>, %arg1: tensor<32xf32>, %arg2: tensor<i32>) -> tensor<6x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<32xf32>) -> tensor<1x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<6x32xf32>, tensor<1x32xf32>, tensor<i32>, tensor<i32>) -> tensor<6x32xf32>
    return %1 : tensor<6x32xf32>
  }
  func.func private @dynamic_update_index_in_dim_6(%arg0: tensor<6x32x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<i32>) -> tensor<6x32x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<32x32xf32>) -> tensor<1x32x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<6x32x32xf32>, tensor<1x32x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x32x32xf32>
    return %1 : tensor<6x32x32xf32>
  }
}
