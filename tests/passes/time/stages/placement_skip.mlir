// Connections over stages, and what is computed from a mean over all coordinates in a second loop.
// RUN: sgd-opt %s --sgd-print-stages=stages=3 --split-input-file --verify-diagnostics -o /dev/null

sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>}

func.func @skip(%w0: tensor<8x8xf32>, // expected-remark {{argument 0 on stage 0}}
                %w1: tensor<8x8xf32>, // expected-remark {{argument 1 on stage 1}}
                %w2: tensor<8x8xf32>, // expected-remark {{argument 2 on stage 2}}
                %x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) // expected-remark {{argument 3 on stage 0}}
    -> (tensor<8x8xf32> {sgd.carry = 0 : i64}, tensor<8x8xf32> {sgd.carry = 1 : i64}, tensor<8x8xf32> {sgd.carry = 2 : i64}) {
  %a = sgd.dot_general %x, %w0 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 0, sent to 1,2}}
  %b = sgd.dot_general %a, %w1 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 1}}
  // All coordinates: a second loop begins.
  %t = sgd.reduce add %b dimensions = [0] : tensor<2x8xf32> -> tensor<8xf32> // expected-remark {{on stage 1}}
  %m = spmd.all_reduce add(%t) <@mesh, {"micro"}> : (tensor<8xf32>) -> tensor<8xf32> // expected-remark {{on stage 1}}
  %ms = sgd.broadcast_in_dim %m dims = [1] : tensor<8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 1}}
  %c = arith.subf %b, %ms : tensor<2x8xf32> // expected-remark {{on stage 1, sent to 2}}
  %o = sgd.dot_general %c, %w2 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 2}}
  %q = arith.addf %o, %a : tensor<2x8xf32> // expected-remark {{on stage 2, sent to 1}}
  %g2 = sgd.dot_general %c, %q batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32> // expected-remark {{on stage 2}}
  %dc = sgd.dot_general %q, %w2 batching = [] x [] contracting = [1] x [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 2, sent to 1}}
  %g1 = sgd.dot_general %a, %dc batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32> // expected-remark {{on stage 1}}
  %db = sgd.dot_general %dc, %w1 batching = [] x [] contracting = [1] x [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 1}}
  // The gradient of the connection goes down with the other one.
  %da = arith.addf %db, %q : tensor<2x8xf32> // expected-remark {{on stage 1, sent to 0}}
  %g0 = sgd.dot_general %x, %da batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32> // expected-remark {{on stage 0}}
  %s0 = spmd.all_reduce add(%g0) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32> // expected-remark {{on stage 0}}
  %s1 = spmd.all_reduce add(%g1) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32> // expected-remark {{on stage 1}}
  %s2 = spmd.all_reduce add(%g2) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32> // expected-remark {{on stage 2}}
  %u0 = arith.subf %w0, %s0 : tensor<8x8xf32> // expected-remark {{on stage 0}}
  %u1 = arith.subf %w1, %s1 : tensor<8x8xf32> // expected-remark {{on stage 1}}
  %u2 = arith.subf %w2, %s2 : tensor<8x8xf32> // expected-remark {{on stage 2}}
  return %u0, %u1, %u2 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
