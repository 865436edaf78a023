// 13. Contracting dimension sharded, partly replicated: an all-reduce in subgroups
// collective: all_reduce over 2 sends 128
// lower bound: 64
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<16x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
