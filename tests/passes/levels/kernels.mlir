// Ops that may be there before the plan: nothing computes outside of kernels and calls.
// RUN: sgd-opt %s --split-input-file --sgd-verify-level=level=kernels --verify-diagnostics

func.func @kernels(%a: tensor<8x16xf32>, %b: tensor<16x8xf32>) -> tensor<64xf32> {
  %0 = fusion.matmul %a [0, 1], %b [1, 2] into [0, 2] : tensor<8x16xf32>, tensor<16x8xf32> -> tensor<8x8xf32>
  %1 = fusion.cluster(%0) {
  ^bb0(%x: tensor<8x8xf32>):
    %y = math.exp %x : tensor<8x8xf32>
    fusion.yield %y : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sgd.reshape %1 : tensor<8x8xf32> -> tensor<64xf32>
  return %2 : tensor<64xf32>
}

// -----

func.func @elementwise(%a: tensor<8xf32>) {
  // expected-error @below {{math.exp is left over after fusion; expected kernels, library calls, collectives, views and constants; sgd-fuse-clusters should have removed it (this is a bug of sgdc, please report it)}}
  %0 = math.exp %a : tensor<8xf32>
  return
}

// -----

func.func @sort(%a: tensor<8xf32>) {
  // expected-error @below {{sgd.sort is left over after fusion; expected kernels, library calls, collectives, views and constants; sgd-lower-sorts should have removed it}}
  %0 = sgd.sort(%a) dimension = 0 {
  ^bb0(%x: f32, %y: f32):
    %3 = arith.cmpf olt, %x, %y : f32
    sgd.yield %3 : i1
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @inside(%a: tensor<8x16xf32>, %b: tensor<16x8xf32>) {
  %0 = fusion.cluster(%a, %b) {
  ^bb0(%x: tensor<8x16xf32>, %y: tensor<16x8xf32>):
    // expected-error @below {{sgd.dot_general is in a kernel after fusion; expected ops that compute elements; the pass that made the kernel should have left it outside (this is a bug of sgdc, please report it)}}
    %1 = sgd.dot_general %x, %y batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32>, tensor<16x8xf32> -> tensor<8x8xf32>
    fusion.yield %1 : tensor<8x8xf32>
  } : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @early(%a: memref<8xf32, #plan.space<private>>) {
  // expected-error @below {{plan.alloc is there after fusion; expected kernels, library calls, collectives, views and constants; no pass before lowering to the plan may create it}}
  %0 = plan.alloc : memref<8xf32, #plan.space<private>>
  return
}
