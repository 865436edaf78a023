// Batches whose rows are not equal parts are padded.
// RUN: sgd-opt %s --sgd-pad-batch --split-input-file --verify-diagnostics | FileCheck %s

sgd.mesh @mesh = <["data"=5]> {sgd.sequential = #sgd<axis"micro"=2>}
!rows = tensor<16x8xf32>

// Rows pass through the first matmul; sums over rows read zeros in their padding.
// CHECK-LABEL: @linear(
// CHECK-SAME: %[[X:.*]]: tensor<20x8xf32> {{.*}}sgd.unpadded_type = tensor<16x8xf32>}, %[[W:.*]]: tensor<8x4xf32>)
// CHECK-SAME: -> (tensor<20x4xf32> {sgd.unpadded_type = tensor<16x4xf32>}, tensor<8x4xf32>, tensor<f32>)
// expected-remark @+1 {{x has 16 rows, which do not divide into 2 equal parts on each rank; 20 are computed, 4 of them padding}}
func.func @linear(%x: !rows {sgd.name = "x", sgd.sequential_dim = 0 : i64, sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>},
                  %w: tensor<8x4xf32>) -> (tensor<16x4xf32>, tensor<8x4xf32>, tensor<f32>) {
  // CHECK-DAG: %[[IOTA:.*]] = sgd.iota dimension = 0 : tensor<20x8xi32>
  // CHECK-DAG: %[[LIMIT:.*]] = arith.constant dense<16> : tensor<20x8xi32>
  // CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[IOTA]], %[[LIMIT]]
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<20x8xf32>
  // CHECK: %[[FILLED:.*]] = arith.select %[[INSIDE]], %[[X]], %[[ZERO]]
  // CHECK: %[[Y:.*]] = sgd.dot_general %[[X]], %[[W]]
  // CHECK: %[[SUMMED:.*]] = arith.select {{.*}}, %[[Y]], {{.*}} : tensor<20x4xi1>
  // CHECK: sgd.reduce add %[[SUMMED]]
  // CHECK: sgd.dot_general %[[FILLED]], %[[SUMMED]]
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : !rows, tensor<8x4xf32> -> tensor<16x4xf32>
  %l = sgd.reduce add %y dimensions = [0, 1] : tensor<16x4xf32> -> tensor<f32>
  %g = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !rows, tensor<16x4xf32> -> tensor<8x4xf32>
  return %y, %g, %l : tensor<16x4xf32>, tensor<8x4xf32>, tensor<f32>
}

// A maximum reads the least value, and rows of several elements keep their padding behind them.
// CHECK-LABEL: @tokens(
// expected-remark @+1 {{argument 0 has 6 rows, which do not divide into 2 equal parts on each rank; 10 are computed, 4 of them padding}}
func.func @tokens(%x: tensor<6x3x4xf32> {sgd.sequential_dim = 0 : i64, sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}, {}]>}) -> tensor<4xf32> {
  // CHECK: %[[FLAT:.*]] = sgd.reshape %{{.*}} : tensor<10x3x4xf32> -> tensor<30x4xf32>
  // CHECK: arith.constant dense<18> : tensor<30x4xi32>
  // CHECK: %[[LEAST:.*]] = arith.constant dense<0xFF800000> : tensor<30x4xf32>
  // CHECK: %[[FILLED:.*]] = arith.select %{{.*}}, %[[FLAT]], %[[LEAST]]
  // CHECK: sgd.reduce max %[[FILLED]]
  %0 = sgd.reshape %x : tensor<6x3x4xf32> -> tensor<18x4xf32>
  %1 = sgd.reduce max %0 dimensions = [0] : tensor<18x4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=4>}
!rows = tensor<10x4xf32>

// Ops that read other rows take them without padding; a step goes on with what it was given.
// CHECK-LABEL: @moved(
// CHECK-SAME: %[[X:.*]]: tensor<12x4xf32>
// CHECK-SAME: -> (tensor<12x4xf32> {sgd.carry = 0 : i64, sgd.unpadded_type = tensor<10x4xf32>})
// expected-remark @+1 {{x has 10 rows, which do not divide into 4 equal parts on each rank; 12 are computed, 2 of them padding}}
func.func @moved(%x: !rows {sgd.name = "x", sgd.sequential_dim = 0 : i64}) -> (!rows {sgd.carry = 0 : i64}) {
  // CHECK: %[[ROWS:.*]] = sgd.slice %[[X]] starts = [0, 0] limits = [10, 4] strides = [1, 1]
  // CHECK: %[[REVERSED:.*]] = sgd.reverse %[[ROWS]]
  // CHECK: %[[PADDED:.*]] = sgd.pad %[[REVERSED]], %{{.*}} low = [0, 0] high = [2, 0]
  // CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[PADDED]] : tensor<12x4xf32>
  // CHECK: return %[[SUM]]
  %0 = sgd.reverse %x dimensions = [0] : !rows
  %1 = arith.addf %x, %0 : !rows
  return %1 : !rows
}

// Values in a loop have padding throughout. A row that is chosen by its position is clamped to the rows that there are.
// CHECK-LABEL: @loop(
// expected-remark @+1 {{argument 0 has 10 rows}}
func.func @loop(%x: !rows {sgd.sequential_dim = 0 : i64}, %at: tensor<i32>) -> (!rows, tensor<1x4xf32>) {
  %zero = arith.constant dense<0> : tensor<i32>
  // CHECK: %[[LOOP:.*]]:2 = sgd.while
  // CHECK: ^bb0(%{{.*}}: tensor<i32>, %[[Y:.*]]: tensor<12x4xf32>):
  // CHECK: math.tanh %[[Y]] : tensor<12x4xf32>
  %y:2 = sgd.while(%zero, %x) trips 3 do {
  ^bb0(%i: tensor<i32>, %y: !rows):
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %i, %one : tensor<i32>
    %z = math.tanh %y : !rows
    sgd.yield %next, %z : tensor<i32>, !rows
  } : (tensor<i32>, !rows) -> (tensor<i32>, !rows)
  // CHECK: sgd.dynamic_slice %{{.*}} sizes = [1, 4] : (tensor<10x4xf32>
  %row = sgd.dynamic_slice %x, %at, %zero sizes = [1, 4] : (!rows, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
  return %y#1, %row : !rows, tensor<1x4xf32>
}

// CHECK-LABEL: @too_few(
// expected-warning @+1 {{argument 0 has 6 rows, 2 for each part of 'micro': 1 of 4 parts have none and compute padding only; choose 'micro' = 3}}
func.func @too_few(%x: tensor<6x4xf32> {sgd.sequential_dim = 0 : i64}) -> tensor<6x4xf32> {
  return %x : tensor<6x4xf32>
}

// CHECK-LABEL: @equal(
// CHECK-SAME: %{{.*}}: tensor<8x4xf32> {sgd.sequential_dim = 0 : i64}) -> tensor<8x4xf32>
func.func @equal(%x: tensor<8x4xf32> {sgd.sequential_dim = 0 : i64}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}
