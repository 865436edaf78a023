// 44. Cumulative sum along a sharded dimension: within each rank, then the ranks' totals
// collective: all_gather over 4 sends 192
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.cumulative add %a dimension = 0 : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
