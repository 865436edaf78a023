// 39. A block, wanted sharded, of rows that all ranks hold: nothing is sent
// no collectives
// arg1: -2..10
sgd.mesh @mesh = <["x"=4]>
func.func @main(%t: tensor<12x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.dynamic_slice %t, %i, %j sizes = [8, 16] : (tensor<12x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
