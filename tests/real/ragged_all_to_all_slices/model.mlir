module @jit_g2 attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<12x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<18x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg2: tensor<18x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg3: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg4: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg5: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg6: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<18x3xf32> {jax.result_info = "result[0]"}, tensor<12x3xf32> {jax.result_info = "result[1]"}, tensor<18x3xf32> {jax.result_info = "result[2]"}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg3, %arg4, %arg5, %arg6) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg7: tensor<6x3xf32>, %arg8: tensor<9x3xf32>, %arg9: tensor<4xi32>, %arg10: tensor<4xi32>, %arg11: tensor<4xi32>, %arg12: tensor<4xi32>) {
      %2 = stablehlo.custom_call @ragged_all_to_all(%arg7, %arg8, %arg9, %arg10, %arg11, %arg12) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<6x3xf32>, tensor<9x3xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<9x3xf32>
      sdy.return %2 : tensor<9x3xf32>
    } : (tensor<12x3xf32>, tensor<18x3xf32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<18x3xf32>
    %1:2 = sdy.manual_computation(%arg2, %arg3, %arg4, %arg5, %arg6) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg7: tensor<9x3xf32>, %arg8: tensor<4xi32>, %arg9: tensor<4xi32>, %arg10: tensor<4xi32>, %arg11: tensor<4xi32>) {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x3xf32>
      %3 = "stablehlo.all_to_all"(%arg10) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xi32>) -> tensor<4xi32>
      %4 = "stablehlo.all_to_all"(%arg8) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xi32>) -> tensor<4xi32>
      %5 = stablehlo.custom_call @ragged_all_to_all(%arg7, %2, %3, %arg11, %4, %arg9) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<9x3xf32>, tensor<6x3xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<6x3xf32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9xi32>
      %c_0 = stablehlo.constant dense<0> : tensor<i32>
      %7 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4xi32>
      %8 = stablehlo.compare LT, %3, %7, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
      %c_1 = stablehlo.constant dense<9> : tensor<i32>
      %9 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4xi32>
      %10 = stablehlo.add %3, %9 : tensor<4xi32>
      %11 = stablehlo.select %8, %10, %3 : tensor<4xi1>, tensor<4xi32>
      %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %13 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4xi32>
      %14 = "stablehlo.scatter"(%6, %12, %13) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
      ^bb0(%arg12: tensor<i32>, %arg13: tensor<i32>):
        stablehlo.return %arg13 : tensor<i32>
      }) : (tensor<9xi32>, tensor<4x1xi32>, tensor<4xi32>) -> tensor<9xi32>
      %15 = stablehlo.add %3, %arg11 : tensor<4xi32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %16 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<4xi32>
      %17 = stablehlo.compare LT, %15, %16, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
      %c_4 = stablehlo.constant dense<9> : tensor<i32>
      %18 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4xi32>
      %19 = stablehlo.add %15, %18 : tensor<4xi32>
      %20 = stablehlo.select %17, %19, %15 : tensor<4xi1>, tensor<4xi32>
      %21 = stablehlo.broadcast_in_dim %20, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
      %c_5 = stablehlo.constant dense<-1> : tensor<i32>
      %22 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<4xi32>
      %23 = "stablehlo.scatter"(%14, %21, %22) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
      ^bb0(%arg12: tensor<i32>, %arg13: tensor<i32>):
        %31 = stablehlo.add %arg12, %arg13 : tensor<i32>
        stablehlo.return %31 : tensor<i32>
      }) : (tensor<9xi32>, tensor<4x1xi32>, tensor<4xi32>) -> tensor<9xi32>
      %24 = func.call @cumsum(%23) : (tensor<9xi32>) -> tensor<9xi32>
      %25 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<9xi32>) -> tensor<9x1xi32>
      %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<9x1xi32>) -> tensor<9x3xi32>
      %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %27 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<9x3xf32>
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %28 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<9x3xi32>
      %29 = stablehlo.compare LT, %26, %28, SIGNED : (tensor<9x3xi32>, tensor<9x3xi32>) -> tensor<9x3xi1>
      %30 = stablehlo.select %29, %arg7, %27 : tensor<9x3xi1>, tensor<9x3xf32>
      sdy.return %5, %30 : tensor<6x3xf32>, tensor<9x3xf32>
    } : (tensor<18x3xf32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> (tensor<12x3xf32>, tensor<18x3xf32>)
    return %0, %1#0, %1#1 : tensor<18x3xf32>, tensor<12x3xf32>, tensor<18x3xf32>
  }
  func.func private @cumsum(%arg0: tensor<9xi32>) -> tensor<9xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1>, padding = dense<[[8, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 9>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }) : (tensor<9xi32>, tensor<i32>) -> tensor<9xi32>
    return %1 : tensor<9xi32>
  }
}
