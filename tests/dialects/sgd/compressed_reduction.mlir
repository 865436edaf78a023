// RUN: sgd-opt %s -split-input-file -verify-diagnostics

!p = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
!w = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
!e = tensor<2x8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}, {}]>>
sgd.mesh @mesh = <["x"=2]>

func.func @valid(%p: !p, %e: !e) -> (!w, !w, !e) {
  %0 = sgd.compressed_reduction bf16(%p) state() sizes = [0] : (!p) -> !w state () -> ()
  %1, %next = sgd.compressed_reduction int8(%p) state(%e) sizes = [256] : (!p) -> !w state (!e) -> !e
  return %0, %1, %next : !w, !w, !e
}

// -----

!w = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
sgd.mesh @mesh = <["x"=2]>
func.func @whole(%w: !w) {
  // expected-error@+1 {{expected a sum that is partial, and then whole}}
  %0 = sgd.compressed_reduction bf16(%w) state() sizes = [0] : (!w) -> !w state () -> ()
  return
}

// -----

!p = tensor<8x4xf16, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
!w = tensor<8x4xf16, #sgd.sharding<@mesh, [{}, {}]>>
sgd.mesh @mesh = <["x"=2]>
func.func @element(%p: !p) {
  // expected-error@+1 {{compresses elements of 'f16'; expected f32}}
  %0 = sgd.compressed_reduction bf16(%p) state() sizes = [0] : (!p) -> !w state () -> ()
  return
}

// -----

!p = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
!w = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
sgd.mesh @mesh = <["x"=2]>
func.func @state(%p: !p) {
  // expected-error@+1 {{has 0 states and 0 of the next step; expected 1 of both, of the same types}}
  %0 = sgd.compressed_reduction int8(%p) state() sizes = [256] : (!p) -> !w state () -> ()
  return
}

// -----

!p = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
!w = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
sgd.mesh @mesh = <["x"=2]>
func.func @size(%p: !p) {
  // expected-error@+1 {{has the size 4; expected 0}}
  %0 = sgd.compressed_reduction bf16(%p) state() sizes = [4] : (!p) -> !w state () -> ()
  return
}

// -----

!p = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
!w = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
!e = tensor<2x4x8xf32, #sgd.sharding<@mesh, [{"x"}, {}, {}]>>
sgd.mesh @mesh = <["x"=2]>
func.func @error(%p: !p, %e: !e) {
  // expected-error@+1 {{expected f32 of the input's shape behind a dimension of ranks}}
  %0, %next = sgd.compressed_reduction top_k(%p) state(%e) sizes = [3] : (!p) -> !w state (!e) -> !e
  return
}

// -----

!p = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
!q = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"y"}>>
!w = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @groups(%p: !p, %q: !q) {
  // expected-error@+1 {{expected one group}}
  %0:2 = sgd.compressed_reduction bf16(%p, %q) state() sizes = [0, 0] : (!p, !q) -> (!w, !w) state () -> ()
  return
}

// -----

!p = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
!w = tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
sgd.mesh @mesh = <["x"=2]>
func.func @sizes(%p: !p) {
  // expected-error@+1 {{has 1 inputs, 1 results and 2 sizes; expected as many of each}}
  %0 = sgd.compressed_reduction bf16(%p) state() sizes = [0, 0] : (!p) -> !w state () -> ()
  return
}
