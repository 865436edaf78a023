// arg1: 0..255
// The largest index of eight bits without sign points into the operand: it cannot mark padding.
sgd.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<256xf32>, %i: tensor<7x1xi8> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>},
    %u: tensor<7xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<256xf32> {
  %0 = sgd.scatter add %x, %i, %u {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>,
    input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>,
    index_vector_dim = 1 : i64, unsigned_indices} : (tensor<256xf32>, tensor<7x1xi8>, tensor<7xf32>) -> tensor<256xf32>
  return %0 : tensor<256xf32>
}
