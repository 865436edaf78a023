// Data movement and dynamic slices, as JAX 0.10.2 prints it: printed back unchanged, also by way of the generic form.
// RUN: sgd-opt %s > %t
// RUN: grep -v "^//" %s | diff - %t
// RUN: sgd-opt %s -mlir-print-op-generic | sgd-opt | diff - %t
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<i32>) -> (tensor<2x16xf32> {jax.result_info = "result[0]"}, tensor<8x4xf32> {jax.result_info = "result[1]"}, tensor<2x4xf32> {jax.result_info = "result[2]"}, tensor<4x24xf32> {jax.result_info = "result[3]"}, tensor<4x8xf32> {jax.result_info = "result[4]"}, tensor<3x4x8xf32> {jax.result_info = "result[5]"}, tensor<7x21xf32> {jax.result_info = "result[6]"}, tensor<7xui32> {jax.result_info = "result[7]"}, tensor<2x3xf32> {jax.result_info = "result[8]"}, tensor<4x8xf32> {jax.result_info = "result[9]"}, tensor<f32> {jax.result_info = "result[10]"}, tensor<4x8xf32> {jax.result_info = "result[11][0]"}, tensor<i32> {jax.result_info = "result[11][1]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<4x8xf32>) -> tensor<2x16xf32>
    %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %2 = stablehlo.slice %arg0 [1:3, 0:8:2] : (tensor<4x8xf32>) -> tensor<2x4xf32>
    %3 = stablehlo.concatenate %arg0, %arg0, %arg0, dim = 1 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
    %4 = stablehlo.reverse %arg0, dims = [0] : tensor<4x8xf32>
    %5 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<4x8xf32>) -> tensor<3x4x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.pad %arg0, %cst, low = [1, -1], high = [2, 0], interior = [0, 2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<7x21xf32>
    %7 = stablehlo.iota dim = 0 : tensor<7xui32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %9 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %10 = stablehlo.select %8, %9, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.dynamic_slice %arg0, %10, %c_1, sizes = [2, 3] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %14 = stablehlo.add %arg1, %c_4 : tensor<i32>
    %15 = stablehlo.select %13, %14, %arg1 : tensor<i1>, tensor<i32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %16 = stablehlo.compare LT, %arg1, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_6 = stablehlo.constant dense<8> : tensor<i32>
    %17 = stablehlo.add %arg1, %c_6 : tensor<i32>
    %18 = stablehlo.select %16, %17, %arg1 : tensor<i1>, tensor<i32>
    %19 = stablehlo.dynamic_update_slice %arg0, %12, %15, %18 : (tensor<4x8xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %20 = stablehlo.slice %arg0 [0:1, 0:1] : (tensor<4x8xf32>) -> tensor<1x1xf32>
    %21 = stablehlo.reshape %20 : (tensor<1x1xf32>) -> tensor<f32>
    %22 = stablehlo.dynamic_slice %21, , sizes = [] : (tensor<f32>) -> tensor<f32>
    %23:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<4x8xf32>, tensor<i32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %11, %19, %22, %23#0, %23#1 : tensor<2x16xf32>, tensor<8x4xf32>, tensor<2x4xf32>, tensor<4x24xf32>, tensor<4x8xf32>, tensor<3x4x8xf32>, tensor<7x21xf32>, tensor<7xui32>, tensor<2x3xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4x8xf32>, tensor<i32>
  }
}

