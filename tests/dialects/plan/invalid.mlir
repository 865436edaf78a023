// RUN: sgd-opt %s --split-input-file --verify-diagnostics

!p = memref<8xf32, #plan.space<private>>

func.func @alloc() {
  // expected-error @+1 {{offset 12 is not a multiple of 64}}
  %0 = plan.alloc offset 12 : !p
  return
}

// -----

func.func @constant_space() {
  // expected-error @+1 {{constants are plan.constant}}
  %0 = plan.alloc : memref<8xf32, #plan.space<constant>>
  return
}

// -----

func.func @no_space(%x: memref<8xf32>) {
  // expected-error @+1 {{must be memref of static shape and row-major layout in a #plan.space}}
  plan.fill 0.0 : f32 to %x : memref<8xf32>
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

func.func @view(%x: !p) {
  // expected-error @+1 {{bytes [16, 48) are not inside a source of 32 bytes}}
  %0 = plan.view %x at 16 : !p -> !p
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

func.func @unknown_kernel(%x: !p) {
  // expected-error @+1 {{names the unknown kernel @none}}
  plan.launch @none ins(%x : !p) outs(%x : !p) range 1 grain 1
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

func.func @matmul(%a: !p, %b: !p, %c: !p) {
  // expected-error @+1 {{a reaches element 8 of 8}}
  plan.matmul ins(%a, %b : !p, !p) outs(%c : !p) sizes [3, 2, 2] strides [3, 2], [2, 1], [2, 1]
  return
}

// -----

sgd.mesh @mesh = <["data"=4]>
!p = memref<8xf32, #plan.space<private>>

func.func @private_collective(%x: !p) {
  // expected-error @+1 {{source and target 0 must lie in window space}}
  plan.collective all_reduce combining add (%x : !p) to (%x : !p) dims [] <@mesh, {"data"}>
  return
}

// -----

sgd.mesh @mesh = <["data"=4]>
!w = memref<8xf32, #plan.space<window>>

func.func @wrong_target(%x: !w) {
  // expected-error @+1 {{target 0 should have shape [2]}}
  plan.collective reduce_scatter combining add (%x : !w) to (%x : !w) dims [0] <@mesh, {"data"}>
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>
!q = memref<4xf32, #plan.space<private>>

func.func @copy(%x: !p, %y: !q) {
  // expected-error @+1 {{source and target differ in size}}
  plan.copy %x to %y : !p -> !q
  return
}

// -----

sgd.mesh @mesh = <["data"=4]>
!w = memref<8xf32, #plan.space<window>>

func.func @never_done(%x: !w) {
  // expected-error @+1 {{with a token is done exactly once}}
  %0 = plan.collective all_reduce combining add (%x : !w) to (%x : !w) dims [] <@mesh, {"data"}> : !plan.token
  return
}

// -----

sgd.mesh @mesh = <["data"=4]>
!w = memref<8xf32, #plan.space<window>>

func.func @done_twice(%x: !w) {
  // expected-error @+1 {{with a token is done exactly once}}
  %0 = plan.collective all_reduce combining add (%x : !w) to (%x : !w) dims [] <@mesh, {"data"}> : !plan.token
  plan.done %0
  plan.done %0
  return
}

// -----

func.func @done_of_nothing(%x: !plan.token) {
  // expected-error @+1 {{ends a collective of its own block}}
  plan.done %x
  return
}
