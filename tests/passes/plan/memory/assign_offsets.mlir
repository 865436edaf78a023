// RUN: sgd-opt %s --sgd-assign-offsets --split-input-file --verify-diagnostics | FileCheck %s

!small = memref<16xf32, #plan.space<private>>

// Two values alive at a time share two places after the argument.
// CHECK: plan.private_bytes = 192 : i64, plan.window_bytes = 0 : i64
// CHECK: func.func @chain(%{{.*}}: memref<16xf32, #plan.space<private>> {plan.offset = 0 : i64})
func.func @chain(%x: !small) -> !small {
  // CHECK: plan.alloc offset 64
  // CHECK: plan.alloc offset 128
  // CHECK: plan.alloc offset 64
  %0 = plan.alloc : !small
  plan.copy %x to %0 : !small -> !small
  %1 = plan.alloc : !small
  plan.copy %0 to %1 : !small -> !small
  %2 = plan.alloc : !small
  plan.copy %1 to %2 : !small -> !small
  return %2 : !small
}

// -----

!small = memref<16xf32, #plan.space<private>>

// Between its last reader and the new value, an argument's place is free for others.
// CHECK: plan.private_bytes = 128
func.func @gap(%w: !small) -> (!small {plan.alias = 0 : i64}) {
  // CHECK: plan.alloc offset 64
  // CHECK: plan.alloc offset 0
  // CHECK: plan.alloc offset 64
  %0 = plan.alloc : !small
  plan.copy %w to %0 : !small -> !small
  %1 = plan.alloc : !small
  plan.copy %0 to %1 : !small -> !small
  %2 = plan.alloc : !small
  plan.copy %1 to %2 : !small -> !small
  plan.copy %2 to %w : !small -> !small
  return %w : !small
}

// -----

!small = memref<16xf32, #plan.space<private>>
!large = memref<64xf32, #plan.space<private>>

// "w" is one place in both programs; the batches "x" differ in size and are two.
// CHECK: plan.private_bytes = 448
// CHECK: @train(%{{.*}} {plan.offset = 0 : i64, sgd.name = "w"}, %{{.*}} {plan.offset = 64 : i64, sgd.name = "x"})
// CHECK: @eval(%{{.*}} {plan.offset = 128 : i64, sgd.name = "x"}, %{{.*}} {plan.offset = 0 : i64, sgd.name = "w"})
func.func @train(%w: !small {sgd.name = "w"}, %x: !small {sgd.name = "x"}) -> (!small {plan.alias = 0 : i64}) {
  plan.copy %x to %w : !small -> !small
  return %w : !small
}
func.func @eval(%x: !large {sgd.name = "x"}, %w: !small {sgd.name = "w"}) -> !small {
  // CHECK: plan.alloc offset 384
  %0 = plan.alloc : !small
  plan.copy %w to %0 : !small -> !small
  return %0 : !small
}

// -----

!small = memref<16xf32, #plan.space<private>>
!large = memref<64xf32, #plan.space<private>>

func.func @train(%w: !small {sgd.name = "w"}, %x: !small {sgd.name = "x"}) -> (!small {plan.alias = 0 : i64, sgd.carry = 0 : i64}) {
  plan.copy %x to %w : !small -> !small
  return %w : !small
}
// expected-error @+1 {{argument "w" of program 'eval' has not the shape, type and sharding that program 'train' gives it; rename it or make them equal}}
func.func @eval(%w: !large {sgd.name = "w"}) -> !large {
  %0 = plan.alloc : !large
  plan.copy %w to %0 : !large -> !large
  return %0 : !large
}

// -----

!small = memref<16xf32, #plan.space<private>>
!shared = memref<16xf32, #plan.space<window>>

// The window is idle before and after the all_reduce: one of the two private values that live at a time lies there.
sgd.mesh @mesh = <["data"=2]>
// CHECK: plan.private_bytes = 128 : i64, plan.window_bytes = 64 : i64
func.func @idle_window(%x: !small) -> !shared {
  // CHECK: plan.alloc offset 0 : memref<16xf32, #plan.space<window>>
  // CHECK: plan.alloc offset 64 : memref<16xf32, #plan.space<private>>
  // CHECK: plan.alloc offset 0 : memref<16xf32, #plan.space<window>>
  %0 = plan.alloc : !small
  plan.copy %x to %0 : !small -> !small
  %1 = plan.alloc : !small
  plan.copy %0 to %1 : !small -> !small
  %2 = plan.alloc : !shared
  plan.copy %1 to %2 : !small -> !shared
  plan.collective all_reduce combining add (%2 : !shared) to (%2 : !shared) dims [] <@mesh, {"data"}>
  return %2 : !shared
}
