// A bias is added to a matmul before that is rounded to bf16.
// seed: 0
sgd.mesh @mesh = <["x"=8]>
func.func @main(%a0: tensor<7x1xi1> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}], replicated={"x"}>},
    %a1: tensor<5x1xbf16> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
    %a2: tensor<1x8xbf16> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
    %a3: tensor<8xbf16> {sgd.sharding = #sgd.sharding<@mesh, [{}]>},
    %a4: tensor<8x8xbf16> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) -> (tensor<7x1xi1>,
    tensor<5x4xbf16>,
    tensor<5x8xbf16>) {
  %v0 = sgd.sharding_constraint %a0 <@mesh, [{}, {}]> : tensor<7x1xi1>
  %v1 = sgd.dot_general %a1, %a2 batching = [] x [] contracting = [1] x [0] : tensor<5x1xbf16>, tensor<1x8xbf16> -> tensor<5x8xbf16>
  %v2 = sgd.broadcast_in_dim %a3 dims = [1] : tensor<8xbf16> -> tensor<5x8xbf16>
  %v3 = arith.addf %v1, %v2 : tensor<5x8xbf16>
  %v4 = math.tanh %v3 : tensor<5x8xbf16>
  %v5 = sgd.slice %v4 starts = [0, 0] limits = [5, 8] strides = [1, 2] : tensor<5x8xbf16> -> tensor<5x4xbf16>
  %v6 = sgd.sharding_constraint %v5 <@mesh, [{}, {}]> : tensor<5x4xbf16>
  %v7 = sgd.dot_general %v3, %a4 batching = [] x [] contracting = [1] x [0] : tensor<5x8xbf16>, tensor<8x8xbf16> -> tensor<5x8xbf16>
  %v8 = sgd.broadcast_in_dim %a3 dims = [1] : tensor<8xbf16> -> tensor<5x8xbf16>
  %v9 = arith.addf %v7, %v8 : tensor<5x8xbf16>
  %v10 = math.tanh %v9 : tensor<5x8xbf16>
  return %v0, %v6, %v10 : tensor<7x1xi1>, tensor<5x4xbf16>, tensor<5x8xbf16>
}
