// bf16 matmuls over two dimensions that do not merge added up in a bf16 buffer, rounding eight times.
// seed: 0
sgd.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a0: tensor<8x8x5xbf16> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>},
    %a1: tensor<5x8xbf16> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) -> (tensor<8xbf16>) {
  %v0 = sgd.dot_general %a0, %a1 batching = [] x [] contracting = [2, 1] x [0, 1] : tensor<8x8x5xbf16>, tensor<5x8xbf16> -> tensor<8xbf16>
  return %v0 : tensor<8xbf16>
}
