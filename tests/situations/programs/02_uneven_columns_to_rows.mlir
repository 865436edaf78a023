// 2. 7 x 31 from columns to rows: padded, one all-to-all
// collective: all_to_all over 2 sends 256
// lower bound: 216
sgd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<7x31xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<7x31xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  return %a : tensor<7x31xf32>
}
