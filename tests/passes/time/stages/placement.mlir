// On which stages arguments and ops are, and what is sent.
// RUN: sgd-opt %s --sgd-print-stages=stages=2 --split-input-file --verify-diagnostics -o /dev/null

sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>}

// Two linear layers with momentum for the first: gradients are where their parameters are, and the number of steps everywhere.
func.func @mlp(%w0: tensor<8x8xf32>, // expected-remark {{argument 0 on stage 0}}
               %m0: tensor<8x8xf32>, // expected-remark {{argument 1 on stage 0}}
               %w1: tensor<8x8xf32>, // expected-remark {{argument 2 on stage 1}}
               %n: tensor<f32>, // expected-remark {{argument 3 on stage 0,1}}
               %x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}, // expected-remark {{argument 4 on stage 0}}
               %y: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) // expected-remark {{argument 5 on stage 1}}
    -> (tensor<8x8xf32> {sgd.carry = 0 : i64}, tensor<8x8xf32> {sgd.carry = 1 : i64}, tensor<8x8xf32> {sgd.carry = 2 : i64}, tensor<f32> {sgd.carry = 3 : i64}) {
  %zero = arith.constant dense<0.0> : tensor<2x8xf32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %next = arith.addf %n, %one : tensor<f32> // expected-remark {{on stage 0,1}}
  %z = sgd.dot_general %x, %w0 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 0}}
  %h = arith.maximumf %z, %zero : tensor<2x8xf32> // expected-remark {{on stage 0, sent to 1}}
  // What only the backward pass reads stays beside what it is of.
  %active = arith.cmpf ogt, %z, %zero : tensor<2x8xf32> // expected-remark {{on stage 0}}
  %o = sgd.dot_general %h, %w1 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 1}}
  %do = arith.subf %o, %y : tensor<2x8xf32> // expected-remark {{on stage 1}}
  %g1 = sgd.dot_general %h, %do batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32> // expected-remark {{on stage 1}}
  %dh = sgd.dot_general %do, %w1 batching = [] x [] contracting = [1] x [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 1, sent to 0}}
  %dz = arith.select %active, %dh, %zero : tensor<2x8xi1>, tensor<2x8xf32> // expected-remark {{on stage 0}}
  %g0 = sgd.dot_general %x, %dz batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32> // expected-remark {{on stage 0}}
  %a0 = spmd.all_reduce add(%g0) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32> // expected-remark {{on stage 0}}
  %a1 = spmd.all_reduce add(%g1) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32> // expected-remark {{on stage 1}}
  %decayed = arith.addf %m0, %m0 : tensor<8x8xf32> // expected-remark {{on stage 0}}
  %momentum = arith.addf %decayed, %a0 : tensor<8x8xf32> // expected-remark {{on stage 0}}
  %rate = sgd.broadcast_in_dim %next dims = [] : tensor<f32> -> tensor<8x8xf32> // expected-remark {{on stage 0,1}}
  %d0 = arith.mulf %momentum, %rate : tensor<8x8xf32> // expected-remark {{on stage 0}}
  %d1 = arith.mulf %a1, %rate : tensor<8x8xf32> // expected-remark {{on stage 1}}
  %u0 = arith.subf %w0, %d0 : tensor<8x8xf32> // expected-remark {{on stage 0}}
  %u1 = arith.subf %w1, %d1 : tensor<8x8xf32> // expected-remark {{on stage 1}}
  return %u0, %momentum, %u1, %next : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>
}

// -----

sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>}

