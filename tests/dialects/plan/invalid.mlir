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

// -----

!p = memref<8xf32, #plan.space<private>>

func.func @convolution_reach(%a: !p, %b: !p, %c: !p) {
  // expected-error @+1 {{rhs reaches element 9 of 8}}
  plan.convolution ins(%a, %b : !p, !p) outs(%c : !p) sizes [2, 1, 1, 2] windows [4] to [2] of [3] strides [1] dilations [1] low [0] layouts [4, 0, 1, 1], [0, 2, 1, 4], [4, 0, 1, 2]
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

func.func @convolution_sizes(%a: !p, %b: !p, %c: !p) {
  // expected-error @+1 {{needs sizes of n, g, c and f}}
  plan.convolution ins(%a, %b : !p, !p) outs(%c : !p) sizes [2, 1, 1] windows [4] to [2] of [3] strides [1] dilations [1] low [0] layouts [4, 0, 1, 1], [0, 2, 1, 2], [4, 0, 1, 2]
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

func.func @convolution_lists(%a: !p, %b: !p, %c: !p) {
  // expected-error @+1 {{lists differ in the number of spatial dimensions}}
  plan.convolution ins(%a, %b : !p, !p) outs(%c : !p) sizes [2, 1, 1, 2] windows [4] to [2] of [3] strides [1] dilations [1] low [0, 0] layouts [4, 0, 1, 1], [0, 2, 1, 2], [4, 0, 1, 2]
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

func.func @convolution_stride(%a: !p, %b: !p, %c: !p) {
  // expected-error @+1 {{has a stride below 1}}
  plan.convolution ins(%a, %b : !p, !p) outs(%c : !p) sizes [2, 1, 1, 2] windows [4] to [2] of [3] strides [0] dilations [1] low [0] layouts [4, 0, 1, 1], [0, 2, 1, 2], [4, 0, 1, 2]
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

func.func @convolution_lhs_dilation(%a: !p, %b: !p, %c: !p) {
  // expected-error @+1 {{needs a positive dilation of the lhs for each spatial dimension, or none}}
  plan.convolution ins(%a, %b : !p, !p) outs(%c : !p) sizes [2, 1, 1, 2] windows [4] to [2] of [3] strides [1] dilations [1] of_lhs [2, 2] low [0] layouts [4, 0, 1, 1], [0, 2, 1, 2], [4, 0, 1, 2]
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

func.func @convolution_layout(%a: !p, %b: !p, %c: !p) {
  // expected-error @+1 {{result has 3 strides for 4 dimensions}}
  plan.convolution ins(%a, %b : !p, !p) outs(%c : !p) sizes [2, 1, 1, 2] windows [4] to [2] of [3] strides [1] dilations [1] low [0] layouts [4, 0, 1, 1], [0, 2, 1, 2], [4, 0, 1]
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

func.func @convolution_bias(%a: !p, %b: !p, %c: !p) {
  // expected-error @+1 {{has an operand bias that no epilogue step needs}}
  plan.convolution ins(%a, %b : !p, !p) outs(%c : !p) bias(%b : !p) sizes [2, 1, 1, 2] windows [4] to [2] of [3] strides [1] dilations [1] low [0] layouts [4, 0, 1, 1], [0, 2, 1, 2], [4, 0, 1, 2]
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

func.func @convolution_type(%a: !p, %b: !p, %c: memref<8xf64, #plan.space<private>>) {
  // expected-error @+1 {{expected operands of one type and a result of it or of their accumulators}}
  plan.convolution ins(%a, %b : !p, !p) outs(%c : memref<8xf64, #plan.space<private>>) sizes [2, 1, 1, 2] windows [4] to [2] of [3] strides [1] dilations [1] low [0] layouts [4, 0, 1, 1], [0, 2, 1, 2], [4, 0, 1, 2]
  return
}

// -----

!p = memref<8x8xf32, #plan.space<private>>
func.func @reduction_without_the_epilogue(%a: !p, %c: !p, %s: memref<8xf32, #plan.space<private>>) {
  // expected-error @+1 {{has an operand reduction that no epilogue step needs}}
  plan.matmul ins(%a, %a : !p, !p) outs(%c : !p) reduction(%s : memref<8xf32, #plan.space<private>>) sizes [8, 8, 8] strides [8, 1], [8, 1], [8, 1]
  return
}

// -----

!p = memref<8x8xf32, #plan.space<private>>
func.func @too_small_reduction(%a: !p, %c: !p, %s: memref<7xf32, #plan.space<private>>) {
  // expected-error @+1 {{needs a reduction of 8 elements}}
  plan.matmul ins(%a, %a : !p, !p) outs(%c : !p) reduction(%s : memref<7xf32, #plan.space<private>>) sizes [8, 8, 8] strides [8, 1], [8, 1], [8, 1] epilogue [rhs_reduction]
  return
}

// -----

!a = memref<8x8xf8E4M3FN, #plan.space<private>>
func.func @result_of_f8(%a: !a, %c: !a) {
  // expected-error @+1 {{mixes element types}}
  plan.matmul ins(%a, %a : !a, !a) outs(%c : !a) sizes [8, 8, 8] strides [8, 1], [8, 1], [8, 1]
  return
}

// -----

sgd.mesh @mesh = <["x"=2]>
func.func @unknown_kind(%a: memref<8xf32, #plan.space<window>>) {
  // expected-error @+2 {{unknown kind of collective 'shift'; expected all_reduce, all_gather, reduce_scatter, all_to_all, permute, broadcast, gather_range}}
  // expected-error @+1 {{failed to parse}}
  plan.collective shift (%a : memref<8xf32, #plan.space<window>>) to (%a : memref<8xf32, #plan.space<window>>) dims [] <@mesh, {"x"}>
  return
}

// -----

func.func @constant_target(%a: memref<8xf32, #plan.space<constant>>) {
  // expected-error @+1 {{writes to constants}}
  plan.receive channel 0 from stage 0 to %a : memref<8xf32, #plan.space<constant>>
  return
}

// -----

func.func @odd_mailbox(%a: memref<8xf32, #plan.space<private>>) {
  // expected-error @+1 {{mailbox 64 is not a multiple of 128}}
  plan.receive channel 0 from stage 0 to %a mailbox 64 : memref<8xf32, #plan.space<private>>
  return
}
