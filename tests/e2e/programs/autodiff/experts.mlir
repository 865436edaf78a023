module @jit_flattened attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x12x8xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<4x8x12xf32>, %arg3: tensor<10x8xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10x8xf32>, tensor<8x4xf32>) -> tensor<10x4xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<10x4xf32>, tensor<f32>) -> tensor<10xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<10xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<10xf32>) -> tensor<10x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<10x1xf32>) -> tensor<10x4xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<10x4xf32>
    %7 = stablehlo.exponential %6 : tensor<10x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<10x4xf32>, tensor<f32>) -> tensor<10xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<10xf32>) -> tensor<10x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<10x1xf32>) -> tensor<10x4xf32>
    %11 = stablehlo.divide %7, %10 : tensor<10x4xf32>
    %values, %indices = chlo.top_k(%11, k = 2) : tensor<10x4xf32> -> (tensor<10x2xf32>, tensor<10x2xi32>)
    %12 = stablehlo.dot_general %arg3, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<10x8xf32>, tensor<4x8x12xf32>) -> tensor<10x4x12xf32>
    %13 = call @silu(%12) : (tensor<10x4x12xf32>) -> tensor<10x4x12xf32>
    %14 = stablehlo.dot_general %arg0, %13, batching_dims = [0] x [1], contracting_dims = [1] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x12x8xf32>, tensor<10x4x12xf32>) -> tensor<4x8x10xf32>
    %15 = stablehlo.transpose %14, dims = [2, 0, 1] : (tensor<4x8x10xf32>) -> tensor<10x4x8xf32>
    %16 = call @_one_hot(%indices) : (tensor<10x2xi32>) -> tensor<10x2x4xf32>
    %17 = stablehlo.broadcast_in_dim %values, dims = [0, 1] : (tensor<10x2xf32>) -> tensor<10x2x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<10x2x1xf32>) -> tensor<10x2x4xf32>
    %19 = stablehlo.multiply %16, %18 : tensor<10x2x4xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<10x2x4xf32>, tensor<f32>) -> tensor<10x4xf32>
    %21 = stablehlo.dot_general %15, %20, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<10x4x8xf32>, tensor<10x4xf32>) -> tensor<10x8xf32>
    %22 = stablehlo.multiply %21, %21 : tensor<10x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<10x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_4 = stablehlo.constant dense<8.000000e+01> : tensor<f32>
    %24 = stablehlo.divide %23, %cst_4 : tensor<f32>
    return %24 : tensor<f32>
  }
  func.func private @silu(%arg0: tensor<10x4x12xf32>) -> tensor<10x4x12xf32> {
    %0 = stablehlo.negate %arg0 : tensor<10x4x12xf32>
    %1 = stablehlo.exponential %0 : tensor<10x4x12xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10x4x12xf32>
    %3 = stablehlo.add %2, %1 : tensor<10x4x12xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10x4x12xf32>
    %5 = stablehlo.divide %4, %3 : tensor<10x4x12xf32>
    %6 = stablehlo.multiply %arg0, %5 : tensor<10x4x12xf32>
    return %6 : tensor<10x4x12xf32>
  }
  func.func private @_one_hot(%arg0: tensor<10x2xi32>) -> tensor<10x2x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<10x2xi32>) -> tensor<10x2x1xi32>
    %1 = stablehlo.iota dim = 2 : tensor<1x1x4xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<10x2x1xi32>) -> tensor<10x2x4xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x4xi32>) -> tensor<10x2x4xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<10x2x4xi32>, tensor<10x2x4xi32>) -> tensor<10x2x4xi1>
    %5 = stablehlo.convert %4 : (tensor<10x2x4xi1>) -> tensor<10x2x4xf32>
    return %5 : tensor<10x2x4xf32>
  }
}
