// 25. Rotation of ten rows by three over four ranks: slices and tiles of uneven sizes, still one exchange
// collective: gather_range over 4 sends 192
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<10x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<10x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.slice %a starts = [7, 0] limits = [10, 16] strides = [1, 1] : tensor<10x16xf32> -> tensor<3x16xf32>
  %1 = sgd.slice %a starts = [0, 0] limits = [7, 16] strides = [1, 1] : tensor<10x16xf32> -> tensor<7x16xf32>
  %2 = sgd.concatenate %0, %1 dimension = 0 : (tensor<3x16xf32>, tensor<7x16xf32>) -> tensor<10x16xf32>
  return %2 : tensor<10x16xf32>
}
