// Attention whose positions are sharded: in a ring, with another dimension exchanged for positions, or as it is.
// RUN: sgd-opt %s --sgd-shard-attention=form=ring --split-input-file | FileCheck %s --check-prefix=RING
// RUN: sgd-opt %s --sgd-shard-attention=form=all_to_all --split-input-file | FileCheck %s --check-prefix=HEADS
// RUN: sgd-opt %s --sgd-shard-attention --split-input-file | FileCheck %s --check-prefix=COST

sgd.mesh @mesh = <["context"=4]>

// The own block first, two that come along, the last one, which is not sent on.
// RING-LABEL: @attention(
// RING-SAME: sgd.decisions = [#sgd.decision<attention, {{[{]}}{{.*}}chosen = "ring", {{.*}}over 4 ranks; {{.*}}(ring, as the recipe asks)
// RING: %[[ROWS:.*]] = sgd.reshape %{{.*}} : tensor<4x32x8xf32> -> tensor<4x4x8x8xf32>
// RING: %[[Q:.*]] = sgd.sharding_constraint %[[ROWS]] <@mesh, [{?}, {"context"}, {}, {?}]>
// RING: sgd.while(%[[Q]], {{.*}}) trips 1 do {
// RING: sgd.concatenate {{.*}} dimension = 1
// RING: %[[S:.*]] = sgd.dot_general {{.*}} -> tensor<4x4x8x8xf32>
// RING: sgd.reduce max %[[S]]
// RING-NOT: arith.maximumf
// RING: sgd.while({{.*}}) trips 2 do {
// RING: sgd.concatenate
// RING: sgd.concatenate
// RING: arith.maximumf
// RING: sgd.while({{.*}}) trips 1 do {
// RING-NOT: sgd.concatenate
// RING: arith.divf
// RING: return

// HEADS-LABEL: @attention(
// HEADS: %[[Q:.*]] = sgd.sharding_constraint %{{.*}} <@mesh, [{}, {"context"}, {?}]> : tensor<4x32x8xf32>
// HEADS: %[[K:.*]] = sgd.sharding_constraint %{{.*}} <@mesh, [{}, {"context"}, {?}]> : tensor<4x32x8xf32>
// HEADS: %[[S:.*]] = sgd.dot_general %[[Q]], %[[K]]
// HEADS: sgd.sharding_constraint %[[S]] <@mesh, [{"context"}, {}, {}]> : tensor<4x32x32xf32>
// HEADS: %[[O:.*]] = sgd.dot_general
// HEADS: %[[BY:.*]] = sgd.sharding_constraint %[[O]] <@mesh, [{"context"}, {}, {?}]>
// HEADS: sgd.sharding_constraint %[[BY]] <@mesh, [{}, {"context"}, {?}]>

// Few positions are gathered.
// COST-LABEL: @attention(
// COST-SAME: sgd.decisions = [#sgd.decision<attention, {{[{]}}{{.*}}{name = "striped_ring", why = "its mask is none that hides all later positions and no others"}{{.*}}chosen = "gathered", {{.*}}over 4 ranks
// COST-NOT: sgd.sharding_constraint
func.func @attention(%q: tensor<4x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %k: tensor<4x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %v: tensor<4x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) -> (tensor<4x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) {
  %scores = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : tensor<4x32x8xf32>, tensor<4x32x8xf32> -> tensor<4x32x32xf32>
  %max = sgd.reduce max %scores dimensions = [2] : tensor<4x32x32xf32> -> tensor<4x32xf32>
  %all = sgd.broadcast_in_dim %max dims = [0, 1] : tensor<4x32xf32> -> tensor<4x32x32xf32>
  %less = arith.subf %scores, %all : tensor<4x32x32xf32>
  %exp = math.exp %less : tensor<4x32x32xf32>
  %sum = sgd.reduce add %exp dimensions = [2] : tensor<4x32x32xf32> -> tensor<4x32xf32>
  %sums = sgd.broadcast_in_dim %sum dims = [0, 1] : tensor<4x32xf32> -> tensor<4x32x32xf32>
  %weights = arith.divf %exp, %sums : tensor<4x32x32xf32>
  %out = sgd.dot_general %weights, %v batching = [0] x [0] contracting = [2] x [1] : tensor<4x32x32xf32>, tensor<4x32x8xf32> -> tensor<4x32x8xf32>
  return %out : tensor<4x32x8xf32>
}

