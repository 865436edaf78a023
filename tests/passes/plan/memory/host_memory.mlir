// RUN: sgd-opt %s --sgd-assign-offsets --split-input-file --verify-diagnostics | FileCheck %s

!p = memref<1024xf32, #plan.space<private>>
!h = memref<1024xf32, #plan.space<host>>

// Buffers on the host share memory as those of the device do, behind the argument there, and what a copy works on is
// its own until its end: %x may be overwritten by %b, and not by %a.
// CHECK: module attributes {plan.host_bytes = 8192 : i64, plan.private_bytes = 8192 : i64, plan.window_bytes = 0 : i64}
// CHECK-LABEL: @shares
// CHECK-SAME: plan.offset = 0 : i64
// CHECK: plan.alloc offset [[X:[0-9]+]] : memref<1024xf32, #plan.space<private>>
// CHECK: plan.alloc offset 4096 : memref<1024xf32, #plan.space<host>>
// CHECK-NOT: plan.alloc offset [[X]] :
// CHECK: plan.host_copied
// CHECK: plan.alloc offset [[X]] : memref<1024xf32, #plan.space<private>>
// CHECK: plan.alloc offset 4096 : memref<1024xf32, #plan.space<host>>
func.func @shares(%state: !h) -> !h {
  %x = plan.alloc : !p
  plan.fill 1.0 : f32 to %x : !p
  %first = plan.alloc : !h
  %0 = plan.host_copy %x to %first : !p -> !h
  %a = plan.alloc : !p
  plan.fill 2.0 : f32 to %a : !p
  plan.host_copied %0
  %b = plan.alloc : !p
  %1 = plan.host_copy %first to %b : !h -> !p
  plan.host_copied %1
  plan.copy %a to %b : !p -> !p
  %second = plan.alloc : !h
  %2 = plan.host_copy %b to %second : !p -> !h
  plan.host_copied %2
  return %state : !h
}

// -----

!p = memref<1024xf32, #plan.space<private>>
!h = memref<1024xf32, #plan.space<host>>

func.func @computes_there(%state: !h) -> !h {
  %x = plan.alloc : !p
  // expected-error @+1 {{uses host memory; expected plan.host_copy alone to do so; copy the buffer to the device}}
  plan.copy %state to %x : !h -> !p
  return %state : !h
}
