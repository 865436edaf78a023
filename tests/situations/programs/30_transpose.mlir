// 30. A transpose needs nothing
// no collectives
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<16x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"y"}, {"x"}]>}) {
  %0 = sgd.transpose %a permutation = [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
