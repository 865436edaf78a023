module @jit_fn attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<32x64xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<64xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg2: tensor<64x8xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg3: tensor<16x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {}]>}, %arg4: tensor<16x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {}]>}) -> (tensor<32x64xf32> {jax.result_info = "result[0]"}, tensor<64xf32> {jax.result_info = "result[1]"}, tensor<64x8xf32> {jax.result_info = "result[2]"}, tensor<f32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:10 = stablehlo.while(%iterArg = %arg3, %iterArg_10 = %arg4, %iterArg_11 = %arg0, %iterArg_12 = %arg1, %iterArg_13 = %arg2, %iterArg_14 = %c, %iterArg_15 = %cst_2, %iterArg_16 = %0, %iterArg_17 = %1, %iterArg_18 = %2) : tensor<16x8x32xf32>, tensor<16x8x8xf32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64x8xf32>, tensor<i32>, tensor<f32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64x8xf32>
    cond {
      %c_19 = stablehlo.constant dense<16> : tensor<i32>
      %20 = stablehlo.compare LT, %iterArg_14, %c_19, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %20 : tensor<i1>
    } do {
      %20 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_14) : (tensor<16x8x32xf32>, tensor<i32>) -> tensor<8x32xf32>
      %21 = func.call @dynamic_index_in_dim_0(%iterArg_10, %iterArg_14) : (tensor<16x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %22:4 = func.call @closed_call(%iterArg_11, %iterArg_12, %iterArg_13, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %20, %21) : (tensor<32x64xf32>, tensor<64xf32>, tensor<64x8xf32>, tensor<f32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64x8xf32>, tensor<8x32xf32>, tensor<8x8xf32>) -> (tensor<f32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64x8xf32>)
      %c_19 = stablehlo.constant dense<1> : tensor<i32>
      %23 = stablehlo.add %iterArg_14, %c_19 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_10, %iterArg_11, %iterArg_12, %iterArg_13, %23, %22#0, %22#1, %22#2, %22#3 : tensor<16x8x32xf32>, tensor<16x8x8xf32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64x8xf32>, tensor<i32>, tensor<f32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64x8xf32>
    }
    %cst_3 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %5 = stablehlo.multiply %4, %3#7 : tensor<32x64xf32>
    %cst_4 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %7 = stablehlo.divide %5, %6 : tensor<32x64xf32>
    %8 = stablehlo.subtract %arg0, %7 : tensor<32x64xf32>
    %cst_5 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %10 = stablehlo.multiply %9, %3#8 : tensor<64xf32>
    %cst_6 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %12 = stablehlo.divide %10, %11 : tensor<64xf32>
    %13 = stablehlo.subtract %arg1, %12 : tensor<64xf32>
    %cst_7 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<64x8xf32>
    %15 = stablehlo.multiply %14, %3#9 : tensor<64x8xf32>
    %cst_8 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<64x8xf32>
    %17 = stablehlo.divide %15, %16 : tensor<64x8xf32>
    %18 = stablehlo.subtract %arg2, %17 : tensor<64x8xf32>
    %cst_9 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %19 = stablehlo.divide %3#6, %cst_9 : tensor<f32>
    return %8, %13, %18, %19 : tensor<32x64xf32>, tensor<64xf32>, tensor<64x8xf32>, tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<16x8x32xf32>, %arg1: tensor<i32>) -> tensor<8x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 32] : (tensor<16x8x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x32xf32>) -> tensor<8x32xf32>
    return %1 : tensor<8x32xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<16x8x8xf32>, %arg1: tensor<i32>) -> tensor<8x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 8] : (tensor<16x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<32x64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<64x8xf32>, %arg3: tensor<f32>, %arg4: tensor<32x64xf32>, %arg5: tensor<64xf32>, %arg6: tensor<64x8xf32>, %arg7: tensor<8x32xf32>, %arg8: tensor<8x8xf32>) -> (tensor<f32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64x8xf32>) {
    %0 = stablehlo.dot_general %arg7, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<8x64xf32>
    %3 = stablehlo.add %0, %2 : tensor<8x64xf32>
    %4 = stablehlo.tanh %3 : tensor<8x64xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %6 = stablehlo.subtract %5, %4 : tensor<8x64xf32>
    %7 = stablehlo.dot_general %4, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    %8 = stablehlo.subtract %7, %arg8 : tensor<8x8xf32>
    %9 = stablehlo.multiply %8, %8 : tensor<8x8xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %11 = stablehlo.multiply %10, %8 : tensor<8x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %13 = stablehlo.divide %12, %cst_2 : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %14 = stablehlo.divide %cst_3, %cst_4 : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %16 = stablehlo.multiply %15, %11 : tensor<8x8xf32>
    %17 = stablehlo.dot_general %16, %4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %18 = stablehlo.transpose %17, dims = [1, 0] : (tensor<8x64xf32>) -> tensor<64x8xf32>
    %19 = stablehlo.dot_general %16, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<64x8xf32>) -> tensor<8x64xf32>
    %20 = stablehlo.multiply %19, %6 : tensor<8x64xf32>
    %21 = stablehlo.multiply %20, %4 : tensor<8x64xf32>
    %22 = stablehlo.add %20, %21 : tensor<8x64xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<8x64xf32>, tensor<f32>) -> tensor<64xf32>
    %24 = stablehlo.reshape %23 : (tensor<64xf32>) -> tensor<1x64xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %26 = stablehlo.dot_general %22, %arg7, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x64xf32>, tensor<8x32xf32>) -> tensor<64x32xf32>
    %27 = stablehlo.transpose %26, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %28 = stablehlo.convert %arg3 : tensor<f32>
    %29 = stablehlo.add %28, %13 : tensor<f32>
    %30 = stablehlo.add %arg4, %27 : tensor<32x64xf32>
    %31 = stablehlo.add %arg5, %25 : tensor<64xf32>
    %32 = stablehlo.add %arg6, %18 : tensor<64x8xf32>
    return %29, %30, %31, %32 : tensor<f32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64x8xf32>
  }
}
