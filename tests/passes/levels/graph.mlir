// Which ops there may be after import.
// RUN: sgd-opt %s --split-input-file --sgd-verify-level=level=graph --verify-diagnostics

sgd.mesh @mesh = <["x"=4]>
func.func @graph(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sgd.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = math.exp %0 : tensor<8xf32>
  %2 = sgd.sort(%1) dimension = 0 {
  ^bb0(%x: f32, %y: f32):
    %3 = arith.cmpf olt, %x, %y : f32
    sgd.yield %3 : i1
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @reshard(%a: tensor<8xf32>) {
  // expected-error @below {{sgd.reshard is there after import; expected ops of the graph: sgd but reshards, arith and math; no pass before sharding may create it (this is a bug of sgdc, please report it)}}
  %0 = sgd.reshard %a : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

// Manual computations are local already.
sgd.mesh @mesh = <["x"=4]>
func.func @collective(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sgd.manual_computation(%a) in [#sgd.sharding<@mesh, [{"x"}]>] out [#sgd.sharding<@mesh, [{"x"}]>] over <@mesh, {"x"}> {
  ^bb0(%b: tensor<2xf32>):
    %1 = spmd.all_reduce add(%b) <@mesh, {"x"}> : (tensor<2xf32>) -> tensor<2xf32>
    sgd.yield %1 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @below {{spmd.all_reduce is there after import; expected ops of the graph}}
  %2 = spmd.all_reduce add(%0) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
