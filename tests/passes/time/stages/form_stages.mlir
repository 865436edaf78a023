// A function per stage, with loops in the order of the schedule.
// RUN: sgd-opt %s --sgd-form-stages --canonicalize --cse | FileCheck %s
// RUN: sed 's/1f1b/zb_h1/' %s | sgd-opt --sgd-form-stages --canonicalize --cse | FileCheck %s --check-prefix=SPLIT
// RUN: echo '{"name": "slow", "device": {"flops": 1e9, "half_flops": 1e9, "memory_bandwidth": 1e9, "launch_latency": 3e-6, "memory_bytes": 1000000}, "links": [{"name": "wire", "ranks": 0, "latency": 1e-5, "bandwidth": 1e9, "algorithms": ["ring"]}]}' > %t.json
// RUN: sgd-opt %s --sgd-form-stages=topology=%t.json --canonicalize --cse 2>&1 | FileCheck %s --check-prefix=AHEAD
// RUN: sed 's/1f1b/1f1b:0/' %s | sgd-opt --sgd-form-stages=topology=%t.json --canonicalize --cse 2>&1 | FileCheck %s --check-prefix=FEWEST
// RUN: sed 's/1f1b/1f1b:1/' %s | sgd-opt --sgd-form-stages --canonicalize --cse 2>&1 | FileCheck %s --check-prefix=ONE

// CHECK: sgd.mesh @mesh = <["stage"=2]>
sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "1f1b"}

// The first stage is one part ahead: F0 F1, (B F) twice, B2 B3 ... as loops, with a mask of two parts in a ring.
// CHECK-LABEL: func.func @mlp_stage0(
// CHECK-SAME: %[[W0:.*]]: tensor<8x8xf32> {sgd.name = "arg0", sgd.position = 0 : i64}, %[[M0:.*]]: tensor<8x8xf32> {sgd.name = "arg1", sgd.position = 1 : i64}, %[[N:.*]]: tensor<f32> {sgd.name = "arg3", sgd.position = 3 : i64}, %[[X:.*]]: tensor<8x8xf32> {sgd.name = "arg4", sgd.position = 4 : i64
// CHECK-SAME: -> (tensor<8x8xf32> {sgd.carry = 0 : i64, sgd.name = "result0", sgd.position = 0 : i64}, tensor<8x8xf32> {sgd.carry = 1 : i64, {{.*}}}, tensor<f32> {sgd.carry = 2 : i64, sgd.name = "result3", sgd.position = 3 : i64})
// CHECK-SAME: sgd.program = "mlp", sgd.stage = 0 : i64
// CHECK: %[[RING:.*]] = arith.constant dense<false> : tensor<2x2x8xi1>
// CHECK: %[[FIRST:.*]]:4 = sgd.while(%{{.*}}, %[[X]], %[[W0]], %[[RING]]) trips 2 do {
// CHECK: %[[H:.*]] = arith.maximumf
// CHECK: sgd.dynamic_update_slice %{{.*}} -> tensor<2x2x8xi1>
// CHECK: spmd.send %[[H]] to stage 1 channel 0 : tensor<2x8xf32>
// CHECK: %[[STEADY:.*]]:5 = sgd.while({{.*}}%[[FIRST]]#3{{.*}}) trips 2 do {
// CHECK: %[[DH:.*]] = spmd.receive channel 1 from stage 1 : tensor<2x8xf32>
// CHECK: sgd.dynamic_slice %{{.*}} -> tensor<1x2x8xi1>
// CHECK: arith.select %{{.*}}, %[[DH]]
// CHECK: spmd.send %{{.*}} to stage 1 channel 0
// CHECK: sgd.while({{.*}}) trips 2 do {
// CHECK: spmd.receive channel 1 from stage 1
// CHECK-NOT: spmd.send
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>

// On links that send while stages compute, more parts are under way: F0 F1 F2, B0 F3, B1 B2 B3.
// AHEAD: remark: stage 0 has 3 micro-batches in flight for 2 stages, and stores 16 bytes of each, so that messages are sent while stages compute; schedule '1f1b:0' has no more in flight than stages
// AHEAD-LABEL: func.func @mlp_stage0(
// AHEAD: arith.constant dense<false> : tensor<3x2x8xi1>
// AHEAD: trips 3 do
// AHEAD: spmd.send
// AHEAD: spmd.receive
// AHEAD: spmd.send
// AHEAD: trips 3 do
// AHEAD: spmd.receive
// AHEAD: return
// FEWEST-NOT: remark
// FEWEST: arith.constant dense<false> : tensor<2x2x8xi1>
// ONE: arith.constant dense<false> : tensor<3x2x8xi1>

// CHECK-LABEL: func.func @mlp_stage1(
// CHECK-SAME: sgd.position = 2 : i64}, %{{.*}}: tensor<f32> {{{.*}}sgd.position = 3 : i64}, %{{.*}}: tensor<8x8xf32> {{{.*}}sgd.position = 5 : i64
// CHECK: sgd.while({{.*}}) trips 4 do {
// CHECK: spmd.receive channel 0 from stage 0
// CHECK: spmd.send %{{.*}} to stage 0 channel 1
// CHECK-NOT: sgd.while
// CHECK: return

// Gradients of weights come behind what others wait for.
// SPLIT-LABEL: func.func @mlp_stage1(
// SPLIT: spmd.send
// SPLIT: sgd.dot_general {{.*}} -> tensor<8x8xf32>
func.func @mlp(%w0: tensor<8x8xf32>,
               %m0: tensor<8x8xf32>,
               %w1: tensor<8x8xf32>,
               %n: tensor<f32>,
               %x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>},
               %y: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>})
    -> (tensor<8x8xf32> {sgd.carry = 0 : i64}, tensor<8x8xf32> {sgd.carry = 1 : i64}, tensor<8x8xf32> {sgd.carry = 2 : i64}, tensor<f32> {sgd.carry = 3 : i64}) {
  %zero = arith.constant dense<0.0> : tensor<2x8xf32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %next = arith.addf %n, %one : tensor<f32>
  %z = sgd.dot_general %x, %w0 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %h = arith.maximumf %z, %zero : tensor<2x8xf32>
  // What only the backward pass reads stays beside what it is of.
  %active = arith.cmpf ogt, %z, %zero : tensor<2x8xf32>
  %o = sgd.dot_general %h, %w1 batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %do = arith.subf %o, %y : tensor<2x8xf32>
  %g1 = sgd.dot_general %h, %do batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  %dh = sgd.dot_general %do, %w1 batching = [] x [] contracting = [1] x [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %dz = arith.select %active, %dh, %zero : tensor<2x8xi1>, tensor<2x8xf32>
  %g0 = sgd.dot_general %x, %dz batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  %a0 = spmd.all_reduce add(%g0) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %a1 = spmd.all_reduce add(%g1) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %decayed = arith.addf %m0, %m0 : tensor<8x8xf32>
  %momentum = arith.addf %decayed, %a0 : tensor<8x8xf32>
  %rate = sgd.broadcast_in_dim %next dims = [] : tensor<f32> -> tensor<8x8xf32>
  %d0 = arith.mulf %momentum, %rate : tensor<8x8xf32>
  %d1 = arith.mulf %a1, %rate : tensor<8x8xf32>
  %u0 = arith.subf %w0, %d0 : tensor<8x8xf32>
  %u1 = arith.subf %w1, %d1 : tensor<8x8xf32>
  return %u0, %momentum, %u1, %next : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>
}

