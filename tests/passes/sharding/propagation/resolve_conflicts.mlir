// RUN: sgd-opt %s --sgd-shard --split-input-file | FileCheck %s

// Attention of a sequence-parallel model: queries and keys are sharded by heads, the result by positions. Scores are
// the largest tensors: they stay as the heads are, and the much smaller result of the second matmul changes over.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @scores_stay_with_the_heads
// CHECK-NOT: reshard
// CHECK: math.exp {{.*}} : tensor<4x32x32xf32, #sgd.sharding<@mesh, [{"x"}, {}, {}]>>
// CHECK-NOT: reshard
// CHECK: sgd.dot_general {{.*}} -> tensor<4x32x2xf32, #sgd.sharding<@mesh, [{"x"}, {}, {}]>>
// CHECK: sgd.reshard {{.*}} -> tensor<4x32x2xf32, #sgd.sharding<@mesh, [{}, {"x"}, {}]>>
// CHECK-NOT: reshard
// CHECK: return
func.func @scores_stay_with_the_heads(%q: tensor<4x32x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}]>},
    %k: tensor<4x32x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}]>},
    %v: tensor<4x32x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}]>},
    %r: tensor<4x32x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}, {}]>}) -> (tensor<4x32x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %s = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : tensor<4x32x2xf32>, tensor<4x32x2xf32> -> tensor<4x32x32xf32>
  %e = math.exp %s : tensor<4x32x32xf32>
  %o = sgd.dot_general %e, %v batching = [0] x [0] contracting = [2] x [1] : tensor<4x32x32xf32>, tensor<4x32x2xf32> -> tensor<4x32x2xf32>
  %y = arith.addf %o, %r : tensor<4x32x2xf32>
  return %y : tensor<4x32x2xf32>
}

// -----

// A user's constraint is kept, whatever it costs.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @constraints_stay
// CHECK: sgd.reshard {{.*}} -> tensor<64x64xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>
// CHECK: sgd.reshard {{.*}} -> tensor<64x64xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
func.func @constraints_stay(%a: tensor<64x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = math.exp %a : tensor<64x64xf32>
  %1 = sgd.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<64x64xf32>
  %2 = math.exp %1 : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// -----

// A broadcast and what is computed from it follow the argument's axis, which comes first; the result wants another dimension. Moved
// alone, each of the large values leaves an exchange as large at its other side; together they move it to the small argument.
sgd.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @moved_together
// CHECK: sgd.reshard %arg0 : {{.*}} -> tensor<16x16xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>
// CHECK-NOT: reshard
// CHECK: return
func.func @moved_together(%p: tensor<16x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}p0, {}]>}) -> (tensor<16x64x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {"x"}p1]>}) {
  %0 = sgd.broadcast_in_dim %p dims = [0, 1] : tensor<16x16xf32> -> tensor<16x16x64xf32>
  %1 = sgd.transpose %0 permutation = [0, 2, 1] : tensor<16x16x64xf32> -> tensor<16x64x16xf32>
  %2 = math.exp %1 : tensor<16x64x16xf32>
  %3 = sgd.transpose %2 permutation = [1, 0, 2] : tensor<16x64x16xf32> -> tensor<64x16x16xf32>
  %4 = math.sin %3 : tensor<64x16x16xf32>
  %5 = sgd.transpose %4 permutation = [1, 0, 2] : tensor<64x16x16xf32> -> tensor<16x64x16xf32>
  return %5 : tensor<16x64x16xf32>
}
