// RUN: sgd-opt %s --sgd-lower-to-plan --split-input-file --verify-diagnostics

// expected-error @+1 {{has arguments that are not local tensors of static shape}}
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

sgd.mesh @mesh = <["data"=2]>
// expected-error @+1 {{has arguments that are not local tensors of static shape}}
func.func @sharded(%x: tensor<8xf32, #sgd.sharding<@mesh, [{"data"}]>>) -> tensor<8xf32, #sgd.sharding<@mesh, [{"data"}]>> {
  return %x : tensor<8xf32, #sgd.sharding<@mesh, [{"data"}]>>
}

// -----

func.func @not_formed(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{is not a contraction yet; run sgd-lower-dot-generals first}}
  %0 = sgd.dot_general %x, %x batching = [] x [] contracting = [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Labels whose order no strided matmul can take.
func.func @contract(%x: tensor<2x2x2xf32>, %y: tensor<2x2x2xf32>) -> tensor<2x2x2xf32> {
  // expected-error @+1 {{has an order of dimensions that no strided matmul can read; transpose an operand first}}
  %0 = fusion.matmul %x [0, 1, 3], %y [0, 3, 2] into [1, 2, 0] : tensor<2x2x2xf32>, tensor<2x2x2xf32> -> tensor<2x2x2xf32>
  return %0 : tensor<2x2x2xf32>
}

// -----

sgd.mesh @mesh = <["data"=2]>
func.func @xor(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{between ranks is not supported for 'xor' (the sum of booleans is one too); reduce integers of 8 bits and more, or leave the reduced dimension whole}}
  %0 = spmd.all_reduce xor (%x) <@mesh, {"data"}> : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
