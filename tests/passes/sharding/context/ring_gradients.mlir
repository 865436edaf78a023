// The backward pass of a ring.
// RUN: sgd-opt %s --sgd-shard-attention=form=ring | FileCheck %s

sgd.mesh @mesh = <["context"=4]>

// Scores are computed again from each row's largest one and sum; nothing of them is kept. Gradients of a block of keys start on the rank behind its owner: the
// first stage gets a block that has moved by one, and adds to no gradients. From then on they move with the block. In the last stage the keys are the own ones
// and only gradients come. The result's gradient times the result is summed once per row.
// CHECK-LABEL: @grads(
// CHECK-COUNT-3: sgd.while
// CHECK: %[[OUT:.*]] = arith.divf
// CHECK: %[[DOUT:.*]] = sgd.sharding_constraint %{{.*}} <@mesh, [{?}, {"context"}, {}, {?}]>
// CHECK: %[[WEIGHTED:.*]] = arith.mulf %[[OUT]], %[[DOUT]]
// CHECK: %[[DOT:.*]] = sgd.reduce add %[[WEIGHTED]] dimensions = [3]
// CHECK: %[[MOVED:.*]] = sgd.concatenate
// CHECK: %[[KEYS:.*]] = sgd.sharding_constraint %[[MOVED]]
// CHECK: %[[FIRST:.*]]:12 = sgd.while(%{{[^,]*}}, %[[DOUT]], %{{[^,]*}}, %{{[^,]*}}, %[[DOT]], %{{[^,]*}}, %[[KEYS]], {{.*}}) trips 1 do {
// CHECK-NEXT: ^bb0(%[[Q:[^:]*]]: tensor<2x4x8x8xf32>, %[[G:[^:]*]]: tensor<2x4x8x8xf32>, %[[LARGEST:[^:]*]]: tensor<2x4x8xf32>, %[[SUM:[^:]*]]: tensor<2x4x8xf32>, %[[D:[^:]*]]: tensor<2x4x8xf32>, %{{[^:]*}}: tensor<4xi32>, %[[K:[^:]*]]: tensor<2x4x8x8xf32>, %[[V:[^:]*]]: tensor<2x4x8x8xf32>
// CHECK-COUNT-2: sgd.concatenate
// CHECK-NOT: sgd.concatenate
// CHECK: %[[S:.*]] = sgd.dot_general %[[Q]], %[[K]]
// CHECK: sgd.broadcast_in_dim %[[LARGEST]]
// CHECK: %[[SUMS:.*]] = sgd.broadcast_in_dim %[[SUM]]
// CHECK: %[[WEIGHTS:.*]] = arith.divf %{{.*}}, %[[SUMS]]
// CHECK: %[[DW:.*]] = sgd.dot_general %[[G]], %[[V]]
// CHECK: %[[DOTS:.*]] = sgd.broadcast_in_dim %[[D]]
// CHECK: %[[LESS:.*]] = arith.subf %[[DW]], %[[DOTS]]
// CHECK: %[[DS:.*]] = arith.mulf %[[WEIGHTS]], %[[LESS]]
// CHECK: %[[DQ:.*]] = sgd.dot_general %[[DS]], %[[K]] batching = [0, 1] x [0, 1] contracting = [3] x [2]
// CHECK: %[[DK:.*]] = sgd.dot_general %[[DS]], %[[Q]] batching = [0, 1] x [0, 1] contracting = [2] x [2]
// CHECK: %[[DV:.*]] = sgd.dot_general %[[WEIGHTS]], %[[G]] batching = [0, 1] x [0, 1] contracting = [2] x [2]
// CHECK: sgd.yield {{.*}}, %[[DQ]], %[[DK]], %[[DV]] :

// Keys, values and both of their gradients move.
// CHECK: %[[SECOND:.*]]:12 = sgd.while({{.*}}) trips 1 do {
// CHECK-COUNT-4: sgd.concatenate
// CHECK-NOT: sgd.concatenate
// CHECK: sgd.yield

