// Of what the backward pass reads, as few bytes as it can be computed from are stored.
// RUN: sgd-opt %s --sgd-form-stages --canonicalize --cse | FileCheck %s

sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "gpipe"}

// Softmax of z, and its tanh: z and the sum of each row are enough; the sum itself cannot be computed by elements. What
// is copied from one number for each row is stored as that number.
// CHECK-LABEL: func.func @softmax_stage0(
// CHECK: sgd.while
// CHECK-COUNT-1: sgd.dynamic_update_slice %{{.*}} -> tensor<4x2x8xf32>
// CHECK-COUNT-1: sgd.dynamic_update_slice %{{.*}} -> tensor<4x2xf32>
// CHECK-NOT: sgd.dynamic_update_slice
// CHECK: spmd.send
// CHECK: sgd.while
// CHECK: math.exp
// CHECK: math.tanh
// CHECK-LABEL: func.func @softmax_stage1(
func.func @softmax(%w0: tensor<8x8xf32>, %w1: tensor<8x8xf32>,
                   %x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>})
    -> (tensor<8x8xf32> {sgd.carry = 0 : i64}, tensor<8x8xf32> {sgd.carry = 1 : i64}) {
  %z = sgd.dot_general %x, %w0 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %e = math.exp %z : tensor<2x8xf32>
  %s = sgd.reduce add %e dimensions = [1] : tensor<2x8xf32> -> tensor<2xf32>
  %all = sgd.broadcast_in_dim %s dims = [0] : tensor<2xf32> -> tensor<2x8xf32>
  %p = arith.divf %e, %all : tensor<2x8xf32>
  %t = math.tanh %z : tensor<2x8xf32>
  %h = arith.mulf %p, %t : tensor<2x8xf32>
  %o = sgd.dot_general %h, %w1 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %g1 = sgd.dot_general %h, %o batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  %dh = sgd.dot_general %o, %w1 batching = [] x [] contracting = [1] x [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %d0 = arith.mulf %dh, %p : tensor<2x8xf32>
  %d1 = arith.mulf %d0, %t : tensor<2x8xf32>
  %d2 = arith.subf %d1, %all : tensor<2x8xf32>
  %g0 = sgd.dot_general %x, %d2 batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  %a0 = spmd.all_reduce add(%g0) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %a1 = spmd.all_reduce add(%g1) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %u0 = arith.subf %w0, %a0 : tensor<8x8xf32>
  %u1 = arith.subf %w1, %a1 : tensor<8x8xf32>
  return %u0, %u1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Weights of attention are computed again from queries and keys: their matmul sums over few elements. That of queries and a
// parameter, which takes longer than it saves, runs once.
// CHECK-LABEL: func.func @attention_stage0(
// CHECK: sgd.while
// CHECK-NOT: sgd.dynamic_update_slice %{{.*}} -> tensor<4x256x256xf32>
// CHECK: sgd.dynamic_update_slice %{{.*}} -> tensor<4x256x16xf32>
// CHECK-NOT: sgd.dynamic_update_slice
// CHECK: spmd.send
// CHECK: sgd.while
// CHECK: %[[SCORES:.*]] = sgd.dot_general %[[Q:.*]], %[[Q]] {{.*}} -> tensor<256x256xf32>
// CHECK: sgd.reduce max %[[SCORES]]
// CHECK: math.exp
// CHECK: sgd.reduce add
// CHECK-LABEL: func.func @attention_stage1(
func.func @attention(%w0: tensor<512x16xf32> {sgd.stage = 0 : i64}, %w1: tensor<16x16xf32> {sgd.stage = 1 : i64},
                     %x: tensor<256x512xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>})
    -> (tensor<512x16xf32> {sgd.carry = 0 : i64}, tensor<16x16xf32> {sgd.carry = 1 : i64}) {
  %q = sgd.dot_general %x, %w0 batching = [] x [] contracting = [1] x [0] : tensor<256x512xf32>, tensor<512x16xf32> -> tensor<256x16xf32>
  %s = sgd.dot_general %q, %q batching = [] x [] contracting = [1] x [1] : tensor<256x16xf32>, tensor<256x16xf32> -> tensor<256x256xf32>
  %m = sgd.reduce max %s dimensions = [1] : tensor<256x256xf32> -> tensor<256xf32>
  %most = sgd.broadcast_in_dim %m dims = [0] : tensor<256xf32> -> tensor<256x256xf32>
  %d = arith.subf %s, %most : tensor<256x256xf32>
  %e = math.exp %d : tensor<256x256xf32>
  %l = sgd.reduce add %e dimensions = [1] : tensor<256x256xf32> -> tensor<256xf32>
  %all = sgd.broadcast_in_dim %l dims = [0] : tensor<256xf32> -> tensor<256x256xf32>
  %p = arith.divf %e, %all : tensor<256x256xf32>
  %h = sgd.dot_general %p, %q batching = [] x [] contracting = [1] x [0] : tensor<256x256xf32>, tensor<256x16xf32> -> tensor<256x16xf32>
  %o = sgd.dot_general %h, %w1 batching = [] x [] contracting = [1] x [0] : tensor<256x16xf32>, tensor<16x16xf32> -> tensor<256x16xf32>
  %g1 = sgd.dot_general %h, %o batching = [] x [] contracting = [0] x [0] : tensor<256x16xf32>, tensor<256x16xf32> -> tensor<16x16xf32>
  %dh = sgd.dot_general %o, %w1 batching = [] x [] contracting = [1] x [1] : tensor<256x16xf32>, tensor<16x16xf32> -> tensor<256x16xf32>
  %dv = sgd.dot_general %p, %dh batching = [] x [] contracting = [0] x [0] : tensor<256x256xf32>, tensor<256x16xf32> -> tensor<256x16xf32>
  %dp = sgd.dot_general %dh, %q batching = [] x [] contracting = [1] x [1] : tensor<256x16xf32>, tensor<256x16xf32> -> tensor<256x256xf32>
  %ds = arith.mulf %p, %dp : tensor<256x256xf32>
  %dq = sgd.dot_general %ds, %q batching = [] x [] contracting = [1] x [0] : tensor<256x256xf32>, tensor<256x16xf32> -> tensor<256x16xf32>
  %sum = arith.addf %dq, %dv : tensor<256x16xf32>
  %g0 = sgd.dot_general %x, %sum batching = [] x [] contracting = [0] x [0] : tensor<256x512xf32>, tensor<256x16xf32> -> tensor<512x16xf32>
  %a0 = spmd.all_reduce add(%g0) <@mesh, {"micro"}> : (tensor<512x16xf32>) -> tensor<512x16xf32>
  %a1 = spmd.all_reduce add(%g1) <@mesh, {"micro"}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %u0 = arith.subf %w0, %a0 : tensor<512x16xf32>
  %u1 = arith.subf %w1, %a1 : tensor<16x16xf32>
  return %u0, %u1 : tensor<512x16xf32>, tensor<16x16xf32>
}
