// The reversed dimension has one element, which operand and result must have on the same rank.
sgd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<1x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<4x0xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<1x2xf32>, tensor<4x0xf32>) {
  %0 = sgd.reverse %a dimensions = [0] : tensor<1x2xf32>
  %1 = sgd.reverse %b dimensions = [0, 1] : tensor<4x0xf32>
  return %0, %1 : tensor<1x2xf32>, tensor<4x0xf32>
}
