// Elementwise ops on signed, unsigned and boolean elements, as JAX 0.10.2 prints it: printed back unchanged, also by way of the generic form.
// RUN: sgd-opt %s > %t
// RUN: grep -v "^//" %s | diff - %t
// RUN: sgd-opt %s -mlir-print-op-generic | sgd-opt | diff - %t
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xi32>, %arg1: tensor<4x8xui32>, %arg2: tensor<4x8xi1>) -> (tensor<4x8xi32> {jax.result_info = "result[0]"}, tensor<4x8xi32> {jax.result_info = "result[1]"}, tensor<4x8xi32> {jax.result_info = "result[2]"}, tensor<4x8xi32> {jax.result_info = "result[3]"}, tensor<4x8xi32> {jax.result_info = "result[4]"}, tensor<4x8xi1> {jax.result_info = "result[5]"}, tensor<4x8xui32> {jax.result_info = "result[6]"}, tensor<4x8xi1> {jax.result_info = "result[7]"}, tensor<4x8xi32> {jax.result_info = "result[8]"}, tensor<4x8xi32> {jax.result_info = "result[9]"}, tensor<4x8xi32> {jax.result_info = "result[10]"}, tensor<4x8xui32> {jax.result_info = "result[11]"}, tensor<4x8xi32> {jax.result_info = "result[12]"}, tensor<4x8xf32> {jax.result_info = "result[13]"}, tensor<4x8xf32> {jax.result_info = "result[14]"}, tensor<4x8xi1> {jax.result_info = "result[15]"}, tensor<4x8xi1> {jax.result_info = "result[16]"}, tensor<4x8xbf16> {jax.result_info = "result[17]"}, tensor<4x8x4xui8> {jax.result_info = "result[18]"}) {
    %0 = stablehlo.divide %arg0, %arg0 : tensor<4x8xi32>
    %1 = stablehlo.remainder %arg0, %arg0 : tensor<4x8xi32>
    %2 = stablehlo.shift_left %arg0, %arg0 : tensor<4x8xi32>
    %3 = stablehlo.shift_right_logical %arg0, %arg0 : tensor<4x8xi32>
    %4 = stablehlo.shift_right_arithmetic %arg0, %arg0 : tensor<4x8xi32>
    %5 = stablehlo.compare LT, %arg0, %arg0, SIGNED : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
    %6 = stablehlo.divide %arg1, %arg1 : tensor<4x8xui32>
    %7 = stablehlo.compare LT, %arg1, %arg1, UNSIGNED : (tensor<4x8xui32>, tensor<4x8xui32>) -> tensor<4x8xi1>
    %8 = stablehlo.and %arg0, %arg0 : tensor<4x8xi32>
    %9 = stablehlo.not %arg0 : tensor<4x8xi32>
    %10 = stablehlo.popcnt %arg0 : tensor<4x8xi32>
    %11 = stablehlo.count_leading_zeros %arg1 : tensor<4x8xui32>
    %12 = stablehlo.sign %arg0 : tensor<4x8xi32>
    %13 = stablehlo.convert %arg1 : (tensor<4x8xui32>) -> tensor<4x8xf32>
    %14 = stablehlo.convert %arg0 : (tensor<4x8xi32>) -> tensor<4x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %16 = stablehlo.multiply %15, %14 : tensor<4x8xf32>
    %17 = stablehlo.not %arg2 : tensor<4x8xi1>
    %18 = stablehlo.and %arg2, %17 : tensor<4x8xi1>
    %19 = stablehlo.xor %arg2, %arg2 : tensor<4x8xi1>
    %20 = stablehlo.convert %arg2 : (tensor<4x8xi1>) -> tensor<4x8xbf16>
    %21 = stablehlo.bitcast_convert %arg0 : (tensor<4x8xi32>) -> tensor<4x8x4xui8>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %16, %18, %19, %20, %21 : tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi1>, tensor<4x8xui32>, tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xui32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xbf16>, tensor<4x8x4xui8>
  }
}

