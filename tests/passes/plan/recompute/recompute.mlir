// RUN: sgd-opt %s --sgd-recompute=budget=21000 --split-input-file | FileCheck %s
// RUN: sgd-opt %s --sgd-recompute=budget=100000 --split-input-file | FileCheck %s --check-prefix=ROOM
// RUN: sgd-opt %s --sgd-recompute=budget=21000 --sgd-share-buffers --sgd-assign-offsets --split-input-file | FileCheck %s --check-prefix=PLAN

!large = memref<4096xf32, #plan.space<private>>
!value = memref<1024xf32, #plan.space<private>>

plan.kernel @exp {
^bb0(%a: tensor<1024xf32>):
  %0 = fusion.cluster(%a) {
  ^bb0(%c: tensor<1024xf32>):
    %1 = math.exp %c : tensor<1024xf32>
    fusion.yield %1 : tensor<1024xf32>
  } : (tensor<1024xf32>) -> tensor<1024xf32>
}
plan.kernel @add {
^bb0(%a: tensor<1024xf32>, %b: tensor<1024xf32>):
  %0 = fusion.cluster(%a, %b) {
  ^bb0(%c: tensor<1024xf32>, %d: tensor<1024xf32>):
    %1 = arith.addf %c, %d : tensor<1024xf32>
    fusion.yield %1 : tensor<1024xf32>
  } : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
}

// The first exponential would wait behind the large buffer: it runs again for the addition. Nothing runs twice where
// there is room.
// CHECK-LABEL: @waits
// CHECK: plan.launch @exp ins(%arg0
// CHECK: plan.launch @exp
// CHECK: plan.copy
// CHECK: plan.copy
// CHECK-NEXT: %[[AGAIN:.*]] = plan.alloc
// CHECK-NEXT: plan.launch @exp ins(%arg0 {{.*}}outs(%[[AGAIN]]{{.*}}#sgd.decision<recompute, {chosen = "kernel", freed_bytes = 4096 : i64, {{.*}}seconds = {{.*}} : f64
// CHECK-NEXT: plan.alloc
// CHECK-NEXT: plan.launch @add ins(%[[AGAIN]]
// CHECK-NOT: decision<recompute
// ROOM-NOT: decision<recompute
// PLAN: module attributes {plan.private_bytes = 24576 : i64, plan.window_bytes = 0 : i64}
func.func @waits(%x: !value) -> !value {
  %first = plan.alloc : !value
  plan.launch @exp ins(%x : !value) outs(%first : !value) range 1 grain 1
  %second = plan.alloc : !value
  plan.launch @exp ins(%first : !value) outs(%second : !value) range 1 grain 1
  %large = plan.alloc : !large
  plan.fill 1.0 : f32 to %large : !large
  %part = plan.view %large at 0 : !large -> !value
  plan.copy %second to %part : !value -> !value
  %third = plan.alloc : !value
  plan.copy %part to %third : !value -> !value
  %sum = plan.alloc : !value
  plan.launch @add ins(%first, %third : !value, !value) outs(%sum : !value) range 1 grain 1
  return %sum : !value
}

// -----

sgd.mesh @mesh = <["data"=4]>
!large = memref<4096xf32, #plan.space<private>>
!shard = memref<256xf32, #plan.space<window>>
!whole = memref<1024xf32, #plan.space<window>>
!value = memref<1024xf32, #plan.space<private>>

plan.kernel @multiply {
^bb0(%a: tensor<1024xf32>, %b: tensor<1024xf32>):
  %0 = fusion.cluster(%a, %b) {
  ^bb0(%c: tensor<1024xf32>, %d: tensor<1024xf32>):
    %1 = arith.mulf %c, %d : tensor<1024xf32>
    fusion.yield %1 : tensor<1024xf32>
  } : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
}
// A parameter is gathered again for its second reader, by way of a view as before.
// CHECK-LABEL: @gathers_again
// CHECK: plan.collective all_gather
// CHECK: plan.launch @multiply
// CHECK: plan.collective all_gather(%arg0 {{.*}}to(%[[AGAIN:[0-9]+]] {{.*}}#sgd.decision<recompute,
// CHECK: %[[VIEW:.*]] = plan.view %[[AGAIN]] at 0
// CHECK: plan.copy %[[VIEW]] to
func.func @gathers_again(%w: !shard, %x: !value) -> (!value, memref<32x32xf32, #plan.space<private>>) {
  %gathered = plan.alloc : !whole
  plan.collective all_gather (%w : !shard) to (%gathered : !whole) dims [0] <@mesh, {"data"}>
  %a = plan.alloc : !value
  plan.launch @multiply ins(%x, %gathered : !value, !whole) outs(%a : !value) range 1 grain 1
  %large = plan.alloc : !large
  plan.fill 1.0 : f32 to %large : !large
  %part = plan.view %large at 0 : !large -> !value
  plan.copy %a to %part : !value -> !value
  %b = plan.alloc : !value
  plan.launch @multiply ins(%part, %x : !value, !value) outs(%b : !value) range 1 grain 1
  %again = plan.view %gathered at 0 : !whole -> memref<32x32xf32, #plan.space<window>>
  %c = plan.alloc : memref<32x32xf32, #plan.space<private>>
  plan.copy %again to %c : memref<32x32xf32, #plan.space<window>> -> memref<32x32xf32, #plan.space<private>>
  return %b, %c : !value, memref<32x32xf32, #plan.space<private>>
}

