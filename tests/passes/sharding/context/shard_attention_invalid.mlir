// RUN: sgd-opt %s --sgd-shard-attention=form=all_to_all --split-input-file --verify-diagnostics

sgd.mesh @mesh = <["context"=4]>

func.func @attention(%q: tensor<3x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %k: tensor<3x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %v: tensor<3x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) -> (tensor<3x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) {
  %scores = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : tensor<3x32x8xf32>, tensor<3x32x8xf32> -> tensor<3x32x32xf32>
  %max = sgd.reduce max %scores dimensions = [2] : tensor<3x32x32xf32> -> tensor<3x32xf32>
  %all = sgd.broadcast_in_dim %max dims = [0, 1] : tensor<3x32xf32> -> tensor<3x32x32xf32>
  %less = arith.subf %scores, %all : tensor<3x32x32xf32>
  // expected-error @+1 {{attention cannot be computed in the form 'all_to_all' that the recipe asks for: no dimension of heads or batch entries is a multiple of the ranks; expected a form that it has; ask for another one, or for none}}
  %exp = math.exp %less : tensor<3x32x32xf32>
  %sum = sgd.reduce add %exp dimensions = [2] : tensor<3x32x32xf32> -> tensor<3x32xf32>
  %sums = sgd.broadcast_in_dim %sum dims = [0, 1] : tensor<3x32xf32> -> tensor<3x32x32xf32>
  %weights = arith.divf %exp, %sums : tensor<3x32x32xf32>
  %out = sgd.dot_general %weights, %v batching = [0] x [0] contracting = [2] x [1] : tensor<3x32x32xf32>, tensor<3x32x8xf32> -> tensor<3x32x8xf32>
  return %out : tensor<3x32x8xf32>
}

// -----

sgd.mesh @mesh = <["context"=4]>

func.func @scores_are_read(%q: tensor<4x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %k: tensor<4x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %v: tensor<4x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) -> (tensor<4x32x8xf32>, tensor<4x32x32xf32>) {
  %scores = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : tensor<4x32x8xf32>, tensor<4x32x8xf32> -> tensor<4x32x32xf32>
  %max = sgd.reduce max %scores dimensions = [2] : tensor<4x32x32xf32> -> tensor<4x32xf32>
  %all = sgd.broadcast_in_dim %max dims = [0, 1] : tensor<4x32xf32> -> tensor<4x32x32xf32>
  %less = arith.subf %scores, %all : tensor<4x32x32xf32>
  // expected-error @+1 {{attention cannot be computed in the form 'all_to_all' that the recipe asks for: its weights, or what they are computed from, are read by more than matmuls}}
  %exp = math.exp %less : tensor<4x32x32xf32>
  %sum = sgd.reduce add %exp dimensions = [2] : tensor<4x32x32xf32> -> tensor<4x32xf32>
  %sums = sgd.broadcast_in_dim %sum dims = [0, 1] : tensor<4x32xf32> -> tensor<4x32x32xf32>
  %weights = arith.divf %exp, %sums : tensor<4x32x32xf32>
  %out = sgd.dot_general %weights, %v batching = [0] x [0] contracting = [2] x [1] : tensor<4x32x32xf32>, tensor<4x32x8xf32> -> tensor<4x32x8xf32>
  return %out, %weights : tensor<4x32x8xf32>, tensor<4x32x32xf32>
}

// -----

// expected-warning @+1 {{attention in the form 'all_to_all' has no effect: no attention has sharded positions; shard the dimension of its positions over a mesh axis, or ask for no form}}
sgd.mesh @mesh = <["context"=4]>

// No attention, and so not refused.
func.func @logits(%x: tensor<32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"context"}, {}]>}, %w: tensor<16x8xf32>) -> (tensor<32x16xf32>, tensor<32x8xf32>) {
  %scores = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [1] : tensor<32x8xf32>, tensor<16x8xf32> -> tensor<32x16xf32>
  %max = sgd.reduce max %scores dimensions = [1] : tensor<32x16xf32> -> tensor<32xf32>
  %all = sgd.broadcast_in_dim %max dims = [0] : tensor<32xf32> -> tensor<32x16xf32>
  %less = arith.subf %scores, %all : tensor<32x16xf32>
  %exp = math.exp %less : tensor<32x16xf32>
  %sum = sgd.reduce add %exp dimensions = [1] : tensor<32x16xf32> -> tensor<32xf32>
  %sums = sgd.broadcast_in_dim %sum dims = [0] : tensor<32xf32> -> tensor<32x16xf32>
  %weights = arith.divf %exp, %sums : tensor<32x16xf32>
  %back = sgd.dot_general %weights, %w batching = [] x [] contracting = [1] x [0] : tensor<32x16xf32>, tensor<16x8xf32> -> tensor<32x8xf32>
  return %weights, %back : tensor<32x16xf32>, tensor<32x8xf32>
}
