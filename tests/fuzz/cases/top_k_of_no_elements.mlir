// The largest 0 elements of each row: there was an invalid gather of their positions.
sdy.mesh @mesh = <["y"=4]>
func.func @main(%a0: tensor<13x4xf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<13x0xf16>, tensor<13x0xi32>) {
  %0:2 = chlo.top_k(%a0, k = 0) : tensor<13x4xf16> -> (tensor<13x0xf16>, tensor<13x0xi32>)
  return %0#0, %0#1 : tensor<13x0xf16>, tensor<13x0xi32>
}
