// RUN: sgd-opt %s --sgd-shard --sgd-record-lower-bound | FileCheck %s

// Each of 4 ranks gathers 3 / 4 of the result of 64 bytes, wherever sums are computed.
// CHECK: sgd.lower_bound = {bytes = 88 : i64, terms = [{bytes = 48 : i64, {{.*}}type = "tensor<4x4xf32>", what = "copies of the result of sgd.dot_general"}, {bytes = 24 : i64, {{.*}}what = "partial sums of sgd.dot_general"}
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<4x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
