// Forms that the mesh asks for and an attention has not.
// RUN: sgd-opt %s --sgd-shard-attention --split-input-file --verify-diagnostics

sgd.mesh @mesh = <["context"=4]> {sgd.attention = "striped_ring"}

// Without a causal mask there is nothing to deal out.
func.func @stripes(%q: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %k: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %v: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) -> (tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) {
  %scores = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : tensor<2x32x8xf32>, tensor<2x32x8xf32> -> tensor<2x32x32xf32>
  %max = sgd.reduce max %scores dimensions = [2] : tensor<2x32x32xf32> -> tensor<2x32xf32>
  %all = sgd.broadcast_in_dim %max dims = [0, 1] : tensor<2x32xf32> -> tensor<2x32x32xf32>
  %less = arith.subf %scores, %all : tensor<2x32x32xf32>
  // expected-error @+1 {{attention cannot be computed in the form 'striped_ring' that the recipe asks for: its mask is none that hides all later positions and no others; expected a form that it has; ask for another one, or for none}}
  %exp = math.exp %less : tensor<2x32x32xf32>
  %sum = sgd.reduce add %exp dimensions = [2] : tensor<2x32x32xf32> -> tensor<2x32xf32>
  %sums = sgd.broadcast_in_dim %sum dims = [0, 1] : tensor<2x32xf32> -> tensor<2x32x32xf32>
  %weights = arith.divf %exp, %sums : tensor<2x32x32xf32>
  %out = sgd.dot_general %weights, %v batching = [0] x [0] contracting = [2] x [1] : tensor<2x32x32xf32>, tensor<2x32x8xf32> -> tensor<2x32x8xf32>
  return %out : tensor<2x32x8xf32>
}

// -----

sgd.mesh @mesh = <["context"=4]> {sgd.attention = "ring"}

// Nobody knows which part of a mask of pairs a block needs but who reads all of it.
func.func @pairs(%q: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %k: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %v: tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>},
                     %pairs: tensor<32x32xi1>) -> (tensor<2x32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"context"}, {}]>}) {
  %scores = sgd.dot_general %q, %k batching = [0] x [0] contracting = [2] x [2] : tensor<2x32x8xf32>, tensor<2x32x8xf32> -> tensor<2x32x32xf32>
  %mask = sgd.broadcast_in_dim %pairs dims = [1, 2] : tensor<32x32xi1> -> tensor<2x32x32xi1>
  %fill = arith.constant dense<-1.0e+30> : tensor<2x32x32xf32>
  %masked = arith.select %mask, %scores, %fill : tensor<2x32x32xi1>, tensor<2x32x32xf32>
  %max = sgd.reduce max %masked dimensions = [2] : tensor<2x32x32xf32> -> tensor<2x32xf32>
  %all = sgd.broadcast_in_dim %max dims = [0, 1] : tensor<2x32xf32> -> tensor<2x32x32xf32>
  %less = arith.subf %masked, %all : tensor<2x32x32xf32>
  // expected-error @+1 {{attention cannot be computed in the form 'ring' that the recipe asks for: its mask or bias is a tensor with an entry for each pair of positions; expected a form that it has; ask for another one, or for none}}
  %exp = math.exp %less : tensor<2x32x32xf32>
  %sum = sgd.reduce add %exp dimensions = [2] : tensor<2x32x32xf32> -> tensor<2x32xf32>
  %sums = sgd.broadcast_in_dim %sum dims = [0, 1] : tensor<2x32xf32> -> tensor<2x32x32xf32>
  %weights = arith.divf %exp, %sums : tensor<2x32x32xf32>
  %out = sgd.dot_general %weights, %v batching = [0] x [0] contracting = [2] x [1] : tensor<2x32x32xf32>, tensor<2x32x8xf32> -> tensor<2x32x8xf32>
  return %out : tensor<2x32x8xf32>
}

// -----

// expected-error @+1 {{attention in the form 'spiral'; expected ring, striped_ring, all_to_all or gathered}}
module {
  sgd.mesh @mesh = <["context"=4]> {sgd.attention = "spiral"}
}
