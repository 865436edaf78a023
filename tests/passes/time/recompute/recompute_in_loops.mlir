// RUN: sgd-opt %s --sgd-recompute-in-loops=count=1 --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=ONE
// RUN: sgd-opt %s --sgd-recompute-in-loops=count=9 --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=ALL
// RUN: sgd-opt %s --sgd-recompute-in-loops=free=true --split-input-file | FileCheck %s --check-prefix=FREE

// The forward loop stacks exp(x) and tanh(exp(x)). The last is computed from the first; with both gone, the state that
// an iteration begins with is stacked, once.
// ONE-LABEL: @layers
// ONE-SAME: sgd.decisions = [#sgd.decision<recompute, {chosen = "loop", flops = 5120 : i64, freed_bytes = 2048 : i64
// ONE: sgd.while
// ONE-COUNT-1: sgd.dynamic_update_slice
// ONE-NOT: sgd.dynamic_update_slice
// ONE: sgd.while
// ONE: %[[I:.*]] = arith.subi
// ONE: %[[SLICE:.*]] = sgd.dynamic_slice %{{.*}}, %[[I]]
// ONE: %[[EXP:.*]] = sgd.reshape %[[SLICE]]
// ONE: math.tanh %[[EXP]]
// ONE-NOT: math.exp
// ONE: return
func.func @layers(%x: tensor<64xf32>, %g: tensor<64xf32>) -> tensor<64xf32> {
  %i = arith.constant dense<0> : tensor<i32>
  %stack = arith.constant dense<0.0> : tensor<8x64xf32>
  %0:4 = sgd.while(%i, %x, %stack, %stack) trips 8 do {
  ^bb0(%n: tensor<i32>, %state: tensor<64xf32>, %exps: tensor<8x64xf32>, %tanhs: tensor<8x64xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %n, %one : tensor<i32>
    %exp = math.exp %state : tensor<64xf32>
    %tanh = math.tanh %exp : tensor<64xf32>
    %e = sgd.broadcast_in_dim %exp dims = [1] : tensor<64xf32> -> tensor<1x64xf32>
    %t = sgd.broadcast_in_dim %tanh dims = [1] : tensor<64xf32> -> tensor<1x64xf32>
    %1 = sgd.dynamic_update_slice %exps, %e, %n, %zero : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<8x64xf32>
    %2 = sgd.dynamic_update_slice %tanhs, %t, %n, %zero : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<8x64xf32>
    %after = arith.subf %tanh, %exp : tensor<64xf32>
    sgd.yield %next, %after, %1, %2 : tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>
  } : (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>)
  %3:4 = sgd.while(%i, %g, %0#2, %0#3) trips 8 do {
  ^bb0(%n: tensor<i32>, %gradient: tensor<64xf32>, %exps: tensor<8x64xf32>, %tanhs: tensor<8x64xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %seven = arith.constant dense<7> : tensor<i32>
    %next = arith.addi %n, %one : tensor<i32>
    %at = arith.subi %seven, %n : tensor<i32>
    %e = sgd.dynamic_slice %exps, %at, %zero sizes = [1, 64] : (tensor<8x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %t = sgd.dynamic_slice %tanhs, %at, %zero sizes = [1, 64] : (tensor<8x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %exp = sgd.reshape %e : tensor<1x64xf32> -> tensor<64xf32>
    %tanh = sgd.reshape %t : tensor<1x64xf32> -> tensor<64xf32>
    %4 = arith.mulf %gradient, %exp : tensor<64xf32>
    %5 = arith.addf %4, %tanh : tensor<64xf32>
    sgd.yield %next, %5, %exps, %tanhs : tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>
  } : (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>)
  return %3#1 : tensor<64xf32>
}

// -----

// A slice that may be outside of the stack is clamped: what it would be computed from is not known.
// ALL-LABEL: @unknown_index
// ALL-NOT: decision<recompute
// ALL: sgd.dynamic_update_slice
func.func @unknown_index(%x: tensor<64xf32>, %j: tensor<i32>) -> tensor<64xf32> {
  %i = arith.constant dense<0> : tensor<i32>
  %stack = arith.constant dense<0.0> : tensor<8x64xf32>
  %0:3 = sgd.while(%i, %x, %stack) trips 8 do {
  ^bb0(%n: tensor<i32>, %state: tensor<64xf32>, %exps: tensor<8x64xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %n, %one : tensor<i32>
    %exp = math.exp %state : tensor<64xf32>
    %e = sgd.broadcast_in_dim %exp dims = [1] : tensor<64xf32> -> tensor<1x64xf32>
    %1 = sgd.dynamic_update_slice %exps, %e, %n, %zero : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<8x64xf32>
    sgd.yield %next, %exp, %1 : tensor<i32>, tensor<64xf32>, tensor<8x64xf32>
  } : (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>) -> (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>)
  %3:3 = sgd.while(%j, %x, %0#2) trips 8 do {
  ^bb0(%n: tensor<i32>, %sum: tensor<64xf32>, %exps: tensor<8x64xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %n, %one : tensor<i32>
    %e = sgd.dynamic_slice %exps, %n, %zero sizes = [1, 64] : (tensor<8x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %exp = sgd.reshape %e : tensor<1x64xf32> -> tensor<64xf32>
    %5 = arith.addf %sum, %exp : tensor<64xf32>
    sgd.yield %next, %5, %exps : tensor<i32>, tensor<64xf32>, tensor<8x64xf32>
  } : (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>) -> (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>)
  return %3#1 : tensor<64xf32>
}

// -----

// Neither stack alone frees anything, since the state would be stacked instead; both together do.
// ALL-LABEL: @state
// ALL-SAME: freed_bytes = 2048
// ALL: sgd.while
// ALL: ^bb0(%[[N:.*]]: tensor<i32>, %[[STATE:.*]]: tensor<64xf32>, %[[STACK:.*]]: tensor<8x64xf32>):
// ALL: %[[SLICE:.*]] = sgd.reshape %[[STATE]]
// ALL: sgd.dynamic_update_slice %[[STACK]], %[[SLICE]], %[[N]]
// ALL-NOT: sgd.dynamic_update_slice
// ALL: sgd.while
// ALL: math.exp
// ALL: math.tanh
// ALL: return
func.func @state(%x: tensor<64xf32>, %g: tensor<64xf32>) -> tensor<64xf32> {
  %i = arith.constant dense<0> : tensor<i32>
  %stack = arith.constant dense<0.0> : tensor<8x64xf32>
  %0:4 = sgd.while(%i, %x, %stack, %stack) trips 8 do {
  ^bb0(%n: tensor<i32>, %state: tensor<64xf32>, %exps: tensor<8x64xf32>, %tanhs: tensor<8x64xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %n, %one : tensor<i32>
    %exp = math.exp %state : tensor<64xf32>
    %tanh = math.tanh %state : tensor<64xf32>
    %e = sgd.broadcast_in_dim %exp dims = [1] : tensor<64xf32> -> tensor<1x64xf32>
    %t = sgd.broadcast_in_dim %tanh dims = [1] : tensor<64xf32> -> tensor<1x64xf32>
    %1 = sgd.dynamic_update_slice %exps, %e, %n, %zero : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<8x64xf32>
    %2 = sgd.dynamic_update_slice %tanhs, %t, %n, %zero : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<8x64xf32>
    %after = arith.subf %tanh, %exp : tensor<64xf32>
    sgd.yield %next, %after, %1, %2 : tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>
  } : (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>)
  %3:4 = sgd.while(%i, %g, %0#2, %0#3) trips 8 do {
  ^bb0(%n: tensor<i32>, %gradient: tensor<64xf32>, %exps: tensor<8x64xf32>, %tanhs: tensor<8x64xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %seven = arith.constant dense<7> : tensor<i32>
    %next = arith.addi %n, %one : tensor<i32>
    %at = arith.subi %seven, %n : tensor<i32>
    %e = sgd.dynamic_slice %exps, %at, %zero sizes = [1, 64] : (tensor<8x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %t = sgd.dynamic_slice %tanhs, %at, %zero sizes = [1, 64] : (tensor<8x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %exp = sgd.reshape %e : tensor<1x64xf32> -> tensor<64xf32>
    %tanh = sgd.reshape %t : tensor<1x64xf32> -> tensor<64xf32>
    %4 = arith.mulf %gradient, %exp : tensor<64xf32>
    %5 = arith.addf %4, %tanh : tensor<64xf32>
    sgd.yield %next, %5, %exps, %tanhs : tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>
  } : (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>)
  return %3#1 : tensor<64xf32>
}

// -----

// The derivative of a sigmoid takes two instructions for each element, and goes; the sigmoid is a function, and stays. In @layers nothing is as cheap.
// FREE-LABEL: @layers
// FREE-COUNT-2: sgd.dynamic_update_slice
// FREE-LABEL: @sigmoid
// FREE-NOT: decision<recompute
// FREE: sgd.while
// FREE: math.exp
// FREE-COUNT-1: sgd.dynamic_update_slice
// FREE-NOT: sgd.dynamic_update_slice
// FREE: sgd.while
// FREE-COUNT-1: sgd.dynamic_slice
// FREE-NOT: sgd.dynamic_slice
// FREE: arith.subf
// FREE: arith.mulf
// FREE: return
func.func @sigmoid(%x: tensor<64xf32>, %g: tensor<64xf32>) -> tensor<64xf32> {
  %i = arith.constant dense<0> : tensor<i32>
  %stack = arith.constant dense<0.0> : tensor<8x64xf32>
  %0:4 = sgd.while(%i, %x, %stack, %stack) trips 8 do {
  ^bb0(%n: tensor<i32>, %state: tensor<64xf32>, %ys: tensor<8x64xf32>, %slopes: tensor<8x64xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %ones = arith.constant dense<1.0> : tensor<64xf32>
    %next = arith.addi %n, %one : tensor<i32>
    %minus = arith.negf %state : tensor<64xf32>
    %exp = math.exp %minus : tensor<64xf32>
    %sum = arith.addf %exp, %ones : tensor<64xf32>
    %y = arith.divf %ones, %sum : tensor<64xf32>
    %rest = arith.subf %ones, %y : tensor<64xf32>
    %slope = arith.mulf %y, %rest : tensor<64xf32>
    %a = sgd.broadcast_in_dim %y dims = [1] : tensor<64xf32> -> tensor<1x64xf32>
    %b = sgd.broadcast_in_dim %slope dims = [1] : tensor<64xf32> -> tensor<1x64xf32>
    %1 = sgd.dynamic_update_slice %ys, %a, %n, %zero : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<8x64xf32>
    %2 = sgd.dynamic_update_slice %slopes, %b, %n, %zero : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<8x64xf32>
    sgd.yield %next, %y, %1, %2 : tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>
  } : (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>)
  %3:4 = sgd.while(%i, %g, %0#2, %0#3) trips 8 do {
  ^bb0(%n: tensor<i32>, %gradient: tensor<64xf32>, %ys: tensor<8x64xf32>, %slopes: tensor<8x64xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %seven = arith.constant dense<7> : tensor<i32>
    %next = arith.addi %n, %one : tensor<i32>
    %at = arith.subi %seven, %n : tensor<i32>
    %a = sgd.dynamic_slice %ys, %at, %zero sizes = [1, 64] : (tensor<8x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %b = sgd.dynamic_slice %slopes, %at, %zero sizes = [1, 64] : (tensor<8x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %y = sgd.reshape %a : tensor<1x64xf32> -> tensor<64xf32>
    %slope = sgd.reshape %b : tensor<1x64xf32> -> tensor<64xf32>
    %4 = arith.mulf %gradient, %slope : tensor<64xf32>
    %5 = arith.addf %4, %y : tensor<64xf32>
    sgd.yield %next, %5, %ys, %slopes : tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>
  } : (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> (tensor<i32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>)
  return %3#1 : tensor<64xf32>
}
