// Elementwise ops on floats, as JAX 0.10.2 prints it: printed back unchanged, also by way of the generic form.
// RUN: sgd-opt %s > %t
// RUN: grep -v "^//" %s | diff - %t
// RUN: sgd-opt %s -mlir-print-op-generic | sgd-opt | diff - %t
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> (tensor<4x8xf32> {jax.result_info = "result[0]"}, tensor<4x8xf32> {jax.result_info = "result[1]"}, tensor<4x8xf32> {jax.result_info = "result[2]"}, tensor<4x8xf32> {jax.result_info = "result[3]"}, tensor<4x8xf32> {jax.result_info = "result[4]"}, tensor<4x8xf32> {jax.result_info = "result[5]"}, tensor<4x8xf32> {jax.result_info = "result[6]"}, tensor<4x8xf32> {jax.result_info = "result[7]"}, tensor<4x8xi1> {jax.result_info = "result[8]"}, tensor<4x8xf32> {jax.result_info = "result[9]"}, tensor<4x8xf32> {jax.result_info = "result[10]"}, tensor<4x8xf32> {jax.result_info = "result[11]"}, tensor<4x8xf32> {jax.result_info = "result[12]"}, tensor<4x8xf32> {jax.result_info = "result[13]"}, tensor<4x8xf32> {jax.result_info = "result[14]"}, tensor<4x8xf32> {jax.result_info = "result[15]"}, tensor<4x8xf32> {jax.result_info = "result[16]"}, tensor<4x8xf32> {jax.result_info = "result[17]"}, tensor<4x8xf32> {jax.result_info = "result[18]"}, tensor<4x8xf32> {jax.result_info = "result[19]"}, tensor<4x8xf32> {jax.result_info = "result[20]"}, tensor<4x8xf32> {jax.result_info = "result[21]"}, tensor<4x8xf32> {jax.result_info = "result[22]"}, tensor<4x8xf32> {jax.result_info = "result[23]"}, tensor<4x8xf32> {jax.result_info = "result[24]"}, tensor<4x8xf32> {jax.result_info = "result[25]"}, tensor<4x8xf32> {jax.result_info = "result[26]"}, tensor<4x8xf32> {jax.result_info = "result[27]"}, tensor<4x8xf32> {jax.result_info = "result[28]"}, tensor<4x8xf32> {jax.result_info = "result[29]"}, tensor<4x8xf32> {jax.result_info = "result[30]"}, tensor<4x8xf32> {jax.result_info = "result[31]"}, tensor<4x8xf32> {jax.result_info = "result[32]"}, tensor<4x8xf32> {jax.result_info = "result[33]"}, tensor<4x8xf32> {jax.result_info = "result[34]"}, tensor<4x8xf32> {jax.result_info = "result[35]"}, tensor<4x8xf32> {jax.result_info = "result[36]"}, tensor<4x8xf32> {jax.result_info = "result[37]"}, tensor<4x8xf32> {jax.result_info = "result[38]"}, tensor<4x8xf32> {jax.result_info = "result[39]"}, tensor<4x8xf32> {jax.result_info = "result[40]"}, tensor<4x8xf32> {jax.result_info = "result[41]"}, tensor<4x8xf32> {jax.result_info = "result[42]"}, tensor<4x8xf32> {jax.result_info = "result[43]"}, tensor<4x8xf32> {jax.result_info = "result[44]"}, tensor<4x8xf32> {jax.result_info = "result[45]"}, tensor<4x8xi1> {jax.result_info = "result[46]"}, tensor<4x8xf32> {jax.result_info = "result[47]"}) {
    %0 = stablehlo.abs %arg0 : tensor<4x8xf32>
    %1 = stablehlo.cbrt %arg0 : tensor<4x8xf32>
    %2 = stablehlo.ceil %arg0 : tensor<4x8xf32>
    %3 = stablehlo.cosine %arg0 : tensor<4x8xf32>
    %4 = stablehlo.exponential %arg0 : tensor<4x8xf32>
    %cst = stablehlo.constant dense<0.693147182> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<4x8xf32>
    %7 = stablehlo.exponential %6 : tensor<4x8xf32>
    %8 = stablehlo.exponential_minus_one %arg0 : tensor<4x8xf32>
    %9 = stablehlo.floor %arg0 : tensor<4x8xf32>
    %10 = stablehlo.is_finite %arg0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    %11 = stablehlo.log %arg0 : tensor<4x8xf32>
    %12 = stablehlo.log_plus_one %arg0 : tensor<4x8xf32>
    %13 = stablehlo.negate %arg0 : tensor<4x8xf32>
    %14 = stablehlo.exponential %13 : tensor<4x8xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %16 = stablehlo.add %15, %14 : tensor<4x8xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %18 = stablehlo.divide %17, %16 : tensor<4x8xf32>
    %19 = stablehlo.negate %arg0 : tensor<4x8xf32>
    %20 = stablehlo.rsqrt %arg0 : tensor<4x8xf32>
    %21 = stablehlo.sign %arg0 : tensor<4x8xf32>
    %22 = stablehlo.sine %arg0 : tensor<4x8xf32>
    %23 = stablehlo.sqrt %arg0 : tensor<4x8xf32>
    %24 = stablehlo.tan %arg0 : tensor<4x8xf32>
    %25 = stablehlo.tanh %arg0 : tensor<4x8xf32>
    %26 = chlo.erf %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %27 = chlo.erfc %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %28 = chlo.erf_inv %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %29 = chlo.acos %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %30 = chlo.asin %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %31 = chlo.atan %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %32 = chlo.acosh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %33 = chlo.asinh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %34 = chlo.atanh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %35 = chlo.sinh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %36 = chlo.cosh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %37 = chlo.lgamma %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %38 = chlo.digamma %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %39 = chlo.bessel_i1e %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %40 = chlo.square %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %41 = stablehlo.round_nearest_afz %arg0 : tensor<4x8xf32>
    %42 = stablehlo.round_nearest_even %arg0 : tensor<4x8xf32>
    %43 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<4x8xf32>
    %44 = stablehlo.exponential %arg0 : tensor<4x8xf32>
    %45 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4x8xf32>
    %46 = stablehlo.tanh %arg0 : tensor<4x8xf32>
    %47 = stablehlo.tanh %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x8xf32>
    %48 = stablehlo.divide %arg0, %arg1 : tensor<4x8xf32>
    %49 = stablehlo.remainder %arg0, %arg1 : tensor<4x8xf32>
    %50 = stablehlo.maximum %arg0, %arg1 : tensor<4x8xf32>
    %51 = stablehlo.power %arg0, %arg1 : tensor<4x8xf32>
    %52 = stablehlo.atan2 %arg0, %arg1 : tensor<4x8xf32>
    %53 = chlo.next_after %arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %55 = stablehlo.clamp %54, %arg0, %arg1 : tensor<4x8xf32>
    %56 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
    %57 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
    %58 = stablehlo.select %57, %arg0, %arg1 : tensor<4x8xi1>, tensor<4x8xf32>
    return %0, %1, %2, %3, %4, %7, %8, %9, %10, %11, %12, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %45, %47, %48, %49, %50, %51, %52, %53, %55, %56, %58 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>, tensor<4x8xf32>
  }
}

