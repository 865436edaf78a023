// RUN: sgd-opt %s --sgd-share-buffers --split-input-file --verify-diagnostics
// RUN: sgd-opt %s --sgd-assign-offsets --split-input-file --verify-diagnostics

// expected-error @+1 {{is not at the plan level: it must be one block over memrefs in a #plan.space; run sgd-lower-to-plan first}}
func.func @tensors(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

func.func @mixed(%x: memref<8xf32, #plan.space<private>>) -> memref<8xf32, #plan.space<private>> {
  // expected-error @+1 {{is not an op of the plan level}}
  %0 = arith.constant 1 : i32
  return %x : memref<8xf32, #plan.space<private>>
}
