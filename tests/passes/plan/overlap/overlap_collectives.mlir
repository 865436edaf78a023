// RUN: sgd-opt %s --sgd-overlap-collectives --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sgd-opt %s --sgd-overlap-collectives=memory-limit=1 --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=LIMIT

sgd.mesh @mesh = <["data"=4]>
!w = memref<1000000xf32, #plan.space<window>>
!p = memref<1000000xf32, #plan.space<private>>

// The sum starts right after its operand is there; the copies that it is not needed for run beside it.
// CHECK-LABEL: func.func @delays_the_user
// LIMIT-LABEL: func.func @delays_the_user
// LIMIT-NOT: plan.token
func.func @delays_the_user(%x: !p, %y: !p, %a: !p, %b: !p) {
  %0 = plan.alloc : !w
  // CHECK: plan.copy %arg0
  plan.copy %x to %0 : !p -> !w
  // CHECK-NEXT: %[[TOKEN:.*]] = plan.collective all_reduce {{.*}}#sgd.decision<overlap, {chosen = "beside compute", hidden_seconds = {{[0-9.E-]+}} : f64, seconds = {{[0-9.E-]+}} : f64}>{{.*}} : !plan.token
  plan.collective all_reduce combining add (%0 : !w) to (%0 : !w) dims [] <@mesh, {"data"}>
  // CHECK-NEXT: plan.copy %arg1
  // CHECK-NEXT: plan.done %[[TOKEN]]
  // CHECK-NEXT: plan.copy %0 to %arg2
  plan.copy %0 to %a : !w -> !p
  plan.copy %y to %b : !p -> !p
  return
}

// -----

sgd.mesh @mesh = <["data"=4]>
!w = memref<1000000xf32, #plan.space<window>>
!p = memref<1000000xf32, #plan.space<private>>

// A start goes before what was there earlier and is not needed for it; without a reader it is done at the end.
// CHECK-LABEL: func.func @starts_early
func.func @starts_early(%x: !w, %y: !p) -> (!w, !p) {
  %0 = plan.alloc : !p
  // CHECK: plan.collective
  // CHECK-NEXT: plan.copy
  // CHECK-NEXT: plan.done
  // CHECK-NEXT: return
  plan.copy %y to %0 : !p -> !p
  plan.collective all_reduce combining add (%x : !w) to (%x : !w) dims [] <@mesh, {"data"}>
  return %x, %0 : !w, !p
}

// -----

sgd.mesh @mesh = <["data"=4]>
!w = memref<4000000xf32, #plan.space<window>>
!q = memref<1000000xf32, #plan.space<window>>
!p = memref<4000000xf32, #plan.space<private>>

// A source must not be written while it is in flight, but may be read.
// CHECK-LABEL: func.func @keeps_the_source
func.func @keeps_the_source(%x: !w, %y: !p) -> (!q, !p, !w) {
  %0 = plan.alloc : !q
  %1 = plan.alloc : !p
  // CHECK: %[[TOKEN:.*]] = plan.collective reduce_scatter
  plan.collective reduce_scatter combining add (%x : !w) to (%0 : !q) dims [0] <@mesh, {"data"}>
  // CHECK-NEXT: plan.copy %arg0 to
  plan.copy %x to %1 : !w -> !p
  // CHECK-NEXT: plan.done %[[TOKEN]]
  // CHECK-NEXT: plan.copy %arg1 to %arg0
  plan.copy %y to %x : !p -> !w
  return %0, %1, %x : !q, !p, !w
}

// -----

sgd.mesh @mesh = <["data"=4]>
!w = memref<1000000xf32, #plan.space<window>>
!q = memref<1000000xf32, #plan.space<window>>
!p = memref<1000000xf32, #plan.space<private>>

// Nothing to hide behind, and nothing worth hiding.
// CHECK-LABEL: func.func @alone
// CHECK-NOT: plan.token
// CHECK: func.func @tiny
// CHECK-NOT: plan.token
func.func @alone(%x: !w) -> !p {
  %0 = plan.alloc : !p
  plan.collective all_reduce combining add (%x : !w) to (%x : !w) dims [] <@mesh, {"data"}>
  plan.copy %x to %0 : !w -> !p
  return %0 : !p
}
func.func @tiny(%x: memref<4xf32, #plan.space<window>>, %y: !p) -> (memref<4xf32, #plan.space<window>>, !p) {
  %0 = plan.alloc : !p
  plan.collective all_reduce combining add (%x : memref<4xf32, #plan.space<window>>) to (%x : memref<4xf32, #plan.space<window>>) dims [] <@mesh, {"data"}>
  plan.copy %y to %0 : !p -> !p
  return %x, %0 : memref<4xf32, #plan.space<window>>, !p
}

// -----

sgd.mesh @mesh = <["data"=4]>
!w = memref<1000000xf32, #plan.space<window>>
!p = memref<1000000xf32, #plan.space<private>>

// Beside the second matmul's buffers there is no room for the first sum's: it is waited for and copied out first.
// CHECK-LABEL: func.func @memory
// CHECK: plan.collective
// CHECK: plan.copy %0 to %arg1
// CHECK: plan.collective
func.func @memory(%x: !p, %a: !p, %b: !p) {
  %0 = plan.alloc : !w
  plan.copy %x to %0 : !p -> !w
  plan.collective all_reduce combining add (%0 : !w) to (%0 : !w) dims [] <@mesh, {"data"}>
  plan.copy %0 to %a : !w -> !p
  %1 = plan.alloc : !w
  plan.copy %x to %1 : !p -> !w
  plan.collective all_reduce combining add (%1 : !w) to (%1 : !w) dims [] <@mesh, {"data"}>
  plan.copy %1 to %b : !w -> !p
  return
}

// -----

sgd.mesh @mesh = <["data"=4]>
!w = memref<1000000xf32, #plan.space<window>>

// expected-error @+1 {{is not at the plan level}}
func.func @not_a_plan(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
