// RUN: sgd-opt %s --sgd-order | FileCheck %s

// Both large matmuls are summed at once instead of being kept.
// CHECK-LABEL: @frees_early
func.func @frees_early(%x: tensor<64x64xf32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: math.exp
  // CHECK-NEXT: sgd.reduce
  // CHECK-NEXT: math.tanh
  // CHECK-NEXT: sgd.reduce
  %0 = math.exp %x : tensor<64x64xf32>
  %1 = math.tanh %x : tensor<64x64xf32>
  %2 = sgd.reduce add %0 dimensions = [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %3 = sgd.reduce add %1 dimensions = [0, 1] : tensor<64x64xf32> -> tensor<f32>
  return %2, %3 : tensor<f32>, tensor<f32>
}

// The new %w can be written over the old one only after everybody has read the old one.
// CHECK-LABEL: @readers_before_update
func.func @readers_before_update(%w: tensor<8xf32> {sgd.alias_output = 0 : i64}, %g: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: math.exp %arg0
  // CHECK: arith.subf %arg0
  %0 = arith.subf %w, %g : tensor<8xf32>
  %1 = math.exp %w : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: @keeps_a_good_order
func.func @keeps_a_good_order(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: math.exp
  // CHECK-NEXT: math.tanh
  // CHECK-NEXT: math.sqrt
  %0 = math.exp %x : tensor<8xf32>
  %1 = math.tanh %0 : tensor<8xf32>
  %2 = math.sqrt %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// New state is written over the old one and needs no memory: each gradient dies before the next one is made.
// CHECK-LABEL: @updates_at_once
func.func @updates_at_once(%w: tensor<64xf32> {sgd.alias_output = 0 : i64}, %v: tensor<64xf32> {sgd.alias_output = 1 : i64}, %x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  // CHECK: math.exp
  // CHECK-NEXT: arith.subf %arg0
  // CHECK-NEXT: math.tanh
  // CHECK-NEXT: arith.subf %arg1
  %0 = math.exp %x : tensor<64xf32>
  %1 = math.tanh %x : tensor<64xf32>
  %2 = arith.subf %w, %0 : tensor<64xf32>
  %3 = arith.subf %v, %1 : tensor<64xf32>
  return %2, %3 : tensor<64xf32>, tensor<64xf32>
}
