// A real transform of no elements has one result: the sum of nothing.
// seed: 1
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a0: tensor<2x0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<2x1xf32>, tensor<2x0xf32>) {
  %0 = stablehlo.fft %a0, type = RFFT, length = [0] : (tensor<2x0xf32>) -> tensor<2x1xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<2x1xcomplex<f32>>) -> tensor<2x1xf32>
  %2 = stablehlo.fft %0, type = IRFFT, length = [0] : (tensor<2x1xcomplex<f32>>) -> tensor<2x0xf32>
  return %1, %2 : tensor<2x1xf32>, tensor<2x0xf32>
}
