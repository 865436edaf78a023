// Of a concatenation whose first piece is computed, the others were read as if it had none: out of bounds in its rows.
// seed: 0
sgd.mesh @mesh = <["x"=2]>
func.func @main(%a0: tensor<2x4x3x7xi16> {sgd.sharding = #sgd.sharding<@mesh, [{?}, {}, {}, {}]>},
    %a1: tensor<i16> {sgd.sharding = #sgd.sharding<@mesh, []>},
    %a2: tensor<4x7x5x12xi16> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}, {}]>}) -> (tensor<12x7x5x12xi16>) {
  %v0 = sgd.pad %a0, %a1 low = [0, 3, 0, 0] high = [0, 0, 0, 5] interior = [2, 0, 1, 0] : tensor<2x4x3x7xi16>, tensor<i16> -> tensor<4x7x5x12xi16>
  %v1 = sgd.concatenate %v0, %a2, %a2 dimension = 0 : (tensor<4x7x5x12xi16>, tensor<4x7x5x12xi16>, tensor<4x7x5x12xi16>) -> tensor<12x7x5x12xi16>
  return %v1 : tensor<12x7x5x12xi16>
}
