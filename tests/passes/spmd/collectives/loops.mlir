// Collectives that need not run in every iteration leave the loop.
// RUN: sgd-opt %s --sgd-place-reductions --split-input-file | FileCheck %s

sgd.mesh @mesh = <["data"=2]>
!whole = tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!partial = tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!rows = tensor<4x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!shard = tensor<8x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>

// A gradient that is only accumulated, scaled: one sum, of what the loop has accumulated.
// CHECK-LABEL: @accumulate
func.func @accumulate(%x: !rows, %g: !rows) -> !whole {
  %zero = arith.constant dense<0.0> : !whole
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
  // CHECK: %[[LOOP:.*]]:3 = sgd.while({{.*}}, %[[ZERO]]) trips 4 do {
  // CHECK-NOT: sgd.reshard
  // CHECK: sgd.yield
  // CHECK: %[[SUM:.*]] = sgd.reshard %[[LOOP]]#2 : {{.*}} unreduced={"data"}{{.*}} -> tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  // CHECK: return %[[SUM]]
  %0:3 = sgd.while(%x, %g, %zero) trips 4 do {
  ^bb0(%a: !rows, %b: !rows, %sum: !whole):
    %1 = sgd.dot_general %a, %b batching = [] x [] contracting = [0] x [0] : !rows, !rows -> !partial
    %2 = sgd.reshard %1 : !partial -> !whole
    %scale = arith.constant dense<0.25> : !whole
    %3 = arith.mulf %2, %scale : !whole
    %4 = arith.addf %sum, %3 : !whole
    sgd.yield %a, %b, %4 : !rows, !rows, !whole
  } : (!rows, !rows, !whole) -> (!rows, !rows, !whole)
  return %0#2 : !whole
}

// Gradients that are slices of one matmul's result, as those of fused gates are.
// CHECK-LABEL: @slices
func.func @slices(%x: !rows, %g: !rows) -> (tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>) {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  // CHECK: %[[LOOP:.*]]:4 = sgd.while
  // CHECK-NOT: sgd.reshard
  // CHECK: sgd.yield
  // CHECK: sgd.reshard %[[LOOP]]#{{[23]}} : {{.*}} unreduced={"data"}{{.*}} -> tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  // CHECK: sgd.reshard %[[LOOP]]#{{[23]}} : {{.*}} unreduced={"data"}{{.*}} -> tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  // CHECK-NOT: sgd.reshard
  // CHECK: return
  %0:4 = sgd.while(%x, %g, %zero, %zero) trips 4 do {
  ^bb0(%a: !rows, %b: !rows, %sum: tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>, %more: tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>):
    %1 = sgd.dot_general %a, %b batching = [] x [] contracting = [0] x [0] : !rows, !rows -> !partial
    %2 = sgd.reshard %1 : !partial -> !whole
    %3 = sgd.slice %2 starts = [0, 0] limits = [4, 8] strides = [1, 1] : !whole -> tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
    %4 = sgd.slice %2 starts = [4, 0] limits = [8, 8] strides = [1, 1] : !whole -> tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
    %5 = arith.addf %sum, %3 : tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
    %6 = arith.addf %more, %4 : tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
    sgd.yield %a, %b, %5, %6 : !rows, !rows, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  } : (!rows, !rows, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>) -> (!rows, !rows, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>)
  return %0#2, %0#3 : tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
}

// A slice that an iteration reads needs the reduced value: then the other one is reduced with it.
// CHECK-LABEL: @slice_is_read
func.func @slice_is_read(%x: !rows, %g: !rows) -> (tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>) {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  // CHECK: sgd.while
  // CHECK: sgd.reshard {{.*}}unreduced={"data"}>> -> tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  // CHECK: sgd.yield
  // CHECK-NOT: sgd.reshard
  // CHECK: return
  %0:4 = sgd.while(%x, %g, %zero, %zero) trips 4 do {
  ^bb0(%a: !rows, %b: !rows, %sum: tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>, %state: tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>):
    %1 = sgd.dot_general %a, %b batching = [] x [] contracting = [0] x [0] : !rows, !rows -> !partial
    %2 = sgd.reshard %1 : !partial -> !whole
    %3 = sgd.slice %2 starts = [0, 0] limits = [4, 8] strides = [1, 1] : !whole -> tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
    %4 = sgd.slice %2 starts = [4, 0] limits = [8, 8] strides = [1, 1] : !whole -> tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
    %5 = arith.addf %sum, %3 : tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
    %6 = arith.mulf %state, %4 : tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
    sgd.yield %a, %b, %5, %6 : !rows, !rows, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  } : (!rows, !rows, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>) -> (!rows, !rows, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>)
  return %0#2, %0#3 : tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
}

