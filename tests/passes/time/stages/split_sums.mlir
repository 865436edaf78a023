// A parameter that two stages use: each sums what it computes of the gradient over all parts, and sends the sum once.
// RUN: sgd-opt %s --sgd-form-stages --canonicalize --cse | FileCheck %s

sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "gpipe"}

// Tables go once in front of the loops, and once behind them; in loops go activations alone. Terms of one stage are one sum.
// CHECK-LABEL: func.func @tied_stage0(
// CHECK: spmd.send %{{.*}} to stage 1 channel [[TABLE:[0-9]+]] : tensor<8x8xf32>
// CHECK: sgd.while({{.*}}) trips 4 do {
// CHECK: spmd.send %{{.*}} to stage 1 channel {{.*}} : tensor<2x8xf32>
// CHECK: %[[LOOP:.*]]:3 = sgd.while({{.*}}) trips 4 do {
// CHECK: spmd.receive channel {{.*}} from stage 1 : tensor<2x8xf32>
// CHECK-NOT: spmd.receive
// CHECK: %[[TWICE:.*]] = arith.addf %[[OWN:.*]], %[[OWN]] : tensor<8x8xf32>
// CHECK: arith.addf %{{.*}}, %[[TWICE]]
// CHECK: } :
// CHECK: %[[HEAD:.*]] = spmd.receive channel {{.*}} from stage 1 : tensor<8x8xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[HEAD]], %[[LOOP]]#2 : tensor<8x8xf32>
// CHECK: arith.subf %{{.*}}, %[[SUM]]

