// 39. A block of rows written into a sharded dimension: nothing is sent
// no collectives
// arg2: -2..10
sgd.mesh @mesh = <["x"=4]>
func.func @main(%t: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %u: tensor<3x16xf32>, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.dynamic_update_slice %t, %u, %i, %j : (tensor<8x16xf32>, tensor<3x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
