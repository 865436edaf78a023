// Loops and branches, as JAX 0.10.2 prints it: printed back unchanged, also by way of the generic form.
// RUN: sgd-opt %s > %t
// RUN: grep -v "^//" %s | diff - %t
// RUN: sgd-opt %s -mlir-print-op-generic | sgd-opt | diff - %t
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<5x8xf32>, %arg2: tensor<i32>) -> (tensor<8xf32> {jax.result_info = "result[0][0]"}, tensor<5xf32> {jax.result_info = "result[0][1]"}, tensor<8xf32> {jax.result_info = "result[1][0]"}, tensor<8xf32> {jax.result_info = "result[1][1]"}, tensor<8xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:4 = stablehlo.while(%iterArg = %arg1, %iterArg_3 = %c, %iterArg_4 = %arg0, %iterArg_5 = %0) : tensor<5x8xf32>, tensor<i32>, tensor<8xf32>, tensor<5xf32>
    cond {
      %c_6 = stablehlo.constant dense<5> : tensor<i32>
      %7 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_3) : (tensor<5x8xf32>, tensor<i32>) -> tensor<8xf32>
      %8:2 = func.call @closed_call(%iterArg_4, %7) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>)
      %9 = func.call @dynamic_update_index_in_dim(%iterArg_5, %8#1, %iterArg_3) : (tensor<5xf32>, tensor<f32>, tensor<i32>) -> tensor<5xf32>
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %10 = stablehlo.add %iterArg_3, %c_6 : tensor<i32>
      stablehlo.return %iterArg, %10, %8#0, %9 : tensor<5x8xf32>, tensor<i32>, tensor<8xf32>, tensor<5xf32>
    }
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.compare GT, %arg2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.convert %2 : (tensor<i1>) -> tensor<i32>
    %4:2 = "stablehlo.case"(%3) ({
      %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %8 = stablehlo.subtract %arg0, %7 : tensor<8xf32>
      %9 = stablehlo.multiply %arg0, %arg0 : tensor<8xf32>
      stablehlo.return %8, %9 : tensor<8xf32>, tensor<8xf32>
    }, {
      %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %8 = stablehlo.add %arg0, %7 : tensor<8xf32>
      stablehlo.return %8, %arg0 : tensor<8xf32>, tensor<8xf32>
    }) : (tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>)
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<2> : tensor<i32>
    %5 = stablehlo.clamp %c_1, %arg2, %c_2 : tensor<i32>
    %6 = "stablehlo.case"(%5) ({
      %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %8 = stablehlo.add %arg0, %7 : tensor<8xf32>
      stablehlo.return %8 : tensor<8xf32>
    }, {
      %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %8 = stablehlo.subtract %arg0, %7 : tensor<8xf32>
      stablehlo.return %8 : tensor<8xf32>
    }, {
      %7 = stablehlo.multiply %arg0, %arg0 : tensor<8xf32>
      stablehlo.return %7 : tensor<8xf32>
    }) : (tensor<i32>) -> tensor<8xf32>
    return %1#2, %1#3, %4#0, %4#1, %6 : tensor<8xf32>, tensor<5xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<5x8xf32>, %arg1: tensor<i32>) -> tensor<8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 8] : (tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8xf32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
  func.func private @closed_call(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<8xf32>
    %2 = stablehlo.add %1, %arg1 : tensor<8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    return %2, %3 : tensor<8xf32>, tensor<f32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<5xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<5xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
    return %1 : tensor<5xf32>
  }
}

