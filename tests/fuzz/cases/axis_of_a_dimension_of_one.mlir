// The dimension of size 1 of %x is sharded over the axis that the result asks for: it was given to another dimension too.
sgd.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<24x1xf32> {sgd.sharding = #sgd.sharding<@mesh, [{?}, {"x"}]>})
    -> (tensor<4x6xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.reshape %x : tensor<24x1xf32> -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
