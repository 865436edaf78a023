// 51. The norm of a gradient whose update is sharded is a sum over shards: a scalar more is all-reduced. Two moments, as Adam's
// collective: reduce_scatter over 4 sends 61440
// collective: all_reduce over 4 sends 6
// collective: all_gather over 4 sends 61440
sgd.mesh @mesh = <["data"=4]>
func.func @main(%p: tensor<160x128xf32> {sgd.name = "state['p']", sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
                %m: tensor<160x128xf32> {sgd.name = "state['m']", sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
                %v: tensor<160x128xf32> {sgd.name = "state['v']", sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
                %x: tensor<4x160x128xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}, {}]>})
    -> (tensor<160x128xf32> {sgd.name = "result['p']"}, tensor<160x128xf32> {sgd.name = "result['m']"}, tensor<160x128xf32> {sgd.name = "result['v']"}) {
  %read = sgd.broadcast_in_dim %p dims = [1, 2] : tensor<160x128xf32> -> tensor<4x160x128xf32>
  %rows = arith.mulf %x, %read : tensor<4x160x128xf32>
  %g = sgd.reduce add %rows dimensions = [0] : tensor<4x160x128xf32> -> tensor<160x128xf32>
  %decay = arith.constant dense<0.9> : tensor<160x128xf32>
  %small = arith.constant dense<0.1> : tensor<160x128xf32>
  %0 = arith.mulf %g, %g : tensor<160x128xf32>
  %1 = sgd.reduce add %0 dimensions = [0, 1] : tensor<160x128xf32> -> tensor<f32>
  %2 = math.rsqrt %1 : tensor<f32>
  %3 = sgd.broadcast_in_dim %2 dims = [] : tensor<f32> -> tensor<160x128xf32>
  %4 = arith.mulf %g, %3 : tensor<160x128xf32>
  %5 = arith.mulf %4, %4 : tensor<160x128xf32>
  %6 = arith.mulf %m, %decay : tensor<160x128xf32>
  %7 = arith.addf %6, %4 : tensor<160x128xf32>
  %8 = arith.mulf %v, %decay : tensor<160x128xf32>
  %9 = arith.addf %8, %5 : tensor<160x128xf32>
  %10 = math.absf %9 : tensor<160x128xf32>
  %11 = math.sqrt %10 : tensor<160x128xf32>
  %12 = arith.addf %11, %small : tensor<160x128xf32>
  %13 = arith.divf %7, %12 : tensor<160x128xf32>
  %14 = arith.divf %13, %small : tensor<160x128xf32>
  %15 = arith.subf %p, %14 : tensor<160x128xf32>
  return %15, %7, %9 : tensor<160x128xf32>, tensor<160x128xf32>, tensor<160x128xf32>
}
