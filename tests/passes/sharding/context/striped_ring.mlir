// A causal mask whose rows are dealt out in turn: rank r of 4 has positions r, r + 4, ...
// RUN: sgd-opt %s --sgd-shard-attention=form=striped_ring | FileCheck %s
// RUN: sgd-opt %s --sgd-shard-attention=topology=h100 | FileCheck %s --check-prefix=COST

sgd.mesh @mesh = <["context"=4]>

// Queries, keys and values become [heads, ranks, positions of a rank, depth]: ranks are the minor part of a position. Blocks come from the rank before, and with
// them its number, from which the mask knows the positions. A row may see nothing of a block, so that its largest score must not be minus infinity.
// CHECK-LABEL: @causal(
// CHECK-SAME: chosen = "striped_ring", {{.*}}each rank gets every nth position
// CHECK: %[[CUT:.*]] = sgd.reshape %arg0 : tensor<2x32x8xf32> -> tensor<2x8x4x8xf32>
// CHECK: %[[TURNED:.*]] = sgd.transpose %[[CUT]] permutation = [0, 2, 1, 3]
// CHECK: %[[Q:.*]] = sgd.sharding_constraint %[[TURNED]] <@mesh, [{?}, {"context"}, {}, {?}]> : tensor<2x4x8x8xf32>
// CHECK: %[[NUMBERS:.*]] = sgd.iota dimension = 0 : tensor<4xi32>
// CHECK: %[[OWN:.*]] = sgd.sharding_constraint %[[NUMBERS]] <@mesh, [{"context"}]>
// CHECK: sgd.while(%[[Q]], %[[OWN]], %{{.*}}, %{{.*}}, %[[OWN]], {{.*}}) trips 1 do {
// CHECK-NEXT: ^bb0(%{{[^:]*}}: tensor<2x4x8x8xf32>, %[[ROW_RANK:[^:]*]]: tensor<4xi32>, %{{[^:]*}}: tensor<2x4x8x8xf32>, %{{[^:]*}}: tensor<2x4x8x8xf32>, %[[KEY_RANK:[^:]*]]: tensor<4xi32>
// CHECK: %[[BEFORE:.*]] = arith.subi %[[KEY_RANK]]
// CHECK: %[[PREVIOUS:.*]] = arith.select %{{.*}}, %{{.*}}, %[[BEFORE]] : tensor<4xi1>, tensor<4xi32>
// CHECK: %[[ROW:.*]] = sgd.iota dimension = 1 : tensor<4x8x8xi32>
// CHECK: %[[FOUR:.*]] = arith.constant dense<4> : tensor<4x8x8xi32>
// CHECK: %[[FIRST:.*]] = arith.muli %[[ROW]], %[[FOUR]]
// CHECK: %[[RANKS:.*]] = sgd.broadcast_in_dim %[[ROW_RANK]]
// CHECK: %[[POSITION:.*]] = arith.addi %[[RANKS]], %[[FIRST]]
// CHECK: sgd.broadcast_in_dim %[[KEY_RANK]]
// CHECK: %[[PAST:.*]] = arith.cmpi sge, %[[POSITION]]
// CHECK: %[[HIDDEN:.*]] = arith.constant dense<0xFF800000> : tensor<2x4x8x8xf32>
// CHECK: %[[SCORES:.*]] = arith.select %{{.*}}, %{{.*}}, %[[HIDDEN]]
// CHECK: %[[LARGEST:.*]] = sgd.reduce max %[[SCORES]]
// CHECK: %[[LEAST:.*]] = arith.constant dense<-3.40282347E+38>
// CHECK: arith.maximumf %[[LARGEST]], %[[LEAST]]
// CHECK: sgd.yield {{.*}}, %[[PREVIOUS]],
// CHECK: %[[OUT:.*]] = arith.divf
// CHECK: %[[BY_RANK:.*]] = sgd.sharding_constraint %[[OUT]]
// CHECK: %[[BACK:.*]] = sgd.transpose %[[BY_RANK]] permutation = [0, 2, 1, 3] : tensor<2x4x8x8xf32> -> tensor<2x8x4x8xf32>
// CHECK: sgd.reshape %[[BACK]] : tensor<2x8x4x8xf32> -> tensor<2x32x8xf32>

// A mask that hides later positions is what stripes are for: they are estimated beside the others. Two heads are fewer than the ranks.
// COST-LABEL: @causal(
// COST-SAME: {name = "striped_ring", seconds = {{[^}]*}}}, {name = "all_to_all", why = "no dimension of heads or batch entries is a multiple of the ranks"}
func.func @causal(%q: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %k: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %v: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) -> (tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) {
  %scores = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : tensor<2x32x8xf32>, tensor<2x32x8xf32> -> tensor<2x32x32xf32>
  %i = sgd.iota dimension = 0 : tensor<32x32xi32>
  %j = sgd.iota dimension = 1 : tensor<32x32xi32>
  %past = arith.cmpi sge, %i, %j : tensor<32x32xi32>
  %mask = sgd.broadcast_in_dim %past dims = [1, 2] : tensor<32x32xi1> -> tensor<2x32x32xi1>
  %fill = arith.constant dense<-1.0e+30> : tensor<2x32x32xf32>
  %masked = arith.select %mask, %scores, %fill : tensor<2x32x32xi1>, tensor<2x32x32xf32>
  %max = sgd.reduce max %masked dimensions = [2] : tensor<2x32x32xf32> -> tensor<2x32xf32>
  %all = sgd.broadcast_in_dim %max dims = [0, 1] : tensor<2x32xf32> -> tensor<2x32x32xf32>
  %less = arith.subf %masked, %all : tensor<2x32x32xf32>
  %exp = math.exp %less : tensor<2x32x32xf32>
  %sum = sgd.reduce add %exp dimensions = [2] : tensor<2x32x32xf32> -> tensor<2x32xf32>
  %sums = sgd.broadcast_in_dim %sum dims = [0, 1] : tensor<2x32xf32> -> tensor<2x32x32xf32>
  %weights = arith.divf %exp, %sums : tensor<2x32x32xf32>
  %out = sgd.dot_general %weights, %v batching = [0] x [0] contracting = [2] x [1] : tensor<2x32x32xf32>, tensor<2x32x8xf32> -> tensor<2x32x8xf32>
  return %out : tensor<2x32x8xf32>
}
