// RUN: sgd-opt %s --sgd-hoist-matmuls --cse --split-input-file | FileCheck %s

// The forward loop of a recurrent layer: the input's projection is computed in front of it, the hidden state's stays.
// CHECK-LABEL: @forward
// CHECK-SAME: sgd.decisions = [#sgd.decision<hoist, {chosen = "outside of the loop", {{.*}}why = "loop at {{.*}}: 1 of its matmuls is computed for all 6 iterations at once, outside of it; 3072 bytes are held for that"}>]
// CHECK: %[[ALL:.*]] = sgd.dot_general %arg0, %arg1 batching = [] x [] contracting = [2] x [0] : tensor<6x4x64xf32>, tensor<64x32xf32> -> tensor<6x4x32xf32>
// CHECK: sgd.while({{.*}}%[[ALL]]) trips 6
// CHECK: %[[ROW:.*]] = sgd.dynamic_slice
// CHECK: %[[IN:.*]] = sgd.reshape %[[ROW]] : tensor<1x4x32xf32> -> tensor<4x32xf32>
// CHECK: %[[HIDDEN:.*]] = sgd.dot_general
// CHECK-NOT: sgd.dot_general
// CHECK: arith.addf %[[IN]], %[[HIDDEN]]
// CHECK: return
func.func @forward(%xs: tensor<6x4x64xf32>, %w: tensor<64x32xf32>, %u: tensor<32x32xf32>, %h0: tensor<4x32xf32>) -> (tensor<6x4x32xf32>) {
  %i = arith.constant dense<0> : tensor<i32>
  %stack = arith.constant dense<0.0> : tensor<6x4x32xf32>
  %0:6 = sgd.while(%i, %xs, %w, %u, %h0, %stack) trips 6 do {
  ^bb0(%n: tensor<i32>, %rows: tensor<6x4x64xf32>, %in: tensor<64x32xf32>, %hidden: tensor<32x32xf32>, %h: tensor<4x32xf32>, %hs: tensor<6x4x32xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %n, %one : tensor<i32>
    %row = sgd.dynamic_slice %rows, %n, %zero, %zero sizes = [1, 4, 64] : (tensor<6x4x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x64xf32>
    %x = sgd.reshape %row : tensor<1x4x64xf32> -> tensor<4x64xf32>
    %a = sgd.dot_general %x, %in batching = [] x [] contracting = [1] x [0] : tensor<4x64xf32>, tensor<64x32xf32> -> tensor<4x32xf32>
    %b = sgd.dot_general %h, %hidden batching = [] x [] contracting = [1] x [0] : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<4x32xf32>
    %c = arith.addf %a, %b : tensor<4x32xf32>
    %d = math.tanh %c : tensor<4x32xf32>
    %e = sgd.reshape %d : tensor<4x32xf32> -> tensor<1x4x32xf32>
    %more = sgd.dynamic_update_slice %hs, %e, %n, %zero, %zero : (tensor<6x4x32xf32>, tensor<1x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x4x32xf32>
    sgd.yield %next, %rows, %in, %hidden, %d, %more : tensor<i32>, tensor<6x4x64xf32>, tensor<64x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>, tensor<6x4x32xf32>
  } : (tensor<i32>, tensor<6x4x64xf32>, tensor<64x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>, tensor<6x4x32xf32>) -> (tensor<i32>, tensor<6x4x64xf32>, tensor<64x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>, tensor<6x4x32xf32>)
  return %0#5 : tensor<6x4x32xf32>
}

// -----

// The backward loop steps over rows in reverse. Both gradients of weights, one of which goes to two sums, and that of the inputs share one new stack, of `dg`.
// CHECK-LABEL: @backward
// CHECK-SAME: 3 of its matmuls are computed for all 6 iterations at once, outside of it; 3072 bytes are held for that
// CHECK: %[[LOOP:.*]]:{{[0-9]+}} = sgd.while
// CHECK: sgd.dot_general {{.*}} : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<4x32xf32>
// CHECK-NOT: sgd.dot_general
// CHECK: sgd.dynamic_update_slice
// CHECK-NOT: sgd.dynamic_update_slice
// CHECK: sgd.yield
// CHECK-DAG: sgd.dot_general %[[DG:[^ ]*]], %arg2 batching = [] x [] contracting = [2] x [1] : tensor<6x4x32xf32>, tensor<64x32xf32> -> tensor<6x4x64xf32>
// CHECK-DAG: %[[DW:.*]] = sgd.dot_general %arg1, %[[DG]] batching = [] x [] contracting = [0, 1] x [0, 1] : tensor<6x4x64xf32>, tensor<6x4x32xf32> -> tensor<64x32xf32>
// CHECK-DAG: sgd.dot_general %arg4, %[[DG]] batching = [] x [] contracting = [0, 1] x [0, 1] : tensor<6x4x32xf32>, tensor<6x4x32xf32> -> tensor<32x32xf32>
// CHECK-DAG: %[[LEFT:.*]] = sgd.slice %[[DW]] starts = [0, 0]
// CHECK-DAG: %[[RIGHT:.*]] = sgd.slice %[[DW]] starts = [0, 16]
// CHECK-DAG: arith.addf {{.*}}%[[LEFT]]
// CHECK-DAG: arith.addf {{.*}}%[[RIGHT]]
// CHECK: return
func.func @backward(%dys: tensor<6x4x32xf32>, %xs: tensor<6x4x64xf32>, %w: tensor<64x32xf32>, %u: tensor<32x32xf32>, %hs: tensor<6x4x32xf32>, %first: tensor<64x16xf32>)
    -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<32x32xf32>, tensor<6x4x64xf32>) {
  %i = arith.constant dense<0> : tensor<i32>
  %zeros = arith.constant dense<0.0> : tensor<4x32xf32>
  %du0 = arith.constant dense<0.0> : tensor<32x32xf32>
  %stack = arith.constant dense<0.0> : tensor<6x4x64xf32>
  %0:11 = sgd.while(%i, %dys, %xs, %w, %u, %hs, %zeros, %first, %first, %du0, %stack) trips 6 do {
  ^bb0(%n: tensor<i32>, %gs: tensor<6x4x32xf32>, %rows: tensor<6x4x64xf32>, %in: tensor<64x32xf32>, %hidden: tensor<32x32xf32>, %before: tensor<6x4x32xf32>, %dh: tensor<4x32xf32>,
       %left: tensor<64x16xf32>, %right: tensor<64x16xf32>, %du: tensor<32x32xf32>, %dxs: tensor<6x4x64xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %last = arith.constant dense<5> : tensor<i32>
    %next = arith.addi %n, %one : tensor<i32>
    %at = arith.subi %last, %n : tensor<i32>
    %g_row = sgd.dynamic_slice %gs, %at, %zero, %zero sizes = [1, 4, 32] : (tensor<6x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x32xf32>
    %x_row = sgd.dynamic_slice %rows, %at, %zero, %zero sizes = [1, 4, 64] : (tensor<6x4x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x64xf32>
    %h_row = sgd.dynamic_slice %before, %at, %zero, %zero sizes = [1, 4, 32] : (tensor<6x4x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x32xf32>
    %g = sgd.reshape %g_row : tensor<1x4x32xf32> -> tensor<4x32xf32>
    %x = sgd.reshape %x_row : tensor<1x4x64xf32> -> tensor<4x64xf32>
    %h = sgd.reshape %h_row : tensor<1x4x32xf32> -> tensor<4x32xf32>
    %sum = arith.addf %g, %dh : tensor<4x32xf32>
    %dg = arith.mulf %sum, %h : tensor<4x32xf32>
    %dh_next = sgd.dot_general %dg, %hidden batching = [] x [] contracting = [1] x [1] : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<4x32xf32>
    %dw = sgd.dot_general %x, %dg batching = [] x [] contracting = [0] x [0] : tensor<4x64xf32>, tensor<4x32xf32> -> tensor<64x32xf32>
    %dw_left = sgd.slice %dw starts = [0, 0] limits = [64, 16] strides = [1, 1] : tensor<64x32xf32> -> tensor<64x16xf32>
    %dw_right = sgd.slice %dw starts = [0, 16] limits = [64, 32] strides = [1, 1] : tensor<64x32xf32> -> tensor<64x16xf32>
    %new_left = arith.addf %left, %dw_left : tensor<64x16xf32>
    %new_right = arith.addf %dw_right, %right : tensor<64x16xf32>
    %du_row = sgd.dot_general %h, %dg batching = [] x [] contracting = [0] x [0] : tensor<4x32xf32>, tensor<4x32xf32> -> tensor<32x32xf32>
    %du_next = arith.addf %du, %du_row : tensor<32x32xf32>
    %dx = sgd.dot_general %dg, %in batching = [] x [] contracting = [1] x [1] : tensor<4x32xf32>, tensor<64x32xf32> -> tensor<4x64xf32>
    %dx_row = sgd.broadcast_in_dim %dx dims = [1, 2] : tensor<4x64xf32> -> tensor<1x4x64xf32>
    %dxs_next = sgd.dynamic_update_slice %dxs, %dx_row, %at, %zero, %zero : (tensor<6x4x64xf32>, tensor<1x4x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x4x64xf32>
    sgd.yield %next, %gs, %rows, %in, %hidden, %before, %dh_next, %new_left, %new_right, %du_next, %dxs_next
      : tensor<i32>, tensor<6x4x32xf32>, tensor<6x4x64xf32>, tensor<64x32xf32>, tensor<32x32xf32>, tensor<6x4x32xf32>, tensor<4x32xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<32x32xf32>, tensor<6x4x64xf32>
  } : (tensor<i32>, tensor<6x4x32xf32>, tensor<6x4x64xf32>, tensor<64x32xf32>, tensor<32x32xf32>, tensor<6x4x32xf32>, tensor<4x32xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<32x32xf32>, tensor<6x4x64xf32>)
   -> (tensor<i32>, tensor<6x4x32xf32>, tensor<6x4x64xf32>, tensor<64x32xf32>, tensor<32x32xf32>, tensor<6x4x32xf32>, tensor<4x32xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<32x32xf32>, tensor<6x4x64xf32>)
  return %0#7, %0#8, %0#9, %0#10 : tensor<64x16xf32>, tensor<64x16xf32>, tensor<32x32xf32>, tensor<6x4x64xf32>
}

// -----

// Gradients of parts of a batch are summed to save memory: no trip waits for another one, and the matmul stays.
// CHECK-LABEL: @accumulation
// CHECK-NOT: sgd.decisions
// CHECK: sgd.while
// CHECK: sgd.dot_general
// CHECK: sgd.yield
func.func @accumulation(%xs: tensor<6x4x64xf32>, %sum: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %i = arith.constant dense<0> : tensor<i32>
  %0:3 = sgd.while(%i, %xs, %sum) trips 6 do {
  ^bb0(%n: tensor<i32>, %rows: tensor<6x4x64xf32>, %dw: tensor<64x64xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %n, %one : tensor<i32>
    %row = sgd.dynamic_slice %rows, %n, %zero, %zero sizes = [1, 4, 64] : (tensor<6x4x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x64xf32>
    %x = sgd.reshape %row : tensor<1x4x64xf32> -> tensor<4x64xf32>
    %y = math.tanh %x : tensor<4x64xf32>
    %part = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
    %more = arith.addf %dw, %part : tensor<64x64xf32>
    sgd.yield %next, %rows, %more : tensor<i32>, tensor<6x4x64xf32>, tensor<64x64xf32>
  } : (tensor<i32>, tensor<6x4x64xf32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<6x4x64xf32>, tensor<64x64xf32>)
  return %0#2 : tensor<64x64xf32>
}

// -----

// What is widened before it is added is not rounded to bf16 behind the loop. The sum that something else reads in the loop stays.
// CHECK-LABEL: @widened
// CHECK-SAME: 1 of its matmuls is computed
// CHECK: sgd.while
// CHECK: sgd.dot_general {{.*}} -> tensor<64x64xf32>
// CHECK: arith.subf
// CHECK: sgd.yield
// CHECK: sgd.dot_general {{.*}} contracting = [0, 1] x [0, 1] : tensor<6x4x64xbf16>, tensor<6x4x64xbf16> -> tensor<64x64xf32>
// CHECK-NOT: arith.extf
// CHECK: return
func.func @widened(%xs: tensor<6x4x64xbf16>, %state: tensor<4x64xbf16>, %sum: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %i = arith.constant dense<0> : tensor<i32>
  %0:6 = sgd.while(%i, %xs, %state, %sum, %sum, %sum) trips 6 do {
  ^bb0(%n: tensor<i32>, %rows: tensor<6x4x64xbf16>, %h: tensor<4x64xbf16>, %dw: tensor<64x64xf32>, %read: tensor<64x64xf32>, %reader: tensor<64x64xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %n, %one : tensor<i32>
    %row = sgd.dynamic_slice %rows, %n, %zero, %zero sizes = [1, 4, 64] : (tensor<6x4x64xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x64xbf16>
    %x = sgd.reshape %row : tensor<1x4x64xbf16> -> tensor<4x64xbf16>
    %y = arith.addf %x, %h : tensor<4x64xbf16>
    %h_next = math.tanh %y : tensor<4x64xbf16>
    %part = sgd.dot_general %x, %h_next batching = [] x [] contracting = [0] x [0] : tensor<4x64xbf16>, tensor<4x64xbf16> -> tensor<64x64xbf16>
    %wide = arith.extf %part : tensor<64x64xbf16> to tensor<64x64xf32>
    %more = arith.addf %dw, %wide : tensor<64x64xf32>
    %other = sgd.dot_general %h_next, %h_next batching = [] x [] contracting = [0] x [0] : tensor<4x64xbf16>, tensor<4x64xbf16> -> tensor<64x64xf32>
    %read_next = arith.addf %read, %other : tensor<64x64xf32>
    %reader_next = arith.subf %reader, %read_next : tensor<64x64xf32>
    sgd.yield %next, %rows, %h_next, %more, %read_next, %reader_next : tensor<i32>, tensor<6x4x64xbf16>, tensor<4x64xbf16>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  } : (tensor<i32>, tensor<6x4x64xbf16>, tensor<4x64xbf16>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<6x4x64xbf16>, tensor<4x64xbf16>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>)
  return %0#3, %0#5 : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// With many rows in a trip, what is read for the weights is less than what stacks would take; two summands of one sum go behind the loop one by one.
// CHECK-LABEL: @many_rows
// CHECK-NOT: sgd.decisions
// CHECK-LABEL: @two_summands
// CHECK-SAME: 2 of its matmuls are computed
// CHECK: sgd.while
// CHECK-NOT: sgd.dot_general
// CHECK: sgd.yield
// CHECK-COUNT-2: sgd.dot_general {{.*}} contracting = [0, 1] x [0, 1]
// CHECK: return
func.func @many_rows(%xs: tensor<6x256x16xf32>, %w: tensor<16x16xf32>, %h0: tensor<256x16xf32>) -> tensor<256x16xf32> {
  %i = arith.constant dense<0> : tensor<i32>
  %0:4 = sgd.while(%i, %xs, %w, %h0) trips 6 do {
  ^bb0(%n: tensor<i32>, %rows: tensor<6x256x16xf32>, %in: tensor<16x16xf32>, %h: tensor<256x16xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %n, %one : tensor<i32>
    %row = sgd.dynamic_slice %rows, %n, %zero, %zero sizes = [1, 256, 16] : (tensor<6x256x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x16xf32>
    %x = sgd.reshape %row : tensor<1x256x16xf32> -> tensor<256x16xf32>
    %a = sgd.dot_general %x, %in batching = [] x [] contracting = [1] x [0] : tensor<256x16xf32>, tensor<16x16xf32> -> tensor<256x16xf32>
    %b = arith.mulf %a, %h : tensor<256x16xf32>
    sgd.yield %next, %rows, %in, %b : tensor<i32>, tensor<6x256x16xf32>, tensor<16x16xf32>, tensor<256x16xf32>
  } : (tensor<i32>, tensor<6x256x16xf32>, tensor<16x16xf32>, tensor<256x16xf32>) -> (tensor<i32>, tensor<6x256x16xf32>, tensor<16x16xf32>, tensor<256x16xf32>)
  return %0#3 : tensor<256x16xf32>
}
func.func @two_summands(%xs: tensor<6x4x64xf32>, %state: tensor<4x64xf32>, %sum: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %i = arith.constant dense<0> : tensor<i32>
  %0:4 = sgd.while(%i, %xs, %state, %sum) trips 6 do {
  ^bb0(%n: tensor<i32>, %rows: tensor<6x4x64xf32>, %h: tensor<4x64xf32>, %dw: tensor<64x64xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %n, %one : tensor<i32>
    %row = sgd.dynamic_slice %rows, %n, %zero, %zero sizes = [1, 4, 64] : (tensor<6x4x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x64xf32>
    %x = sgd.reshape %row : tensor<1x4x64xf32> -> tensor<4x64xf32>
    %y = arith.addf %x, %h : tensor<4x64xf32>
    %h_next = math.tanh %y : tensor<4x64xf32>
    %a = sgd.dot_general %x, %h_next batching = [] x [] contracting = [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
    %b = sgd.dot_general %h_next, %h_next batching = [] x [] contracting = [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
    %both = arith.addf %a, %b : tensor<64x64xf32>
    %more = arith.addf %dw, %both : tensor<64x64xf32>
    sgd.yield %next, %rows, %h_next, %more : tensor<i32>, tensor<6x4x64xf32>, tensor<4x64xf32>, tensor<64x64xf32>
  } : (tensor<i32>, tensor<6x4x64xf32>, tensor<4x64xf32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<6x4x64xf32>, tensor<4x64xf32>, tensor<64x64xf32>)
  return %0#3 : tensor<64x64xf32>
}
