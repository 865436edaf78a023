// Matmuls that stay beside their collectives, whatever a ring would save.
// RUN: sgd-opt %s --split-input-file --spmd-ring-matmuls="topology=h100 least-saved=-1" | FileCheck %s

sgd.mesh @mesh = <["model"=2]>

// A product of the gathered tensor with itself: rows of one block meet columns of all others.
// CHECK-LABEL: @square
// CHECK-NOT: spmd.gather_range
func.func @square(%x: tensor<512x1024xf32>, %u: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %in = sgd.dot_general %x, %u batching = [] x [] contracting = [1] x [0] : tensor<512x1024xf32>, tensor<1024x1024xf32> -> tensor<512x1024xf32>
  %all = spmd.all_gather (%in) dims = [0] <@mesh, {"model"}> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %h = sgd.dot_general %all, %all batching = [] x [] contracting = [1] x [1] : tensor<1024x1024xf32>, tensor<1024x1024xf32> -> tensor<1024x1024xf32>
  return %h : tensor<1024x1024xf32>
}

// The second matmul's other operand is computed from the first one's result: both cannot go around together.
// CHECK-LABEL: @chained
// CHECK-NOT: spmd.gather_range
func.func @chained(%x: tensor<512x1024xf32>, %u: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %in = sgd.dot_general %x, %u batching = [] x [] contracting = [1] x [0] : tensor<512x1024xf32>, tensor<1024x1024xf32> -> tensor<512x1024xf32>
  %all = spmd.all_gather (%in) dims = [0] <@mesh, {"model"}> : (tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %h = sgd.dot_general %all, %u batching = [] x [] contracting = [1] x [0] : tensor<1024x1024xf32>, tensor<1024x1024xf32> -> tensor<1024x1024xf32>
  %g = sgd.dot_general %all, %h batching = [] x [] contracting = [1] x [0] : tensor<1024x1024xf32>, tensor<1024x1024xf32> -> tensor<1024x1024xf32>
  return %g : tensor<1024x1024xf32>
}

// Maxima of ranks are no sums.
// CHECK-LABEL: @maxima
// CHECK: spmd.reduce_scatter max
func.func @maxima(%x: tensor<1024x1024xf32>, %u: tensor<1024x1024xf32>) -> tensor<512x1024xf32> {
  %p = sgd.dot_general %x, %u batching = [] x [] contracting = [1] x [0] : tensor<1024x1024xf32>, tensor<1024x1024xf32> -> tensor<1024x1024xf32>
  %s = spmd.reduce_scatter max (%p) dims = [0] <@mesh, {"model"}> : (tensor<1024x1024xf32>) -> tensor<512x1024xf32>
  %z = sgd.dot_general %s, %u batching = [] x [] contracting = [1] x [0] : tensor<512x1024xf32>, tensor<1024x1024xf32> -> tensor<512x1024xf32>
  return %z : tensor<512x1024xf32>
}

// -----

sgd.mesh @mesh = <["model"=17]>

// 17 ranks are more than a ring may have.
// CHECK-LABEL: @many
// CHECK-NOT: spmd.gather_range
func.func @many(%x: tensor<512x1024xf32>, %u: tensor<1024x1024xf32>) -> tensor<8704x1024xf32> {
  %in = sgd.dot_general %x, %u batching = [] x [] contracting = [1] x [0] : tensor<512x1024xf32>, tensor<1024x1024xf32> -> tensor<512x1024xf32>
  %all = spmd.all_gather (%in) dims = [0] <@mesh, {"model"}> : (tensor<512x1024xf32>) -> tensor<8704x1024xf32>
  %h = sgd.dot_general %all, %u batching = [] x [] contracting = [1] x [0] : tensor<8704x1024xf32>, tensor<1024x1024xf32> -> tensor<8704x1024xf32>
  return %h : tensor<8704x1024xf32>
}
