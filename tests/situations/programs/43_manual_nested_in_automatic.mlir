// 43. A region that is manual over one axis; the other one goes through it
// collective: all_reduce over 2 sends 128
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<4x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = sgd.manual_computation(%a) in [#sgd.sharding<@mesh, [{"x"}, {?}]>] out [#sgd.sharding<@mesh, [{}, {?}]>] over <@mesh, {"x"}> {
  ^bb0(%b: tensor<4x16xf32>):
    %t = arith.negf %b : tensor<4x16xf32>
    %s = spmd.all_reduce add(%t) <@mesh, {"x"}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    sgd.yield %s : tensor<4x16xf32>
  } : (tensor<8x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
