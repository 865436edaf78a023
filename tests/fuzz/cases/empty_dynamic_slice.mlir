// An empty slice of a sharded dimension: the remainder of a division by its size.
// seed: 0
// arg1: -2..32
// arg2: -2..2
// arg3: -2..4
// arg4: -2..4
sgd.mesh @mesh = <["x"=1, "y"=4]>
func.func @main(%a0: tensor<31x1x3x3xbf16> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {"x"}, {}]>},
    %a1: tensor<i16> {sgd.sharding = #sgd.sharding<@mesh, []>},
    %a2: tensor<i16> {sgd.sharding = #sgd.sharding<@mesh, []>},
    %a3: tensor<i16> {sgd.sharding = #sgd.sharding<@mesh, []>},
    %a4: tensor<i16> {sgd.sharding = #sgd.sharding<@mesh, []>}) -> (tensor<1x0x2x3xbf16> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"y":(2)2}, {}, {}]>}) {
  %v0 = sgd.dynamic_slice %a0, %a1, %a2, %a3, %a4 sizes = [1, 0, 2, 3] : (tensor<31x1x3x3xbf16>, tensor<i16>, tensor<i16>, tensor<i16>, tensor<i16>) -> tensor<1x0x2x3xbf16>
  return %v0 : tensor<1x0x2x3xbf16>
}
