// A result that is whole beside one that is cut into parts of the batch: the info of a solve by columns.
// seed: 0
// arg0: 6..9
// arg1: -2..2
// arg2: -2..2
// arg3: -2..2
sgd.mesh @mesh = <["x"=1]> {sgd.sequential = #sgd<axis"micro"=2>}
func.func @main(%a0: tensor<1x2xf32>,
    %a1: tensor<1x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
    %a2: tensor<1x2xf32>,
    %a3: tensor<1x2x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>, sgd.sequential_dim = 2 : i64}) -> (tensor<1x2x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>},
    tensor<1xi32>) {
  %v0:2 = sgd.linear_algebra tridiagonal_solve (%a1, %a0, %a2, %a3) : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2x2xf32>) -> (tensor<1x2x2xf32>, tensor<1xi32>)
  return %v0#0, %v0#1 : tensor<1x2x2xf32>, tensor<1xi32>
}
