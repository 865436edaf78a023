// 43. A manual region whose ranks all compute the same: each keeps its own
// collective: all_reduce over 4 sends 48
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<32xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}) {
  %0 = sgd.manual_computation(%a) in [#sgd.sharding<@mesh, [{"x"}]>] out [#sgd.sharding<@mesh, [{}]>] over <@mesh, {"x"}> {
  ^bb0(%b: tensor<8xf32>):
    %s = spmd.all_reduce add(%b) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
    %zero = arith.constant dense<0.0> : tensor<8xf32>
    %nothing = arith.mulf %b, %zero : tensor<8xf32>
    %1 = arith.addf %s, %nothing : tensor<8xf32>
    sgd.yield %1 : tensor<8xf32>
  } : (tensor<32xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
