// Messages that several ranks of a stage have alike go in parts, where that takes less time.
// RUN: split-file %s %t
// RUN: sgd-opt %t/messages.mlir --sgd-shard-messages=topology=a100 --spmd-verify | FileCheck %t/messages.mlir
// RUN: sgd-opt %t/messages.mlir --sgd-shard-messages --spmd-verify | FileCheck %t/messages.mlir --check-prefix=HOST
// RUN: sgd-opt %t/parts.mlir --sgd-shard-messages=topology=a100 --spmd-verify | FileCheck %t/parts.mlir
// RUN: sgd-opt %t/types.mlir --sgd-shard-messages=topology=a100 --spmd-verify | FileCheck %t/types.mlir

//--- messages.mlir

sgd.mesh @mesh = <["stage"=2, "data"=2, "model"=8]> {sgd.stages = #sgd<axis"stage"=2>}

// In loops, and where they come from several of them: what differs over the data axis is alike over the model's.
// CHECK-LABEL: func.func @train_stage0(
// CHECK-SAME: sgd.decisions = [#sgd.decision<message, {alternatives = [{name = "whole", seconds = {{.*}}}, {name = "parts", seconds = {{.*}}}], chosen = "parts",
// CHECK-SAME: tensor<2x1024x256xf32> to stage 1, which ranks over {{.*}}{\22model\22}> have alike: each sends one of 8 parts of its elements, which stage 1 gathers, in {{.*}} us instead of
// CHECK-SAME: tensor<3x5xf32> to stage 1, which ranks over {{.*}}{\22data\22, \22model\22}> have alike: each sends all 15 elements, which do not divide
// CHECK-SAME: tensor<4xf32> to stage 1, which ranks over {{.*}} have alike: each sends the whole in {{.*}} us; parts and gathering them would take
// CHECK: sgd.while
// CHECK: %[[FLAT:.*]] = sgd.reshape %{{.*}} : tensor<2x1024x256xf32> -> tensor<524288xf32>
// CHECK: %[[PART:.*]] = spmd.shard_slice %[[FLAT]] dim = 0 <@mesh, {"model"}> : tensor<524288xf32> -> tensor<65536xf32>
// CHECK: spmd.send %[[PART]] to stage 1 channel 0 depth 2 : tensor<65536xf32>
// CHECK: spmd.shard_slice
// CHECK: spmd.send %{{.*}} to stage 1 channel 0 depth 2 : tensor<65536xf32>
// CHECK: spmd.send %{{.*}} to stage 1 channel 1 : tensor<3x5xf32>
// CHECK: spmd.send %{{.*}} to stage 1 channel 2 : tensor<f32>
// CHECK: spmd.send %{{.*}} to stage 1 channel 3 : tensor<4xf32>
// HOST-LABEL: func.func @train_stage0(
// HOST-SAME: each sends the whole in
// HOST-NOT: spmd.shard_slice
func.func @train_stage0(%x: tensor<2x1024x256xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}, {}]>}, %odd: tensor<3x5xf32>, %one: tensor<f32>, %few: tensor<4xf32>)
    -> (tensor<2x1024x256xf32>) attributes {sgd.program = "train", sgd.stage = 0 : i64} {
  %0 = sgd.while(%x) trips 3 do {
  ^bb0(%carried: tensor<2x1024x256xf32>):
    %next = arith.addf %carried, %carried : tensor<2x1024x256xf32>
    spmd.send %next to stage 1 channel 0 depth 2 : tensor<2x1024x256xf32>
    sgd.yield %next : tensor<2x1024x256xf32>
  } : (tensor<2x1024x256xf32>) -> tensor<2x1024x256xf32>
  spmd.send %0 to stage 1 channel 0 depth 2 : tensor<2x1024x256xf32>
  spmd.send %odd to stage 1 channel 1 : tensor<3x5xf32>
  spmd.send %one to stage 1 channel 2 : tensor<f32>
  spmd.send %few to stage 1 channel 3 : tensor<4xf32>
  return %0 : tensor<2x1024x256xf32>
}

