// One column is fetched over the axis that the result's rows, which padding makes, are cut by.
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a0: tensor<1x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}, %a1: tensor<f32>) -> (tensor<9x1xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %v0 = sgd.pad %a0, %a1 low = [8, -14] high = [0, -1] interior = [0, 0] : tensor<1x16xf32>, tensor<f32> -> tensor<9x1xf32>
  return %v0 : tensor<9x1xf32>
}
