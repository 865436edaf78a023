// 28. A reshape that merges a sharded dimension with a minor one needs nothing
// no collectives
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x4x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<32x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.reshape %a : tensor<8x4x2xf32> -> tensor<32x2xf32>
  return %0 : tensor<32x2xf32>
}
