module @jit_leapfrog attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x4xf32> loc("position"), %arg1: tensor<8x4xf32> loc("velocity"), %arg2: tensor<16x8xf32> loc("x")) -> (tensor<8x4xf32> {jax.result_info = "result[0]"}, tensor<8x4xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %1 = stablehlo.tanh %0 : tensor<16x4xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
    %3 = stablehlo.subtract %2, %1 : tensor<16x4xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<16x4xf32>
    %6 = stablehlo.multiply %5, %1 : tensor<16x4xf32>
    %7 = stablehlo.add %5, %6 : tensor<16x4xf32>
    %8 = stablehlo.dot_general %7, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x4xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %9 = stablehlo.transpose %8, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %10 = stablehlo.negate %9 : tensor<8x4xf32>
    %cst_1 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %12 = stablehlo.multiply %11, %10 : tensor<8x4xf32>
    %13 = stablehlo.add %arg1, %12 : tensor<8x4xf32>
    %cst_2 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %15 = stablehlo.multiply %14, %13 : tensor<8x4xf32>
    %16 = stablehlo.add %arg0, %15 : tensor<8x4xf32>
    return %16, %13 : tensor<8x4xf32>, tensor<8x4xf32>
  }
}
