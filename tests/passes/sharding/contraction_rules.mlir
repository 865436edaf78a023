// RUN: sgd-opt %s --sgd-print-sharding-rules --split-input-file --verify-diagnostics -o /dev/null

func.func @reduces(%a: tensor<8x4x2xf32>) {
  // expected-remark @below {{([i, j, k]) -> [i, k] i=8 j=4:add k=2}}
  %0 = sgd.reduce add %a dimensions = [1] : tensor<8x4x2xf32> -> tensor<8x2xf32>
  // expected-remark @below {{([i, j, k]) -> [j] i=8:max j=4 k=2:max}}
  %1 = sgd.reduce max %a dimensions = [0, 2] : tensor<8x4x2xf32> -> tensor<4xf32>
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
