// RUN: sgd-opt %s --sgd-print-sharding-rules --split-input-file --verify-diagnostics -o /dev/null

func.func @sort(%k: tensor<8x16xf32>, %v: tensor<8x16xi32>) {
  // expected-remark @below {{([i, j], [i, j]) -> [i, j], [i, j] i=8 j=16:whole}}
  %0:2 = sgd.sort(%k, %v) dimension = 1 {
  ^bb0(%a: f32, %b: f32, %x: i32, %y: i32):
    %less = arith.cmpf olt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<8x16xf32>, tensor<8x16xi32>) -> (tensor<8x16xf32>, tensor<8x16xi32>)
  return
}

// -----

func.func @top_k(%x: tensor<8x16xf32>) {
  // expected-remark @below {{([i, j]) -> [i, k], [i, k] i=8 j=16:whole k=2:whole}}
  %0:2 = sgd.top_k %x k = 2 : (tensor<8x16xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
  return
}
