// seed: 1
// arg0: -1..2
// A branch sends empty buffers: its window scratch was looked for where there was none.
sgd.mesh @mesh = <["x"=7]>
func.func @main(%i: tensor<i32>, %x: tensor<21x17x2xi1> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}]>}, %y: tensor<11x0x0xi1>)
    -> tensor<11x0x0xi1> {
  %0 = sgd.case %i(%x, %y) {
  ^bb0(%a: tensor<21x17x2xi1>, %b: tensor<11x0x0xi1>):
    %1 = sgd.slice %a starts = [0, 6, 1] limits = [21, 6, 1] strides = [2, 1, 1] : tensor<21x17x2xi1> -> tensor<11x0x0xi1>
    sgd.yield %1 : tensor<11x0x0xi1>
  }, {
  ^bb0(%a: tensor<21x17x2xi1>, %b: tensor<11x0x0xi1>):
    sgd.yield %b : tensor<11x0x0xi1>
  } : (tensor<i32>, tensor<21x17x2xi1>, tensor<11x0x0xi1>) -> tensor<11x0x0xi1>
  return %0 : tensor<11x0x0xi1>
}
