// Which loop over the sequential axis runs an op.
// RUN: sgd-opt %s --sgd-form-loops --split-input-file | FileCheck %s

sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>}

// A masked mean and its gradient: the first loop sums the mask, the second one has all matmuls and stores nothing.
// CHECK-LABEL: @masked_mean(
// CHECK: sgd.while
// CHECK-NOT: sgd.dot_general
// CHECK-NOT: sgd.dynamic_update_slice
// CHECK: sgd.yield
// CHECK: sgd.while
// CHECK-COUNT-2: sgd.dot_general
// CHECK-NOT: sgd.dynamic_update_slice
// CHECK: sgd.yield
// CHECK-NOT: sgd.while
func.func @masked_mean(%x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}, %m: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}, %w: tensor<8x8xf32>)
    -> (tensor<f32>, tensor<8x8xf32>) {
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %e = math.exp %y : tensor<2x8xf32>
  %l = arith.mulf %e, %m : tensor<2x8xf32>
  %sl = sgd.reduce add %l dimensions = [0, 1] : tensor<2x8xf32> -> tensor<f32>
  %sm = sgd.reduce add %m dimensions = [0, 1] : tensor<2x8xf32> -> tensor<f32>
  %0 = spmd.all_reduce add(%sl) <@mesh, {"micro"}> : (tensor<f32>) -> tensor<f32>
  %1 = spmd.all_reduce add(%sm) <@mesh, {"micro"}> : (tensor<f32>) -> tensor<f32>
  %loss = arith.divf %0, %1 : tensor<f32>
  %all = sgd.broadcast_in_dim %1 dims = [] : tensor<f32> -> tensor<2x8xf32>
  %d = arith.divf %l, %all : tensor<2x8xf32>
  %g = sgd.dot_general %x, %d batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  %2 = spmd.all_reduce add(%g) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %loss, %2 : tensor<f32>, tensor<8x8xf32>
}

// -----

sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>}

// Three sums, each needed for the next one: three loops. The matmul that only the last one needs runs in the last one.
// CHECK-LABEL: @chain(
// CHECK: sgd.while
// CHECK-NOT: sgd.dot_general
// CHECK: sgd.while
// CHECK-NOT: sgd.dot_general
// CHECK: sgd.while
// CHECK: sgd.dot_general
// CHECK-NOT: sgd.while
func.func @chain(%x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}, %w: tensor<8x8xf32>) -> tensor<8xf32> {
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %s = sgd.reduce add %x dimensions = [0] : tensor<2x8xf32> -> tensor<8xf32>
  %0 = spmd.all_reduce add(%s) <@mesh, {"micro"}> : (tensor<8xf32>) -> tensor<8xf32>
  %mean = sgd.broadcast_in_dim %0 dims = [1] : tensor<8xf32> -> tensor<2x8xf32>
  %c = arith.subf %x, %mean : tensor<2x8xf32>
  %cc = arith.mulf %c, %c : tensor<2x8xf32>
  %v = sgd.reduce add %cc dimensions = [0] : tensor<2x8xf32> -> tensor<8xf32>
  %1 = spmd.all_reduce add(%v) <@mesh, {"micro"}> : (tensor<8xf32>) -> tensor<8xf32>
  %var = sgd.broadcast_in_dim %1 dims = [1] : tensor<8xf32> -> tensor<2x8xf32>
  %n = arith.mulf %y, %var : tensor<2x8xf32>
  %r = sgd.reduce add %n dimensions = [0] : tensor<2x8xf32> -> tensor<8xf32>
  %2 = spmd.all_reduce add(%r) <@mesh, {"micro"}> : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
