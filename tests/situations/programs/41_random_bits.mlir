// 41. Random bits with a sharded result: each rank makes its own, the bits are those of one rank
// no collectives
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%key: tensor<2xui64>) -> (tensor<8x6xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<8x6xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, tensor<2xui64>) {
  %0, %1 = stablehlo.rng_bit_generator %key, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x6xui32>)
  %2, %3 = stablehlo.rng_bit_generator %0, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x6xui32>)
  return %1, %3, %2 : tensor<8x6xui32>, tensor<8x6xui32>, tensor<2xui64>
}
