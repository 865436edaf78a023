// Six heads on four ranks: batch entries are exchanged for positions instead, and heads stay as they are. The mesh says what is asked for.
// RUN: sgd-opt %s --sgd-shard-attention | FileCheck %s

sgd.mesh @mesh = <["context"=4]> {sgd.attention = "all_to_all"}

// CHECK-LABEL: @heads(
// CHECK-SAME: chosen = "all_to_all", {{.*}}heads or batch entries are exchanged for positions (all_to_all, as the recipe asks)
// CHECK: %[[Q:.*]] = sgd.sharding_constraint %arg0 <@mesh, [{}, {?}, {"context"}, {?}]> : tensor<8x6x32x8xf32>
// CHECK: %[[K:.*]] = sgd.sharding_constraint %arg1 <@mesh, [{}, {?}, {"context"}, {?}]>
// CHECK: %[[S:.*]] = sgd.dot_general %[[Q]], %[[K]]
// CHECK: sgd.sharding_constraint %[[S]] <@mesh, [{"context"}, {?}, {}, {}]> : tensor<8x6x32x32xf32>
// CHECK: %[[V:.*]] = sgd.sharding_constraint %arg2 <@mesh, [{}, {?}, {"context"}, {?}]>
// CHECK: %[[O:.*]] = sgd.dot_general %{{.*}}, %[[V]]
// CHECK: %[[BY_BATCH:.*]] = sgd.sharding_constraint %[[O]] <@mesh, [{"context"}, {?}, {}, {?}]>
// CHECK: %[[BY_POSITION:.*]] = sgd.sharding_constraint %[[BY_BATCH]] <@mesh, [{}, {?}, {"context"}, {?}]>
// CHECK: return %[[BY_POSITION]]
func.func @heads(%q: tensor<8x6x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {"context"}, {}]>},
                     %k: tensor<8x6x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {"context"}, {}]>},
                     %v: tensor<8x6x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {"context"}, {}]>}) -> (tensor<8x6x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {"context"}, {}]>}) {
  %scores = sgd.dot_general %q, %k batching = [0, 1] x [0, 1] contracting = [3] x [3] : tensor<8x6x32x8xf32>, tensor<8x6x32x8xf32> -> tensor<8x6x32x32xf32>
  %max = sgd.reduce max %scores dimensions = [3] : tensor<8x6x32x32xf32> -> tensor<8x6x32xf32>
  %all = sgd.broadcast_in_dim %max dims = [0, 1, 2] : tensor<8x6x32xf32> -> tensor<8x6x32x32xf32>
  %less = arith.subf %scores, %all : tensor<8x6x32x32xf32>
  %exp = math.exp %less : tensor<8x6x32x32xf32>
  %sum = sgd.reduce add %exp dimensions = [3] : tensor<8x6x32x32xf32> -> tensor<8x6x32xf32>
  %sums = sgd.broadcast_in_dim %sum dims = [0, 1, 2] : tensor<8x6x32xf32> -> tensor<8x6x32x32xf32>
  %weights = arith.divf %exp, %sums : tensor<8x6x32x32xf32>
  %out = sgd.dot_general %weights, %v batching = [0, 1] x [0, 1] contracting = [3] x [2] : tensor<8x6x32x32xf32>, tensor<8x6x32x8xf32> -> tensor<8x6x32x8xf32>
  return %out : tensor<8x6x32x8xf32>
}
