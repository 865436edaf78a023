// Conversions between element types.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @from_float
func.func @from_float(%x: tensor<4xf32>) -> (tensor<4xf64>, tensor<4xbf16>, tensor<4xi32>, tensor<4xui8>, tensor<4xi1>) {
  // CHECK: arith.extf {{.*}} to tensor<4xf64>
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf64>
  // CHECK: arith.truncf {{.*}} to tensor<4xbf16>
  %1 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: sgd.fptosi {{.*}} to tensor<4xi32>
  %2 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>
  // CHECK: sgd.fptoui {{.*}} to tensor<4xi8>
  %3 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xui8>
  // NaN is true.
  // CHECK: arith.cmpf une
  %4 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi1>
  return %0, %1, %2, %3, %4 : tensor<4xf64>, tensor<4xbf16>, tensor<4xi32>, tensor<4xui8>, tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func @between_half_precisions
func.func @between_half_precisions(%x: tensor<4xbf16>) -> tensor<4xf16> {
  // CHECK: arith.extf {{.*}} tensor<4xbf16> to tensor<4xf32>
  // CHECK: arith.truncf {{.*}} tensor<4xf32> to tensor<4xf16>
  %0 = stablehlo.convert %x : (tensor<4xbf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// CHECK-LABEL: func.func @from_integer
func.func @from_integer(%i: tensor<4xi32>, %u: tensor<4xui32>, %p: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi64>, tensor<4xi64>, tensor<4xi8>, tensor<4xi32>, tensor<4xi1>) {
  // CHECK: arith.sitofp
  %0 = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xf32>
  // CHECK: arith.uitofp
  %1 = stablehlo.convert %u : (tensor<4xui32>) -> tensor<4xf32>
  // CHECK: arith.uitofp {{.*}} tensor<4xi1>
  %2 = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xf32>
  // CHECK: arith.extsi
  %3 = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xi64>
  // CHECK: arith.extui
  %4 = stablehlo.convert %u : (tensor<4xui32>) -> tensor<4xi64>
  // CHECK: arith.trunci
  %5 = stablehlo.convert %u : (tensor<4xui32>) -> tensor<4xi8>
  // CHECK: arith.extui {{.*}} tensor<4xi1> to tensor<4xi32>
  %6 = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xi32>
  // CHECK: arith.cmpi ne
  %7 = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi64>, tensor<4xi64>, tensor<4xi8>, tensor<4xi32>, tensor<4xi1>
}

// -----

// A change of signedness alone is no op.
// CHECK-LABEL: func.func @sign_only
// CHECK-SAME: (%[[X:.*]]: tensor<4xi32>) -> (tensor<4xi32> {sgd.unsigned})
// CHECK-NEXT: return %[[X]]
func.func @sign_only(%x: tensor<4xi32>) -> tensor<4xui32> {
  %0 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xui32>
  return %0 : tensor<4xui32>
}

// -----

// CHECK-LABEL: func.func @bitcast
func.func @bitcast(%x: tensor<4xf32>, %u: tensor<4xui32>) -> (tensor<4xui32>, tensor<4xi32>, tensor<4xf32>) {
  // CHECK: arith.bitcast {{.*}} : tensor<4xf32> to tensor<4xi32>
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xui32>
  // CHECK-NOT: arith.bitcast
  %1 = stablehlo.bitcast_convert %u : (tensor<4xui32>) -> tensor<4xi32>
  // CHECK: arith.truncf
  // CHECK: arith.extf
  %2 = stablehlo.reduce_precision %x, format = e8m7 : tensor<4xf32>
  return %0, %1, %2 : tensor<4xui32>, tensor<4xi32>, tensor<4xf32>
}