// Tied weights: sent once, outside of the loop; the gradient of their second use comes back as a sum. A bias of the next stage, and
// the norm of all gradients, which is one number per gradient.
func.func @tied(%e: tensor<16x8xf32>, // expected-remark {{argument 0 on stage 0, sent to 1}}
                %b: tensor<8xf32>, // expected-remark {{argument 1 on stage 1}}
                %x: tensor<2x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) // expected-remark {{argument 2 on stage 0}}
    -> (tensor<16x8xf32> {sgd.carry = 0 : i64}, tensor<8xf32> {sgd.carry = 1 : i64}) {
  %h = sgd.dot_general %x, %e batching = [] x [] contracting = [1] x [0] : tensor<2x16xf32>, tensor<16x8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 0, sent to 1}}
  %bs = sgd.broadcast_in_dim %b dims = [1] : tensor<8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 1}}
  %hb = arith.addf %h, %bs : tensor<2x8xf32> // expected-remark {{on stage 1}}
  %o = sgd.dot_general %hb, %e batching = [] x [] contracting = [1] x [1] : tensor<2x8xf32>, tensor<16x8xf32> -> tensor<2x16xf32> // expected-remark {{on stage 1}}
  %s = math.exp %o : tensor<2x16xf32> // expected-remark {{on stage 1}}
  %ge1 = sgd.dot_general %s, %hb batching = [] x [] contracting = [0] x [0] : tensor<2x16xf32>, tensor<2x8xf32> -> tensor<16x8xf32> // expected-remark {{on stage 1}}
  %dh = sgd.dot_general %s, %e batching = [] x [] contracting = [1] x [0] : tensor<2x16xf32>, tensor<16x8xf32> -> tensor<2x8xf32> // expected-remark {{on stage 1, sent to 0}}
  %gb = sgd.reduce add %dh dimensions = [0] : tensor<2x8xf32> -> tensor<8xf32> // expected-remark {{on stage 1}}
  %ge0 = sgd.dot_general %x, %dh batching = [] x [] contracting = [0] x [0] : tensor<2x16xf32>, tensor<2x8xf32> -> tensor<16x8xf32> // expected-remark {{on stage 0}}
  %ae0 = spmd.all_reduce add(%ge0) <@mesh, {"micro"}> : (tensor<16x8xf32>) -> tensor<16x8xf32> // expected-remark {{on stage 0}}
  %ae1 = spmd.all_reduce add(%ge1) <@mesh, {"micro"}> : (tensor<16x8xf32>) -> tensor<16x8xf32> // expected-remark {{on stage 1, sent to 0}}
  %ab = spmd.all_reduce add(%gb) <@mesh, {"micro"}> : (tensor<8xf32>) -> tensor<8xf32> // expected-remark {{on stage 1}}
  %ae = arith.addf %ae0, %ae1 : tensor<16x8xf32> // expected-remark {{on stage 0}}
  %se = arith.mulf %ae, %ae : tensor<16x8xf32> // expected-remark {{on stage 0}}
  %sb = arith.mulf %ab, %ab : tensor<8xf32> // expected-remark {{on stage 1}}
  %ne = sgd.reduce add %se dimensions = [0, 1] : tensor<16x8xf32> -> tensor<f32> // expected-remark {{on stage 0}}
  %nb = sgd.reduce add %sb dimensions = [0] : tensor<8xf32> -> tensor<f32> // expected-remark {{on stage 1, sent to 0}}
  %norm = arith.addf %ne, %nb : tensor<f32> // expected-remark {{on stage 0, sent to 1}}
  %ce = sgd.broadcast_in_dim %norm dims = [] : tensor<f32> -> tensor<16x8xf32> // expected-remark {{on stage 0}}
  %cb = sgd.broadcast_in_dim %norm dims = [] : tensor<f32> -> tensor<8xf32> // expected-remark {{on stage 1}}
  %de = arith.divf %ae, %ce : tensor<16x8xf32> // expected-remark {{on stage 0}}
  %db = arith.divf %ab, %cb : tensor<8xf32> // expected-remark {{on stage 1}}
  %ue = arith.subf %e, %de : tensor<16x8xf32> // expected-remark {{on stage 0}}
  %ub = arith.subf %b, %db : tensor<8xf32> // expected-remark {{on stage 1}}
  return %ue, %ub : tensor<16x8xf32>, tensor<8xf32>
}

// -----

sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>}

// Statistics of a normalisation are where its scale is, so that one tensor is sent; a mask of what is fed is computed where it is read.
func.func @normalized(%w: tensor<32x32xf32>, // expected-remark {{argument 0 on stage 0}}
                      %g: tensor<32xf32>, // expected-remark {{argument 1 on stage 1}}
                      %x: tensor<2x32xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) // expected-remark {{argument 2 on stage 0,1}}
    -> tensor<2x32xf32> {
  %mask = math.exp %x : tensor<2x32xf32> // expected-remark {{on stage 0,1}}
  %xm = arith.mulf %x, %mask : tensor<2x32xf32> // expected-remark {{on stage 0}}
  %a = sgd.dot_general %xm, %w batching = [] x [] contracting = [1] x [0] : tensor<2x32xf32>, tensor<32x32xf32> -> tensor<2x32xf32> // expected-remark {{on stage 0, sent to 1}}
  %s = arith.mulf %a, %a : tensor<2x32xf32> // expected-remark {{on stage 1}}
  %v = sgd.reduce add %s dimensions = [1] : tensor<2x32xf32> -> tensor<2xf32> // expected-remark {{on stage 1}}
  %vs = sgd.broadcast_in_dim %v dims = [0] : tensor<2xf32> -> tensor<2x32xf32> // expected-remark {{on stage 1}}
  %n = arith.divf %a, %vs : tensor<2x32xf32> // expected-remark {{on stage 1}}
  %gs = sgd.broadcast_in_dim %g dims = [1] : tensor<32xf32> -> tensor<2x32xf32> // expected-remark {{on stage 1}}
  %y = arith.mulf %n, %gs : tensor<2x32xf32> // expected-remark {{on stage 1}}
  %q = arith.addf %y, %a : tensor<2x32xf32> // expected-remark {{on stage 1}}
  %p = arith.mulf %q, %gs : tensor<2x32xf32> // expected-remark {{on stage 1}}
  %r = arith.addf %p, %mask : tensor<2x32xf32> // expected-remark {{on stage 1}}
  return %r : tensor<2x32xf32>
}