// The initial value, and whole summands, count on one rank.
// CHECK-LABEL: @begins
func.func @begins(%x: !rows, %first: !whole, %each: !whole) -> !whole {
  // CHECK: %[[FIRST:.*]] = sgd.reshard %{{.*}} -> tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
  // CHECK: sgd.while(%{{.*}}, %{{.*}}, %[[FIRST]]) trips 4 do {
  // CHECK: sgd.dot_general
  // CHECK-NOT: sgd.reshard {{.*}}unreduced={"data"}>> -> tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  // CHECK: sgd.yield
  // CHECK: sgd.reshard {{.*}}unreduced={"data"}>> -> tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  %0:3 = sgd.while(%x, %each, %first) trips 4 do {
  ^bb0(%a: !rows, %b: !whole, %sum: !whole):
    %1 = sgd.dot_general %a, %a batching = [] x [] contracting = [0] x [0] : !rows, !rows -> !partial
    %2 = sgd.reshard %1 : !partial -> !whole
    %3 = arith.addf %b, %sum : !whole
    %4 = arith.addf %3, %2 : !whole
    sgd.yield %a, %b, %4 : !rows, !whole, !whole
  } : (!rows, !whole, !whole) -> (!rows, !whole, !whole)
  return %0#2 : !whole
}

// A difference is linear in both of its operands, whichever of them is what the loop carries.
// CHECK-LABEL: @alternates
func.func @alternates(%x: !rows) -> !whole {
  %zero = arith.constant dense<0.0> : !whole
  // CHECK: sgd.while
  // CHECK: sgd.dot_general
  // CHECK-NOT: sgd.reshard
  // CHECK: arith.subf %{{.*}}, %arg{{.*}} : tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
  // CHECK-NEXT: sgd.yield
  // CHECK: sgd.reshard {{.*}}unreduced={"data"}>> -> tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  %0:2 = sgd.while(%x, %zero) trips 4 do {
  ^bb0(%a: !rows, %sum: !whole):
    %1 = sgd.dot_general %a, %a batching = [] x [] contracting = [0] x [0] : !rows, !rows -> !partial
    %2 = sgd.reshard %1 : !partial -> !whole
    %3 = arith.subf %2, %sum : !whole
    sgd.yield %a, %3 : !rows, !whole
  } : (!rows, !whole) -> (!rows, !whole)
  return %0#1 : !whole
}

// An iter_arg that the body reads is reduced where it is read.
// CHECK-LABEL: @reads
func.func @reads(%x: !rows, %first: !whole) -> !whole {
  // CHECK: sgd.while
  // CHECK: sgd.dot_general
  // CHECK: sgd.reshard {{.*}}unreduced={"data"}>> -> tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  // CHECK: sgd.yield
  %0:2 = sgd.while(%x, %first) trips 4 do {
  ^bb0(%a: !rows, %sum: !whole):
    %1 = sgd.dot_general %a, %a batching = [] x [] contracting = [0] x [0] : !rows, !rows -> !partial
    %2 = sgd.reshard %1 : !partial -> !whole
    %3 = arith.addf %sum, %2 : !whole
    %4 = math.tanh %3 : !whole
    sgd.yield %a, %4 : !rows, !whole
  } : (!rows, !whole) -> (!rows, !whole)
  return %0#1 : !whole
}

// Parameters that every iteration would gather are gathered before the first.
// CHECK-LABEL: @invariant
// CHECK-SAME: (%[[W:[^:]*]]: tensor
func.func @invariant(%w: !shard, %x: !whole) -> !whole {
  // CHECK: %[[ALL:.*]] = sgd.reshard %[[W]]
  // CHECK: sgd.while(%[[W]], %{{.*}}, %[[ALL]]) trips 4 do {
  // CHECK-NOT: sgd.reshard
  // CHECK: sgd.yield
  %0:2 = sgd.while(%w, %x) trips 4 do {
  ^bb0(%a: !shard, %b: !whole):
    %1 = sgd.reshard %a : !shard -> !whole
    %2 = arith.mulf %b, %1 : !whole
    sgd.yield %a, %2 : !shard, !whole
  } : (!shard, !whole) -> (!shard, !whole)
  return %0#1 : !whole
}
