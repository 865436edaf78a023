// RUN: sgd-opt %s --split-input-file --verify-diagnostics

!p = memref<4x16xf32, #plan.space<private>>
!t = memref<16xf32, #plan.space<private>>

func.func @tile_reach(%x: !p, %y: !p) {
  // expected-error @+1 {{the tiles of operand 0 reach byte 448 of 256}}
  plan.tiled ins(%x : !p) outs(%y : !p) loops [4] strides [128, 64] scratch 0 {
  ^bb0(%a: !t, %b: !t):
  }
  return
}

// -----

!p = memref<4x16xf32, #plan.space<private>>
!t = memref<16xf32, #plan.space<private>>

func.func @tile_strides(%x: !p, %y: !p) {
  // expected-error @+1 {{needs a block argument, and a stride per loop, for each operand}}
  plan.tiled ins(%x : !p) outs(%y : !p) loops [4] strides [64] scratch 0 {
  ^bb0(%a: !t, %b: !t):
  }
  return
}

// -----

!p = memref<4x16xf32, #plan.space<private>>
!t = memref<16xf32, #plan.space<private>>

func.func @tile_loop(%x: !p, %y: !p) {
  // expected-error @+1 {{has an empty loop}}
  plan.tiled ins(%x : !p) outs(%y : !p) loops [0] strides [64, 64] scratch 0 {
  ^bb0(%a: !t, %b: !t):
  }
  return
}

// -----

!p = memref<4x16xf32, #plan.space<private>>
!t = memref<16xf32, #plan.space<private>>

func.func @tile_negative(%x: !p, %y: !p) {
  // expected-error @+1 {{operand 0 has a negative stride}}
  plan.tiled ins(%x : !p) outs(%y : !p) loops [4] strides [-64, 64] scratch 0 {
  ^bb0(%a: !t, %b: !t):
  }
  return
}

// -----

!p = memref<4x16xf32, #plan.space<private>>
!t = memref<16xf32, #plan.space<private>>

func.func @tile_space(%x: !p, %y: !p) {
  // expected-error @+1 {{block argument 0 is not a part of operand 0}}
  plan.tiled ins(%x : !p) outs(%y : !p) loops [4] strides [64, 64] scratch 0 {
  ^bb0(%a: memref<16xf32, #plan.space<window>>, %b: !t):
  }
  return
}

// -----

!p = memref<4x16xf32, #plan.space<private>>
!t = memref<16xf32, #plan.space<private>>

func.func @tile_op(%x: !p, %y: !p) {
  plan.tiled ins(%x : !p) outs(%y : !p) loops [4] strides [64, 64] scratch 0 {
  ^bb0(%a: !t, %b: !t):
    // expected-error @+1 {{cannot be part of a tile}}
    plan.copy %a to %b : !t -> !t
  }
  return
}

// -----

!p = memref<4x16xf32, #plan.space<private>>
!t = memref<16xf32, #plan.space<private>>

func.func @tile_scratch(%x: !p, %y: !p) {
  plan.tiled ins(%x : !p) outs(%y : !p) loops [4] strides [64, 64] scratch 0 {
  ^bb0(%a: !t, %b: !t):
    // expected-error @+1 {{does not lie inside the scratch memory of its plan.tiled}}
    %s = plan.alloc offset 0 : memref<16xf32, #plan.space<scratch>>
  }
  return
}

// -----

!p = memref<4x16xf32, #plan.space<private>>
!t = memref<16xf32, #plan.space<private>>

func.func @tile_private(%x: !p, %y: !p) {
  plan.tiled ins(%x : !p) outs(%y : !p) loops [4] strides [64, 64] scratch 64 {
  ^bb0(%a: !t, %b: !t):
    // expected-error @+1 {{allocates scratch memory inside plan.tiled, and nothing else there}}
    %s = plan.alloc offset 0 : !t
  }
  return
}

// -----

!p = memref<4x16xf32, #plan.space<private>>
!t = memref<16xf32, #plan.space<private>>

func.func @tile_bias(%x: !p, %y: !p) {
  plan.tiled ins(%x : !p) outs(%y : !p) loops [4] strides [64, 64] scratch 0 {
  ^bb0(%a: !t, %b: !t):
    // expected-error @+1 {{has an epilogue other than a residual, which a tile cannot}}
    plan.matmul ins(%a, %a : !t, !t) outs(%b : !t) bias(%a : !t) sizes [1, 16, 1] strides [1, 1], [1, 1], [16, 1] epilogue [bias]
  }
  return
}
