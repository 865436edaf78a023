// 45. Softmax over a sharded dimension: two small all-reduces, not a gather
// collective: all_reduce over 4 sends 48
// collective: all_reduce over 4 sends 48
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) {
  %m = sgd.reduce max %a dimensions = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %mb = sgd.broadcast_in_dim %m dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %d = arith.subf %a, %mb : tensor<8x16xf32>
  %e = math.exp %d : tensor<8x16xf32>
  %s = sgd.reduce add %e dimensions = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %sb = sgd.broadcast_in_dim %s dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %q = arith.divf %e, %sb : tensor<8x16xf32>
  return %q : tensor<8x16xf32>
}
