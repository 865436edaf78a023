// RUN: sgd-opt %s --pass-pipeline='builtin.module(sgd-shard{annotate=true})' | FileCheck %s

// The matmul's own type is partial over "x"; the sharding that propagation found for it is in the attribute.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @matmul
func.func @matmul(%a: tensor<4x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<8x6xf32>) -> (tensor<4x6xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: sgd.dot_general {{.*}}sgd.propagated = [#sgd.sharding<@mesh, [{"x"}, {}]>]{{.*}} -> tensor<4x6xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
  // CHECK: sgd.reshard
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
