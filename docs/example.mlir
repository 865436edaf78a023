sdy.mesh @mesh = <["data"=4]>
func.func public @main(%w: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 0 : i32},
                       %x: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                       %g: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<64x16xf32> {
  %0 = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<32x64xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %rate = stablehlo.constant dense<1.000000e-01> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<64x16xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<64x16xf32>
  %3 = stablehlo.subtract %w, %2 : tensor<64x16xf32>
  return %3 : tensor<64x16xf32>
}
