// Without parts of the batch there are no loops that tell parameters from state: what the loss is computed from are parameters.
// RUN: sgd-opt %s --sgd-print-stages=stages=2 --verify-diagnostics -o /dev/null

sgd.mesh @mesh = <["data"=2]>

func.func @step(%w0: tensor<8x8xf32>, // expected-remark {{argument 0 on stage 0}}
                %m0: tensor<8x8xf32>, // expected-remark {{argument 1 on stage 0}}
                %w1: tensor<8x8xf32>, // expected-remark {{argument 2 on stage 1}}
                %m1: tensor<8x8xf32>, // expected-remark {{argument 3 on stage 1}}
                %x: tensor<4x8xf32>) // expected-remark {{argument 4 on stage 0}}
    -> (tensor<f32>, tensor<8x8xf32> {sgd.carry = 0 : i64}, tensor<8x8xf32> {sgd.carry = 1 : i64}, tensor<8x8xf32> {sgd.carry = 2 : i64}, tensor<8x8xf32> {sgd.carry = 3 : i64}) {
  %h = sgd.dot_general %x, %w0 batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> // expected-remark {{on stage 0, sent to 1}}
  %o = sgd.dot_general %h, %w1 batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> // expected-remark {{on stage 1}}
  %loss = sgd.reduce add %o dimensions = [0, 1] : tensor<4x8xf32> -> tensor<f32> // expected-remark {{on stage 1}}
  %g1 = sgd.dot_general %h, %o batching = [] x [] contracting = [0] x [0] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32> // expected-remark {{on stage 1}}
  %dh = sgd.dot_general %o, %w1 batching = [] x [] contracting = [1] x [1] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> // expected-remark {{on stage 1, sent to 0}}
  %g0 = sgd.dot_general %x, %dh batching = [] x [] contracting = [0] x [0] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32> // expected-remark {{on stage 0}}
  // A global norm leads everywhere; gradients stay.
  %s0 = arith.mulf %g0, %g0 : tensor<8x8xf32> // expected-remark {{on stage 0}}
  %s1 = arith.mulf %g1, %g1 : tensor<8x8xf32> // expected-remark {{on stage 1}}
  %n0 = sgd.reduce add %s0 dimensions = [0, 1] : tensor<8x8xf32> -> tensor<f32> // expected-remark {{on stage 0, sent to 1}}
  %n1 = sgd.reduce add %s1 dimensions = [0, 1] : tensor<8x8xf32> -> tensor<f32> // expected-remark {{on stage 1}}
  %n = arith.addf %n0, %n1 : tensor<f32> // expected-remark {{on stage 1, sent to 0}}
  %ns = sgd.broadcast_in_dim %n dims = [] : tensor<f32> -> tensor<8x8xf32> // expected-remark {{on stage 0,1}}
  %c0 = arith.divf %g0, %ns : tensor<8x8xf32> // expected-remark {{on stage 0}}
  %c1 = arith.divf %g1, %ns : tensor<8x8xf32> // expected-remark {{on stage 1}}
  %v0 = arith.addf %m0, %c0 : tensor<8x8xf32> // expected-remark {{on stage 0}}
  %v1 = arith.addf %m1, %c1 : tensor<8x8xf32> // expected-remark {{on stage 1}}
  %u0 = arith.subf %w0, %v0 : tensor<8x8xf32> // expected-remark {{on stage 0}}
  %u1 = arith.subf %w1, %v1 : tensor<8x8xf32> // expected-remark {{on stage 1}}
  return %loss, %u0, %v0, %u1, %v1 : tensor<f32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
