// RUN: sgd-opt %s --sgd-split-layers --split-input-file | FileCheck %s
// RUN: not sgd-opt %s --sgd-split-layers="stages=2 topology=nowhere" 2>&1 | FileCheck %s --check-prefix=NOWHERE

// NOWHERE: cannot read topology 'nowhere'

// The mesh asks for two stages. The training step is what decides about layers, though it comes second: the evaluation has its two arguments for them too.

// CHECK-LABEL: func.func @evaluate
// CHECK-SAME: %[[W0:[^:]+]]: tensor<2x8x8xf32> {sgd.name = "w", sgd.rows = array<i64: 0, 2>, sgd.stage = 0 : i64, sgd.whole = array<i64: 0, 4>}
// CHECK-SAME: %[[W1:[^:]+]]: tensor<2x8x8xf32> {sgd.name = "w", sgd.rows = array<i64: 2, 2>, sgd.stage = 1 : i64, sgd.whole = array<i64: 0, 4>}
// CHECK: sgd.while(%{{.+}}, %[[W0]], %{{.+}}) trips 2
// CHECK: sgd.while(%{{.+}}, %[[W1]], %{{.+}}) trips 2
// CHECK-LABEL: func.func @train
// CHECK-SAME: tensor<2x8x8xf32> {sgd.name = "w", sgd.rows = array<i64: 0, 2>, sgd.stage = 0 : i64
// CHECK-SAME: tensor<2x8x8xf32> {sgd.name = "w", sgd.rows = array<i64: 2, 2>, sgd.stage = 1 : i64
module {
module @evaluate {
  sgd.mesh @mesh = <["data"=2]> {sgd.stages = #sgd<axis"stage"=2>}
  func.func @evaluate(%w: tensor<4x8x8xf32> {sgd.name = "w"}, %x: tensor<16x8xf32> {sgd.name = "x"}) -> tensor<16x8xf32> {
    %c0 = arith.constant dense<0> : tensor<i32>
    %f:3 = sgd.while (%c0, %w, %x) trips 4 do {
    ^bb0(%i: tensor<i32>, %ws: tensor<4x8x8xf32>, %h: tensor<16x8xf32>):
      %zero = arith.constant dense<0> : tensor<i32>
      %one = arith.constant dense<1> : tensor<i32>
      %slice = sgd.dynamic_slice %ws, %i, %zero, %zero sizes = [1, 8, 8] : (tensor<4x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
      %layer = sgd.reshape %slice : tensor<1x8x8xf32> -> tensor<8x8xf32>
      %next = sgd.dot_general %h, %layer batching = [] x [] contracting = [1] x [0] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
      %j = arith.addi %i, %one : tensor<i32>
      sgd.yield %j, %ws, %next : tensor<i32>, tensor<4x8x8xf32>, tensor<16x8xf32>
    } : (tensor<i32>, tensor<4x8x8xf32>, tensor<16x8xf32>) -> (tensor<i32>, tensor<4x8x8xf32>, tensor<16x8xf32>)
    return %f#2 : tensor<16x8xf32>
  }
}
module @train {
  sgd.mesh @mesh = <["data"=2]> {sgd.stages = #sgd<axis"stage"=2>}
  func.func @train(%w: tensor<4x8x8xf32> {sgd.name = "w"}, %x: tensor<16x8xf32> {sgd.name = "x"}) -> (tensor<4x8x8xf32> {sgd.carry = 0 : i64}, tensor<16x8xf32>) {
    %c0 = arith.constant dense<0> : tensor<i32>
    %f:3 = sgd.while (%c0, %w, %x) trips 4 do {
    ^bb0(%i: tensor<i32>, %ws: tensor<4x8x8xf32>, %h: tensor<16x8xf32>):
      %zero = arith.constant dense<0> : tensor<i32>
      %one = arith.constant dense<1> : tensor<i32>
      %slice = sgd.dynamic_slice %ws, %i, %zero, %zero sizes = [1, 8, 8] : (tensor<4x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
      %layer = sgd.reshape %slice : tensor<1x8x8xf32> -> tensor<8x8xf32>
      %next = sgd.dot_general %h, %layer batching = [] x [] contracting = [1] x [0] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
      %j = arith.addi %i, %one : tensor<i32>
      sgd.yield %j, %ws, %next : tensor<i32>, tensor<4x8x8xf32>, tensor<16x8xf32>
    } : (tensor<i32>, tensor<4x8x8xf32>, tensor<16x8xf32>) -> (tensor<i32>, tensor<4x8x8xf32>, tensor<16x8xf32>)
    %updated = math.exp %w : tensor<4x8x8xf32>
    return %updated, %f#2 : tensor<4x8x8xf32>, tensor<16x8xf32>
  }
}
}

// -----

// Someone has said where the layers are: nothing is cut.

// CHECK-LABEL: func.func @placed
// CHECK-SAME: tensor<4x8x8xf32> {sgd.stage = 1 : i64}
// CHECK: trips 4
sgd.mesh @mesh = <["data"=2]> {sgd.stages = #sgd<axis"stage"=2>}
func.func @placed(%w: tensor<4x8x8xf32> {sgd.stage = 1 : i64}, %x: tensor<16x8xf32>) -> (tensor<4x8x8xf32> {sgd.carry = 0 : i64}, tensor<16x8xf32>) {
  %c0 = arith.constant dense<0> : tensor<i32>
  %f:3 = sgd.while (%c0, %w, %x) trips 4 do {
  ^bb0(%i: tensor<i32>, %ws: tensor<4x8x8xf32>, %h: tensor<16x8xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %slice = sgd.dynamic_slice %ws, %i, %zero, %zero sizes = [1, 8, 8] : (tensor<4x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %layer = sgd.reshape %slice : tensor<1x8x8xf32> -> tensor<8x8xf32>
    %next = sgd.dot_general %h, %layer batching = [] x [] contracting = [1] x [0] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    %j = arith.addi %i, %one : tensor<i32>
    sgd.yield %j, %ws, %next : tensor<i32>, tensor<4x8x8xf32>, tensor<16x8xf32>
  } : (tensor<i32>, tensor<4x8x8xf32>, tensor<16x8xf32>) -> (tensor<i32>, tensor<4x8x8xf32>, tensor<16x8xf32>)
  %updated = math.exp %w : tensor<4x8x8xf32>
  return %updated, %f#2 : tensor<4x8x8xf32>, tensor<16x8xf32>
}
