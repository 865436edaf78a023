// 39. A row of a sharded dimension that is written back changed, and read by others too: all of them need it
// collective: all_reduce over 4 sends 96
// arg1: -2..10
sgd.mesh @mesh = <["x"=4]>
func.func @main(%t: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<i32>) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, tensor<1x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %zero = arith.constant dense<0> : tensor<i32>
  %0 = sgd.dynamic_slice %t, %i, %zero sizes = [1, 16] : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
  %1 = math.tanh %0 : tensor<1x16xf32>
  %2 = sgd.dynamic_update_slice %t, %1, %i, %zero : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
  return %2, %1 : tensor<8x16xf32>, tensor<1x16xf32>
}
