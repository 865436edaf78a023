// RUN: sgd-opt %s --sgd-lower-dot-generals --verify-diagnostics

func.func @booleans(%x: tensor<4x8xi1>, %w: tensor<8x16xi1>) -> tensor<4x16xi1> {
  // expected-error @+1 {{of booleans is not supported; convert the operands to i32 first}}
  %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<4x8xi1>, tensor<8x16xi1> -> tensor<4x16xi1>
  return %0 : tensor<4x16xi1>
}
