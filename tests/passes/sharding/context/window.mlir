// A window of six positions, in blocks of four: of the eight blocks a rank sees its own one and the two before it.
// RUN: sgd-opt %s --sgd-shard-attention=form=ring | FileCheck %s

sgd.mesh @mesh = <["context"=8]>

// CHECK-LABEL: @window(
// CHECK-NOT: arith.constant dense<[0, 1
// CHECK: sgd.while({{.*}}) trips 1 do {
// CHECK: sgd.while({{.*}}) trips 1 do {
// CHECK: sgd.while({{.*}}) trips 1 do {
// CHECK-NOT: sgd.while
// CHECK: return
func.func @window(%q: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %k: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %v: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) -> (tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) {
  %scores = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : tensor<2x32x8xf32>, tensor<2x32x8xf32> -> tensor<2x32x32xf32>
  // 0, 1, ...: as jnp.arange is printed where it is used twice.
  %positions = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]> : tensor<32xi32>
  %i = sgd.broadcast_in_dim %positions dims = [0] : tensor<32xi32> -> tensor<32x32xi32>
  %j = sgd.iota dimension = 1 : tensor<32x32xi32>
  %distance = arith.subi %i, %j : tensor<32x32xi32>
  %none = arith.constant dense<0> : tensor<32x32xi32>
  %size = arith.constant dense<6> : tensor<32x32xi32>
  %past = arith.cmpi sge, %distance, %none : tensor<32x32xi32>
  %near = arith.cmpi slt, %distance, %size : tensor<32x32xi32>
  %both = arith.andi %past, %near : tensor<32x32xi1>
  %mask = sgd.broadcast_in_dim %both dims = [1, 2] : tensor<32x32xi1> -> tensor<2x32x32xi1>
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
