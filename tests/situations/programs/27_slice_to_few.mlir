// 27. A slice to few elements that all ranks want: a sum to which only the rank that has them adds anything
// collective: all_reduce over 4 sends 96
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<1x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %0 = sgd.slice %a starts = [9, 0] limits = [10, 16] strides = [1, 1] : tensor<16x16xf32> -> tensor<1x16xf32>
  return %0 : tensor<1x16xf32>
}
