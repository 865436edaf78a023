// The choice is folded away, and with it what would have to be sent to make it: the lower bound must not count that.
sgd.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<4x16xi16> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>},
    %p: tensor<4x16xi1> {sgd.sharding = #sgd.sharding<@mesh, [{"y"}, {}]>}) -> tensor<4x16xi16> {
  %0 = arith.select %p, %a, %a : tensor<4x16xi1>, tensor<4x16xi16>
  return %0 : tensor<4x16xi16>
}
