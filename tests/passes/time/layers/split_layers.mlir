// RUN: sgd-opt %s --sgd-split-layers=stages=2 | FileCheck %s

// Forward and backward over 4 layers, an SGD update, and a loss: each stage has two layers, and its rows of what they
// share. The backward loop begins with the last layers.

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[W0:[^:]+]]: tensor<2x8x8xf32> {sgd.name = "w", sgd.rows = array<i64: 0, 2>, sgd.stage = 0 : i64, sgd.whole = array<i64: 0, 4>}
// CHECK-SAME: %[[W1:[^:]+]]: tensor<2x8x8xf32> {sgd.name = "w", sgd.rows = array<i64: 2, 2>, sgd.stage = 1 : i64, sgd.whole = array<i64: 0, 4>}
// CHECK-SAME: %[[X:[^:]+]]: tensor<16x8xf32> {sgd.name = "x", sgd.whole = array<i64: 1, -1>}
// CHECK-SAME: -> (tensor<2x8x8xf32> {sgd.carry = 0 : i64, sgd.rows = array<i64: 0, 2>, sgd.stage = 0 : i64, sgd.whole = array<i64: 0, 4>}
// CHECK-SAME: tensor<2x8x8xf32> {sgd.carry = 1 : i64, sgd.rows = array<i64: 2, 2>, sgd.stage = 1 : i64, sgd.whole = array<i64: 0, 4>}
// CHECK-SAME: tensor<f32> {sgd.whole = array<i64: 1, -1>})
// CHECK: %[[F0:.+]]:4 = sgd.while(%{{.+}}, %[[W0]], %[[X]], %{{.+}}) trips 2
// CHECK-NOT: arith.subi
// CHECK: %[[F1:.+]]:4 = sgd.while(%{{.+}}, %[[W1]], %[[F0]]#2, %{{.+}}) trips 2
// CHECK: %[[ROW:.+]] = arith.subi
// CHECK: sgd.dynamic_slice %{{.+}}, %[[ROW]]
// CHECK: %[[B1:.+]]:5 = sgd.while(%{{.+}}, %[[W1]], %[[F1]]#3, %{{.+}}, %{{.+}}) trips 2
// CHECK: %[[B0:.+]]:5 = sgd.while(%{{.+}}, %[[W0]], %[[F0]]#3, %[[B1]]#3, %{{.+}}) trips 2
// CHECK: arith.mulf %[[B0]]#4
// CHECK: arith.mulf %[[B1]]#4
// CHECK: %[[NEXT0:.+]] = arith.subf %[[W0]]
// CHECK: %[[NEXT1:.+]] = arith.subf %[[W1]]
// CHECK: return %[[NEXT0]], %[[NEXT1]], %{{.+}} : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<f32>
func.func @step(%w: tensor<4x8x8xf32> {sgd.name = "w"}, %x: tensor<16x8xf32> {sgd.name = "x"}) -> (tensor<4x8x8xf32> {sgd.carry = 0 : i64}, tensor<f32>) {
  %c0 = arith.constant dense<0> : tensor<i32>
  %stack = arith.constant dense<0.0> : tensor<4x16x8xf32>
  %gradients = arith.constant dense<0.0> : tensor<4x8x8xf32>
  %f:4 = sgd.while (%c0, %w, %x, %stack) trips 4 do {
  ^bb0(%i: tensor<i32>, %ws: tensor<4x8x8xf32>, %h: tensor<16x8xf32>, %hs: tensor<4x16x8xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %layers = arith.constant dense<4> : tensor<i32>
    %isBelow = arith.cmpi slt, %i, %zero : tensor<i32>
    %wrapped = arith.addi %i, %layers : tensor<i32>
    %row = arith.select %isBelow, %wrapped, %i : tensor<i1>, tensor<i32>
    %slice = sgd.dynamic_slice %ws, %row, %zero, %zero sizes = [1, 8, 8] : (tensor<4x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %layer = sgd.reshape %slice : tensor<1x8x8xf32> -> tensor<8x8xf32>
    %next = sgd.dot_general %h, %layer batching = [] x [] contracting = [1] x [0] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    %kept = sgd.reshape %h : tensor<16x8xf32> -> tensor<1x16x8xf32>
    %more = sgd.dynamic_update_slice %hs, %kept, %i, %zero, %zero : (tensor<4x16x8xf32>, tensor<1x16x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x16x8xf32>
    %j = arith.addi %i, %one : tensor<i32>
    sgd.yield %j, %ws, %next, %more : tensor<i32>, tensor<4x8x8xf32>, tensor<16x8xf32>, tensor<4x16x8xf32>
  } : (tensor<i32>, tensor<4x8x8xf32>, tensor<16x8xf32>, tensor<4x16x8xf32>) -> (tensor<i32>, tensor<4x8x8xf32>, tensor<16x8xf32>, tensor<4x16x8xf32>)
  %loss = sgd.reduce add %f#2 dimensions = [0, 1] : tensor<16x8xf32> -> tensor<f32>
  %ones = arith.constant dense<1.0> : tensor<16x8xf32>
  %b:5 = sgd.while (%c0, %w, %f#3, %ones, %gradients) trips 4 do {
  ^bb0(%i: tensor<i32>, %ws: tensor<4x8x8xf32>, %hs: tensor<4x16x8xf32>, %dy: tensor<16x8xf32>, %dws: tensor<4x8x8xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %last = arith.constant dense<3> : tensor<i32>
    %row = arith.subi %last, %i : tensor<i32>
    %slice = sgd.dynamic_slice %ws, %row, %zero, %zero sizes = [1, 8, 8] : (tensor<4x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %layer = sgd.reshape %slice : tensor<1x8x8xf32> -> tensor<8x8xf32>
    %kept = sgd.dynamic_slice %hs, %row, %zero, %zero sizes = [1, 16, 8] : (tensor<4x16x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x8xf32>
    %h = sgd.reshape %kept : tensor<1x16x8xf32> -> tensor<16x8xf32>
    %dx = sgd.dot_general %dy, %layer batching = [] x [] contracting = [1] x [1] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    %dw = sgd.dot_general %h, %dy batching = [] x [] contracting = [0] x [0] : tensor<16x8xf32>, tensor<16x8xf32> -> tensor<8x8xf32>
    %own = sgd.reshape %dw : tensor<8x8xf32> -> tensor<1x8x8xf32>
    %more = sgd.dynamic_update_slice %dws, %own, %row, %zero, %zero : (tensor<4x8x8xf32>, tensor<1x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x8xf32>
    %j = arith.addi %i, %one : tensor<i32>
    sgd.yield %j, %ws, %hs, %dx, %more : tensor<i32>, tensor<4x8x8xf32>, tensor<4x16x8xf32>, tensor<16x8xf32>, tensor<4x8x8xf32>
  } : (tensor<i32>, tensor<4x8x8xf32>, tensor<4x16x8xf32>, tensor<16x8xf32>, tensor<4x8x8xf32>) -> (tensor<i32>, tensor<4x8x8xf32>, tensor<4x16x8xf32>, tensor<16x8xf32>, tensor<4x8x8xf32>)
  %rate = arith.constant dense<0.1> : tensor<4x8x8xf32>
  %change = arith.mulf %b#4, %rate : tensor<4x8x8xf32>
  %next = arith.subf %w, %change : tensor<4x8x8xf32>
  return %next, %loss : tensor<4x8x8xf32>, tensor<f32>
}
