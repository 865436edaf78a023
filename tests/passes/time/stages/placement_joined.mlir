// Weights that are joined in front of all layers, as those of the gates of recurrent cells are: a layer's weights are together, and layers in the order in which they compute.
// RUN: sgd-opt %s --sgd-print-stages=stages=2 --split-input-file --verify-diagnostics -o /dev/null

sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>}

func.func @cells(%a1: tensor<8x4xf32>, // expected-remark {{argument 0 on stage 1}}
                 %b1: tensor<8x4xf32>, // expected-remark {{argument 1 on stage 1}}
                 %a0: tensor<8x4xf32>, // expected-remark {{argument 2 on stage 0}}
                 %b0: tensor<8x4xf32>, // expected-remark {{argument 3 on stage 0}}
                 %e: tensor<8x8xf32>, // expected-remark {{argument 4 on stage 0}}
                 %x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) // expected-remark {{argument 5 on stage 0}}
    -> (tensor<8x4xf32> {sgd.carry = 0 : i64}, tensor<8x4xf32> {sgd.carry = 1 : i64}, tensor<8x4xf32> {sgd.carry = 2 : i64}, tensor<8x4xf32> {sgd.carry = 3 : i64}, tensor<8x8xf32> {sgd.carry = 4 : i64}) {
  %w1 = sgd.concatenate %a1, %b1 dimension = 1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32> // expected-remark {{on stage 1}}
  %w0 = sgd.concatenate %a0, %b0 dimension = 1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32> // expected-remark {{on stage 0}}
  %z = sgd.dot_general %x, %e batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 0}}
  %h0 = sgd.dot_general %z, %w0 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 0, sent to 1}}
  %h1 = sgd.dot_general %h0, %w1 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 1}}
  %s = math.exp %h1 : tensor<2x8xf32> // expected-remark {{on stage 1}}
  %g1 = sgd.dot_general %h0, %s batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32> // expected-remark {{on stage 1}}
  %d0 = sgd.dot_general %s, %w1 batching = [] x [] contracting = [1] x [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 1, sent to 0}}
  %g0 = sgd.dot_general %z, %d0 batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32> // expected-remark {{on stage 0}}
  %dz = sgd.dot_general %d0, %w0 batching = [] x [] contracting = [1] x [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 0}}
  %ge = sgd.dot_general %x, %dz batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32> // expected-remark {{on stage 0}}
  %s1 = spmd.all_reduce add(%g1) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32> // expected-remark {{on stage 1}}
  %s0 = spmd.all_reduce add(%g0) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32> // expected-remark {{on stage 0}}
  %se = spmd.all_reduce add(%ge) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32> // expected-remark {{on stage 0}}
  %ga1 = sgd.slice %s1 starts = [0, 0] limits = [8, 4] strides = [1, 1] : tensor<8x8xf32> -> tensor<8x4xf32> // expected-remark {{on stage 1}}
  %gb1 = sgd.slice %s1 starts = [0, 4] limits = [8, 8] strides = [1, 1] : tensor<8x8xf32> -> tensor<8x4xf32> // expected-remark {{on stage 1}}
  %ga0 = sgd.slice %s0 starts = [0, 0] limits = [8, 4] strides = [1, 1] : tensor<8x8xf32> -> tensor<8x4xf32> // expected-remark {{on stage 0}}
  %gb0 = sgd.slice %s0 starts = [0, 4] limits = [8, 8] strides = [1, 1] : tensor<8x8xf32> -> tensor<8x4xf32> // expected-remark {{on stage 0}}
  %ua1 = arith.subf %a1, %ga1 : tensor<8x4xf32> // expected-remark {{on stage 1}}
  %ub1 = arith.subf %b1, %gb1 : tensor<8x4xf32> // expected-remark {{on stage 1}}
  %ua0 = arith.subf %a0, %ga0 : tensor<8x4xf32> // expected-remark {{on stage 0}}
  %ub0 = arith.subf %b0, %gb0 : tensor<8x4xf32> // expected-remark {{on stage 0}}
  %ue = arith.subf %e, %se : tensor<8x8xf32> // expected-remark {{on stage 0}}
  return %ua1, %ub1, %ua0, %ub0, %ue : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xf32>
}
