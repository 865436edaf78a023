// What is gathered before a loop and reduced after it moves into the loop, once no stacks are left to drop.
// RUN: sgd-opt %s --sgd-recompute-in-loops=count=1 --canonicalize --cse | FileCheck %s --check-prefix=GATHER
// RUN: sgd-opt %s --sgd-recompute-in-loops=count=2 --canonicalize --cse | FileCheck %s --check-prefix=BOTH
// RUN: sgd-opt %s --sgd-recompute-in-loops="count=0 exchanges" --canonicalize --cse | FileCheck %s --check-prefix=BOTH

sgd.mesh @mesh = <["data"=4]>

// The parameter %w is read in the loop alone; %b after it too, so it is gathered once.
// GATHER-LABEL: @step
// GATHER-SAME: bytes = 21504 : i64, chosen = "all_gather", freed_bytes = 3072 : i64, seconds
// GATHER: spmd.all_gather(%arg1) dims = [0]
// GATHER: sgd.while(%{{[^,]*}}, %{{[^,]*}}, %arg0)
// GATHER: spmd.all_gather(%{{.*}}) dims = [1] <@mesh, {"data"}> : (tensor<16x16xf32>) -> tensor<16x64xf32>
// GATHER: sgd.yield
// GATHER: spmd.reduce_scatter add(%{{[^,]*}}) dims = [1] <@mesh, {"data"}> : (tensor<16x64xf32>) -> tensor<16x16xf32>
// BOTH-LABEL: @step
// BOTH-SAME: chosen = "all_gather"
// BOTH-SAME: chosen = "reduce_scatter"
// BOTH: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
// BOTH: sgd.while(%{{[^,]*}}, %arg0, %[[ZERO]])
// BOTH: spmd.all_gather
// BOTH: %[[SHARD:.*]] = spmd.reduce_scatter add(%{{.*}}) dims = [1] <@mesh, {"data"}> : (tensor<16x64xf32>) -> tensor<16x16xf32>
// BOTH: arith.addf %{{.*}}, %[[SHARD]] : tensor<16x16xf32>
// BOTH: sgd.yield
// BOTH-NOT: spmd.reduce_scatter
// BOTH: return
func.func @step(%w: tensor<16x16xf32>, %b: tensor<16x64xf32>) -> (tensor<16x16xf32>, tensor<64x64xf32>) {
  %i = arith.constant dense<0> : tensor<i32>
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %whole:2 = spmd.all_gather(%w, %b) dims = [1, 0] <@mesh, {"data"}> : (tensor<16x16xf32>, tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<64x64xf32>)
  %0:4 = sgd.while(%i, %whole#0, %whole#1, %zero) trips 8 do {
  ^bb0(%n: tensor<i32>, %weights: tensor<16x64xf32>, %more: tensor<64x64xf32>, %sum: tensor<16x64xf32>):
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %n, %one : tensor<i32>
    %y = sgd.dot_general %weights, %more batching = [] x [] contracting = [1] x [0] : tensor<16x64xf32>, tensor<64x64xf32> -> tensor<16x64xf32>
    %z = arith.mulf %y, %weights : tensor<16x64xf32>
    %after = arith.addf %sum, %z : tensor<16x64xf32>
    sgd.yield %next, %weights, %more, %after : tensor<i32>, tensor<16x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>
  } : (tensor<i32>, tensor<16x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>) -> (tensor<i32>, tensor<16x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>)
  %1 = spmd.reduce_scatter add(%0#3) dims = [1] <@mesh, {"data"}> : (tensor<16x64xf32>) -> tensor<16x16xf32>
  %2 = arith.addf %whole#1, %whole#1 : tensor<64x64xf32>
  return %1, %2 : tensor<16x16xf32>, tensor<64x64xf32>
}
