// RUN: sgd-opt %s --sgd-print-sharding-rules --split-input-file --verify-diagnostics -o /dev/null

func.func @reduces(%a: tensor<8x4x2xf32>) {
  // expected-remark @below {{([i, j, k]) -> [i, k] i=8 j=4:add k=2}}
  %0 = sgd.reduce add %a dimensions = [1] : tensor<8x4x2xf32> -> tensor<8x2xf32>
  // expected-remark @below {{([i, j, k]) -> [j] i=8:max j=4 k=2:max}}
  %1 = sgd.reduce max %a dimensions = [0, 2] : tensor<8x4x2xf32> -> tensor<4xf32>
  return
}

// -----

func.func @convolutions(%x: tensor<8x6x2x4xf32>, %w: tensor<3x2x4x16xf32>, %g: tensor<6x2x4x16xf32>) {
  // expected-remark @below {{([i, j, l, m], [k, l, m, n]) -> [i, j, l, n] i=8 j=6:permutes k=3:whole l=2 m=4:add n=16}}
  %0 = sgd.convolution %x, %w strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<8x6x2x4xf32>, tensor<3x2x4x16xf32> -> tensor<8x4x2x16xf32>
  // The gradient of a filter of three elements: windows of the size of the operand.
  // expected-remark @below {{([i, j, l, m], [j, l, m, n]) -> [i, k, l, n] i=8 j=6:add k=3:whole l=2 m=4:add n=16}}
  %1 = sgd.convolution %x, %g strides = [1] low = [1] high = [1] lhs_dilations = [1] rhs_dilations = [1] : tensor<8x6x2x4xf32>, tensor<6x2x4x16xf32> -> tensor<8x3x2x16xf32>
  return
}

// -----

func.func @dots(%a: tensor<2x8x4xf32>, %b: tensor<2x4x16xf32>) {
  // expected-remark @below {{([i, j, l], [i, l, k]) -> [i, j, k] i=2 j=8 k=16 l=4:add}}
  %0 = sgd.dot_general %a, %b batching = [0] x [0] contracting = [2] x [1] : tensor<2x8x4xf32>, tensor<2x4x16xf32> -> tensor<2x8x16xf32>
  // expected-remark @below {{([j, i, k], [j, i, k]) -> [] i=8:add j=2:add k=4:add}}
  %1 = sgd.dot_general %a, %a batching = [] x [] contracting = [1, 0, 2] x [1, 0, 2] : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<f32>
  return
}
