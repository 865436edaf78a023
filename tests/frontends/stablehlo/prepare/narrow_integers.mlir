// Integers of 4 bits are integers of 8 bits that wrap around at 4.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @weights(
// CHECK-SAME: %arg0: tensor<4xi8> {sgd.narrow_bits = 4 : i64}, %arg1: tensor<4xi8> {sgd.narrow_bits = 4 : i64, sgd.unsigned}
// CHECK: %[[FILE:.*]] = sgd.shli %arg0
// CHECK: %[[A:.*]] = sgd.shrsi %[[FILE]]
// CHECK: %[[B:.*]] = arith.andi %arg1
// CHECK: arith.constant dense<[-8, -1, 0, 7]> : tensor<4xi8>
// CHECK: %[[SUM:.*]] = arith.addi %[[A]]
// CHECK: %[[HIGH:.*]] = sgd.shli %[[SUM]]
// CHECK: sgd.shrsi %[[HIGH]]
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[B]], %[[B]]
// CHECK: arith.andi %[[PRODUCT]]
func.func @weights(%a: tensor<4xi4>, %b: tensor<4xui4>) -> (tensor<4xi4>, tensor<4xui4>) {
  %c = stablehlo.constant dense<[-8, -1, 0, 7]> : tensor<4xi4>
  %0 = stablehlo.add %a, %c : tensor<4xi4>
  %1 = stablehlo.multiply %b, %b : tensor<4xui4>
  return %0, %1 : tensor<4xi4>, tensor<4xui4>
}

// -----

// An op that only moves elements, or reads them, stays one op.
// CHECK-LABEL: func.func @moves(
// CHECK: sgd.shrsi
// CHECK-NEXT: sgd.transpose
// CHECK-NEXT: arith.sitofp
// CHECK-NEXT: return
func.func @moves(%x: tensor<4x2xi8>) -> tensor<2x4xf32> {
  %a = stablehlo.convert %x : (tensor<4x2xi8>) -> tensor<4x2xi4>
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x2xi4>) -> tensor<2x4xi4>
  %1 = stablehlo.convert %0 : (tensor<2x4xi4>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

// Sums wrap around once, at the end.
// CHECK-LABEL: func.func @sum(
// CHECK: %[[SUM:.*]] = sgd.reduce add
// CHECK: sgd.shli %[[SUM]]
func.func @sum(%a: tensor<4xi4>) -> tensor<i4> {
  %zero = stablehlo.constant dense<0> : tensor<i4>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xi4>, tensor<i4>) -> tensor<i4>
  return %0 : tensor<i4>
}

// -----

func.func @packed(%a: tensor<4x2xi4>) -> tensor<4xi8> {
  // expected-error@+1 {{'stablehlo.bitcast_convert' is not supported on elements of 'tensor<4xi8>': integers of 2 and 4 bits are kept in bytes}}
  %0 = stablehlo.bitcast_convert %a : (tensor<4x2xi4>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}
