// 51. Parameters that are sharded over the model already: their update is sharded further, over the data
// collective: reduce_scatter over 4 sends 49152
// collective: all_gather over 4 sends 49152
sgd.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%p: tensor<256x128xf32> {sgd.name = "state['p']", sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>},
                %m: tensor<256x128xf32> {sgd.name = "state['m']", sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>},
                %x: tensor<4x256x128xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {"model"}, {}]>})
    -> (tensor<256x128xf32> {sgd.name = "result['p']"}, tensor<256x128xf32> {sgd.name = "result['m']"}) {
  %read = sgd.broadcast_in_dim %p dims = [1, 2] : tensor<256x128xf32> -> tensor<4x256x128xf32>
  %rows = arith.mulf %x, %read : tensor<4x256x128xf32>
  %g = sgd.reduce add %rows dimensions = [0] : tensor<4x256x128xf32> -> tensor<256x128xf32>
  %decay = arith.constant dense<0.9> : tensor<256x128xf32>
  %small = arith.constant dense<0.1> : tensor<256x128xf32>
  %0 = arith.mulf %m, %decay : tensor<256x128xf32>
  %1 = arith.addf %0, %g : tensor<256x128xf32>
  %2 = math.absf %1 : tensor<256x128xf32>
  %3 = math.sqrt %2 : tensor<256x128xf32>
  %4 = arith.addf %3, %small : tensor<256x128xf32>
  %5 = arith.divf %1, %4 : tensor<256x128xf32>
  %6 = math.tanh %5 : tensor<256x128xf32>
  %7 = arith.divf %6, %4 : tensor<256x128xf32>
  %8 = arith.subf %p, %7 : tensor<256x128xf32>
  return %8, %1 : tensor<256x128xf32>, tensor<256x128xf32>
}
