// 26. A slice along a sharded dimension is a shift to smaller tiles
// collective: gather_range over 4 sends 128
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.slice %a starts = [5, 0] limits = [13, 16] strides = [1, 1] : tensor<16x16xf32> -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
