// 28. Two rows on four ranks, split over other axes
// collective: gather_range over 4 sends 120
// collective: all_to_all over 2 sends 40
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a0: tensor<2x15xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<10x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"y"}, {"x"}]>}) {
  %0 = sgd.reshape %a0 : tensor<2x15xf32> -> tensor<10x3xf32>
  return %0 : tensor<10x3xf32>
}
