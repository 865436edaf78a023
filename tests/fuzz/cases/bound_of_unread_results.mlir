// Nobody reads the operands of a matmul of no elements: sends 0 bytes, the bound said 37
// Found by --family layer --seed 301, case 800
// seed: 0
sgd.mesh @mesh = <["x"=3]>
func.func @main(%a0: tensor<3x7xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>},
    %a1: tensor<7x6xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>},
    %a2: tensor<6xf32>,
    %a3: tensor<6x0xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>},
    %a4: tensor<0xf32>) -> (tensor<3x0xf32>) {
  %v0 = sgd.dot_general %a0, %a1 batching = [] x [] contracting = [1] x [0] : tensor<3x7xf32>, tensor<7x6xf32> -> tensor<3x6xf32>
  %v1 = sgd.broadcast_in_dim %a2 dims = [1] : tensor<6xf32> -> tensor<3x6xf32>
  %v2 = arith.addf %v0, %v1 : tensor<3x6xf32>
  %v3 = math.exp %v2 : tensor<3x6xf32>
  %v4 = sgd.dot_general %v3, %a3 batching = [] x [] contracting = [1] x [0] : tensor<3x6xf32>, tensor<6x0xf32> -> tensor<3x0xf32>
  %v5 = sgd.broadcast_in_dim %a4 dims = [1] : tensor<0xf32> -> tensor<3x0xf32>
  %v6 = arith.addf %v4, %v5 : tensor<3x0xf32>
  %v7 = math.tanh %v6 : tensor<3x0xf32>
  return %v7 : tensor<3x0xf32>
}
