// RUN: sgd-opt %s --sgd-split-layers=stages=2 | FileCheck %s
// RUN: sgd-opt %s --sgd-split-layers=stages=6 | FileCheck %s --check-prefix=EACH

// Five layers do not divide by two stages. The second loop's counters begin where those of the first one end, also the one that counts by two from seven, and its
// rows count from its first one. The noise is read, but no state: stages get slices of it.

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[W0:[^:]+]]: tensor<2x8x8xf32> {sgd.rows = array<i64: 0, 2>, sgd.stage = 0 : i64, sgd.whole = array<i64: 0, 5>}
// CHECK-SAME: %[[W1:[^:]+]]: tensor<3x8x8xf32> {sgd.rows = array<i64: 2, 3>, sgd.stage = 1 : i64, sgd.whole = array<i64: 0, 5>}
// CHECK-SAME: %[[NOISE:[^:]+]]: tensor<5x8xf32> {sgd.whole = array<i64: 1, -1>}
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x8xf32> {sgd.whole = array<i64: 2, -1>}
// CHECK: %[[N0:.+]] = sgd.slice %[[NOISE]] starts = [0, 0] limits = [2, 8]
// CHECK: %[[N1:.+]] = sgd.slice %[[NOISE]] starts = [2, 0] limits = [5, 8]
// CHECK: %[[F0:.+]]:5 = sgd.while(%{{.+}}, %{{.+}}, %[[W0]], %[[N0]], %[[X]]) trips 2
// CHECK: sgd.yield
// CHECK: %[[TRIP:.+]] = arith.constant dense<2>
// CHECK: %[[COUNT:.+]] = arith.constant dense<11>
// CHECK: %[[F1:.+]]:5 = sgd.while(%[[TRIP]], %[[COUNT]], %[[W1]], %[[N1]], %[[F0]]#4) trips 3
// CHECK: ^bb0(%[[I:[^:]+]]: tensor<i32>, %{{[^:]+}}: tensor<i32>, %[[WS:[^:]+]]: tensor<3x8x8xf32>,
// CHECK: arith.constant dense<2> : tensor<i32>
// CHECK: %[[BEGIN:.+]] = arith.constant dense<2> : tensor<i32>
// CHECK-NEXT: %[[ROW:.+]] = arith.subi %[[I]], %[[BEGIN]]
// CHECK: sgd.dynamic_slice %[[WS]], %[[ROW]]
// CHECK: %[[LAST:.+]] = arith.constant dense<17>
// CHECK: return %{{.+}}, %{{.+}}, %[[F1]]#4, %[[LAST]]

// Fewer layers than stages: each layer is an argument of its own, which no stage has yet, and no loop is left.

// EACH-LABEL: func.func @step
// EACH-SAME: tensor<1x8x8xf32> {sgd.rows = array<i64: 0, 1>, sgd.whole = array<i64: 0, 5>}
// EACH-SAME: tensor<1x8x8xf32> {sgd.rows = array<i64: 4, 1>, sgd.whole = array<i64: 0, 5>}
// EACH-NOT: sgd.while
// EACH-COUNT-5: sgd.dot_general
// EACH-NOT: sgd.dot_general
func.func @step(%w: tensor<5x8x8xf32>, %noise: tensor<5x8xf32>, %x: tensor<4x8xf32>) -> (tensor<5x8x8xf32> {sgd.carry = 0 : i64}, tensor<4x8xf32>, tensor<i32>) {
  %c0 = arith.constant dense<0> : tensor<i32>
  %c7 = arith.constant dense<7> : tensor<i32>
  %f:5 = sgd.while (%c0, %c7, %w, %noise, %x) trips 5 do {
  ^bb0(%i: tensor<i32>, %count: tensor<i32>, %ws: tensor<5x8x8xf32>, %ns: tensor<5x8xf32>, %h: tensor<4x8xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %two = arith.constant dense<2> : tensor<i32>
    %slice = sgd.dynamic_slice %ws, %i, %zero, %zero sizes = [1, 8, 8] : (tensor<5x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %layer = sgd.reshape %slice : tensor<1x8x8xf32> -> tensor<8x8xf32>
    %row = sgd.dynamic_slice %ns, %i, %zero sizes = [1, 8] : (tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %bias = sgd.reshape %row : tensor<1x8xf32> -> tensor<8xf32>
    %biases = sgd.broadcast_in_dim %bias dims = [1] : tensor<8xf32> -> tensor<4x8xf32>
    %product = sgd.dot_general %h, %layer batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %next = arith.addf %product, %biases : tensor<4x8xf32>
    %j = arith.addi %i, %one : tensor<i32>
    %more = arith.addi %count, %two : tensor<i32>
    sgd.yield %j, %more, %ws, %ns, %next : tensor<i32>, tensor<i32>, tensor<5x8x8xf32>, tensor<5x8xf32>, tensor<4x8xf32>
  } : (tensor<i32>, tensor<i32>, tensor<5x8x8xf32>, tensor<5x8xf32>, tensor<4x8xf32>) -> (tensor<i32>, tensor<i32>, tensor<5x8x8xf32>, tensor<5x8xf32>, tensor<4x8xf32>)
  %next = math.exp %w : tensor<5x8x8xf32>
  return %next, %f#4, %f#1 : tensor<5x8x8xf32>, tensor<4x8xf32>, tensor<i32>
}
