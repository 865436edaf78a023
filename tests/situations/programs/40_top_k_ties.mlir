// 40. Of equal elements the first one is chosen, whichever shard holds it
// collective: all_gather over 4 sends 168
// arg0: 0..2
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> (tensor<7xi32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}, tensor<7xi32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}) {
  %0, %1 = sgd.top_k %a k = 7 : (tensor<64xi32>) -> (tensor<7xi32>, tensor<7xi32>)
  return %0, %1 : tensor<7xi32>, tensor<7xi32>
}
