// RUN: sgd-opt %s -split-input-file -verify-diagnostics

!p = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
!w = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
!e = tensor<2x8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}, {}]>>
sgd.mesh @mesh = <["x"=2]>

func.func @valid(%p: !p, %e: !e) -> (!w, !w, !e) {
  %0 = sgd.compressed_reduction bf16 %p() size = 0 : (!p) -> !w
  %1, %next = sgd.compressed_reduction int8 %p(%e) size = 256 : (!p, !e) -> (!w, !e)
  return %0, %1, %next : !w, !w, !e
}

// -----

!w = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
sgd.mesh @mesh = <["x"=2]>
func.func @whole(%w: !w) {
  // expected-error@+1 {{expected a sum that is partial, and then whole}}
  %0 = sgd.compressed_reduction bf16 %w() size = 0 : (!w) -> !w
  return
}

// -----

!p = tensor<8x4xf16, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
!w = tensor<8x4xf16, #sgd.sharding<@mesh, [{}, {}]>>
sgd.mesh @mesh = <["x"=2]>
func.func @element(%p: !p) {
  // expected-error@+1 {{compresses elements of 'f16'; expected f32}}
  %0 = sgd.compressed_reduction bf16 %p() size = 0 : (!p) -> !w
  return
}

// -----

!p = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
!w = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
sgd.mesh @mesh = <["x"=2]>
func.func @state(%p: !p) {
  // expected-error@+1 {{has 0 states and 0 of the next step; int8 keeps 1, with the same types}}
  %0 = sgd.compressed_reduction int8 %p() size = 256 : (!p) -> !w
  return
}

// -----

!p = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
!w = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
sgd.mesh @mesh = <["x"=2]>
func.func @size(%p: !p) {
  // expected-error@+1 {{has the size 4; expected 0}}
  %0 = sgd.compressed_reduction bf16 %p() size = 4 : (!p) -> !w
  return
}

// -----

!p = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
!w = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
!e = tensor<2x4x8xf32, #sgd.sharding<@mesh, [{"x"}, {}, {}]>>
sgd.mesh @mesh = <["x"=2]>
func.func @error(%p: !p, %e: !e) {
  // expected-error@+1 {{expected the input's shape behind a dimension of ranks}}
  %0, %next = sgd.compressed_reduction top_k %p(%e) size = 3 : (!p, !e) -> (!w, !e)
  return
}
