// Dot products, as JAX 0.10.2 prints it: printed back unchanged, also by way of the generic form.
// RUN: sgd-opt %s > %t
// RUN: grep -v "^//" %s | diff - %t
// RUN: sgd-opt %s -mlir-print-op-generic | sgd-opt | diff - %t
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8x5xf32>, %arg2: tensor<2x3x4xf32>, %arg3: tensor<2x4x5xf32>) -> (tensor<4x5xf32> {jax.result_info = "result[0]"}, tensor<2x3x5xf32> {jax.result_info = "result[1]"}, tensor<4x5xf32> {jax.result_info = "result[2]"}, tensor<4x5xf32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
    %1 = stablehlo.dot_general %arg2, %arg3, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    %2 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
    %3 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
    %4 = stablehlo.slice %arg0 [0:1, 0:8] : (tensor<4x8xf32>) -> tensor<1x8xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x8xf32>) -> tensor<8xf32>
    %6 = stablehlo.slice %arg1 [0:8, 0:1] : (tensor<8x5xf32>) -> tensor<8x1xf32>
    %7 = stablehlo.reshape %6 : (tensor<8x1xf32>) -> tensor<8xf32>
    %8 = stablehlo.dot_general %5, %7, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
    return %0, %1, %2, %3, %8 : tensor<4x5xf32>, tensor<2x3x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<f32>
  }
}

