// Lanes of the low register are all padding, those of the high one exist in every other row: the low part reads nothing.
// seed: 0
sgd.mesh @mesh = <["x"=2]>
func.func @main(%a0: tensor<2x2x2xf64> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>},
    %a1: tensor<f64> {sgd.sharding = #sgd.sharding<@mesh, []>}) -> (tensor<2x3x6xf64>) {
  %v0 = sgd.pad %a0, %a1 low = [0, 0, 4] high = [0, 0, 0] interior = [0, 1, 0] : tensor<2x2x2xf64>, tensor<f64> -> tensor<2x3x6xf64>
  return %v0 : tensor<2x3x6xf64>
}
