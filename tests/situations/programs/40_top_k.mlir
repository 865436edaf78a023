// 40. The largest of a sharded dimension: those of each shard travel
// collective: all_gather over 4 sends 288
// arg0: special
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<3x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<3x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}, tensor<3x4xi32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %0, %1 = sgd.top_k %a k = 4 : (tensor<3x64xf32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)
  return %0, %1 : tensor<3x4xf32>, tensor<3x4xi32>
}
