// 39. A row of a sharded dimension: local mask, and a reduction of the row
// collective: all_reduce over 4 sends 96
// arg1: -2..10
sgd.mesh @mesh = <["x"=4]>
func.func @main(%t: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<1x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %0 = sgd.dynamic_slice %t, %i, %j sizes = [1, 16] : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
  return %0 : tensor<1x16xf32>
}
