// Positions that ranks do not divide.
// RUN: sgd-opt %s --sgd-shard-attention=form=ring --split-input-file | FileCheck %s

sgd.mesh @mesh = <["context"=4]>

// 30 positions in blocks of 8: the last rank's block has two that are none, which are padded by zeros, count for nothing whichever rank sees them, and are cut
// off in the end. They are told by the number of the rank that the block comes from.
// CHECK-LABEL: @padded(
// CHECK: %[[ROWS:.*]] = sgd.pad %arg0, %{{.*}} low = [0, 0, 0] high = [0, 2, 0]
// CHECK: sgd.reshape %[[ROWS]] : tensor<2x32x8xf32> -> tensor<2x4x8x8xf32>
// CHECK: %[[KEYS:.*]] = sgd.pad %arg1, %{{.*}} low = [0, 0, 0] high = [0, 2, 0]
// CHECK-COUNT-3: %[[END:.*]] = arith.constant dense<30> : tensor<4x8xi32>
// CHECK: %[[IS_REAL:.*]] = arith.cmpi slt, %{{.*}}, %[[END]]
// CHECK: %[[HIDDEN:.*]] = arith.constant dense<0xFF800000>
// CHECK: %[[COLUMNS:.*]] = sgd.broadcast_in_dim %[[IS_REAL]] dims = [1, 3]
// CHECK: arith.select %[[COLUMNS]], %{{.*}}, %[[HIDDEN]]
// CHECK: %[[ALL:.*]] = sgd.reshape %{{.*}} : tensor<2x4x8x8xf32> -> tensor<2x32x8xf32>
// CHECK: %[[OUT:.*]] = sgd.slice %[[ALL]] starts = [0, 0, 0] limits = [2, 30, 8]
// CHECK: return %[[OUT]]
func.func @padded(%q: tensor<2x30x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %k: tensor<2x30x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %v: tensor<2x30x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) -> (tensor<2x30x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) {
  %scores = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : tensor<2x30x8xf32>, tensor<2x30x8xf32> -> tensor<2x30x30xf32>
  %max = sgd.reduce max %scores dimensions = [2] : tensor<2x30x30xf32> -> tensor<2x30xf32>
  %all = sgd.broadcast_in_dim %max dims = [0, 1] : tensor<2x30xf32> -> tensor<2x30x30xf32>
  %less = arith.subf %scores, %all : tensor<2x30x30xf32>
  %exp = math.exp %less : tensor<2x30x30xf32>
  %sum = sgd.reduce add %exp dimensions = [2] : tensor<2x30x30xf32> -> tensor<2x30xf32>
  %sums = sgd.broadcast_in_dim %sum dims = [0, 1] : tensor<2x30xf32> -> tensor<2x30x30xf32>
  %weights = arith.divf %exp, %sums : tensor<2x30x30xf32>
  %out = sgd.dot_general %weights, %v batching = [0] x [0] contracting = [2] x [1] : tensor<2x30x30xf32>, tensor<2x30x8xf32> -> tensor<2x30x8xf32>
  return %out : tensor<2x30x8xf32>
}

// -----

sgd.mesh @mesh = <["context"=2]>

// Two ranks: there is nothing between the own block and the last one.
// CHECK-LABEL: @two(
// CHECK: tensor<2x10x8xf32> -> tensor<2x2x5x8xf32>
// CHECK-COUNT-2: sgd.while({{.*}}) trips 1 do {
// CHECK-NOT: sgd.while
// CHECK: limits = [2, 9, 8]
func.func @two(%q: tensor<2x9x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %k: tensor<2x9x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %v: tensor<2x9x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) -> (tensor<2x9x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) {
  %scores = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : tensor<2x9x8xf32>, tensor<2x9x8xf32> -> tensor<2x9x9xf32>
  %max = sgd.reduce max %scores dimensions = [2] : tensor<2x9x9xf32> -> tensor<2x9xf32>
  %all = sgd.broadcast_in_dim %max dims = [0, 1] : tensor<2x9xf32> -> tensor<2x9x9xf32>
  %less = arith.subf %scores, %all : tensor<2x9x9xf32>
  %exp = math.exp %less : tensor<2x9x9xf32>
  %sum = sgd.reduce add %exp dimensions = [2] : tensor<2x9x9xf32> -> tensor<2x9xf32>
  %sums = sgd.broadcast_in_dim %sum dims = [0, 1] : tensor<2x9xf32> -> tensor<2x9x9xf32>
  %weights = arith.divf %exp, %sums : tensor<2x9x9xf32>
  %out = sgd.dot_general %weights, %v batching = [0] x [0] contracting = [2] x [1] : tensor<2x9x9xf32>, tensor<2x9x8xf32> -> tensor<2x9x8xf32>
  return %out : tensor<2x9x8xf32>
}
