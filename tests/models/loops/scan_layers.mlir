module @jit_fn attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<6x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, %arg1: tensor<6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg2: tensor<6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg3: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg4: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<6x16x16xf32> {jax.result_info = "result[0]"}, tensor<6x16xf32> {jax.result_info = "result[1]"}, tensor<6x16xf32> {jax.result_info = "result[2]"}, tensor<f32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:6 = stablehlo.while(%iterArg = %arg0, %iterArg_12 = %arg1, %iterArg_13 = %arg2, %iterArg_14 = %c, %iterArg_15 = %arg3, %iterArg_16 = %0) : tensor<6x16x16xf32>, tensor<6x16xf32>, tensor<6x16xf32>, tensor<i32>, tensor<8x16xf32>, tensor<6x8x16xf32>
    cond {
      %c_17 = stablehlo.constant dense<6> : tensor<i32>
      %24 = stablehlo.compare LT, %iterArg_14, %c_17, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %24 : tensor<i1>
    } do {
      %24 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_14) : (tensor<6x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %25 = func.call @dynamic_index_in_dim_0(%iterArg_12, %iterArg_14) : (tensor<6x16xf32>, tensor<i32>) -> tensor<16xf32>
      %26 = func.call @dynamic_index_in_dim_0(%iterArg_13, %iterArg_14) : (tensor<6x16xf32>, tensor<i32>) -> tensor<16xf32>
      %27:2 = func.call @closed_call(%iterArg_15, %24, %25, %26) : (tensor<8x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
      %28 = func.call @dynamic_update_index_in_dim(%iterArg_16, %27#1, %iterArg_14) : (tensor<6x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<6x8x16xf32>
      %c_17 = stablehlo.constant dense<1> : tensor<i32>
      %29 = stablehlo.add %iterArg_14, %c_17 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_12, %iterArg_13, %29, %27#0, %28 : tensor<6x16x16xf32>, tensor<6x16xf32>, tensor<6x16xf32>, tensor<i32>, tensor<8x16xf32>, tensor<6x8x16xf32>
    }
    %2 = stablehlo.subtract %1#4, %arg4 : tensor<8x16xf32>
    %3 = stablehlo.multiply %2, %2 : tensor<8x16xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %5 = stablehlo.multiply %4, %2 : tensor<8x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%3 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %7 = stablehlo.divide %6, %cst_2 : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %8 = stablehlo.divide %cst_3, %cst_4 : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %10 = stablehlo.multiply %9, %5 : tensor<8x16xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6x16x16xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %14:9 = stablehlo.while(%iterArg = %1#5, %iterArg_12 = %arg0, %iterArg_13 = %arg1, %iterArg_14 = %arg2, %iterArg_15 = %c_8, %iterArg_16 = %10, %iterArg_17 = %11, %iterArg_18 = %12, %iterArg_19 = %13) : tensor<6x8x16xf32>, tensor<6x16x16xf32>, tensor<6x16xf32>, tensor<6x16xf32>, tensor<i32>, tensor<8x16xf32>, tensor<6x16x16xf32>, tensor<6x16xf32>, tensor<6x16xf32>
    cond {
      %c_20 = stablehlo.constant dense<6> : tensor<i32>
      %24 = stablehlo.compare LT, %iterArg_15, %c_20, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %24 : tensor<i1>
    } do {
      %c_20 = stablehlo.constant dense<6> : tensor<i32>
      %24 = stablehlo.subtract %c_20, %iterArg_15 : tensor<i32>
      %c_21 = stablehlo.constant dense<1> : tensor<i32>
      %25 = stablehlo.subtract %24, %c_21 : tensor<i32>
      %26 = func.call @dynamic_index_in_dim_1(%iterArg, %25) : (tensor<6x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %27 = func.call @dynamic_index_in_dim(%iterArg_12, %25) : (tensor<6x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %28 = func.call @dynamic_index_in_dim_0(%iterArg_13, %25) : (tensor<6x16xf32>, tensor<i32>) -> tensor<16xf32>
      %29 = func.call @dynamic_index_in_dim_0(%iterArg_14, %25) : (tensor<6x16xf32>, tensor<i32>) -> tensor<16xf32>
      %30:4 = func.call @closed_call_2(%iterArg_16, %26, %27, %28, %29) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>)
      %31 = func.call @dynamic_update_index_in_dim_3(%iterArg_17, %30#1, %25) : (tensor<6x16x16xf32>, tensor<16x16xf32>, tensor<i32>) -> tensor<6x16x16xf32>
      %32 = func.call @dynamic_update_index_in_dim_4(%iterArg_18, %30#2, %25) : (tensor<6x16xf32>, tensor<16xf32>, tensor<i32>) -> tensor<6x16xf32>
      %33 = func.call @dynamic_update_index_in_dim_4(%iterArg_19, %30#3, %25) : (tensor<6x16xf32>, tensor<16xf32>, tensor<i32>) -> tensor<6x16xf32>
      %c_22 = stablehlo.constant dense<1> : tensor<i32>
      %34 = stablehlo.add %iterArg_15, %c_22 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_12, %iterArg_13, %iterArg_14, %34, %30#0, %31, %32, %33 : tensor<6x8x16xf32>, tensor<6x16x16xf32>, tensor<6x16xf32>, tensor<6x16xf32>, tensor<i32>, tensor<8x16xf32>, tensor<6x16x16xf32>, tensor<6x16xf32>, tensor<6x16xf32>
    }
    %cst_9 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<6x16x16xf32>
    %16 = stablehlo.multiply %15, %14#6 : tensor<6x16x16xf32>
    %17 = stablehlo.subtract %arg0, %16 : tensor<6x16x16xf32>
    %cst_10 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
    %19 = stablehlo.multiply %18, %14#7 : tensor<6x16xf32>
    %20 = stablehlo.subtract %arg1, %19 : tensor<6x16xf32>
    %cst_11 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
    %22 = stablehlo.multiply %21, %14#8 : tensor<6x16xf32>
    %23 = stablehlo.subtract %arg2, %22 : tensor<6x16xf32>
    return %17, %20, %23, %7 : tensor<6x16x16xf32>, tensor<6x16xf32>, tensor<6x16xf32>, tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<6x16x16xf32>, %arg1: tensor<i32>) -> tensor<16x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16, 16] : (tensor<6x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<6x16xf32>, %arg1: tensor<i32>) -> tensor<16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 16] : (tensor<6x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16xf32>) -> tensor<16xf32>
    return %1 : tensor<16xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<16xf32>, %arg3: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<8x16xf32>
    %3 = stablehlo.add %0, %2 : tensor<8x16xf32>
    %4 = stablehlo.multiply %3, %3 : tensor<8x16xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<8x16xf32>
    %cst = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %7 = stablehlo.multiply %6, %5 : tensor<8x16xf32>
    %8 = stablehlo.add %3, %7 : tensor<8x16xf32>
    %cst_0 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %10 = stablehlo.multiply %9, %8 : tensor<8x16xf32>
    %11 = stablehlo.tanh %10 : tensor<8x16xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %13 = stablehlo.add %12, %11 : tensor<8x16xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %15 = stablehlo.multiply %14, %13 : tensor<8x16xf32>
    %16 = stablehlo.multiply %3, %15 : tensor<8x16xf32>
    %17 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<8x16xf32>
    %19 = stablehlo.multiply %16, %18 : tensor<8x16xf32>
    %20 = stablehlo.add %arg0, %19 : tensor<8x16xf32>
    return %20, %arg0 : tensor<8x16xf32>, tensor<8x16xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<6x8x16xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<i32>) -> tensor<6x8x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<6x8x16xf32>, tensor<1x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x8x16xf32>
    return %1 : tensor<6x8x16xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<6x8x16xf32>, %arg1: tensor<i32>) -> tensor<8x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 16] : (tensor<6x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
  func.func private @closed_call_2(%arg0: tensor<8x16xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<16x16xf32>, %arg3: tensor<16xf32>, %arg4: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>) {
    %0:5 = stablehlo.optimization_barrier %arg1, %arg2, %arg3, %arg4, %arg0 : tensor<8x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<8x16xf32>
    %1 = stablehlo.dot_general %0#0, %0#1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %2 = stablehlo.broadcast_in_dim %0#2, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<8x16xf32>
    %4 = stablehlo.add %1, %3 : tensor<8x16xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<8x16xf32>
    %6 = stablehlo.multiply %5, %4 : tensor<8x16xf32>
    %7 = stablehlo.multiply %4, %4 : tensor<8x16xf32>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<8x16xf32>
    %cst_0 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %11 = stablehlo.multiply %10, %6 : tensor<8x16xf32>
    %12 = stablehlo.add %4, %11 : tensor<8x16xf32>
    %cst_1 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %14 = stablehlo.multiply %13, %12 : tensor<8x16xf32>
    %15 = stablehlo.tanh %14 : tensor<8x16xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %17 = stablehlo.subtract %16, %15 : tensor<8x16xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %19 = stablehlo.add %18, %15 : tensor<8x16xf32>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %21 = stablehlo.multiply %20, %19 : tensor<8x16xf32>
    %22 = stablehlo.multiply %4, %21 : tensor<8x16xf32>
    %23 = stablehlo.broadcast_in_dim %0#3, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %24 = stablehlo.multiply %22, %0#4 : tensor<8x16xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
    %26 = stablehlo.reshape %25 : (tensor<16xf32>) -> tensor<1x16xf32>
    %27 = stablehlo.broadcast_in_dim %23, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<8x16xf32>
    %28 = stablehlo.multiply %0#4, %27 : tensor<8x16xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%26 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %30 = stablehlo.multiply %4, %28 : tensor<8x16xf32>
    %31 = stablehlo.multiply %28, %21 : tensor<8x16xf32>
    %cst_7 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %33 = stablehlo.multiply %32, %30 : tensor<8x16xf32>
    %34 = stablehlo.multiply %33, %17 : tensor<8x16xf32>
    %35 = stablehlo.multiply %34, %15 : tensor<8x16xf32>
    %36 = stablehlo.add %34, %35 : tensor<8x16xf32>
    %cst_8 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %38 = stablehlo.multiply %37, %36 : tensor<8x16xf32>
    %39 = stablehlo.add %31, %38 : tensor<8x16xf32>
    %cst_9 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %41 = stablehlo.multiply %40, %38 : tensor<8x16xf32>
    %42 = stablehlo.multiply %41, %9 : tensor<8x16xf32>
    %43 = stablehlo.add %39, %42 : tensor<8x16xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_10) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
    %45 = stablehlo.reshape %44 : (tensor<16xf32>) -> tensor<1x16xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_11) applies stablehlo.add across dimensions = [0] : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %47 = stablehlo.dot_general %43, %0#0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
    %48 = stablehlo.transpose %47, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %49 = stablehlo.dot_general %43, %0#1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %50 = stablehlo.add %0#4, %49 : tensor<8x16xf32>
    return %50, %48, %46, %29 : tensor<8x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
  }
  func.func private @dynamic_update_index_in_dim_3(%arg0: tensor<6x16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<i32>) -> tensor<6x16x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<16x16xf32>) -> tensor<1x16x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<6x16x16xf32>, tensor<1x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x16x16xf32>
    return %1 : tensor<6x16x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_4(%arg0: tensor<6x16xf32>, %arg1: tensor<16xf32>, %arg2: tensor<i32>) -> tensor<6x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<6x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<6x16xf32>
    return %1 : tensor<6x16xf32>
  }
}
