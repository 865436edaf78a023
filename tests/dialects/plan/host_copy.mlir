// RUN: sgd-opt %s --verify-roundtrip --split-input-file --verify-diagnostics | FileCheck %s

!p = memref<8xf32, #plan.space<private>>
!h = memref<8xf32, #plan.space<host>>

// CHECK-LABEL: @out_and_in
// CHECK: %[[OUT:.*]] = plan.host_copy %arg0 to %[[HOST:.*]] : memref<8xf32, #plan.space<private>> -> memref<8xf32, #plan.space<host>>
// CHECK: plan.host_copied %[[OUT]]
// CHECK: %[[IN:.*]] = plan.host_copy %[[HOST]] to %{{.*}} : memref<8xf32, #plan.space<host>> -> memref<8xf32, #plan.space<private>>
// CHECK: plan.host_copied %[[IN]]
func.func @out_and_in(%x: !p) -> !p {
  %host = plan.alloc : !h
  %out = plan.host_copy %x to %host : !p -> !h
  plan.host_copied %out
  %back = plan.alloc : !p
  %in = plan.host_copy %host to %back : !h -> !p
  plan.host_copied %in
  return %back : !p
}

// -----

!p = memref<8xf32, #plan.space<private>>

func.func @on_the_device(%x: !p, %y: !p) {
  // expected-error @+1 {{copies from private to private memory; expected host memory on one side}}
  %0 = plan.host_copy %x to %y : !p -> !p
  plan.host_copied %0
  return
}

// -----

!h = memref<8xf32, #plan.space<host>>

func.func @on_the_host(%x: !h, %y: !h) {
  // expected-error @+1 {{copies from host to host memory; expected host memory on one side}}
  %0 = plan.host_copy %x to %y : !h -> !h
  plan.host_copied %0
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>
!h = memref<4xf32, #plan.space<host>>

func.func @sizes(%x: !p, %y: !h) {
  // expected-error @+1 {{source and target differ in size}}
  %0 = plan.host_copy %x to %y : !p -> !h
  plan.host_copied %0
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>
!h = memref<8xf32, #plan.space<host>>

func.func @never_ended(%x: !p, %y: !h) {
  // expected-error @+1 {{is ended exactly once}}
  %0 = plan.host_copy %x to %y : !p -> !h
  return
}

// -----

sgd.mesh @mesh = <["data"=2]>
!w = memref<8xf32, #plan.space<window>>

func.func @of_a_collective(%x: !w) {
  %0 = plan.collective all_reduce combining add (%x : !w) to (%x : !w) dims [] <@mesh, {"data"}> : !plan.token
  // expected-error @+1 {{ends a host copy of its own block}}
  plan.host_copied %0
  return
}
