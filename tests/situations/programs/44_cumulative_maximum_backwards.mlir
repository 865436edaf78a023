// 44. Cumulative maximum from behind, two axes
// arg0: special
// collective: all_gather over 4 sends 48
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4x12xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"y", "x"}]>}) -> (tensor<4x12xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"y", "x"}]>}) {
  %0 = sgd.cumulative max %a dimension = 1 reverse : tensor<4x12xf32>
  return %0 : tensor<4x12xf32>
}
