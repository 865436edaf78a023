// Rows of a dimension of one element that is sharded itself are not chosen from shard by shard.
// seed: 0
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<1x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(2)2}, {"x"}]>}) -> (tensor<1x3xf32>, tensor<1x3xi32>) {
  %v:2 = chlo.top_k(%a, k = 3) : tensor<1x24xf32> -> (tensor<1x3xf32>, tensor<1x3xi32>)
  return %v#0, %v#1 : tensor<1x3xf32>, tensor<1x3xi32>
}