// CHECK-LABEL: func.func @tied_stage1(
// CHECK: %[[TABLE_OF_0:.*]] = spmd.receive channel [[TABLE]] from stage 0
// CHECK: %[[LOOP:.*]]:6 = sgd.while({{.*}}) trips 4 do {
// CHECK: spmd.send %{{.*}} to stage 0 channel {{.*}} : tensor<2x8xf32>
// CHECK-NOT: spmd.send
// CHECK: } :
// CHECK: spmd.send %[[LOOP]]#4 to stage 0 channel {{.*}} : tensor<8x8xf32>
// CHECK-NOT: spmd.send
func.func @tied(%w0: tensor<8x8xf32> {sgd.stage = 0 : i64},
                %w1: tensor<8x8xf32> {sgd.stage = 1 : i64},
                %x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>},
                %y: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>})
    -> (tensor<8x8xf32> {sgd.carry = 0 : i64}, tensor<8x8xf32> {sgd.carry = 1 : i64}) {
  %h = sgd.dot_general %x, %w0 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %o = sgd.dot_general %h, %w1 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %z = sgd.dot_general %o, %w0 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %dz = arith.subf %z, %y : tensor<2x8xf32>
  %head = sgd.dot_general %o, %dz batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  %do = sgd.dot_general %dz, %w0 batching = [] x [] contracting = [1] x [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %g1 = sgd.dot_general %h, %do batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  %dh = sgd.dot_general %do, %w1 batching = [] x [] contracting = [1] x [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %table = sgd.dot_general %x, %dh batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  // The terms of a sum may be sums again, and several times the same.
  %twice = arith.addf %head, %head : tensor<8x8xf32>
  %most = arith.addf %twice, %table : tensor<8x8xf32>
  %g0 = arith.addf %most, %table : tensor<8x8xf32>
  %a0 = spmd.all_reduce add(%g0) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %a1 = spmd.all_reduce add(%g1) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %n0 = arith.subf %w0, %a0 : tensor<8x8xf32>
  %n1 = arith.subf %w1, %a1 : tensor<8x8xf32>
  return %n0, %n1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// The sum over all parts as a term of another one.
// CHECK-LABEL: func.func @nested_stage0(
// CHECK: %[[SECOND:.*]] = spmd.receive channel {{.*}} from stage 1 : tensor<8x8xf32>
// CHECK: %[[FIRST:.*]] = spmd.receive channel {{.*}} from stage 1 : tensor<8x8xf32>
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}}#2 : tensor<8x8xf32>
// CHECK: %[[TIMES:.*]]:2 = sgd.while(%{{.*}}, %[[SUM]]) trips 4 do {
// CHECK: arith.addf %{{.*}}, %[[TIMES]]#0 : tensor<8x8xf32>
func.func @nested(%w0: tensor<8x8xf32> {sgd.stage = 0 : i64},
                %w1: tensor<8x8xf32> {sgd.stage = 1 : i64},
                %x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>},
                %y: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>})
    -> (tensor<8x8xf32> {sgd.carry = 0 : i64}, tensor<8x8xf32> {sgd.carry = 1 : i64}) {
  %h = sgd.dot_general %x, %w0 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %o = sgd.dot_general %h, %w1 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %z = sgd.dot_general %o, %w0 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %dz = arith.subf %z, %y : tensor<2x8xf32>
  %head = sgd.dot_general %o, %dz batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  %do = sgd.dot_general %dz, %w0 batching = [] x [] contracting = [1] x [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %g1 = sgd.dot_general %h, %do batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  %dh = sgd.dot_general %do, %w1 batching = [] x [] contracting = [1] x [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %table = sgd.dot_general %x, %dh batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  %g0 = arith.addf %head, %table : tensor<8x8xf32>
  %a0 = spmd.all_reduce add(%g0) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // The sum of all parts, as a term of another sum over parts.
  %more = arith.addf %a0, %head : tensor<8x8xf32>
  %b0 = spmd.all_reduce add(%more) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %a1 = spmd.all_reduce add(%g1) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %n0 = arith.subf %w0, %b0 : tensor<8x8xf32>
  %n1 = arith.subf %w1, %a1 : tensor<8x8xf32>
  return %n0, %n1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Gradients of 16 bits that are reduced in 32: the sum of all parts is sent, in 32 bits.
// CHECK-LABEL: func.func @wide_stage0(
// CHECK-NOT: tensor<8x8xbf16>
// CHECK: return
// CHECK-LABEL: func.func @wide_stage1(
// CHECK: sgd.while({{.*}}) trips 4 do {
// CHECK-NOT: spmd.send {{.*}} : tensor<8x8x
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : tensor<8x8xbf16> to tensor<8x8xf32>
// CHECK: arith.addf %{{.*}}, %[[WIDE]] : tensor<8x8xf32>
// CHECK: } :
// CHECK: spmd.send %{{.*}} to stage 0 channel {{.*}} : tensor<8x8xf32>
// CHECK-NOT: spmd.send
func.func @wide(%w0: tensor<8x8xf32> {sgd.stage = 0 : i64},
                %w1: tensor<8x8xf32> {sgd.stage = 1 : i64},
                %x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>},
                %y: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>})
    -> (tensor<8x8xf32> {sgd.carry = 0 : i64}, tensor<8x8xf32> {sgd.carry = 1 : i64}) {
  %h = sgd.dot_general %x, %w0 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %o = sgd.dot_general %h, %w1 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %z = sgd.dot_general %o, %w0 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %dz = arith.subf %z, %y : tensor<2x8xf32>
  %head = sgd.dot_general %o, %dz batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xbf16>
  %do = sgd.dot_general %dz, %w0 batching = [] x [] contracting = [1] x [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %g1 = sgd.dot_general %h, %do batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  %dh = sgd.dot_general %do, %w1 batching = [] x [] contracting = [1] x [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %table = sgd.dot_general %x, %dh batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xbf16>
  %sum = arith.addf %head, %table : tensor<8x8xbf16>
  %g0 = arith.extf %sum : tensor<8x8xbf16> to tensor<8x8xf32>
  %a0 = spmd.all_reduce add(%g0) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %a1 = spmd.all_reduce add(%g1) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %n0 = arith.subf %w0, %a0 : tensor<8x8xf32>
  %n1 = arith.subf %w1, %a1 : tensor<8x8xf32>
  return %n0, %n1 : tensor<8x8xf32>, tensor<8x8xf32>
}
