// One element is fetched over the axis that the result has in another dimension of one element.
sgd.mesh @mesh = <["x"=8]>
func.func @main(%a0: tensor<9x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<1x1xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %v0 = sgd.slice %a0 starts = [6, 14] limits = [9, 15] strides = [3, 1] : tensor<9x16xf32> -> tensor<1x1xf32>
  return %v0 : tensor<1x1xf32>
}
