// Ranks that add the same to a sum: only one need send it, and the lower bound says so.
// seed: 0
sdy.mesh @mesh = <["x"=1, "y"=4]>
func.func @main(%a0: tensor<4x8xf32>,
    %a1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(2)2}, {}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %v0 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %v0 : tensor<4x8xf32>
}
