// 40. A sort along a sharded dimension whose result may be as it likes: rows are sharded while they are sorted and stay so
// collective: all_to_all over 4 sends 96
// arg0: -5..5
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x16xf32> {
  %0 = sgd.sort(%a) dimension = 1 {
  ^bb0(%p: f32, %q: f32):
    %less = arith.cmpf olt, %p, %q : f32
    sgd.yield %less : i1
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