// CHECK-LABEL: func.func @train_stage1(
// CHECK: %[[GOT:.*]] = spmd.receive channel 0 from stage 0 : tensor<65536xf32>
// CHECK: %[[ALL:.*]] = spmd.all_gather(%[[GOT]]) dims = [0] <@mesh, {"model"}> {sgd.decisions = [#sgd.decision<movement, {bytes = 1835008 : i64, {{.*}}op = "spmd.receive"{{.*}}}>]} : (tensor<65536xf32>) -> tensor<524288xf32>
// CHECK: %[[WHOLE:.*]] = sgd.reshape %[[ALL]] : tensor<524288xf32> -> tensor<2x1024x256xf32>
// CHECK: sgd.while(%[[WHOLE]]) trips 3 do
// CHECK: spmd.receive channel 0 from stage 0 : tensor<65536xf32>
// CHECK: spmd.all_gather
// CHECK: spmd.receive channel 1 from stage 0 : tensor<3x5xf32>
func.func @train_stage1() -> (tensor<2x1024x256xf32>, tensor<3x5xf32>, tensor<f32>, tensor<4xf32>) attributes {sgd.program = "train", sgd.stage = 1 : i64} {
  %first = spmd.receive channel 0 from stage 0 : tensor<2x1024x256xf32>
  %0 = sgd.while(%first) trips 3 do {
  ^bb0(%sum: tensor<2x1024x256xf32>):
    %more = spmd.receive channel 0 from stage 0 : tensor<2x1024x256xf32>
    %next = arith.addf %sum, %more : tensor<2x1024x256xf32>
    sgd.yield %next : tensor<2x1024x256xf32>
  } : (tensor<2x1024x256xf32>) -> tensor<2x1024x256xf32>
  %odd = spmd.receive channel 1 from stage 0 : tensor<3x5xf32>
  %one = spmd.receive channel 2 from stage 0 : tensor<f32>
  %few = spmd.receive channel 3 from stage 0 : tensor<4xf32>
  return %0, %odd, %one, %few : tensor<2x1024x256xf32>, tensor<3x5xf32>, tensor<f32>, tensor<4xf32>
}

//--- parts.mlir

// Eight ranks send quarters of what eight do not divide, two of them the same one; the first dimension of several elements is cut where it can be. Ranks that have parts already send these.
sgd.mesh @mesh = <["stage"=2, "model"=8]> {sgd.stages = #sgd<axis"stage"=2>}

// CHECK-LABEL: func.func @main_stage0(
// CHECK: spmd.shard_slice %{{.*}} dim = 1 <@mesh, {"model":(1)4}> : tensor<1x1500x1001xf32> -> tensor<1x375x1001xf32>
// CHECK: spmd.shard_slice %{{.*}} dim = 0 <@mesh, {"model"}> : tensor<1536x729xf32> -> tensor<192x729xf32>
// CHECK: spmd.send %{{.*}} to stage 1 channel 2 : tensor<1536x729xf32>
func.func @main_stage0(%quarters: tensor<1x1500x1001xf32>, %eighths: tensor<1536x729xf32>,
                       %own: tensor<1536x729xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>}) attributes {sgd.program = "main", sgd.stage = 0 : i64} {
  spmd.send %quarters to stage 1 channel 0 : tensor<1x1500x1001xf32>
  spmd.send %eighths to stage 1 channel 1 : tensor<1536x729xf32>
  spmd.send %own to stage 1 channel 2 : tensor<1536x729xf32>
  return
}

// CHECK-LABEL: func.func @main_stage1(
// CHECK: spmd.all_gather(%{{.*}}) dims = [1] <@mesh, {"model":(1)4}>
// CHECK: spmd.all_gather(%{{.*}}) dims = [0] <@mesh, {"model"}>
// CHECK-NOT: spmd.all_gather
func.func @main_stage1() -> (tensor<1x1500x1001xf32>, tensor<1536x729xf32>, tensor<1536x729xf32>) attributes {sgd.program = "main", sgd.stage = 1 : i64} {
  %0 = spmd.receive channel 0 from stage 0 : tensor<1x1500x1001xf32>
  %1 = spmd.receive channel 1 from stage 0 : tensor<1536x729xf32>
  %2 = spmd.receive channel 2 from stage 0 : tensor<1536x729xf32>
  return %0, %1, %2 : tensor<1x1500x1001xf32>, tensor<1536x729xf32>, tensor<1536x729xf32>
}

//--- types.mlir

// Messages of several types in one channel are as they were, for sgd-verify-channels to refuse; stages may be missing.
sgd.mesh @mesh = <["stage"=4, "model"=8]> {sgd.stages = #sgd<axis"stage"=4>}

// CHECK-LABEL: func.func @main_stage2(
// CHECK-NOT: spmd.shard_slice
// CHECK: spmd.send %{{.*}} to stage 3 channel 0 : tensor<1x1536x729xf32>
// CHECK: spmd.send %{{.*}} to stage 3 channel 0 : tensor<7xf32>
// CHECK: spmd.shard_slice
// CHECK: spmd.send %{{.*}} to stage 3 channel 1 : tensor<1x192x729xf32>
func.func @main_stage2(%large: tensor<1x1536x729xf32>, %small: tensor<7xf32>) attributes {sgd.program = "main", sgd.stage = 2 : i64} {
  spmd.send %large to stage 3 channel 0 : tensor<1x1536x729xf32>
  spmd.send %small to stage 3 channel 0 : tensor<7xf32>
  spmd.send %large to stage 3 channel 1 : tensor<1x1536x729xf32>
  return
}
