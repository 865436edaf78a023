// 39. A row of a sharded dimension that is read, changed and written back: its owner alone needs it
// no collectives
// arg1: -2..10
sgd.mesh @mesh = <["x"=4]>
func.func @main(%t: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<i32>, %scale: tensor<1x16xf32>) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %zero = arith.constant dense<0> : tensor<i32>
  %0 = sgd.dynamic_slice %t, %i, %zero sizes = [1, 16] : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
  %1 = math.tanh %0 : tensor<1x16xf32>
  %2 = arith.mulf %1, %scale : tensor<1x16xf32>
  %3 = sgd.dynamic_update_slice %t, %2, %i, %zero : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}
