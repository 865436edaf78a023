// Messages become instructions in their order, around loops too; mailboxes are behind all else in the window of who receives.
// RUN: sgd-opt %s --sgd-lower-to-plan | FileCheck %s --check-prefix=LOWER
// RUN: sgd-opt %s --sgd-lower-to-plan --sgd-share-buffers --sgd-overlap-collectives --sgd-group-launches --sgd-assign-offsets --sgd-verify-channels | FileCheck %s --check-prefix=PLAN

// PLAN: module attributes
// PLAN-SAME: plan.stage_bytes = [array<i64: {{[0-9]+}}, {{[0-9]+}}>, array<i64: {{[0-9]+}}, {{[0-9]+}}>]
sgd.mesh @mesh = <["stage"=2, "data"=2]> {sgd.stages = #sgd<axis"stage"=2>}

// LOWER-LABEL: func.func @main_stage0
// LOWER: plan.send %{{.*}} to stage 1 channel 0 depth 2 : memref<8xf32
// LOWER: plan.loop @main_stage0_loop
// LOWER: plan.receive channel 1 from stage 1 to %[[LAST:.*]] : memref<8xf32
// LOWER: return %[[LAST]]
func.func @main_stage0(%a: tensor<8xf32>) -> tensor<8xf32> attributes {sgd.stage = 0 : i64, sgd.program = "main"} {
  %0 = arith.negf %a : tensor<8xf32>
  spmd.send %0 to stage 1 channel 0 depth 2 : tensor<8xf32>
  %1:2 = sgd.while (%0, %a) trips 3 do {
  ^bb0(%x: tensor<8xf32>, %y: tensor<8xf32>):
    %2 = arith.addf %x, %y : tensor<8xf32>
    spmd.send %2 to stage 1 channel 0 depth 2 : tensor<8xf32>
    %3 = spmd.receive channel 1 from stage 1 : tensor<8xf32>
    %4 = spmd.all_reduce add (%3) <@mesh, {"data"}> : (tensor<8xf32>) -> tensor<8xf32>
    sgd.yield %4, %y : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %5 = spmd.receive channel 1 from stage 1 : tensor<8xf32>
  return %5 : tensor<8xf32>
}

// LOWER-LABEL: func.func @main_stage1
// LOWER-SAME: sgd.program = "main", sgd.stage = 1
// PLAN-LABEL: func.func @main_stage1
func.func @main_stage1(%b: tensor<8xf32>) attributes {sgd.stage = 1 : i64, sgd.program = "main"} {
  %0 = sgd.while (%b) trips 4 do {
  ^bb0(%y: tensor<8xf32>):
    %1 = spmd.receive channel 0 from stage 0 : tensor<8xf32>
    %2 = arith.mulf %1, %y : tensor<8xf32>
    spmd.send %2 to stage 0 channel 1 : tensor<8xf32>
    sgd.yield %y : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// LOWER-LABEL: func.func private @main_stage0_loop
// LOWER: plan.send
// LOWER-NEXT: plan.alloc
// LOWER-NEXT: plan.receive channel 1
// LOWER-NEXT: plan.alloc
// LOWER-NEXT: plan.collective
// PLAN-LABEL: func.func private @main_stage1_loop
// PLAN: plan.receive channel 0 from stage 0 to %{{.*}} mailbox 0 :
// PLAN: plan.send
// PLAN-LABEL: func.func private @main_stage0_loop
// PLAN: plan.receive channel 1 from stage 1 to %{{.*}} mailbox {{[1-9][0-9]*}} :
