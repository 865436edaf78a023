// A mask with an entry for each key, as of padding tokens: its blocks go around with those of the keys, and are not gathered.
// RUN: sgd-opt %s --sgd-shard-attention=form=ring | FileCheck %s

sgd.mesh @mesh = <["context"=4]>

// CHECK-LABEL: @keys(
// CHECK: %[[CUT:.*]] = sgd.reshape %arg3 : tensor<32xi1> -> tensor<4x8xi1>
// CHECK: %[[REAL:.*]] = sgd.sharding_constraint %[[CUT]] <@mesh, [{"context"}, {}]>
// CHECK: sgd.while({{.*}}, %[[REAL]]) trips 1 do {
// CHECK-NEXT: %[[OWN:[^:,(]*]]: tensor<4x8xi1>):
// CHECK: %[[LAST:.*]] = sgd.slice %[[OWN]] starts = [3, 0] limits = [4, 8]
// CHECK: %[[OTHERS:.*]] = sgd.slice %[[OWN]] starts = [0, 0] limits = [3, 8]
// CHECK: %[[MOVED:.*]] = sgd.concatenate %[[LAST]], %[[OTHERS]] dimension = 0
// CHECK: %[[NEXT:.*]] = sgd.sharding_constraint %[[MOVED]]
// CHECK: %[[MASK:.*]] = sgd.broadcast_in_dim %[[OWN]] dims = [1, 3] : tensor<4x8xi1> -> tensor<2x4x8x8xi1>
// CHECK: arith.select %[[MASK]]
// CHECK: sgd.yield {{.*}}, %[[NEXT]] :
func.func @keys(%q: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %k: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %v: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %real: tensor<32xi1>) -> (tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) {
  %scores = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : tensor<2x32x8xf32>, tensor<2x32x8xf32> -> tensor<2x32x32xf32>
  %mask = sgd.broadcast_in_dim %real dims = [2] : tensor<32xi1> -> tensor<2x32x32xi1>
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
