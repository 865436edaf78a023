module @jit_pipeline attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<4x6x6xf32>, %arg1: tensor<6x3x6xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x6x6xf32> {jax.result_info = "result[1][0]"}, tensor<6x3x6xf32> {jax.result_info = "result[1][1]"}) {
    %0:39 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}, {}]>, <@mesh, [{}, {}, {}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{}, {}, {}]>] manual_axes={"x"} (%arg2: tensor<1x6x6xf32>, %arg3: tensor<6x3x6xf32>) {
      %10 = stablehlo.reshape %arg2 : (tensor<1x6x6xf32>) -> tensor<6x6xf32>
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_3 = stablehlo.constant dense<4> : tensor<ui32>
      %11 = stablehlo.partition_id : tensor<ui32>
      %12 = stablehlo.divide %11, %c : tensor<ui32>
      %13 = stablehlo.remainder %12, %c_3 : tensor<ui32>
      %14 = stablehlo.convert %13 : (tensor<ui32>) -> tensor<i32>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
      %16 = stablehlo.slice %arg3 [0:1, 0:3, 0:6] : (tensor<6x3x6xf32>) -> tensor<1x3x6xf32>
      %17 = stablehlo.reshape %16 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
      %c_5 = stablehlo.constant dense<0> : tensor<i32>
      %18 = stablehlo.compare EQ, %14, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %19 = func.call @_where(%18, %17, %15) : (tensor<i1>, tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
      %20 = stablehlo.dot_general %19, %10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %21 = stablehlo.tanh %20 : tensor<3x6xf32>
      %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %22 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
      %23 = stablehlo.subtract %22, %21 : tensor<3x6xf32>
      %24 = "stablehlo.collective_permute"(%21) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %25 = stablehlo.slice %arg3 [1:2, 0:3, 0:6] : (tensor<6x3x6xf32>) -> tensor<1x3x6xf32>
      %26 = stablehlo.reshape %25 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %27 = stablehlo.compare EQ, %14, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %28 = func.call @_where_0(%27, %26, %24) : (tensor<i1>, tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
      %29 = stablehlo.dot_general %28, %10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %30 = stablehlo.tanh %29 : tensor<3x6xf32>
      %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %31 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
      %32 = stablehlo.subtract %31, %30 : tensor<3x6xf32>
      %33 = "stablehlo.collective_permute"(%30) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %34 = stablehlo.slice %arg3 [2:3, 0:3, 0:6] : (tensor<6x3x6xf32>) -> tensor<1x3x6xf32>
      %35 = stablehlo.reshape %34 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %36 = stablehlo.compare EQ, %14, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %37 = func.call @_where_0(%36, %35, %33) : (tensor<i1>, tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
      %38 = stablehlo.dot_general %37, %10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %39 = stablehlo.tanh %38 : tensor<3x6xf32>
      %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %40 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
      %41 = stablehlo.subtract %40, %39 : tensor<3x6xf32>
      %42 = "stablehlo.collective_permute"(%39) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %43 = stablehlo.slice %arg3 [3:4, 0:3, 0:6] : (tensor<6x3x6xf32>) -> tensor<1x3x6xf32>
      %44 = stablehlo.reshape %43 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
      %c_11 = stablehlo.constant dense<0> : tensor<i32>
      %45 = stablehlo.compare EQ, %14, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %46 = func.call @_where_0(%45, %44, %42) : (tensor<i1>, tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
      %47 = stablehlo.dot_general %46, %10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %48 = stablehlo.tanh %47 : tensor<3x6xf32>
      %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %49 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
      %50 = stablehlo.subtract %49, %48 : tensor<3x6xf32>
      %51 = "stablehlo.collective_permute"(%48) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %52 = stablehlo.slice %arg3 [4:5, 0:3, 0:6] : (tensor<6x3x6xf32>) -> tensor<1x3x6xf32>
      %53 = stablehlo.reshape %52 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
      %c_13 = stablehlo.constant dense<0> : tensor<i32>
      %54 = stablehlo.compare EQ, %14, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %55 = func.call @_where_0(%54, %53, %51) : (tensor<i1>, tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
      %56 = stablehlo.dot_general %55, %10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %57 = stablehlo.tanh %56 : tensor<3x6xf32>
      %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %58 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
      %59 = stablehlo.subtract %58, %57 : tensor<3x6xf32>
      %60 = "stablehlo.collective_permute"(%57) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %61 = stablehlo.slice %arg3 [5:6, 0:3, 0:6] : (tensor<6x3x6xf32>) -> tensor<1x3x6xf32>
      %62 = stablehlo.reshape %61 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
      %c_15 = stablehlo.constant dense<0> : tensor<i32>
      %63 = stablehlo.compare EQ, %14, %c_15, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %64 = func.call @_where_0(%63, %62, %60) : (tensor<i1>, tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
      %65 = stablehlo.dot_general %64, %10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %66 = stablehlo.tanh %65 : tensor<3x6xf32>
      %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %67 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
      %68 = stablehlo.subtract %67, %66 : tensor<3x6xf32>
      %69 = "stablehlo.collective_permute"(%66) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %70 = stablehlo.slice %arg3 [5:6, 0:3, 0:6] : (tensor<6x3x6xf32>) -> tensor<1x3x6xf32>
      %71 = stablehlo.reshape %70 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
      %c_17 = stablehlo.constant dense<0> : tensor<i32>
      %72 = stablehlo.compare EQ, %14, %c_17, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %73 = func.call @_where_0(%72, %71, %69) : (tensor<i1>, tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
      %74 = stablehlo.dot_general %73, %10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %75 = stablehlo.tanh %74 : tensor<3x6xf32>
      %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %76 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
      %77 = stablehlo.subtract %76, %75 : tensor<3x6xf32>
      %78 = "stablehlo.collective_permute"(%75) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %79 = stablehlo.slice %arg3 [5:6, 0:3, 0:6] : (tensor<6x3x6xf32>) -> tensor<1x3x6xf32>
      %80 = stablehlo.reshape %79 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
      %c_19 = stablehlo.constant dense<0> : tensor<i32>
      %81 = stablehlo.compare EQ, %14, %c_19, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %82 = func.call @_where_0(%81, %80, %78) : (tensor<i1>, tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
      %83 = stablehlo.dot_general %82, %10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %84 = stablehlo.tanh %83 : tensor<3x6xf32>
      %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %85 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
      %86 = stablehlo.subtract %85, %84 : tensor<3x6xf32>
      %87 = "stablehlo.collective_permute"(%84) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %88 = stablehlo.slice %arg3 [5:6, 0:3, 0:6] : (tensor<6x3x6xf32>) -> tensor<1x3x6xf32>
      %89 = stablehlo.reshape %88 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
      %c_21 = stablehlo.constant dense<0> : tensor<i32>
      %90 = stablehlo.compare EQ, %14, %c_21, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %91 = func.call @_where_0(%90, %89, %87) : (tensor<i1>, tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
      %92 = stablehlo.dot_general %91, %10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %93 = stablehlo.tanh %92 : tensor<3x6xf32>
      %cst_22 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %94 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
      %95 = stablehlo.subtract %94, %93 : tensor<3x6xf32>
      %96 = stablehlo.broadcast_in_dim %48, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
      %97 = stablehlo.broadcast_in_dim %57, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
      %98 = stablehlo.broadcast_in_dim %66, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
      %99 = stablehlo.broadcast_in_dim %75, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
      %100 = stablehlo.broadcast_in_dim %84, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
      %101 = stablehlo.broadcast_in_dim %93, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
      %102 = stablehlo.concatenate %96, %97, %98, %99, %100, %101, dim = 0 : (tensor<1x3x6xf32>, tensor<1x3x6xf32>, tensor<1x3x6xf32>, tensor<1x3x6xf32>, tensor<1x3x6xf32>, tensor<1x3x6xf32>) -> tensor<6x3x6xf32>
      %c_23 = stablehlo.constant dense<3> : tensor<i32>
      %103 = stablehlo.compare EQ, %14, %c_23, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_24 = stablehlo.constant dense<0> : tensor<i32>
      %104 = func.call @_where_1(%103, %102, %c_24) : (tensor<i1>, tensor<6x3x6xf32>, tensor<i32>) -> tensor<6x3x6xf32>
      %105 = "stablehlo.all_reduce"(%104) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %116 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %116 : tensor<f32>
      }) : (tensor<6x3x6xf32>) -> tensor<6x3x6xf32>
      %106 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<i1>) -> tensor<1xi1>
      %107 = stablehlo.broadcast_in_dim %27, dims = [] : (tensor<i1>) -> tensor<1xi1>
      %108 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<i1>) -> tensor<1xi1>
      %109 = stablehlo.broadcast_in_dim %45, dims = [] : (tensor<i1>) -> tensor<1xi1>
      %110 = stablehlo.broadcast_in_dim %54, dims = [] : (tensor<i1>) -> tensor<1xi1>
      %111 = stablehlo.broadcast_in_dim %63, dims = [] : (tensor<i1>) -> tensor<1xi1>
      %112 = stablehlo.broadcast_in_dim %72, dims = [] : (tensor<i1>) -> tensor<1xi1>
      %113 = stablehlo.broadcast_in_dim %81, dims = [] : (tensor<i1>) -> tensor<1xi1>
      %114 = stablehlo.broadcast_in_dim %90, dims = [] : (tensor<i1>) -> tensor<1xi1>
      %115 = stablehlo.broadcast_in_dim %103, dims = [] : (tensor<i1>) -> tensor<1xi1>
      sdy.return %106, %10, %19, %21, %23, %107, %28, %30, %32, %108, %37, %39, %41, %109, %46, %48, %50, %110, %55, %57, %59, %111, %64, %66, %68, %112, %73, %75, %77, %113, %82, %84, %86, %114, %91, %93, %95, %115, %105 : tensor<1xi1>, tensor<6x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<1xi1>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<1xi1>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<1xi1>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<1xi1>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<1xi1>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<1xi1>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<1xi1>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<1xi1>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<1xi1>, tensor<6x3x6xf32>
    } : (tensor<4x6x6xf32>, tensor<6x3x6xf32>) -> (tensor<4xi1>, tensor<24x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<6x3x6xf32>)
    %1 = stablehlo.multiply %0#38, %0#38 : tensor<6x3x6xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x3x6xf32>
    %3 = stablehlo.multiply %2, %0#38 : tensor<6x3x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<6x3x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x3x6xf32>
    %6 = stablehlo.multiply %5, %3 : tensor<6x3x6xf32>
    %cst_2 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6x3x6xf32>
    %8 = stablehlo.divide %6, %7 : tensor<6x3x6xf32>
    %9:2 = sdy.manual_computation(%8, %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9, %0#10, %0#11, %0#12, %0#13, %0#14, %0#15, %0#16, %0#17, %0#18, %0#19, %0#20, %0#21, %0#22, %0#23, %0#24, %0#25, %0#26, %0#27, %0#28, %0#29, %0#30, %0#31, %0#32, %0#33, %0#34, %0#35, %0#36, %0#37) in_shardings=[<@mesh, [{}, {}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}, {}, {}]>, <@mesh, [{}, {}, {}]>] manual_axes={"x"} (%arg2: tensor<6x3x6xf32>, %arg3: tensor<1xi1>, %arg4: tensor<6x6xf32>, %arg5: tensor<3x6xf32>, %arg6: tensor<3x6xf32>, %arg7: tensor<3x6xf32>, %arg8: tensor<1xi1>, %arg9: tensor<3x6xf32>, %arg10: tensor<3x6xf32>, %arg11: tensor<3x6xf32>, %arg12: tensor<1xi1>, %arg13: tensor<3x6xf32>, %arg14: tensor<3x6xf32>, %arg15: tensor<3x6xf32>, %arg16: tensor<1xi1>, %arg17: tensor<3x6xf32>, %arg18: tensor<3x6xf32>, %arg19: tensor<3x6xf32>, %arg20: tensor<1xi1>, %arg21: tensor<3x6xf32>, %arg22: tensor<3x6xf32>, %arg23: tensor<3x6xf32>, %arg24: tensor<1xi1>, %arg25: tensor<3x6xf32>, %arg26: tensor<3x6xf32>, %arg27: tensor<3x6xf32>, %arg28: tensor<1xi1>, %arg29: tensor<3x6xf32>, %arg30: tensor<3x6xf32>, %arg31: tensor<3x6xf32>, %arg32: tensor<1xi1>, %arg33: tensor<3x6xf32>, %arg34: tensor<3x6xf32>, %arg35: tensor<3x6xf32>, %arg36: tensor<1xi1>, %arg37: tensor<3x6xf32>, %arg38: tensor<3x6xf32>, %arg39: tensor<3x6xf32>, %arg40: tensor<1xi1>) {
      %10 = stablehlo.reshape %arg3 : (tensor<1xi1>) -> tensor<i1>
      %11 = stablehlo.reshape %arg8 : (tensor<1xi1>) -> tensor<i1>
      %12 = stablehlo.reshape %arg12 : (tensor<1xi1>) -> tensor<i1>
      %13 = stablehlo.reshape %arg16 : (tensor<1xi1>) -> tensor<i1>
      %14 = stablehlo.reshape %arg20 : (tensor<1xi1>) -> tensor<i1>
      %15 = stablehlo.reshape %arg24 : (tensor<1xi1>) -> tensor<i1>
      %16 = stablehlo.reshape %arg28 : (tensor<1xi1>) -> tensor<i1>
      %17 = stablehlo.reshape %arg32 : (tensor<1xi1>) -> tensor<i1>
      %18 = stablehlo.reshape %arg36 : (tensor<1xi1>) -> tensor<i1>
      %19 = stablehlo.reshape %arg40 : (tensor<1xi1>) -> tensor<i1>
      %20 = "stablehlo.all_reduce"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg41: tensor<f32>, %arg42: tensor<f32>):
        %146 = stablehlo.add %arg41, %arg42 : tensor<f32>
        stablehlo.return %146 : tensor<f32>
      }) : (tensor<6x3x6xf32>) -> tensor<6x3x6xf32>
      %21 = func.call @_where_2(%19, %20) : (tensor<i1>, tensor<6x3x6xf32>) -> tensor<6x3x6xf32>
      %22 = stablehlo.slice %21 [0:1, 0:3, 0:6] : (tensor<6x3x6xf32>) -> tensor<1x3x6xf32>
      %23 = stablehlo.reshape %22 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
      %24 = stablehlo.slice %21 [1:2, 0:3, 0:6] : (tensor<6x3x6xf32>) -> tensor<1x3x6xf32>
      %25 = stablehlo.reshape %24 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
      %26 = stablehlo.slice %21 [2:3, 0:3, 0:6] : (tensor<6x3x6xf32>) -> tensor<1x3x6xf32>
      %27 = stablehlo.reshape %26 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
      %28 = stablehlo.slice %21 [3:4, 0:3, 0:6] : (tensor<6x3x6xf32>) -> tensor<1x3x6xf32>
      %29 = stablehlo.reshape %28 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
      %30 = stablehlo.slice %21 [4:5, 0:3, 0:6] : (tensor<6x3x6xf32>) -> tensor<1x3x6xf32>
      %31 = stablehlo.reshape %30 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
      %32 = stablehlo.slice %21 [5:6, 0:3, 0:6] : (tensor<6x3x6xf32>) -> tensor<1x3x6xf32>
      %33 = stablehlo.reshape %32 : (tensor<1x3x6xf32>) -> tensor<3x6xf32>
      %34 = stablehlo.multiply %33, %arg39 : tensor<3x6xf32>
      %35 = stablehlo.multiply %34, %arg38 : tensor<3x6xf32>
      %36 = stablehlo.add %34, %35 : tensor<3x6xf32>
      %37 = stablehlo.dot_general %36, %arg37, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<6x6xf32>
      %38 = stablehlo.transpose %37, dims = [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
      %39 = stablehlo.dot_general %36, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %40:2 = func.call @_where_3(%18, %39) : (tensor<i1>, tensor<3x6xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>)
      %41 = stablehlo.broadcast_in_dim %40#0, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %42 = stablehlo.pad %41, %cst_3, low = [5, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x3x6xf32>, tensor<f32>) -> tensor<6x3x6xf32>
      %43 = "stablehlo.collective_permute"(%40#1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %44 = stablehlo.add %31, %43 : tensor<3x6xf32>
      %45 = stablehlo.multiply %44, %arg35 : tensor<3x6xf32>
      %46 = stablehlo.multiply %45, %arg34 : tensor<3x6xf32>
      %47 = stablehlo.add %45, %46 : tensor<3x6xf32>
      %48 = stablehlo.dot_general %47, %arg33, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<6x6xf32>
      %49 = stablehlo.transpose %48, dims = [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
      %50 = stablehlo.add %38, %49 : tensor<6x6xf32>
      %51 = stablehlo.dot_general %47, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %52:2 = func.call @_where_3(%17, %51) : (tensor<i1>, tensor<3x6xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>)
      %53 = stablehlo.broadcast_in_dim %52#0, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %54 = stablehlo.pad %53, %cst_4, low = [5, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x3x6xf32>, tensor<f32>) -> tensor<6x3x6xf32>
      %55 = stablehlo.add %42, %54 : tensor<6x3x6xf32>
      %56 = "stablehlo.collective_permute"(%52#1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %57 = stablehlo.add %29, %56 : tensor<3x6xf32>
      %58 = stablehlo.multiply %57, %arg31 : tensor<3x6xf32>
      %59 = stablehlo.multiply %58, %arg30 : tensor<3x6xf32>
      %60 = stablehlo.add %58, %59 : tensor<3x6xf32>
      %61 = stablehlo.dot_general %60, %arg29, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<6x6xf32>
      %62 = stablehlo.transpose %61, dims = [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
      %63 = stablehlo.add %50, %62 : tensor<6x6xf32>
      %64 = stablehlo.dot_general %60, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %65:2 = func.call @_where_3(%16, %64) : (tensor<i1>, tensor<3x6xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>)
      %66 = stablehlo.broadcast_in_dim %65#0, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %67 = stablehlo.pad %66, %cst_5, low = [5, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x3x6xf32>, tensor<f32>) -> tensor<6x3x6xf32>
      %68 = stablehlo.add %55, %67 : tensor<6x3x6xf32>
      %69 = "stablehlo.collective_permute"(%65#1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %70 = stablehlo.add %27, %69 : tensor<3x6xf32>
      %71 = stablehlo.multiply %70, %arg27 : tensor<3x6xf32>
      %72 = stablehlo.multiply %71, %arg26 : tensor<3x6xf32>
      %73 = stablehlo.add %71, %72 : tensor<3x6xf32>
      %74 = stablehlo.dot_general %73, %arg25, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<6x6xf32>
      %75 = stablehlo.transpose %74, dims = [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
      %76 = stablehlo.add %63, %75 : tensor<6x6xf32>
      %77 = stablehlo.dot_general %73, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %78:2 = func.call @_where_3(%15, %77) : (tensor<i1>, tensor<3x6xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>)
      %79 = stablehlo.broadcast_in_dim %78#0, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
      %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %80 = stablehlo.pad %79, %cst_6, low = [5, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x3x6xf32>, tensor<f32>) -> tensor<6x3x6xf32>
      %81 = stablehlo.add %68, %80 : tensor<6x3x6xf32>
      %82 = "stablehlo.collective_permute"(%78#1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %83 = stablehlo.add %25, %82 : tensor<3x6xf32>
      %84 = stablehlo.multiply %83, %arg23 : tensor<3x6xf32>
      %85 = stablehlo.multiply %84, %arg22 : tensor<3x6xf32>
      %86 = stablehlo.add %84, %85 : tensor<3x6xf32>
      %87 = stablehlo.dot_general %86, %arg21, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<6x6xf32>
      %88 = stablehlo.transpose %87, dims = [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
      %89 = stablehlo.add %76, %88 : tensor<6x6xf32>
      %90 = stablehlo.dot_general %86, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %91:2 = func.call @_where_3(%14, %90) : (tensor<i1>, tensor<3x6xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>)
      %92 = stablehlo.broadcast_in_dim %91#0, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %93 = stablehlo.pad %92, %cst_7, low = [4, 0, 0], high = [1, 0, 0], interior = [0, 0, 0] : (tensor<1x3x6xf32>, tensor<f32>) -> tensor<6x3x6xf32>
      %94 = stablehlo.add %81, %93 : tensor<6x3x6xf32>
      %95 = "stablehlo.collective_permute"(%91#1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %96 = stablehlo.add %23, %95 : tensor<3x6xf32>
      %97 = stablehlo.multiply %96, %arg19 : tensor<3x6xf32>
      %98 = stablehlo.multiply %97, %arg18 : tensor<3x6xf32>
      %99 = stablehlo.add %97, %98 : tensor<3x6xf32>
      %100 = stablehlo.dot_general %99, %arg17, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<6x6xf32>
      %101 = stablehlo.transpose %100, dims = [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
      %102 = stablehlo.add %89, %101 : tensor<6x6xf32>
      %103 = stablehlo.dot_general %99, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %104:2 = func.call @_where_3(%13, %103) : (tensor<i1>, tensor<3x6xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>)
      %105 = stablehlo.broadcast_in_dim %104#0, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
      %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %106 = stablehlo.pad %105, %cst_8, low = [3, 0, 0], high = [2, 0, 0], interior = [0, 0, 0] : (tensor<1x3x6xf32>, tensor<f32>) -> tensor<6x3x6xf32>
      %107 = stablehlo.add %94, %106 : tensor<6x3x6xf32>
      %108 = "stablehlo.collective_permute"(%104#1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %109 = stablehlo.multiply %108, %arg15 : tensor<3x6xf32>
      %110 = stablehlo.multiply %109, %arg14 : tensor<3x6xf32>
      %111 = stablehlo.add %109, %110 : tensor<3x6xf32>
      %112 = stablehlo.dot_general %111, %arg13, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<6x6xf32>
      %113 = stablehlo.transpose %112, dims = [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
      %114 = stablehlo.add %102, %113 : tensor<6x6xf32>
      %115 = stablehlo.dot_general %111, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %116:2 = func.call @_where_3(%12, %115) : (tensor<i1>, tensor<3x6xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>)
      %117 = stablehlo.broadcast_in_dim %116#0, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
      %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %118 = stablehlo.pad %117, %cst_9, low = [2, 0, 0], high = [3, 0, 0], interior = [0, 0, 0] : (tensor<1x3x6xf32>, tensor<f32>) -> tensor<6x3x6xf32>
      %119 = stablehlo.add %107, %118 : tensor<6x3x6xf32>
      %120 = "stablehlo.collective_permute"(%116#1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %121 = stablehlo.multiply %120, %arg11 : tensor<3x6xf32>
      %122 = stablehlo.multiply %121, %arg10 : tensor<3x6xf32>
      %123 = stablehlo.add %121, %122 : tensor<3x6xf32>
      %124 = stablehlo.dot_general %123, %arg9, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<6x6xf32>
      %125 = stablehlo.transpose %124, dims = [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
      %126 = stablehlo.add %114, %125 : tensor<6x6xf32>
      %127 = stablehlo.dot_general %123, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %128:2 = func.call @_where_3(%11, %127) : (tensor<i1>, tensor<3x6xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>)
      %129 = stablehlo.broadcast_in_dim %128#0, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
      %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %130 = stablehlo.pad %129, %cst_10, low = [1, 0, 0], high = [4, 0, 0], interior = [0, 0, 0] : (tensor<1x3x6xf32>, tensor<f32>) -> tensor<6x3x6xf32>
      %131 = stablehlo.add %119, %130 : tensor<6x3x6xf32>
      %132 = "stablehlo.collective_permute"(%128#1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>}> : (tensor<3x6xf32>) -> tensor<3x6xf32>
      %133 = stablehlo.multiply %132, %arg7 : tensor<3x6xf32>
      %134 = stablehlo.multiply %133, %arg6 : tensor<3x6xf32>
      %135 = stablehlo.add %133, %134 : tensor<3x6xf32>
      %136 = stablehlo.dot_general %135, %arg5, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<6x6xf32>
      %137 = stablehlo.transpose %136, dims = [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
      %138 = stablehlo.add %126, %137 : tensor<6x6xf32>
      %139 = stablehlo.dot_general %135, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x6xf32>, tensor<6x6xf32>) -> tensor<3x6xf32>
      %140 = func.call @_where_4(%10, %139) : (tensor<i1>, tensor<3x6xf32>) -> tensor<3x6xf32>
      %141 = stablehlo.broadcast_in_dim %140, dims = [1, 2] : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
      %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %142 = stablehlo.pad %141, %cst_11, low = [0, 0, 0], high = [5, 0, 0], interior = [0, 0, 0] : (tensor<1x3x6xf32>, tensor<f32>) -> tensor<6x3x6xf32>
      %143 = stablehlo.add %131, %142 : tensor<6x3x6xf32>
      %144 = stablehlo.broadcast_in_dim %138, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<1x6x6xf32>
      %145 = "stablehlo.all_reduce"(%143) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg41: tensor<f32>, %arg42: tensor<f32>):
        %146 = stablehlo.add %arg41, %arg42 : tensor<f32>
        stablehlo.return %146 : tensor<f32>
      }) : (tensor<6x3x6xf32>) -> tensor<6x3x6xf32>
      sdy.return %144, %145 : tensor<1x6x6xf32>, tensor<6x3x6xf32>
    } : (tensor<6x3x6xf32>, tensor<4xi1>, tensor<24x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>, tensor<4xi1>) -> (tensor<4x6x6xf32>, tensor<6x3x6xf32>)
    return %4, %9#0, %9#1 : tensor<f32>, tensor<4x6x6xf32>, tensor<6x3x6xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<3x6xf32>, %arg2: tensor<3x6xf32>) -> tensor<3x6xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<3x6xf32>
    return %0 : tensor<3x6xf32>
  }
  func.func private @_where_0(%arg0: tensor<i1>, %arg1: tensor<3x6xf32>, %arg2: tensor<3x6xf32>) -> tensor<3x6xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<3x6xf32>
    return %0 : tensor<3x6xf32>
  }
  func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<6x3x6xf32>, %arg2: tensor<i32>) -> tensor<6x3x6xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<6x3x6xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<6x3x6xf32>
    return %2 : tensor<6x3x6xf32>
  }
  func.func private @_where_2(%arg0: tensor<i1>, %arg1: tensor<6x3x6xf32>) -> tensor<6x3x6xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x3x6xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<6x3x6xf32>
    return %1 : tensor<6x3x6xf32>
  }
  func.func private @_where_3(%arg0: tensor<i1>, %arg1: tensor<3x6xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
    %1 = stablehlo.select %arg0, %0, %arg1 : tensor<i1>, tensor<3x6xf32>
    %2 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<3x6xf32>
    return %2, %1 : tensor<3x6xf32>, tensor<3x6xf32>
  }
  func.func private @_where_4(%arg0: tensor<i1>, %arg1: tensor<3x6xf32>) -> tensor<3x6xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<3x6xf32>
    return %1 : tensor<3x6xf32>
  }
}