// Gradients move; the keys will be the own ones.
// CHECK: %[[THIRD:.*]]:12 = sgd.while(%[[SECOND]]#0, {{.*}}) trips 1 do {
// CHECK-COUNT-2: sgd.concatenate
// CHECK-NOT: sgd.concatenate
// CHECK: sgd.yield
// CHECK: %[[LAST:.*]]:12 = sgd.while(%[[THIRD]]#0, %[[THIRD]]#1, %[[THIRD]]#2, %[[THIRD]]#3, %[[THIRD]]#4, %[[THIRD]]#5, %{{[0-9]+}}, {{.*}}, %[[THIRD]]#9, %[[THIRD]]#10, %[[THIRD]]#11) trips 1 do {
// CHECK-COUNT-2: sgd.concatenate
// CHECK-NOT: sgd.concatenate
// CHECK: sgd.yield
// CHECK-NOT: sgd.while
// CHECK: sgd.sharding_constraint %[[LAST]]#9 <@mesh, [{?}, {"context"}, {}, {?}]>
func.func @grads(%q: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %k: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %v: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %g: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) -> (tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}, tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}, tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}, tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) {
  %scores = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : tensor<2x32x8xf32>, tensor<2x32x8xf32> -> tensor<2x32x32xf32>
  %max = sgd.reduce max %scores dimensions = [2] : tensor<2x32x32xf32> -> tensor<2x32xf32>
  %all = sgd.broadcast_in_dim %max dims = [0, 1] : tensor<2x32xf32> -> tensor<2x32x32xf32>
  %less = arith.subf %scores, %all : tensor<2x32x32xf32>
  %exp = math.exp %less : tensor<2x32x32xf32>
  %sum = sgd.reduce add %exp dimensions = [2] : tensor<2x32x32xf32> -> tensor<2x32xf32>
  %sums = sgd.broadcast_in_dim %sum dims = [0, 1] : tensor<2x32xf32> -> tensor<2x32x32xf32>
  %weights = arith.divf %exp, %sums : tensor<2x32x32xf32>
  %out = sgd.dot_general %weights, %v batching = [0] x [0] contracting = [2] x [1] : tensor<2x32x32xf32>, tensor<2x32x8xf32> -> tensor<2x32x8xf32>
  %dv = sgd.dot_general %weights, %g batching = [0] x [0] contracting = [1] x [1] : tensor<2x32x32xf32>, tensor<2x32x8xf32> -> tensor<2x32x8xf32>
  %dw = sgd.dot_general %g, %v batching = [0] x [0] contracting = [2] x [2] : tensor<2x32x8xf32>, tensor<2x32x8xf32> -> tensor<2x32x32xf32>
  %weighted = arith.mulf %dw, %weights : tensor<2x32x32xf32>
  %row = sgd.reduce add %weighted dimensions = [2] : tensor<2x32x32xf32> -> tensor<2x32xf32>
  %rows = sgd.broadcast_in_dim %row dims = [0, 1] : tensor<2x32xf32> -> tensor<2x32x32xf32>
  %diff = arith.subf %dw, %rows : tensor<2x32x32xf32>
  %ds = arith.mulf %diff, %weights : tensor<2x32x32xf32>
  %dq = sgd.dot_general %ds, %k batching = [0] x [0] contracting = [2] x [1] : tensor<2x32x32xf32>, tensor<2x32x8xf32> -> tensor<2x32x8xf32>
  %dk = sgd.dot_general %ds, %q batching = [0] x [0] contracting = [1] x [1] : tensor<2x32x32xf32>, tensor<2x32x8xf32> -> tensor<2x32x8xf32>
  return %out, %dq, %dk, %dv : tensor<2x32x8xf32>, tensor<2x32x8xf32>, tensor<2x32x8xf32>, tensor<2x32x8xf32>
}
