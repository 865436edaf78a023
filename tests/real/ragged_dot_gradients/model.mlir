module @jit_f attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<12x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<3x6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %arg2: tensor<3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg3: tensor<2x12x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %arg4: tensor<2x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0][0]"}, tensor<12x6xf32> {jax.result_info = "result[0][1][0]"}, tensor<3x6x4xf32> {jax.result_info = "result[0][1][1]"}, tensor<f32> {jax.result_info = "result[1][0]"}, tensor<2x12x6xf32> {jax.result_info = "result[1][1][0]"}, tensor<3x6x4xf32> {jax.result_info = "result[1][1][1]"}) {
    %0 = "chlo.ragged_dot"(%arg0, %arg1, %arg2) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<12x6xf32>, tensor<3x6x4xf32>, tensor<3xi32>) -> tensor<12x4xf32>
    %1 = stablehlo.sine %0 : tensor<12x4xf32>
    %2 = stablehlo.cosine %0 : tensor<12x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<12x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<12x4xf32>
    %5 = stablehlo.multiply %4, %2 : tensor<12x4xf32>
    %6 = "chlo.ragged_dot"(%arg0, %5, %arg2) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>}> : (tensor<12x6xf32>, tensor<12x4xf32>, tensor<3xi32>) -> tensor<3x6x4xf32>
    %7 = "chlo.ragged_dot"(%5, %arg1, %arg2) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<12x4xf32>, tensor<3x6x4xf32>, tensor<3xi32>) -> tensor<12x6xf32>
    %8 = stablehlo.cosine %arg1 : tensor<3x6x4xf32>
    %9 = stablehlo.sine %arg1 : tensor<3x6x4xf32>
    %10 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<3x6x4xf32>) -> tensor<1x3x6x4xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [1, 2, 3] : (tensor<3x6x4xf32>) -> tensor<1x3x6x4xf32>
    %12 = stablehlo.concatenate %10, %11, dim = 0 : (tensor<1x3x6x4xf32>, tensor<1x3x6x4xf32>) -> tensor<2x3x6x4xf32>
    %13 = "chlo.ragged_dot"(%arg3, %12, %arg4) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x12x6xf32>, tensor<2x3x6x4xf32>, tensor<2x3xi32>) -> tensor<2x12x4xf32>
    %14 = stablehlo.sine %13 : tensor<2x12x4xf32>
    %15 = stablehlo.cosine %13 : tensor<2x12x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%14 init: %cst_1) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x12x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x12x4xf32>
    %18 = stablehlo.multiply %17, %15 : tensor<2x12x4xf32>
    %19 = "chlo.ragged_dot"(%arg3, %18, %arg4) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [1]>}> : (tensor<2x12x6xf32>, tensor<2x12x4xf32>, tensor<2x3xi32>) -> tensor<3x2x6x4xf32>
    %20 = stablehlo.transpose %19, dims = [1, 0, 2, 3] : (tensor<3x2x6x4xf32>) -> tensor<2x3x6x4xf32>
    %21 = "chlo.ragged_dot"(%18, %12, %arg4) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x12x4xf32>, tensor<2x3x6x4xf32>, tensor<2x3xi32>) -> tensor<2x12x6xf32>
    %22 = stablehlo.slice %20 [0:1, 0:3, 0:6, 0:4] : (tensor<2x3x6x4xf32>) -> tensor<1x3x6x4xf32>
    %23 = stablehlo.reshape %22 : (tensor<1x3x6x4xf32>) -> tensor<3x6x4xf32>
    %24 = stablehlo.slice %20 [1:2, 0:3, 0:6, 0:4] : (tensor<2x3x6x4xf32>) -> tensor<1x3x6x4xf32>
    %25 = stablehlo.reshape %24 : (tensor<1x3x6x4xf32>) -> tensor<3x6x4xf32>
    %26 = stablehlo.negate %25 : tensor<3x6x4xf32>
    %27 = stablehlo.multiply %26, %9 : tensor<3x6x4xf32>
    %28 = stablehlo.add %23, %27 : tensor<3x6x4xf32>
    return %3, %7, %6, %16, %21, %28 : tensor<f32>, tensor<12x6xf32>, tensor<3x6x4xf32>, tensor<f32>, tensor<2x12x6xf32>, tensor<3x6x4xf32>
  }
}
