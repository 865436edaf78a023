// 30. The transpose of an uneven tensor
// no collectives
sgd.mesh @mesh = <["x"=2, "y"=3]>
func.func @main(%a: tensor<7x5xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<5x7xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"y"}, {"x"}]>}) {
  %0 = sgd.transpose %a permutation = [1, 0] : tensor<7x5xf32> -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}
