// Ranks that do not take a branch go through its loop all the same: others read what they have in it.
// seed: 55
// arg0: -1..3
sgd.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a0: tensor<4xi32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>},
    %a3: tensor<16x2xi16> {sgd.sharding = #sgd.sharding<@mesh, [{"y", "x", ?}, {}]>}) -> (tensor<4x8xi16>) {
  %v0 = sgd.manual_computation(%a0, %a3) in [#sgd.sharding<@mesh, [{"x"}]>, #sgd.sharding<@mesh, [{"x"}, {}]>] out [#sgd.sharding<@mesh, [{}, {"x"}]>] over <@mesh, {"x"}> {
^bb0(%r0a0: tensor<1xi32>, %r0a3: tensor<4x2xi16>):
  %r0v0 = sgd.reshape %r0a0 : tensor<1xi32> -> tensor<i32>
  %r0v1 = sgd.case %r0v0(%r0a3) {
^bb0(%r0r0a2: tensor<4x2xi16>):
  %r0r0v0 = sgd.while(%r0r0a2) trips 2 do {
^bb0(%r0r0r0a2: tensor<4x2xi16>):
  %r0r0r0v1 = sgd.permute_ranks %r0r0r0a2 pairs = [0, 1, 2, 3] over <@mesh, {"x"}> : tensor<4x2xi16>
  sgd.yield %r0r0r0v1 : tensor<4x2xi16>
} : (tensor<4x2xi16>) -> (tensor<4x2xi16>)
  sgd.yield %r0r0v0 : tensor<4x2xi16>
}, {
^bb0(%r0r1a2: tensor<4x2xi16>):
  sgd.yield %r0r1a2 : tensor<4x2xi16>
} : (tensor<i32>, tensor<4x2xi16>) -> tensor<4x2xi16>
  sgd.yield %r0v1 : tensor<4x2xi16>
} : (tensor<4xi32>, tensor<16x2xi16>) -> tensor<4x8xi16>
  return %v0 : tensor<4x8xi16>
}