// -----

sgd.mesh @mesh = <["context"=4]>

// Positions are whole: nothing is decided.
// RING-LABEL: @whole(
// RING-NOT: sgd.decisions
// RING-NOT: sgd.while
// HEADS-LABEL: @whole(
// HEADS-NOT: sgd.sharding_constraint
// COST-LABEL: @whole(
func.func @whole(%q: tensor<4x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>},
                     %k: tensor<4x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>},
                     %v: tensor<4x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<4x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>}) {
  %scores = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : tensor<4x32x8xf32>, tensor<4x32x8xf32> -> tensor<4x32x32xf32>
  %max = sgd.reduce max %scores dimensions = [2] : tensor<4x32x32xf32> -> tensor<4x32xf32>
  %all = sgd.broadcast_in_dim %max dims = [0, 1] : tensor<4x32xf32> -> tensor<4x32x32xf32>
  %less = arith.subf %scores, %all : tensor<4x32x32xf32>
  %exp = math.exp %less : tensor<4x32x32xf32>
  %sum = sgd.reduce add %exp dimensions = [2] : tensor<4x32x32xf32> -> tensor<4x32xf32>
  %sums = sgd.broadcast_in_dim %sum dims = [0, 1] : tensor<4x32xf32> -> tensor<4x32x32xf32>
  %weights = arith.divf %exp, %sums : tensor<4x32x32xf32>
  %out = sgd.dot_general %weights, %v batching = [0] x [0] contracting = [2] x [1] : tensor<4x32x32xf32>, tensor<4x32x8xf32> -> tensor<4x32x8xf32>
  return %out : tensor<4x32x8xf32>
}


// -----

sgd.mesh @mesh = <["context"=4]> {sgd.sequential = #sgd<axis"micro"=8>}

// Parts of the batch, of one entry each, are computed one after the other: heads are exchanged, though they are fewer.
// RING-LABEL: @parts(
// HEADS-LABEL: @parts(
// HEADS: %[[Q:.*]] = sgd.sharding_constraint %arg0 <@mesh, [{?}, {}, {"context"}, {?}]> : tensor<8x4x32x8xf32>
// HEADS: %[[S:.*]] = sgd.dot_general %[[Q]]
// HEADS: sgd.sharding_constraint %[[S]] <@mesh, [{?}, {"context"}, {}, {}]> : tensor<8x4x32x32xf32>
// COST-LABEL: @parts(
func.func @parts(%q: tensor<8x4x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {"context"}, {}]>, sgd.sequential_dim = 0 : i64},
                 %k: tensor<8x4x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {"context"}, {}]>, sgd.sequential_dim = 0 : i64},
                 %v: tensor<8x4x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {"context"}, {}]>, sgd.sequential_dim = 0 : i64}) -> (tensor<8x4x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {"context"}, {}]>}) {
  %scores = sgd.dot_general %q, %k batching = [0, 1] x [0, 1] contracting = [3] x [3] : tensor<8x4x32x8xf32>, tensor<8x4x32x8xf32> -> tensor<8x4x32x32xf32>
  %max = sgd.reduce max %scores dimensions = [3] : tensor<8x4x32x32xf32> -> tensor<8x4x32xf32>
  %all = sgd.broadcast_in_dim %max dims = [0, 1, 2] : tensor<8x4x32xf32> -> tensor<8x4x32x32xf32>
  %less = arith.subf %scores, %all : tensor<8x4x32x32xf32>
  %exp = math.exp %less : tensor<8x4x32x32xf32>
  %sum = sgd.reduce add %exp dimensions = [3] : tensor<8x4x32x32xf32> -> tensor<8x4x32xf32>
  %sums = sgd.broadcast_in_dim %sum dims = [0, 1, 2] : tensor<8x4x32xf32> -> tensor<8x4x32x32xf32>
  %weights = arith.divf %exp, %sums : tensor<8x4x32x32xf32>
  %out = sgd.dot_general %weights, %v batching = [0, 1] x [0, 1] contracting = [3] x [2] : tensor<8x4x32x32xf32>, tensor<8x4x32x8xf32> -> tensor<8x4x32x8xf32>
  return %out : tensor<8x4x32x8xf32>
}
