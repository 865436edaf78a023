// RUN: sgd-opt %s --sgd-shard --split-input-file | FileCheck %s

// Attention of a sequence-parallel model: queries and keys are sharded by heads, the result by positions. Scores are
// the largest tensors: they stay as the heads are, and the much smaller result of the second product changes over.
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
