// 27. A slice to few elements, sharded as before: each rank gets the one it wants from the ranks that have them
// collective: gather_range over 4 sends 64
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.slice %a starts = [6, 0] limits = [10, 16] strides = [1, 1] : tensor<16x16xf32> -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
