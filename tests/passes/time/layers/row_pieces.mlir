// RUN: sgd-opt %s --sgd-split-layers=stages=2 | FileCheck %s

// What is computed from stacked state outside of its loop, so that a stage needs no rows of another one. Biases of three layers are one vector: its rows are
// eight elements each.

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[W0:[^:]+]]: tensor<1x8x8xf32>
// CHECK-SAME: %[[W1:[^:]+]]: tensor<2x8x8xf32>
// CHECK-SAME: %[[B0:[^:]+]]: tensor<8xf32> {sgd.rows = array<i64: 0, 8>, sgd.stage = 0 : i64, sgd.whole = array<i64: 1, 24>}
// CHECK-SAME: %[[B1:[^:]+]]: tensor<16xf32> {sgd.rows = array<i64: 8, 16>, sgd.stage = 1 : i64, sgd.whole = array<i64: 1, 24>}
// CHECK-SAME: %[[SCALE:[^:]+]]: tensor<8x8xf32> {sgd.whole = array<i64: 2, -1>}
// CHECK: %[[R0:.+]] = sgd.reshape %[[B0]] : tensor<8xf32> -> tensor<1x8xf32>
// CHECK: %[[R1:.+]] = sgd.reshape %[[B1]] : tensor<16xf32> -> tensor<2x8xf32>

// A sum over all layers adds those of the stages; a maximum takes the largest of theirs.
// CHECK: %[[SUM0:.+]] = sgd.reduce add %[[W0]]
// CHECK: %[[SUM1:.+]] = sgd.reduce add %[[W1]]
// CHECK: %[[SUM:.+]] = arith.addf %[[SUM0]], %[[SUM1]]
// CHECK: sgd.reduce max %[[W0]]
// CHECK: sgd.reduce max %[[W1]]
// CHECK: %[[MOST:.+]] = sgd.reduce max %{{.+}} dimensions = [0] : tensor<2xf32> -> tensor<f32>

// Rows of both stages are taken from each, and put together again.
// CHECK: %[[MIDDLE0:.+]] = sgd.slice %[[W0]] starts = [0, 0, 0] limits = [1, 8, 4]
// CHECK: %[[MIDDLE1:.+]] = sgd.slice %[[W1]] starts = [0, 0, 0] limits = [1, 8, 4]
// CHECK: %[[MIDDLE:.+]] = sgd.concatenate %[[MIDDLE0]], %[[MIDDLE1]] dimension = 0

// A factor that all layers share is broadcast to the rows of each stage.
// CHECK: %[[S0:.+]] = sgd.broadcast_in_dim %[[SCALE]] dims = [1, 2] : tensor<8x8xf32> -> tensor<1x8x8xf32>
// CHECK: %[[S1:.+]] = sgd.broadcast_in_dim %[[SCALE]] dims = [1, 2] : tensor<8x8xf32> -> tensor<2x8x8xf32>
// CHECK: %[[NEXT0:.+]] = arith.mulf %[[W0]], %[[S0]]
// CHECK: %[[NEXT1:.+]] = arith.mulf %[[W1]], %[[S1]]
// CHECK: %[[E0:.+]] = math.exp %[[B0]]
// CHECK: %[[E1:.+]] = math.exp %[[B1]]

// A result that is no state and whose rows are not its first dimension is whole.
// CHECK: %[[TURNED:.+]] = sgd.concatenate %{{.+}}, %{{.+}} dimension = 1 : (tensor<8x1xf32>, tensor<8x2xf32>) -> tensor<8x3xf32>
// CHECK: return %[[NEXT0]], %[[NEXT1]], %[[E0]], %[[E1]], %{{.+}}, %[[SUM]], %[[MOST]], %[[MIDDLE]], %[[TURNED]] :
func.func @step(%w: tensor<3x8x8xf32>, %bias: tensor<24xf32>, %scale: tensor<8x8xf32>, %x: tensor<4x8xf32>) -> (tensor<3x8x8xf32> {sgd.carry = 0 : i64}, tensor<24xf32> {sgd.carry = 1 : i64}, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<2x8x4xf32>, tensor<8x3xf32>) {
  %c0 = arith.constant dense<0> : tensor<i32>
  %rows = sgd.reshape %bias : tensor<24xf32> -> tensor<3x8xf32>
  %f:4 = sgd.while (%c0, %w, %rows, %x) trips 3 do {
  ^bb0(%i: tensor<i32>, %ws: tensor<3x8x8xf32>, %bs: tensor<3x8xf32>, %h: tensor<4x8xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %slice = sgd.dynamic_slice %ws, %i, %zero, %zero sizes = [1, 8, 8] : (tensor<3x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %layer = sgd.reshape %slice : tensor<1x8x8xf32> -> tensor<8x8xf32>
    %row = sgd.dynamic_slice %bs, %i, %zero sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %b = sgd.reshape %row : tensor<1x8xf32> -> tensor<8xf32>
    %biases = sgd.broadcast_in_dim %b dims = [1] : tensor<8xf32> -> tensor<4x8xf32>
    %product = sgd.dot_general %h, %layer batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %next = arith.addf %product, %biases : tensor<4x8xf32>
    %j = arith.addi %i, %one : tensor<i32>
    sgd.yield %j, %ws, %bs, %next : tensor<i32>, tensor<3x8x8xf32>, tensor<3x8xf32>, tensor<4x8xf32>
  } : (tensor<i32>, tensor<3x8x8xf32>, tensor<3x8xf32>, tensor<4x8xf32>) -> (tensor<i32>, tensor<3x8x8xf32>, tensor<3x8xf32>, tensor<4x8xf32>)
  %norm = sgd.reduce add %w dimensions = [0, 1, 2] : tensor<3x8x8xf32> -> tensor<f32>
  %most = sgd.reduce max %w dimensions = [0, 1, 2] : tensor<3x8x8xf32> -> tensor<f32>
  %middle = sgd.slice %w starts = [0, 0, 0] limits = [2, 8, 4] strides = [1, 1, 1] : tensor<3x8x8xf32> -> tensor<2x8x4xf32>
  %scales = sgd.broadcast_in_dim %scale dims = [1, 2] : tensor<8x8xf32> -> tensor<3x8x8xf32>
  %next = arith.mulf %w, %scales : tensor<3x8x8xf32>
  %nextBias = math.exp %bias : tensor<24xf32>
  %turned = sgd.transpose %rows permutation = [1, 0] : tensor<3x8xf32> -> tensor<8x3xf32>
  return %next, %nextBias, %f#3, %norm, %most, %middle, %turned : tensor<3x8x8xf32>, tensor<24xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<2x8x4xf32>, tensor<8x3xf32>
}
