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
