// A dimension of one row, in two parts of which one is padding: reversed, the padding came first.
// seed: 0
sgd.mesh @mesh = <["x"=1]> {sgd.sequential = #sgd<axis"micro"=2>}
func.func @main(%a0: tensor<1x1xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
    %a1: tensor<1x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>, sgd.sequential_dim = 0 : i64}) -> (tensor<1x1xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
    tensor<1x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %v0 = sgd.reverse %a0 dimensions = [] : tensor<1x1xf32>
  %v1 = sgd.reverse %a1 dimensions = [0] : tensor<1x2xf32>
  return %v0, %v1 : tensor<1x1xf32>, tensor<1x2xf32>
}
