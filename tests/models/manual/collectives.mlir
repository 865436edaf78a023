module @jit_collectives attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x6xf32>, %arg1: tensor<6x4xf32>) -> (tensor<2xf32> {jax.result_info = "result[0]"}, tensor<8x8xf32> {jax.result_info = "result[1]"}, tensor<4x4xf32> {jax.result_info = "result[2]"}, tensor<8x3xf32> {jax.result_info = "result[3]"}) {
    %0:4 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}, {"y"}]>, <@mesh, [{}, {}]>, <@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%arg2: tensor<4x3xf32>, %arg3: tensor<3x4xf32>) {
      %c = stablehlo.constant dense<2> : tensor<ui32>
      %c_0 = stablehlo.constant dense<2> : tensor<ui32>
      %1 = stablehlo.partition_id : tensor<ui32>
      %2 = stablehlo.divide %1, %c : tensor<ui32>
      %3 = stablehlo.remainder %2, %c_0 : tensor<ui32>
      %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i32>
      %5 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
      %6 = "stablehlo.all_reduce"(%5) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %37 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %37 : tensor<f32>
      }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %7 = "stablehlo.all_reduce"(%6) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %37 = stablehlo.maximum %arg4, %arg5 : tensor<f32>
        stablehlo.return %37 : tensor<f32>
      }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %8 = "stablehlo.all_gather"(%6) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4x4xf32>) -> tensor<8x4xf32>
      %9 = "stablehlo.reduce_scatter"(%8) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %37 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %37 : tensor<f32>
      }) : (tensor<8x4xf32>) -> tensor<4x4xf32>
      %10 = "stablehlo.collective_permute"(%9) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [2, 0], [1, 3], [3, 1]]> : tensor<4x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %11 = "stablehlo.all_to_all"(%10) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x4xf32>) -> tensor<2x8xf32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %12 = stablehlo.reduce(%11 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<f32>
      %13 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
      %14 = stablehlo.reshape %13 : (tensor<1x1xf32>) -> tensor<1xf32>
      %15 = stablehlo.convert %4 : (tensor<i32>) -> tensor<f32>
      %16 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %17 = stablehlo.add %14, %16 : tensor<1xf32>
      %c_1 = stablehlo.constant dense<1> : tensor<ui32>
      %c_2 = stablehlo.constant dense<2> : tensor<ui32>
      %18 = stablehlo.partition_id : tensor<ui32>
      %19 = stablehlo.divide %18, %c_1 : tensor<ui32>
      %20 = stablehlo.remainder %19, %c_2 : tensor<ui32>
      %21 = stablehlo.convert %20 : (tensor<ui32>) -> tensor<i32>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %22 = stablehlo.multiply %21, %c_3 : tensor<i32>
      %c_4 = stablehlo.constant dense<0> : tensor<i32>
      %23 = stablehlo.add %c_4, %22 : tensor<i32>
      %c_5 = stablehlo.constant dense<2> : tensor<ui32>
      %c_6 = stablehlo.constant dense<2> : tensor<ui32>
      %24 = stablehlo.partition_id : tensor<ui32>
      %25 = stablehlo.divide %24, %c_5 : tensor<ui32>
      %26 = stablehlo.remainder %25, %c_6 : tensor<ui32>
      %27 = stablehlo.convert %26 : (tensor<ui32>) -> tensor<i32>
      %c_7 = stablehlo.constant dense<2> : tensor<i32>
      %28 = stablehlo.multiply %27, %c_7 : tensor<i32>
      %29 = stablehlo.add %23, %28 : tensor<i32>
      %30 = stablehlo.convert %29 : (tensor<i32>) -> tensor<f32>
      %31 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
      %32 = stablehlo.add %7, %31 : tensor<4x4xf32>
      %33 = "stablehlo.all_reduce"(%6) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %37 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %37 : tensor<f32>
      }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %34 = "stablehlo.all_reduce"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %37 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %37 : tensor<f32>
      }) : (tensor<4x3xf32>) -> tensor<4x3xf32>
      %cst_8 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %35 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
      %36 = stablehlo.divide %34, %35 : tensor<4x3xf32>
      sdy.return %17, %32, %33, %36 : tensor<1xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x3xf32>
    } : (tensor<8x6xf32>, tensor<6x4xf32>) -> (tensor<2xf32>, tensor<8x8xf32>, tensor<4x4xf32>, tensor<8x3xf32>)
    return %0#0, %0#1, %0#2, %0#3 : tensor<2xf32>, tensor<8x8xf32>, tensor<4x4xf32>, tensor<8x3xf32>
  }
}
