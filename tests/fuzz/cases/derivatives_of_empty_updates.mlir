// crash: Floating point exception
// Found by --family derivatives --seed 11, case 231
// derivatives
// seed: 0
// arg0: -2..2
// arg1: -2..10
// arg2: -2..2
// arg3: -2..2
sgd.mesh @mesh = <["x"=3]>
func.func @main(%a0: tensor<9x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>},
    %a1: tensor<6x1x1xi16>,
    %a2: tensor<6x1x9x0xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}, {}]>},
    %a3: tensor<9x3xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) -> (tensor<f32>) {
  %v0 = sgd.scatter max %a0, %a1, %a2 {update_window_dims = array<i64: 2, 3>, inserted_window_dims = array<i64>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 1>, index_vector_dim = 1 : i64} : (tensor<9x3xf32>, tensor<6x1x1xi16>, tensor<6x1x9x0xf32>) -> tensor<9x3xf32>
  %v1 = math.tanh %v0 : tensor<9x3xf32>
  %v2 = arith.mulf %v1, %a3 : tensor<9x3xf32>
  %v3 = sgd.reduce add %v2 dimensions = [0, 1] : tensor<9x3xf32> -> tensor<f32>
  return %v3 : tensor<f32>
}
