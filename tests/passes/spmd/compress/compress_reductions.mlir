// Gradients of carried state are compressed; other sums are sent as they are, and say why.
// RUN: sgd-opt %s --split-input-file --sgd-compress-reductions --sgd-verify-sharding | FileCheck %s
// RUN: sgd-opt %s --split-input-file --sgd-compress-reductions --sgd-localize --spmd-verify | FileCheck %s --check-prefix=LOCAL

!p = tensor<64x32xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!w = tensor<64x32xf32, #sgd.sharding<@mesh, [{}, {}]>>
!x = tensor<16x64xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!y = tensor<16x32xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!q = tensor<f32, #sgd.sharding<@mesh, [], unreduced={"data"}>>
!s = tensor<f32, #sgd.sharding<@mesh, []>>

module attributes {sgd.compress = {data = {kind = "bf16"}}} {
sgd.mesh @mesh = <["data"=4]>

// The gradient is compressed, the loss is not. Momentum is updated by it too: it is named after the parameter.
// CHECK-NOT: sgd.compress =
// CHECK-LABEL: func.func @step
// CHECK-SAME: sgd.decisions = [#sgd.decision<compression, {alternatives = [{bytes = 12288 : i64, name = "uncompressed"}], axes = ["data"], bytes = 6144 : i64, chosen = "bf16", {{.*}}subject = "params", why = "{{.*}}is sent as bf16: 6144 bytes instead of 12288"}>]
// CHECK: %[[DOT:.*]] = sgd.dot_general %{{.*}} contracting = [0] x [0]
// CHECK: %[[G:.*]] = sgd.compressed_reduction bf16(%[[DOT]]) state() sizes = [0] :
// CHECK: arith.addf %{{.*}}, %[[G]]
// CHECK: sgd.reshard {{.*}} -> tensor<f32
// LOCAL-LABEL: func.func @step
// LOCAL: %[[DOT:.*]] = sgd.dot_general %{{.*}} contracting = [0] x [0]
// LOCAL: %[[ROUNDED:.*]] = arith.truncf %[[DOT]] : tensor<64x32xf32> to tensor<64x32xbf16>
// LOCAL: %[[SUM:.*]] = spmd.all_reduce add(%[[ROUNDED]]) <@mesh, {"data"}> {sgd.decisions = [{{.*}}op = "sgd.dot_general"{{.*}}]} : (tensor<64x32xbf16>)
// LOCAL: arith.extf %[[SUM]] : tensor<64x32xbf16> to tensor<64x32xf32>
// LOCAL: spmd.all_reduce add({{.*}}) {{.*}} : (tensor<f32>)
func.func @step(%m: !w {sgd.name = "momentum"}, %w: !w {sgd.name = "params"}, %x: !x) -> (!s {sgd.role = #sgd.role<loss>}, !w {sgd.carry = 0 : i64}, !w {sgd.carry = 1 : i64}) {
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : !x, !w -> !y
  %0 = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !x, !y -> !p
  %g = sgd.reshard %0 : !p -> !w
  %c = arith.constant dense<0.9> : !w
  %1 = arith.mulf %m, %c : !w
  %2 = arith.addf %1, %g : !w
  %4 = arith.subf %w, %2 : !w
  %5 = sgd.reduce add %y dimensions = [0, 1] : !y -> !q
  %loss = sgd.reshard %5 : !q -> !s
  return %loss, %2, %4 : !s, !w, !w
}
}

// -----

!p = tensor<64x32xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!w = tensor<64x32xf32, #sgd.sharding<@mesh, [{}, {}]>>
!shard = tensor<64x32xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!x = tensor<16x64xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!y = tensor<16x32xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>

module attributes {sgd.compress = {data = {kind = "bf16"}}} {
sgd.mesh @mesh = <["data"=4]>

// Shards of a gradient, as ZeRO's.
// CHECK-LABEL: func.func @scattered
// CHECK: sgd.compressed_reduction bf16(%{{.*}}) state() sizes = [0] : {{.*}} -> tensor<64x32xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
// LOCAL-LABEL: func.func @scattered
// LOCAL: spmd.reduce_scatter add(%{{.*}}) dims = [0] <@mesh, {"data"}> {{.*}} : (tensor<64x32xbf16>) -> tensor<16x32xbf16>
func.func @scattered(%w: !shard {sgd.name = "params"}, %x: !x, %y: !y) -> (!shard {sgd.carry = 0 : i64}) {
  %0 = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !x, !y -> !p
  %g = sgd.reshard %0 : !p -> !shard
  %1 = arith.subf %w, %g : !shard
  return %1 : !shard
}

// Nothing that is carried is computed from it.
// CHECK-LABEL: func.func @metric
// CHECK-SAME: sgd.decisions = [#sgd.decision<compression, {alternatives = [{name = "compressed", why = "no state is computed from it element by element"}], axes = ["data"], {{.*}}why = "{{.*}}is sent as it is: no state is computed from it element by element"}>]
// CHECK-NOT: sgd.compressed_reduction
func.func @metric(%x: !x, %y: !y) -> !w {
  %0 = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !x, !y -> !p
  %g = sgd.reshard %0 : !p -> !w
  return %g : !w
}
}

// -----

!p = tensor<32xf32, #sgd.sharding<@mesh, [{}], unreduced={"data"}>>
!w = tensor<32xf32, #sgd.sharding<@mesh, [{}]>>
!y = tensor<16x32xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!s = tensor<f32, #sgd.sharding<@mesh, []>>

module attributes {sgd.compress = {data = {kind = "bf16"}}} {
sgd.mesh @mesh = <["data"=4]>

// Means of the batch are carried, and the forward pass reads them.
// CHECK-LABEL: func.func @statistics
// CHECK-SAME: subject = "mean", why = "the gradient of mean is sent as it is: the loss depends on it"
// CHECK-NOT: sgd.compressed_reduction
func.func @statistics(%mean: !w {sgd.name = "mean"}, %y: !y) -> (!s {sgd.role = #sgd.role<loss>}, !w {sgd.carry = 0 : i64}) {
  %0 = sgd.reduce add %y dimensions = [0] : !y -> !p
  %sum = sgd.reshard %0 : !p -> !w
  %next = arith.addf %mean, %sum : !w
  %loss = sgd.reduce add %sum dimensions = [0] : !w -> !s
  return %loss, %next : !s, !w
}
}

// -----

!p = tensor<64x32xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data", "fsdp"}>>
!h = tensor<64x32xf16, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!v = tensor<64x32xf16, #sgd.sharding<@mesh, [{}, {}]>>
!w = tensor<64x32xf32, #sgd.sharding<@mesh, [{}, {}]>>

module attributes {sgd.compress = {data = {kind = "bf16"}}} {
sgd.mesh @mesh = <["data"=2, "fsdp"=2]>

// CHECK-LABEL: func.func @axes
// CHECK-SAME: why = "it is over axis 'fsdp' as well, which is not compressed; name that axis too"
// CHECK-SAME: why = "its elements are f16; expected f32"
// CHECK-NOT: sgd.compressed_reduction
func.func @axes(%w: !w {sgd.name = "w"}, %v: !v {sgd.name = "v"}, %p: !p, %h: !h) -> (!w {sgd.carry = 0 : i64}, !v {sgd.carry = 1 : i64}) {
  %g = sgd.reshard %p : !p -> !w
  %0 = arith.subf %w, %g : !w
  %k = sgd.reshard %h : !h -> !v
  %1 = arith.subf %v, %k : !v
  return %0, %1 : !w, !v
}
}

// -----

!p = tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!g = tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!s = tensor<3x4x8xf32, #sgd.sharding<@mesh, [{}, {}, {}]>>
!l = tensor<1x4x8xf32, #sgd.sharding<@mesh, [{}, {}, {}]>>
!i = tensor<i32, #sgd.sharding<@mesh, []>>

module attributes {sgd.compress = {data = {kind = "bf16"}}} {
sgd.mesh @mesh = <["data"=2]>

// A layer's gradient, which a loop puts into the stack that updates the state: counted once a trip.
// CHECK-LABEL: func.func @loop
// CHECK-SAME: alternatives = [{bytes = 384 : i64, name = "uncompressed"}], axes = ["data"], bytes = 192 : i64, chosen = "bf16", {{.*}}subject = "layers"
// CHECK: sgd.while
// CHECK: sgd.compressed_reduction bf16
// LOCAL-LABEL: func.func @loop
// LOCAL: sgd.while
// LOCAL: spmd.all_reduce {{.*}} (tensor<4x8xbf16>)
func.func @loop(%w: !s {sgd.name = "layers"}, %p: !p, %zero: !i, %zeros: !s) -> (!s {sgd.carry = 0 : i64}) {
  %0:3 = sgd.while (%zero, %p, %zeros) trips 3 do {
  ^bb0(%index: !i, %partial: !p, %stack: !s):
    %g = sgd.reshard %partial : !p -> !g
    %layer = sgd.reshape %g : !g -> !l
    %start = arith.constant dense<0> : !i
    %next = sgd.dynamic_update_slice %stack, %layer, %index, %start, %start : (!s, !l, !i, !i, !i) -> !s
    %one = arith.constant dense<1> : !i
    %up = arith.addi %index, %one : !i
    sgd.yield %up, %partial, %next : !i, !p, !s
  } : (!i, !p, !s) -> (!i, !p, !s)
  %1 = arith.subf %w, %0#2 : !s
  return %1 : !s
}
}

// -----

!p = tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!g = tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>

module attributes {sgd.compress = {data = {kind = "int8", block = 32 : i64}}} {
sgd.mesh @mesh = <["data"=2]>

// CHECK-LABEL: func.func @no_error_in_loops
// CHECK-SAME: why = "it is in a loop or branch, which keeps no error for it"
// CHECK-NOT: sgd.compressed_reduction
func.func @no_error_in_loops(%w: !g {sgd.name = "w"}, %p: !p) -> (!g {sgd.carry = 0 : i64}) {
  %0:2 = sgd.while (%p, %w) trips 3 do {
  ^bb0(%partial: !p, %sum: !g):
    %g = sgd.reshard %partial : !p -> !g
    %next = arith.subf %sum, %g : !g
    sgd.yield %partial, %next : !p, !g
  } : (!p, !g) -> (!p, !g)
  return %0#1 : !g
}
}

// -----

!p = tensor<32xf32, #sgd.sharding<@mesh, [{}], unreduced={"data"}>>
!w = tensor<32xf32, #sgd.sharding<@mesh, [{}]>>
!d = tensor<16x32xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!n = tensor<f32, #sgd.sharding<@mesh, []>>

module attributes {sgd.compress = {data = {kind = "bf16"}}} {
sgd.mesh @mesh = <["data"=4]>

// The backward pass of batch norm reads the sum that is the gradient of its shift: the gradients before it would be of something else. A norm that
// clips gradients is no sum over ranks.
// CHECK-LABEL: func.func @backward
// CHECK-SAME: subject = "shift", why = "the gradient of shift is sent as it is: other sums over ranks are computed from it"}
// CHECK-SAME: chosen = "bf16"{{.*}}subject = "before"
// CHECK-COUNT-1: sgd.compressed_reduction
// CHECK-NOT: sgd.compressed_reduction
func.func @backward(%shift: !w {sgd.name = "shift"}, %before: !w {sgd.name = "before"}, %dy: !d) -> (!w {sgd.carry = 0 : i64}, !w {sgd.carry = 1 : i64}) {
  %0 = sgd.reduce add %dy dimensions = [0] : !d -> !p
  %sum = sgd.reshard %0 : !p -> !w
  %all = sgd.broadcast_in_dim %sum dims = [1] : !w -> !d
  %dx = arith.subf %dy, %all : !d
  %1 = sgd.reduce add %dx dimensions = [0] : !d -> !p
  %gradient = sgd.reshard %1 : !p -> !w
  %2 = arith.mulf %gradient, %gradient : !w
  %norm = sgd.reduce add %2 dimensions = [0] : !w -> !n
  %factor = sgd.broadcast_in_dim %norm dims = [] : !n -> !w
  %clipped = arith.mulf %gradient, %factor : !w
  %3 = arith.subf %shift, %sum : !w
  %4 = arith.subf %before, %clipped : !w
  return %3, %4 : !w, !w
}
}
