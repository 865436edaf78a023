// RUN: sgd-opt %s --sgd-print-sharding-rules --split-input-file --verify-diagnostics -o /dev/null

func.func @broadcast_transpose_iota(%a: tensor<4x1xf32>) {
  // expected-remark @below {{([j, -]) -> [i, j, k] i=2 j=4 k=8}}
  %0 = sgd.broadcast_in_dim %a dims = [1, 2] : tensor<4x1xf32> -> tensor<2x4x8xf32>
  // expected-remark @below {{([j, k, i]) -> [i, j, k] i=8 j=2 k=4}}
  %1 = sgd.transpose %0 permutation = [2, 0, 1] : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  // expected-remark @below {{() -> [i, j] i=8 j=3}}
  %2 = sgd.iota dimension = 1 : tensor<8x3xi32>
  return
}

// -----

func.func @reshapes(%a: tensor<2x3x8xf32>, %b: tensor<6x4xf32>, %c: tensor<6x2xf32>) {
  // expected-remark @below {{([i, j, k]) -> [ij, k] i=2 j=3 k=8}}
  %0 = sgd.reshape %a : tensor<2x3x8xf32> -> tensor<6x8xf32>
  // expected-remark @below {{([i, jk]) -> [i, -, j, k] i=6 j=2 k=4}}
  %1 = sgd.reshape %0 : tensor<6x8xf32> -> tensor<6x1x2x4xf32>
  // expected-remark @below {{([ij, m]) -> [ik, l] i=2 j=3:whole k=2:whole l=6:whole m=4:whole}}
  %2 = sgd.reshape %b : tensor<6x4xf32> -> tensor<4x6xf32>
  // expected-remark @below {{([ij, k]) -> [i, jk] i=2 j=3 k=2}}
  %3 = sgd.reshape %c : tensor<6x2xf32> -> tensor<2x6xf32>
  return
}

// -----

func.func @cuts(%a: tensor<8x4xf32>, %v: tensor<f32>) {
  // expected-remark @below {{([i, j]) -> [i, j] i=8 j=4:permutes}}
  %0 = sgd.slice %a starts = [0, 1] limits = [8, 3] strides = [1, 1] : tensor<8x4xf32> -> tensor<8x2xf32>
  // expected-remark @below {{([i, j], []) -> [i, j] i=10:permutes j=4}}
  %1 = sgd.pad %a, %v low = [1, 0] high = [1, 0] interior = [0, 0] : tensor<8x4xf32>, tensor<f32> -> tensor<10x4xf32>
  // expected-remark @below {{([i, j]) -> [i, j] i=8 j=4:permutes}}
  %2 = sgd.reverse %a dimensions = [1] : tensor<8x4xf32>
  // expected-remark @below {{([i, j], [i, j]) -> [i, j] i=18:permutes j=4}}
  %3 = sgd.concatenate %a, %1 dimension = 0 : (tensor<8x4xf32>, tensor<10x4xf32>) -> tensor<18x4xf32>
  // One row is on one rank: whoever wants it fetches it, and nothing is sharded for it.
  // expected-remark @below {{([i, k]) -> [j, k] i=8:permutes j=1:permutes k=4}}
  %4 = sgd.slice %a starts = [3, 0] limits = [4, 4] strides = [1, 1] : tensor<8x4xf32> -> tensor<1x4xf32>
  return
}

// -----

func.func @dynamic(%a: tensor<8x4xf32>, %u: tensor<2x4xf32>, %i: tensor<i32>) {
  // expected-remark @below {{([i, k], [], []) -> [j, k] i=8:add j=2 k=4}}
  %0 = sgd.dynamic_slice %a, %i, %i sizes = [2, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  // expected-remark @below {{([i, k], [j, k], [], []) -> [i, k] i=8 j=2:whole k=4}}
  %1 = sgd.dynamic_update_slice %a, %u, %i, %i : (tensor<8x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  return
}
