// Results of a loop that all coordinates of the sequential axis have alike come from a loop of their own.
// RUN: sgd-opt %s --sgd-split-loops | FileCheck %s

sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>}

// CHECK-LABEL: @stacked_scale(
// CHECK-SAME: %[[X:.*]]: tensor<2x8xf32> {{.*}}, %[[S:.*]]: tensor<3x8xf32>
// CHECK: %[[OWN:.*]]:3 = sgd.while(%{{.*}}, %[[S]], %{{.*}}) trips 3
// CHECK: %[[BOTH:.*]]:3 = sgd.while(%{{.*}}, %[[X]], %[[S]]) trips 3
// CHECK-NOT: sgd.dynamic_update_slice
// CHECK: return %[[BOTH]]#1, %[[OWN]]#2
func.func @stacked_scale(%x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}, %s: tensor<3x8xf32>) -> (tensor<2x8xf32>, tensor<3x8xf32>) {
  %c0 = arith.constant dense<0> : tensor<i32>
  %zeros = arith.constant dense<0.0> : tensor<3x8xf32>
  %0:4 = sgd.while(%c0, %x, %s, %zeros) trips 3 do {
  ^bb0(%i: tensor<i32>, %y: tensor<2x8xf32>, %scales: tensor<3x8xf32>, %stack: tensor<3x8xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %i, %one : tensor<i32>
    %scale = sgd.dynamic_slice %scales, %i, %zero sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %e = math.exp %scale : tensor<1x8xf32>
    %more = sgd.dynamic_update_slice %stack, %e, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %flat = sgd.reshape %e : tensor<1x8xf32> -> tensor<8xf32>
    %wide = sgd.broadcast_in_dim %flat dims = [1] : tensor<8xf32> -> tensor<2x8xf32>
    %z = arith.mulf %y, %wide : tensor<2x8xf32>
    sgd.yield %next, %z, %scales, %more : tensor<i32>, tensor<2x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
  } : (tensor<i32>, tensor<2x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) -> (tensor<i32>, tensor<2x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>)
  return %0#1, %0#3 : tensor<2x8xf32>, tensor<3x8xf32>
}

// Nothing reads the counter: one loop.
// CHECK-LABEL: @unread(
// CHECK: sgd.while
// CHECK-NOT: sgd.while
func.func @unread(%x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) -> tensor<2x8xf32> {
  %c0 = arith.constant dense<0> : tensor<i32>
  %0:2 = sgd.while(%c0, %x) trips 3 do {
  ^bb0(%i: tensor<i32>, %y: tensor<2x8xf32>):
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %i, %one : tensor<i32>
    %e = math.exp %y : tensor<2x8xf32>
    sgd.yield %next, %e : tensor<i32>, tensor<2x8xf32>
  } : (tensor<i32>, tensor<2x8xf32>) -> (tensor<i32>, tensor<2x8xf32>)
  return %0#1 : tensor<2x8xf32>
}
