// Floats of 8 bits: kept by ops that move elements or round after each op, widened by ops that reduce.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @converts
func.func @converts(%x: tensor<4xf32>, %y: tensor<4xf8E5M2>) -> (tensor<4xf8E4M3FN>, tensor<4xf16>, tensor<4xf8E4M3FN>, tensor<4xui8>, tensor<4xi32>) {
  // CHECK: arith.truncf {{.*}} tensor<4xf32> to tensor<4xf8E4M3FN>
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  // CHECK: arith.extf {{.*}} tensor<4xf8E5M2> to tensor<4xf16>
  %1 = stablehlo.convert %y : (tensor<4xf8E5M2>) -> tensor<4xf16>
  // CHECK: %[[WIDE:.*]] = arith.extf {{.*}} tensor<4xf8E5M2> to tensor<4xf32>
  // CHECK: arith.truncf %[[WIDE]] : tensor<4xf32> to tensor<4xf8E4M3FN>
  %2 = stablehlo.convert %y : (tensor<4xf8E5M2>) -> tensor<4xf8E4M3FN>
  // CHECK: arith.bitcast {{.*}} tensor<4xf8E5M2> to tensor<4xi8>
  %3 = stablehlo.bitcast_convert %y : (tensor<4xf8E5M2>) -> tensor<4xui8>
  // CHECK: sgd.fptosi {{.*}} tensor<4xf8E5M2> to tensor<4xi32>
  %4 = stablehlo.convert %y : (tensor<4xf8E5M2>) -> tensor<4xi32>
  return %0, %1, %2, %3, %4 : tensor<4xf8E4M3FN>, tensor<4xf16>, tensor<4xf8E4M3FN>, tensor<4xui8>, tensor<4xi32>
}

// -----

// CHECK-LABEL: func.func @sums
func.func @sums(%x: tensor<4x8xf8E4M3FN>, %y: tensor<8x4xf8E4M3FN>) -> (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f8E4M3FN>
  %least = stablehlo.constant dense<-4.480000e+02> : tensor<f8E4M3FN>
  // CHECK: sgd.reduce{{.*}}add{{.*}} : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK: arith.truncf {{.*}} to tensor<4xf8E4M3FN>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<4xf8E4M3FN>
  // Extrema are exact in f16.
  // CHECK: sgd.reduce{{.*}}max{{.*}} : tensor<4x8xf16> -> tensor<4xf16>
  // CHECK: arith.truncf {{.*}} to tensor<4xf8E4M3FN>
  %1 = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<4xf8E4M3FN>
  // CHECK: sgd.dot_general {{.*}} : tensor<4x8xf8E4M3FN>, tensor<8x4xf8E4M3FN> -> tensor<4x4xf32>
  // CHECK: arith.truncf {{.*}} to tensor<4x4xf8E4M3FN>
  %2 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x8xf8E4M3FN>, tensor<8x4xf8E4M3FN>) -> tensor<4x4xf8E4M3FN>
  return %0, %1, %2 : tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>, tensor<4x4xf8E4M3FN>
}

// -----

// Values to which ranks may have to add zeros are integers of the same bits.
// CHECK-LABEL: func.func @moves
func.func @moves(%x: tensor<16x8xf8E5M2>, %i: tensor<3x1xi32>, %u: tensor<3x8xf8E5M2>) -> (tensor<3x8xf8E5M2>, tensor<16x8xf8E5M2>, tensor<16x8xf8E5M2>) {
  // CHECK: sgd.gather {{.*}}tensor<16x8xi8>
  // CHECK: arith.bitcast {{.*}} to tensor<3x8xf8E5M2>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}>
    : (tensor<16x8xf8E5M2>, tensor<3x1xi32>) -> tensor<3x8xf8E5M2>
  // CHECK: sgd.scatter {{.*}}tensor<16x8xi8>
  %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f8E5M2>, %b: tensor<f8E5M2>):
    stablehlo.return %b : tensor<f8E5M2>
  }) : (tensor<16x8xf8E5M2>, tensor<3x1xi32>, tensor<3x8xf8E5M2>) -> tensor<16x8xf8E5M2>
  // CHECK: sgd.scatter {{.*}}tensor<16x8xf32>
  %2 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f8E5M2>, %b: tensor<f8E5M2>):
    %s = stablehlo.add %a, %b : tensor<f8E5M2>
    stablehlo.return %s : tensor<f8E5M2>
  }) : (tensor<16x8xf8E5M2>, tensor<3x1xi32>, tensor<3x8xf8E5M2>) -> tensor<16x8xf8E5M2>
  return %0, %1, %2 : tensor<3x8xf8E5M2>, tensor<16x8xf8E5M2>, tensor<16x8xf8E5M2>
}

// -----

// Steps between are in f32.
// CHECK-LABEL: func.func @functions
func.func @functions(%x: tensor<4xf8E4M3FN>) -> (tensor<4xf8E4M3FN>, tensor<4xi1>) {
  // CHECK: math.erf {{.*}} : tensor<4xf32>
  // CHECK: arith.truncf {{.*}} to tensor<4xf8E4M3FN>
  %0 = chlo.erf %x : tensor<4xf8E4M3FN> -> tensor<4xf8E4M3FN>
  // CHECK: arith.cmpf olt, {{.*}} : tensor<4xf32>
  %1 = stablehlo.is_finite %x : (tensor<4xf8E4M3FN>) -> tensor<4xi1>
  return %0, %1 : tensor<4xf8E4M3FN>, tensor<4xi1>
}

// -----

// A format of f8's own width, and one without infinities.
// CHECK-LABEL: func.func @reduce_precision
func.func @reduce_precision(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  // CHECK: arith.extf {{.*}} to tensor<4xf32>
  // CHECK: arith.truncf {{.*}} to tensor<4xf8E4M3FN>
  %0 = stablehlo.reduce_precision %x, format = e3m2 : tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}
