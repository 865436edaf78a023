// RUN: sgd-opt %s --sgd-form-loops --split-input-file --verify-diagnostics

sgd.mesh @mesh = <["micro"=2]> {sgd.sequential = #sgd<axis"micro"=2>}

func.func @neighbours(%x: tensor<2x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) -> tensor<2x4xf32> {
  // expected-error @+1 {{that is computed here needs rows of other parts of 'micro', neither as a sum over rows nor as all rows; expected each row to be computed from itself, from sums over rows, or from all rows; compile without 'micro'}}
  %0 = spmd.gather_range(%x) ranges = [#sgd.range<dim = 0, size = 4, scale = 2, offset = 1>] <@mesh, {"micro"}> to <@mesh, {"micro"}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

sgd.mesh @mesh = <["micro"=2]> {sgd.sequential = #sgd<axis"micro"=2>}

func.func @sum_in_loop(%x: tensor<4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}]>}) -> tensor<4xf32> {
  %0 = sgd.while(%x) trips 3 do {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{needs rows of other parts of 'micro'}}
    %1 = spmd.all_reduce add(%a) <@mesh, {"micro"}> : (tensor<4xf32>) -> tensor<4xf32>
    sgd.yield %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
