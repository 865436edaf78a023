// Matmuls beside all-gathers and reduce-scatters.
// RUN: sgd-opt %s --split-input-file --spmd-ring-matmuls="topology=h100 least-saved=-1" | FileCheck %s

sgd.mesh @mesh = <["model"=2]>

// A layer's two matmuls, tensor parallel, between sequence-parallel activations. Each rank first multiplies the rows that it has, while it gets the other
// rank's; the rows' results go to their places. Of the second matmul the other rank's rows come first, and their summands travel while it computes its own.
// CHECK-LABEL: @layer
// CHECK-SAME: sgd.decisions = [#sgd.decision<ring, {chosen = "ring", {{.*}}why = "all_gather at {{.*}} and the matmul beside it are a ring of 2 steps, which saves about {{.*}} us"}>, #sgd.decision<ring, {chosen = "ring", {{.*}}why = "reduce_scatter at {{.*}} and the matmul beside it are a ring of 2 steps, which saves about {{.*}} us"}>]
// CHECK: %[[X:.*]] = sgd.dot_general %arg0, %arg3
// CHECK: %[[H:.*]] = arith.constant dense<0.000000e+00> : tensor<8192x8192xf32>
// CHECK: %[[G:.*]]:2 = spmd.gather_range(%[[X]], %[[X]]) ranges = [#sgd.range<dim = 0, size = 8192, scale = 4096, offset = 4096>, #sgd.range<dim = 0, size = 8192, scale = 4096, offset = -4096>] <@mesh, {"model"}> to <@mesh, {"model"}>
// CHECK: %[[NEXT:.*]] = arith.select %{{.*}}, %[[G]]#1, %[[G]]#0
// CHECK: %[[OWN:.*]] = sgd.dot_general %[[X]], %arg1
// CHECK: %[[FIRST:.*]] = sgd.dynamic_update_slice %[[H]], %[[OWN]]
// CHECK: %[[OTHER:.*]] = sgd.dot_general %[[NEXT]], %arg1
// CHECK: %[[ALL:.*]] = sgd.dynamic_update_slice %[[FIRST]], %[[OTHER]]
// CHECK-NOT: spmd.all_gather
// CHECK: %[[E:.*]] = math.exp %[[ALL]]
// CHECK: %[[THEIRS:.*]] = sgd.dynamic_slice %[[E]]
// CHECK: %[[P:.*]] = sgd.dot_general %[[THEIRS]], %arg2
// CHECK: %[[S:.*]]:2 = spmd.gather_range(%[[P]], %[[P]])
// CHECK: %[[ARRIVED:.*]] = arith.select %{{.*}}, %[[S]]#1, %[[S]]#0
// CHECK: %[[MINE:.*]] = sgd.dynamic_slice %[[E]]
// CHECK: %[[Q:.*]] = sgd.dot_general %[[MINE]], %arg2
// CHECK: %[[SUM:.*]] = arith.addf %[[ARRIVED]], %[[Q]]
// CHECK-NOT: spmd.reduce_scatter
// CHECK: sgd.dot_general %[[SUM]], %arg3
func.func @layer(%x: tensor<4096x8192xf32>, %w: tensor<8192x8192xf32>, %v: tensor<8192x8192xf32>, %u: tensor<8192x8192xf32>) -> tensor<4096x8192xf32> {
  %in = sgd.dot_general %x, %u batching = [] x [] contracting = [1] x [0] : tensor<4096x8192xf32>, tensor<8192x8192xf32> -> tensor<4096x8192xf32>
  %all = spmd.all_gather (%in) dims = [0] <@mesh, {"model"}> : (tensor<4096x8192xf32>) -> tensor<8192x8192xf32>
  %h = sgd.dot_general %all, %w batching = [] x [] contracting = [1] x [0] : tensor<8192x8192xf32>, tensor<8192x8192xf32> -> tensor<8192x8192xf32>
  %e = math.exp %h : tensor<8192x8192xf32>
  %p = sgd.dot_general %e, %v batching = [] x [] contracting = [1] x [0] : tensor<8192x8192xf32>, tensor<8192x8192xf32> -> tensor<8192x8192xf32>
  %s = spmd.reduce_scatter add (%p) dims = [0] <@mesh, {"model"}> : (tensor<8192x8192xf32>) -> tensor<4096x8192xf32>
  %out = sgd.dot_general %s, %u batching = [] x [] contracting = [1] x [0] : tensor<4096x8192xf32>, tensor<8192x8192xf32> -> tensor<4096x8192xf32>
  return %out : tensor<4096x8192xf32>
}

// -----

sgd.mesh @mesh = <["data"=2]>

// A parameter can be gathered early, and nothing waits for a gradient.
// CHECK-LABEL: @parameter_and_gradient
// CHECK-NOT: spmd.gather_range
func.func @parameter_and_gradient(%x: tensor<8192x8192xf32>, %w: tensor<4096x8192xf32>) -> tensor<4096x8192xf32> {
  %all = spmd.all_gather (%w) dims = [0] <@mesh, {"data"}> : (tensor<4096x8192xf32>) -> tensor<8192x8192xf32>
  %y = sgd.dot_general %x, %all batching = [] x [] contracting = [1] x [1] : tensor<8192x8192xf32>, tensor<8192x8192xf32> -> tensor<8192x8192xf32>
  %g = sgd.dot_general %y, %x batching = [] x [] contracting = [0] x [0] : tensor<8192x8192xf32>, tensor<8192x8192xf32> -> tensor<8192x8192xf32>
  %s = spmd.reduce_scatter add (%g) dims = [0] <@mesh, {"data"}> : (tensor<8192x8192xf32>) -> tensor<4096x8192xf32>
  %next = arith.addf %w, %s : tensor<4096x8192xf32>
  return %next : tensor<4096x8192xf32>
}

// -----

sgd.mesh @mesh = <["model"=2]>

// Sums over the gathered dimension need another order on each rank; summands of bf16 would be rounded on the way.
// CHECK-LABEL: @others
// CHECK-NOT: spmd.gather_range
func.func @others(%x: tensor<4096x8192xf32>, %w: tensor<8192x8192xf32>, %b: tensor<8192x8192xbf16>)
    -> (tensor<8192x8192xf32>, tensor<4096x8192xbf16>) {
  %in = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<4096x8192xf32>, tensor<8192x8192xf32> -> tensor<4096x8192xf32>
  %all = spmd.all_gather (%in) dims = [0] <@mesh, {"model"}> : (tensor<4096x8192xf32>) -> tensor<8192x8192xf32>
  %y = sgd.dot_general %all, %w batching = [] x [] contracting = [0] x [0] : tensor<8192x8192xf32>, tensor<8192x8192xf32> -> tensor<8192x8192xf32>
  %p = sgd.dot_general %b, %b batching = [] x [] contracting = [1] x [0] : tensor<8192x8192xbf16>, tensor<8192x8192xbf16> -> tensor<8192x8192xbf16>
  %s = spmd.reduce_scatter add (%p) dims = [0] <@mesh, {"model"}> : (tensor<8192x8192xbf16>) -> tensor<4096x8192xbf16>
  %z = sgd.dot_general %s, %b batching = [] x [] contracting = [1] x [0] : tensor<4096x8192xbf16>, tensor<8192x8192xbf16> -> tensor<4096x8192xbf16>
  return %y, %z : tensor<8192x8192xf32>, tensor<4096x8192xbf16>
}