// -----

!value = memref<1024xf32, #plan.space<private>>

func.func private @next(%x: !value) -> (!value {plan.alias = 0 : i64}) {
  return %x : !value
}
plan.kernel @add {
^bb0(%a: tensor<1024xf32>, %b: tensor<1024xf32>):
  %0 = fusion.cluster(%a, %b) {
  ^bb0(%c: tensor<1024xf32>, %d: tensor<1024xf32>):
    %1 = arith.addf %c, %d : tensor<1024xf32>
    fusion.yield %1 : tensor<1024xf32>
  } : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
}

// Loops do not run twice.
// CHECK-LABEL: @keeps_loops
// CHECK-COUNT-1: plan.loop
// CHECK-NOT: plan.loop
// CHECK-NOT: decision<recompute
func.func @keeps_loops(%x: !value) -> !value {
  %first = plan.alloc : !value
  plan.copy %x to %first : !value -> !value
  plan.loop @next ins() iter_args(%first : !value) trips 10
  %second = plan.alloc : !value
  plan.launch @add ins(%first, %x : !value, !value) outs(%second : !value) range 1 grain 1
  %third = plan.alloc : !value
  plan.launch @add ins(%second, %x : !value, !value) outs(%third : !value) range 1 grain 1
  %sum = plan.alloc : !value
  plan.launch @add ins(%first, %third : !value, !value) outs(%sum : !value) range 1 grain 1
  return %sum : !value
}

// -----

!large = memref<4096xf32, #plan.space<private>>
!value = memref<1024xf32, #plan.space<private>>

plan.kernel @exp {
^bb0(%a: tensor<1024xf32>):
  %0 = fusion.cluster(%a) {
  ^bb0(%c: tensor<1024xf32>):
    %1 = math.exp %c : tensor<1024xf32>
    fusion.yield %1 : tensor<1024xf32>
  } : (tensor<1024xf32>) -> tensor<1024xf32>
}
plan.kernel @add {
^bb0(%a: tensor<1024xf32>, %b: tensor<1024xf32>):
  %0 = fusion.cluster(%a, %b) {
  ^bb0(%c: tensor<1024xf32>, %d: tensor<1024xf32>):
    %1 = arith.addf %c, %d : tensor<1024xf32>
    fusion.yield %1 : tensor<1024xf32>
  } : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
}

// Values that a body needs itself count where the loop runs, and are lowered there.
// CHECK-LABEL: @body
// CHECK: plan.copy
// CHECK: plan.launch @exp ins(%arg0 {{.*}}#sgd.decision<recompute,
// ROOM-NOT: decision<recompute
func.func private @body(%x: !value) -> (!value {plan.alias = 0 : i64}) {
  %first = plan.alloc : !value
  plan.launch @exp ins(%x : !value) outs(%first : !value) range 1 grain 1
  %second = plan.alloc : !value
  plan.launch @exp ins(%first : !value) outs(%second : !value) range 1 grain 1
  %large = plan.alloc : !large
  plan.fill 1.0 : f32 to %large : !large
  %part = plan.view %large at 0 : !large -> !value
  plan.copy %second to %part : !value -> !value
  %third = plan.alloc : !value
  plan.copy %part to %third : !value -> !value
  %sum = plan.alloc : !value
  plan.launch @add ins(%first, %third : !value, !value) outs(%sum : !value) range 1 grain 1
  return %sum : !value
}
func.func @loops(%x: !value) -> !value {
  %0 = plan.alloc : !value
  plan.copy %x to %0 : !value -> !value
  plan.loop @body ins() iter_args(%0 : !value) trips 3
  return %0 : !value
}
