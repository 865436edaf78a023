module @jit__fun attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]> {stablehlo.mesh = {axes = [{name = "i", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>, tf.aliasing_output = 0 : i32} loc("flat_args[0]"), %arg1: tensor<2x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>, tf.aliasing_output = 1 : i32} loc("flat_args[1]"), %arg2: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>, tf.aliasing_output = 2 : i32} loc("flat_args[2]"), %arg3: tensor<2x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>, tf.aliasing_output = 3 : i32} loc("flat_args[3]"), %arg4: tensor<2x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>} loc("flat_args[4]"), %arg5: tensor<2x16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>} loc("flat_args[5]")) -> (tensor<2x4xf32> {jax.result_info = "result[0]['b']", sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>}, tensor<2x8x4xf32> {jax.result_info = "result[0]['w']", sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}, tensor<2x4xf32> {jax.result_info = "result[1]['b']", sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>}, tensor<2x8x4xf32> {jax.result_info = "result[1]['w']", sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}, tensor<2xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %0:5 = sdy.manual_computation(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5) in_shardings=[<@mesh, [{"i"}, {}]>, <@mesh, [{"i"}, {}, {}]>, <@mesh, [{"i"}, {}]>, <@mesh, [{"i"}, {}, {}]>, <@mesh, [{"i"}, {}, {}]>, <@mesh, [{"i"}, {}, {}]>] out_shardings=[<@mesh, [{"i"}, {}]>, <@mesh, [{"i"}, {}, {}]>, <@mesh, [{"i"}, {}]>, <@mesh, [{"i"}, {}, {}]>, <@mesh, [{"i"}]>] manual_axes={"i"} (%arg6: tensor<1x4xf32>, %arg7: tensor<1x8x4xf32>, %arg8: tensor<1x4xf32>, %arg9: tensor<1x8x4xf32>, %arg10: tensor<1x16x8xf32>, %arg11: tensor<1x16x4xf32>) {
      %1 = stablehlo.reshape %arg6 : (tensor<1x4xf32>) -> tensor<4xf32>
      %2 = stablehlo.reshape %arg7 : (tensor<1x8x4xf32>) -> tensor<8x4xf32>
      %3 = stablehlo.reshape %arg8 : (tensor<1x4xf32>) -> tensor<4xf32>
      %4 = stablehlo.reshape %arg9 : (tensor<1x8x4xf32>) -> tensor<8x4xf32>
      %5 = stablehlo.reshape %arg10 : (tensor<1x16x8xf32>) -> tensor<16x8xf32>
      %6 = stablehlo.reshape %arg11 : (tensor<1x16x4xf32>) -> tensor<16x4xf32>
      %7 = stablehlo.dot_general %5, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
      %8 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
      %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<16x4xf32>
      %10 = stablehlo.add %7, %9 : tensor<16x4xf32>
      %11 = stablehlo.subtract %10, %6 : tensor<16x4xf32>
      %12 = stablehlo.multiply %11, %11 : tensor<16x4xf32>
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %13 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
      %14 = stablehlo.multiply %13, %11 : tensor<16x4xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %15 = stablehlo.reduce(%12 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x4xf32>, tensor<f32>) -> tensor<f32>
      %cst_1 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
      %16 = stablehlo.divide %15, %cst_1 : tensor<f32>
      %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %cst_3 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
      %17 = stablehlo.divide %cst_2, %cst_3 : tensor<f32>
      %18 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
      %19 = stablehlo.multiply %18, %14 : tensor<16x4xf32>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %20 = stablehlo.reduce(%19 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<16x4xf32>, tensor<f32>) -> tensor<4xf32>
      %21 = stablehlo.reshape %20 : (tensor<4xf32>) -> tensor<1x4xf32>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %22 = stablehlo.reduce(%21 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<4xf32>
      %23 = stablehlo.dot_general %19, %5, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x4xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
      %24 = stablehlo.transpose %23, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
      %25 = "stablehlo.all_reduce"(%22) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
        %50 = stablehlo.add %arg12, %arg13 : tensor<f32>
        stablehlo.return %50 : tensor<f32>
      }) : (tensor<4xf32>) -> tensor<4xf32>
      %26 = "stablehlo.all_reduce"(%24) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
        %50 = stablehlo.add %arg12, %arg13 : tensor<f32>
        stablehlo.return %50 : tensor<f32>
      }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %27 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %28 = stablehlo.divide %25, %27 : tensor<4xf32>
      %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %29 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %30 = stablehlo.divide %26, %29 : tensor<8x4xf32>
      %cst_8 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %31 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %32 = stablehlo.multiply %31, %3 : tensor<4xf32>
      %33 = stablehlo.add %32, %28 : tensor<4xf32>
      %cst_9 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %34 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %35 = stablehlo.multiply %34, %4 : tensor<8x4xf32>
      %36 = stablehlo.add %35, %30 : tensor<8x4xf32>
      %cst_10 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %37 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %38 = stablehlo.multiply %37, %33 : tensor<4xf32>
      %39 = stablehlo.subtract %1, %38 : tensor<4xf32>
      %cst_11 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %40 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %41 = stablehlo.multiply %40, %36 : tensor<8x4xf32>
      %42 = stablehlo.subtract %2, %41 : tensor<8x4xf32>
      %43 = "stablehlo.all_reduce"(%16) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
        %50 = stablehlo.add %arg12, %arg13 : tensor<f32>
        stablehlo.return %50 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %cst_12 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %44 = stablehlo.divide %43, %cst_12 : tensor<f32>
      %45 = stablehlo.broadcast_in_dim %39, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
      %46 = stablehlo.broadcast_in_dim %42, dims = [1, 2] : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
      %47 = stablehlo.broadcast_in_dim %33, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
      %48 = stablehlo.broadcast_in_dim %36, dims = [1, 2] : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
      %49 = stablehlo.broadcast_in_dim %44, dims = [] : (tensor<f32>) -> tensor<1xf32>
      sdy.return %45, %46, %47, %48, %49 : tensor<1x4xf32>, tensor<1x8x4xf32>, tensor<1x4xf32>, tensor<1x8x4xf32>, tensor<1xf32>
    } : (tensor<2x4xf32>, tensor<2x8x4xf32>, tensor<2x4xf32>, tensor<2x8x4xf32>, tensor<2x16x8xf32>, tensor<2x16x4xf32>) -> (tensor<2x4xf32>, tensor<2x8x4xf32>, tensor<2x4xf32>, tensor<2x8x4xf32>, tensor<2xf32>)
    return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<2x4xf32>, tensor<2x8x4xf32>, tensor<2x4xf32>, tensor<2x8x4xf32>, tensor<2xf32>
  }
}
