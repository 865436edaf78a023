// Which rings are worth it.
// RUN: sgd-opt %s --spmd-ring-matmuls=topology=%S/../../../../passes/cost/topologies/dgx-h100.json | FileCheck %s
// RUN: sgd-opt %s --spmd-ring-matmuls=topology=host | FileCheck %s --check-prefix=HOST

sgd.mesh @mesh = <["model"=8]>

// Ranks of one host exchange with the cores that they compute with.
// HOST-NOT: spmd.gather_range

// Gathering takes about as long as the matmul.
// CHECK-LABEL: @large
// CHECK-SAME: a ring of 8 steps
// CHECK-COUNT-7: spmd.gather_range
// CHECK-NOT: spmd.gather_range
func.func @large(%x: tensor<2048x8192xf32>, %w: tensor<8192x1024xf32>, %u: tensor<8192x8192xf32>) -> tensor<16384x1024xf32> {
  %in = sgd.dot_general %x, %u batching = [] x [] contracting = [1] x [0] : tensor<2048x8192xf32>, tensor<8192x8192xf32> -> tensor<2048x8192xf32>
  %all = spmd.all_gather (%in) dims = [0] <@mesh, {"model"}> : (tensor<2048x8192xf32>) -> tensor<16384x8192xf32>
  %h = sgd.dot_general %all, %w batching = [] x [] contracting = [1] x [0] : tensor<16384x8192xf32>, tensor<8192x1024xf32> -> tensor<16384x1024xf32>
  return %h : tensor<16384x1024xf32>
}

// The result's blocks would be copied to their places for longer than what they hide.
// CHECK-LABEL: @wide
// CHECK-NOT: spmd.gather_range
func.func @wide(%x: tensor<2048x1024xf32>, %w: tensor<1024x8192xf32>, %u: tensor<1024x1024xf32>) -> tensor<16384x8192xf32> {
  %in = sgd.dot_general %x, %u batching = [] x [] contracting = [1] x [0] : tensor<2048x1024xf32>, tensor<1024x1024xf32> -> tensor<2048x1024xf32>
  %all = spmd.all_gather (%in) dims = [0] <@mesh, {"model"}> : (tensor<2048x1024xf32>) -> tensor<16384x1024xf32>
  %h = sgd.dot_general %all, %w batching = [] x [] contracting = [1] x [0] : tensor<16384x1024xf32>, tensor<1024x8192xf32> -> tensor<16384x8192xf32>
  return %h : tensor<16384x8192xf32>
}

// Seven exchanges of a few bytes.
// CHECK-LABEL: @small
// CHECK-NOT: spmd.gather_range
func.func @small(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %u: tensor<8x8xf32>) -> tensor<32x8xf32> {
  %in = sgd.dot_general %x, %u batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %all = spmd.all_gather (%in) dims = [0] <@mesh, {"model"}> : (tensor<4x8xf32>) -> tensor<32x8xf32>
  %h = sgd.dot_general %all, %w batching = [] x [] contracting = [1] x [0] : tensor<32x8xf32>, tensor<8x8xf32> -> tensor<32x8xf32>
  return %h : tensor<32x8xf32>
}
