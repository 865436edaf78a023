// 25. Rotation: two slices and a concatenation are one exchange of what moves to another rank
// collective: gather_range over 4 sends 256
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.slice %a starts = [4, 0] limits = [16, 16] strides = [1, 1] : tensor<16x16xf32> -> tensor<12x16xf32>
  %1 = sgd.slice %a starts = [0, 0] limits = [4, 16] strides = [1, 1] : tensor<16x16xf32> -> tensor<4x16xf32>
  %2 = sgd.concatenate %0, %1 dimension = 0 : (tensor<12x16xf32>, tensor<4x16xf32>) -> tensor<16x16xf32>
  return %2 : tensor<16x16xf32>
}
