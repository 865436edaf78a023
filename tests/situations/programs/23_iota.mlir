// 23. Indices along a sharded dimension need nothing
// no collectives
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x16xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"y", "x"}, {}]>}) -> (tensor<8x16xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"y", "x"}, {}]>}) {
  %i = sgd.iota dimension = 0 : tensor<8x16xi32>
  %0 = arith.addi %a, %i : tensor<8x16xi32>
  return %0 : tensor<8x16xi32>
}
