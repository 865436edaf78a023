// Gathers of loops over layers.
// RUN: sgd-opt %s --split-input-file --spmd-prefetch-gathers=topology=h100 | FileCheck %s
// RUN: sgd-opt %s --split-input-file --spmd-prefetch-gathers=topology=host | FileCheck %s --check-prefix=HOST

sgd.mesh @mesh = <["data"=8]>

// A layer's weights are gathered before the loop for the first iteration, in the loop for the next one, and not in the last one, which stands behind
// the loop. Ranks of one host gather with the cores that they compute with.
// CHECK-LABEL: @layers
// CHECK-SAME: sgd.decisions = [#sgd.decision<prefetch, {chosen = "an iteration ahead", {{.*}}why = "loop at {{.*}}: its first gather starts an iteration ahead, which saves about {{.*}} us in each of 6 iterations and takes 67108864 bytes"}>]
// CHECK: %[[FIRST:.*]] = sgd.dynamic_slice %arg0, %[[BEGIN:[a-z0-9_]+]],
// CHECK: %[[ROWS:.*]] = sgd.reshape %[[FIRST]]
// CHECK: %[[GATHERED:.*]] = spmd.all_gather(%[[ROWS]])
// CHECK: %[[LOOP:.*]]:4 = sgd.while(%[[BEGIN]], %arg0, %arg1, %[[GATHERED]]) trips 5 do
// CHECK: ^bb0(%[[I:.*]]: tensor<i32>, %[[W:.*]]: tensor<6x512x4096xf32>, %[[X:.*]]: tensor<4096x4096xf32>, %[[NOW:.*]]: tensor<4096x4096xf32>):
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]]
// CHECK: %[[SLICE:.*]] = sgd.dynamic_slice %[[W]], %[[NEXT]],
// CHECK: %[[R:.*]] = sgd.reshape %[[SLICE]]
// CHECK: %[[AHEAD:.*]] = spmd.all_gather(%[[R]])
// CHECK: sgd.dot_general %[[X]], %[[NOW]]
// CHECK: sgd.yield {{.*}}, %[[AHEAD]] :
// CHECK: %[[Y:.*]] = sgd.dot_general %[[LOOP]]#2, %[[LOOP]]#3
// CHECK-NOT: spmd.all_gather
// CHECK: return
// HOST-LABEL: @layers
// HOST-NOT: sgd.decisions
// HOST: trips 6
func.func @layers(%w: tensor<6x512x4096xf32>, %x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %begin = arith.constant dense<0> : tensor<i32>
  %0:3 = sgd.while (%begin, %w, %x) trips 6 do {
  ^bb0(%i: tensor<i32>, %all: tensor<6x512x4096xf32>, %in: tensor<4096x4096xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %slice = sgd.dynamic_slice %all, %i, %zero, %zero sizes = [1, 512, 4096] : (tensor<6x512x4096xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x512x4096xf32>
    %rows = sgd.reshape %slice : tensor<1x512x4096xf32> -> tensor<512x4096xf32>
    %layer = spmd.all_gather (%rows) dims = [0] <@mesh, {"data"}> : (tensor<512x4096xf32>) -> tensor<4096x4096xf32>
    %out = sgd.dot_general %in, %layer batching = [] x [] contracting = [1] x [0] : tensor<4096x4096xf32>, tensor<4096x4096xf32> -> tensor<4096x4096xf32>
    %next = arith.addi %i, %one : tensor<i32>
    sgd.yield %next, %all, %out : tensor<i32>, tensor<6x512x4096xf32>, tensor<4096x4096xf32>
  } : (tensor<i32>, tensor<6x512x4096xf32>, tensor<4096x4096xf32>) -> (tensor<i32>, tensor<6x512x4096xf32>, tensor<4096x4096xf32>)
  return %0#2 : tensor<4096x4096xf32>
}

// -----

sgd.mesh @mesh = <["data"=8]>

// What is gathered depends on what the iteration before has computed.
// CHECK-LABEL: @activations
// CHECK-NOT: sgd.decisions
// CHECK: trips 6
func.func @activations(%w: tensor<4096x4096xf32>, %x: tensor<512x4096xf32>) -> tensor<512x4096xf32> {
  %0:2 = sgd.while (%w, %x) trips 6 do {
  ^bb0(%all: tensor<4096x4096xf32>, %in: tensor<512x4096xf32>):
    %wide = spmd.all_gather (%in) dims = [0] <@mesh, {"data"}> : (tensor<512x4096xf32>) -> tensor<4096x4096xf32>
    %more = sgd.dot_general %wide, %all batching = [] x [] contracting = [1] x [0] : tensor<4096x4096xf32>, tensor<4096x4096xf32> -> tensor<4096x4096xf32>
    %out = sgd.slice %more starts = [0, 0] limits = [512, 4096] strides = [1, 1] : tensor<4096x4096xf32> -> tensor<512x4096xf32>
    sgd.yield %all, %out : tensor<4096x4096xf32>, tensor<512x4096xf32>
  } : (tensor<4096x4096xf32>, tensor<512x4096xf32>) -> (tensor<4096x4096xf32>, tensor<512x4096xf32>)
  return %0#1 : tensor<512x4096xf32>
}

// -----

sgd.mesh @mesh = <["data"=8]>

// Too little compute for 20 us to be hidden behind.
// CHECK-LABEL: @small
// CHECK-NOT: sgd.decisions
// CHECK: trips 6
func.func @small(%w: tensor<6x1x8xf32>, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %begin = arith.constant dense<0> : tensor<i32>
  %0:3 = sgd.while (%begin, %w, %x) trips 6 do {
  ^bb0(%i: tensor<i32>, %all: tensor<6x1x8xf32>, %in: tensor<8x8xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %slice = sgd.dynamic_slice %all, %i, %zero, %zero sizes = [1, 1, 8] : (tensor<6x1x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x8xf32>
    %rows = sgd.reshape %slice : tensor<1x1x8xf32> -> tensor<1x8xf32>
    %layer = spmd.all_gather (%rows) dims = [0] <@mesh, {"data"}> : (tensor<1x8xf32>) -> tensor<8x8xf32>
    %out = sgd.dot_general %in, %layer batching = [] x [] contracting = [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %next = arith.addi %i, %one : tensor<i32>
    sgd.yield %next, %all, %out : tensor<i32>, tensor<6x1x8xf32>, tensor<8x8xf32>
  } : (tensor<i32>, tensor<6x1x8xf32>, tensor<8x8xf32>) -> (tensor<i32>, tensor<6x1x8xf32>, tensor<8x8xf32>)
  return %0#2 : tensor<8x8xf32>
}
