// RUN: sgd-opt %s --split-input-file --spmd-ring-matmuls="topology=h100 least-saved=-1" | FileCheck %s

sgd.mesh @mesh = <["model"=3]>

// Three ranks, and the gathered operand on the right: blocks are columns of the result. The
// exponential reads all of it, so the blocks are put together beside the matmuls, at the same places. The place of step 1 is that of the next rank, which for
// the last rank is 0 and not 3.
// CHECK-LABEL: @right
// CHECK-SAME: a ring of 3 steps
// CHECK: %[[OWN:.*]] = sgd.dot_general %arg0, %arg2
// CHECK: %[[RESULT:.*]] = arith.constant dense<0.000000e+00> : tensor<2048x1536xf32>
// CHECK: %[[WHOLE:.*]] = arith.constant dense<0.000000e+00> : tensor<1536x1024xf32>
// CHECK: %[[MOVED:.*]]:2 = spmd.gather_range(%[[OWN]], %[[OWN]]) ranges = [#sgd.range<dim = 0, size = 1536, scale = 512, offset = 512>, #sgd.range<dim = 0, size = 1536, scale = 512, offset = -1024>]
// CHECK: %[[NEXT:.*]] = arith.select %{{.*}}, %[[MOVED]]#1, %[[MOVED]]#0
// CHECK: %[[PLACE0:.*]] = arith.muli
// CHECK: %[[PART0:.*]] = sgd.dot_general %arg1, %[[OWN]] {{.*}} -> tensor<2048x512xf32>
// CHECK: %[[RESULT0:.*]] = sgd.dynamic_update_slice %[[RESULT]], %[[PART0]], %{{.*}}, %[[PLACE0]]
// CHECK: %[[WHOLE0:.*]] = sgd.dynamic_update_slice %[[WHOLE]], %[[OWN]], %[[PLACE0]], %{{.*}}
// CHECK: %[[LAST:.*]]:2 = spmd.gather_range(%[[NEXT]], %[[NEXT]])
// CHECK: arith.select
// CHECK: %[[RANK:.*]] = spmd.partition_id
// CHECK: %[[AHEAD:.*]] = arith.addi %[[RANK]]
// CHECK: %[[THREE:.*]] = arith.constant dense<3>
// CHECK: %[[IS_BEHIND:.*]] = arith.cmpi sge, %[[AHEAD]], %[[THREE]]
// CHECK: %[[AROUND:.*]] = arith.subi %[[AHEAD]], %[[THREE]]
// CHECK: arith.select %[[IS_BEHIND]], %[[AROUND]], %[[AHEAD]]
// CHECK: sgd.dot_general %arg1, %[[NEXT]]
// CHECK-NOT: spmd.gather_range
// CHECK: sgd.dot_general %arg1
// CHECK: %[[ALL:.*]] = sgd.dynamic_update_slice %{{.*}} : (tensor<1536x1024xf32>
// CHECK-NOT: spmd.all_gather
// CHECK: math.exp %[[ALL]]
func.func @right(%x: tensor<512x1024xf32>, %v: tensor<2048x1024xf32>, %u: tensor<1024x1024xf32>) -> (tensor<2048x1536xf32>, tensor<1536x1024xf32>) {
  %in = sgd.dot_general %x, %u batching = [] x [] contracting = [1] x [0] : tensor<512x1024xf32>, tensor<1024x1024xf32> -> tensor<512x1024xf32>
  %all = spmd.all_gather (%in) dims = [0] <@mesh, {"model"}> : (tensor<512x1024xf32>) -> tensor<1536x1024xf32>
  %h = sgd.dot_general %v, %all batching = [] x [] contracting = [1] x [1] : tensor<2048x1024xf32>, tensor<1536x1024xf32> -> tensor<2048x1536xf32>
  %e = math.exp %all : tensor<1536x1024xf32>
  return %h, %e : tensor<2048x1536xf32>, tensor<1536x1024xf32>
}

// -----

sgd.mesh @mesh = <["model"=3]>

// Summands of a block start two ranks behind their owner, and each rank adds its own to those that arrive: n - 1 rotations, the owner's matmul is the last one.
// CHECK-LABEL: @sums
// CHECK: %[[A:.*]] = sgd.dot_general
// CHECK: %[[M0:.*]]:2 = spmd.gather_range(%[[A]], %[[A]])
// CHECK: %[[S0:.*]] = arith.select %{{.*}}, %[[M0]]#1, %[[M0]]#0
// CHECK: %[[B:.*]] = sgd.dot_general
// CHECK: %[[T:.*]] = arith.addf %[[S0]], %[[B]]
// CHECK: %[[M1:.*]]:2 = spmd.gather_range(%[[T]], %[[T]])
// CHECK: %[[S1:.*]] = arith.select %{{.*}}, %[[M1]]#1, %[[M1]]#0
// CHECK: %[[RANK:.*]] = spmd.partition_id
// CHECK-NEXT: %[[ROWS:.*]] = arith.constant dense<512>
// CHECK-NEXT: %[[PLACE:.*]] = arith.muli %[[RANK]], %[[ROWS]]
// CHECK: %[[MINE:.*]] = sgd.dynamic_slice %arg0, %[[PLACE]]
// CHECK: %[[C:.*]] = sgd.dot_general %[[MINE]]
// CHECK: arith.addf %[[S1]], %[[C]]
// CHECK-NOT: spmd.gather_range
// CHECK-NOT: spmd.reduce_scatter
func.func @sums(%x: tensor<1536x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<512x1024xf32> {
  %p = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<1536x1024xf32>, tensor<1024x1024xf32> -> tensor<1536x1024xf32>
  %s = spmd.reduce_scatter add (%p) dims = [0] <@mesh, {"model"}> : (tensor<1536x1024xf32>) -> tensor<512x1024xf32>
  %z = sgd.dot_general %s, %w batching = [] x [] contracting = [1] x [0] : tensor<512x1024xf32>, tensor<1024x1024xf32> -> tensor<512x1024xf32>
  return %z : tensor<512x1024xf32>
}
