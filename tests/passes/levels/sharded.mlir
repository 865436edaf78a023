// Ops that may be there when every tensor has a sharding.
// RUN: sgd-opt %s --split-input-file --sgd-verify-level=level=sharded --verify-diagnostics

sgd.mesh @mesh = <["x"=4]>
func.func @sharded(%a: tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>) -> tensor<8xf32, #sgd.sharding<@mesh, [{}]>> {
  %0 = math.exp %a : tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>
  %1 = sgd.reshard %0 : tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>> -> tensor<8xf32, #sgd.sharding<@mesh, [{}]>>
  return %1 : tensor<8xf32, #sgd.sharding<@mesh, [{}]>>
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @constraint(%a: tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>) {
  // expected-error @below {{sgd.sharding_constraint is left over after sharding; expected ops of the graph and reshards; sgd-shard should have removed it (this is a bug of sgdc, please report it)}}
  %0 = sgd.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @ranks(%a: tensor<8xf32>) {
  // expected-error @below {{sgd.permute_ranks is left over after sharding; expected ops of the graph and reshards; sgd-expand-manual should have removed it}}
  %0 = sgd.permute_ranks %a pairs = [0, 1, 1, 0] over <@mesh, {"x"}> : tensor<8xf32>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @collective(%a: tensor<8xf32>) {
  // expected-error @below {{spmd.all_reduce is there after sharding; expected ops of the graph and reshards; no pass before partitioning may create it (this is a bug of sgdc, please report it)}}
  %0 = spmd.all_reduce add(%a) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @kernel(%a: tensor<8xf32>) {
  // expected-error @below {{fusion.cluster is there after sharding; expected ops of the graph and reshards; no pass before fusion may create it}}
  %0 = fusion.cluster(%a) {
  ^bb0(%b: tensor<8xf32>):
    fusion.yield %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @foreign(%a: index) {
  // expected-error @below {{scf.for is of no level; expected ops of the graph and reshards; passes/levels/levels.cpp should say where it may be (this is a bug of sgdc, please report it)}}
  scf.for %i = %a to %a step %a {
  }
  return
}

// -----

// In loops and branches too, at any depth.
func.func @deep(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sgd.while(%a) trips 3 do {
  ^bb0(%b: tensor<8xf32>):
    // expected-error @below {{fusion.matmul is there after sharding}}
    %1 = fusion.matmul %b [0], %b [1] into [0, 1] : tensor<8xf32>, tensor<8xf32> -> tensor<8x8xf32>
    sgd.yield %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
