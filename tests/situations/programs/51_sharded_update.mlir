// 51. State that all ranks update alike: reduce-scatter, shards are updated, all-gather; momentum stays in shards
// collective: reduce_scatter over 4 sends 49152
// collective: all_gather over 4 sends 49152
sgd.mesh @mesh = <["data"=4]>
func.func @main(%p: tensor<128x128xf32> {sgd.name = "state['p']", sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
                %m: tensor<128x128xf32> {sgd.name = "state['m']", sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
                %x: tensor<4x128x128xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}, {}]>})
    -> (tensor<128x128xf32> {sgd.name = "result['p']"}, tensor<128x128xf32> {sgd.name = "result['m']"}) {
  %read = sgd.broadcast_in_dim %p dims = [1, 2] : tensor<128x128xf32> -> tensor<4x128x128xf32>
  %rows = arith.mulf %x, %read : tensor<4x128x128xf32>
  %g = sgd.reduce add %rows dimensions = [0] : tensor<4x128x128xf32> -> tensor<128x128xf32>
  %decay = arith.constant dense<0.9> : tensor<128x128xf32>
  %small = arith.constant dense<0.1> : tensor<128x128xf32>
  %0 = arith.mulf %m, %decay : tensor<128x128xf32>
  %1 = arith.addf %0, %g : tensor<128x128xf32>
  %2 = math.absf %1 : tensor<128x128xf32>
  %3 = math.sqrt %2 : tensor<128x128xf32>
  %4 = arith.addf %3, %small : tensor<128x128xf32>
  %5 = arith.divf %1, %4 : tensor<128x128xf32>
  %6 = math.tanh %5 : tensor<128x128xf32>
  %7 = arith.divf %6, %4 : tensor<128x128xf32>
  %8 = arith.subf %p, %7 : tensor<128x128xf32>
  return %8, %1 : tensor<128x128xf32>, tensor<128x128xf32>
}
