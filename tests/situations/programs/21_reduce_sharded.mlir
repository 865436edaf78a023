// 21. A sum over a sharded dimension: local sums, then an all-reduce
// collective: all_reduce over 4 sends 96
// lower bound: 96
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}) {
  %0 = sgd.reduce add %a dimensions = [0] : tensor<8x16xf32> -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
