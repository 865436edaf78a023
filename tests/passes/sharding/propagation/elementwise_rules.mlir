// RUN: sgd-opt %s --sgd-print-sharding-rules --split-input-file --verify-diagnostics -o /dev/null

func.func @elementwise(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %i: tensor<8x4xi32>) -> tensor<8x4xf32> {
  // expected-remark @below {{([i, j], [i, j]) -> [i, j] i=8 j=4}}
  %0 = arith.addf %a, %b : tensor<8x4xf32>
  // expected-remark @below {{([i, j]) -> [i, j] i=8 j=4}}
  %1 = math.exp %0 : tensor<8x4xf32>
  // expected-remark @below {{([i, j], [i, j]) -> [i, j] i=8 j=4}}
  %2 = arith.cmpf ogt, %1, %a : tensor<8x4xf32>
  // expected-remark @below {{([i, j], [i, j], [i, j]) -> [i, j] i=8 j=4}}
  %3 = arith.select %2, %0, %1 : tensor<8x4xi1>, tensor<8x4xf32>
  // expected-remark @below {{([i, j], [i, j]) -> [i, j] i=8 j=4}}
  %4 = sgd.divsi %i, %i : tensor<8x4xi32>
  // expected-remark @below {{([i, j]) -> [i, j] i=8 j=4}}
  %5 = sgd.fptosi %3 : tensor<8x4xf32> to tensor<8x4xi32>
  return %3 : tensor<8x4xf32>
}

// -----

func.func @scalar_condition(%c: i1, %a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  // expected-remark @below {{([], [i], [i]) -> [i] i=8}}
  %0 = arith.select %c, %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @constants_and_identities(%a: tensor<8xf32>, %b: tensor<4xi32>) -> tensor<8xf32> {
  // expected-remark @below {{() -> [i] i=8}}
  %0 = arith.constant dense<1.0> : tensor<8xf32>
  // expected-remark @below {{([i], [j]) -> [i], [j] i=8 j=4}}
  %1:2 = sgd.optimization_barrier %a, %b : (tensor<8xf32>, tensor<4xi32>) -> (tensor<8xf32>, tensor<4xi32>)
  return %1#0 : tensor<8xf32>
}
