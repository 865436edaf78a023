// 26. Interior padding, elements removed in front: ranks begin at different distances from an element
// collective: gather_range over 4 sends 128
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<20x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %v = arith.constant dense<-1.0> : tensor<f32>
  %0 = sgd.pad %a, %v low = [-4, 0] high = [2, 0] interior = [2, 0] : tensor<8x16xf32>, tensor<f32> -> tensor<20x16xf32>
  return %0 : tensor<20x16xf32>
}
