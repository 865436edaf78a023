// A maximum of booleans between ranks; signed, a set bit is -1.
// seed: 0
sgd.mesh @mesh = <["x"=2]>
func.func @main(%a0: tensor<2x2x2xi1> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<2xi1>) {
  %v0 = sgd.reduce max %a0 dimensions = [0, 1] : tensor<2x2x2xi1> -> tensor<2xi1>
  return %v0 : tensor<2xi1>
}
