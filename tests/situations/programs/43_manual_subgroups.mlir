// 43. Collectives of a manual region over one of its two axes: groups stay within that axis
// collective: all_reduce over 2 sends 128
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.manual_computation(%a) in [#sgd.sharding<@mesh, [{"x"}, {"y"}]>] out [#sgd.sharding<@mesh, [{"x"}, {}]>] over <@mesh, {"x", "y"}> {
  ^bb0(%b: tensor<4x8xf32>):
    %s = spmd.all_reduce add(%b) <@mesh, {"y"}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    sgd.yield %s : tensor<4x8xf32>
  } : (tensor<8x16xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
