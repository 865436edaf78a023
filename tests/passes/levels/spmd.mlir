// Ops that may be there when tensors are local.
// RUN: sgd-opt %s --split-input-file --sgd-verify-level=level=spmd --verify-diagnostics

sgd.mesh @mesh = <["x"=4]>
func.func @local(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %a : tensor<8xf32>
  %1 = spmd.all_reduce add(%0) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
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
  // expected-error @below {{sgd.reshard is left over after partitioning; expected local ops and collectives; sgd-localize should have removed it (this is a bug of sgdc, please report it)}}
  %0 = sgd.reshard %a : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @call(%a: tensor<8x16xf32>, %b: tensor<16x8xf32>) {
  // expected-error @below {{fusion.matmul is there after partitioning; expected local ops and collectives; no pass before fusion may create it}}
  %0 = fusion.matmul %a [0, 1], %b [1, 2] into [0, 2] : tensor<8x16xf32>, tensor<16x8xf32> -> tensor<8x8xf32>
  return
}
