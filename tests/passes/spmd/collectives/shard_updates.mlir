// Updates that all ranks would make alike, in shards.
// RUN: sgd-opt %s --split-input-file --sgd-shard-updates --sgd-verify-sharding | FileCheck %s

sgd.mesh @mesh = <["data"=8]>
!g = tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!w = tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}]>>
!x = tensor<256x2048xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!y = tensor<256x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>

// Momentum is an argument and a result in shards; the parameters, which the forward pass reads, are gathered.
// CHECK-LABEL: func.func @momentum
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}]>>
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<2048x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>
// CHECK-SAME: {sgd.carry = 1 : i64, sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>
// CHECK-SAME: sgd.decisions = [#sgd.decision<update, {chosen = "sharded", {{.*}}subject = "result 0 and result 1", why = "every rank updates its shard of
// CHECK: %[[DOT:.*]] = sgd.dot_general %{{.*}} contracting = [0] x [0]
// CHECK: %[[G:.*]] = sgd.reshard %[[DOT]] : tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>> -> tensor<2048x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
// CHECK: %[[DECAYED:.*]] = arith.mulf %[[M]], %{{.*}} : tensor<2048x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
// CHECK: %[[NEXT:.*]] = arith.addf %[[DECAYED]], %[[G]]
// CHECK: %[[SLICE:.*]] = sgd.reshard %[[P]] : tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}]>> -> tensor<2048x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
// CHECK: %[[UPDATED:.*]] = arith.subf %[[SLICE]], %{{.*}} : tensor<2048x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
// CHECK: %[[WHOLE:.*]] = sgd.reshard %[[UPDATED]] : tensor<2048x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>> -> tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}]>>
// CHECK: return %[[WHOLE]], %[[NEXT]]
func.func @momentum(%p: !w, %m: !w, %x: !x) -> (!w {sgd.carry = 0 : i64}, !w {sgd.carry = 1 : i64}) {
  %y = sgd.dot_general %x, %p batching = [] x [] contracting = [1] x [0] : !x, !w -> !y
  %0 = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !x, !y -> !g
  %g = sgd.reshard %0 : !g -> !w
  %c = arith.constant dense<0.9> : !w
  %r = arith.constant dense<0.1> : !w
  %1 = arith.mulf %m, %c : !w
  %2 = arith.addf %1, %g : !w
  %3 = arith.mulf %2, %r : !w
  %4 = arith.subf %p, %3 : !w
  return %4, %2 : !w, !w
}

// -----

sgd.mesh @mesh = <["data"=8]>
!g = tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!w = tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}]>>
!x = tensor<256x2048xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!y = tensor<256x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>

// Plain descent has no state of its own, but a sweep over the parameters to share.
// CHECK-LABEL: func.func @plain
// CHECK-SAME: chosen = "sharded", {{.*}}why = "every rank updates its shard of result 0; result 0 is gathered; saves
// CHECK: sgd.reshard {{.*}} : tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>> -> tensor<2048x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
func.func @plain(%p: !w, %x: !x) -> (!w {sgd.carry = 0 : i64}) {
  %y = sgd.dot_general %x, %p batching = [] x [] contracting = [1] x [0] : !x, !w -> !y
  %0 = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !x, !y -> !g
  %g = sgd.reshard %0 : !g -> !w
  %r = arith.constant dense<0.1> : !w
  %1 = arith.mulf %g, %r : !w
  %2 = arith.subf %p, %1 : !w
  return %2 : !w
}

// -----

sgd.mesh @mesh = <["data"=8]>
!g = tensor<1024x2048xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!wt = tensor<1024x2048xf32, #sgd.sharding<@mesh, [{}, {}]>>
!w = tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}]>>
!x = tensor<256x2048xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!y = tensor<256x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>

// A gradient that is transposed on its way is sharded so that rows of the parameters are contiguous.
// CHECK-LABEL: func.func @transposed
// CHECK: sgd.reshard {{.*}} -> tensor<1024x2048xf32, #sgd.sharding<@mesh, [{}, {"data"}]>>
// CHECK: sgd.transpose {{.*}} -> tensor<2048x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
func.func @transposed(%p: !w, %x: !x) -> (!w {sgd.carry = 0 : i64}) {
  %y = sgd.dot_general %x, %p batching = [] x [] contracting = [1] x [0] : !x, !w -> !y
  %0 = sgd.dot_general %y, %x batching = [] x [] contracting = [0] x [0] : !y, !x -> !g
  %g = sgd.reshard %0 : !g -> !wt
  %1 = sgd.transpose %g permutation = [1, 0] : !wt -> !w
  %2 = arith.subf %p, %1 : !w
  return %2 : !w
}

// -----

sgd.mesh @mesh = <["data"=8]>
!g = tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!w = tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}]>>
!x = tensor<256x2048xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!y = tensor<256x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!s = tensor<f32, #sgd.sharding<@mesh, []>>

// The gradient's norm is a sum of the shards' sums; only that is all-reduced.
// CHECK-LABEL: func.func @clipped
// CHECK: %[[SUM:.*]] = sgd.reduce add %{{.*}} dimensions = [0, 1] : tensor<2048x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>> -> tensor<f32, #sgd.sharding<@mesh, [], unreduced={"data"}>>
// CHECK-NEXT: %[[NORM:.*]] = sgd.reshard %[[SUM]] : {{.*}} -> tensor<f32, #sgd.sharding<@mesh, []>>
// CHECK: %[[SCALE:.*]] = sgd.broadcast_in_dim %{{.*}} dims = [] : tensor<f32, #sgd.sharding<@mesh, []>> -> tensor<2048x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
// CHECK: arith.mulf %{{.*}}, %[[SCALE]] : tensor<2048x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
func.func @clipped(%p: !w, %x: !x) -> (!w {sgd.carry = 0 : i64}) {
  %y = sgd.dot_general %x, %p batching = [] x [] contracting = [1] x [0] : !x, !w -> !y
  %0 = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !x, !y -> !g
  %g = sgd.reshard %0 : !g -> !w
  %1 = arith.mulf %g, %g : !w
  %2 = sgd.reduce add %1 dimensions = [0, 1] : !w -> !s
  %3 = math.rsqrt %2 : !s
  %4 = sgd.broadcast_in_dim %3 dims = [] : !s -> !w
  %5 = arith.mulf %g, %4 : !w
  %6 = arith.subf %p, %5 : !w
  return %6 : !w
}

// -----

sgd.mesh @mesh = <["data"=8, "model"=2]>
!g = tensor<2048x2048xf32, #sgd.sharding<@mesh, [{"model"}, {}], unreduced={"data"}>>
!w = tensor<2048x2048xf32, #sgd.sharding<@mesh, [{"model"}, {}]>>
!x = tensor<256x2048xf32, #sgd.sharding<@mesh, [{"data"}, {"model"}]>>
!y = tensor<256x2048xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!yp = tensor<256x2048xf32, #sgd.sharding<@mesh, [{"data"}, {}], unreduced={"model"}>>
!sp = tensor<f32, #sgd.sharding<@mesh, [], unreduced={"model"}>>
!s = tensor<f32, #sgd.sharding<@mesh, []>>

// Tensor-parallel parameters are cut further; their norm was a sum over the model's ranks before.
// CHECK-LABEL: func.func @tensor_parallel
// CHECK-SAME: %arg1: tensor<2048x2048xf32, #sgd.sharding<@mesh, [{"model", "data"}, {}]>>
// CHECK: sgd.reshard {{.*}} -> tensor<2048x2048xf32, #sgd.sharding<@mesh, [{"model", "data"}, {}]>>
// CHECK: sgd.reduce add {{.*}} -> tensor<f32, #sgd.sharding<@mesh, [], unreduced={"data", "model"}>>
// CHECK-NEXT: sgd.reshard {{.*}} unreduced={"data", "model"}>> -> tensor<f32, #sgd.sharding<@mesh, []>>
// CHECK: sgd.reshard {{.*}} : tensor<2048x2048xf32, #sgd.sharding<@mesh, [{"model", "data"}, {}]>> -> tensor<2048x2048xf32, #sgd.sharding<@mesh, [{"model"}, {}]>>
func.func @tensor_parallel(%p: !w, %m: !w, %x: !x) -> (!w {sgd.carry = 0 : i64}, !w {sgd.carry = 1 : i64}) {
  %f = sgd.dot_general %x, %p batching = [] x [] contracting = [1] x [0] : !x, !w -> !yp
  %y = sgd.reshard %f : !yp -> !y
  %0 = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !x, !y -> !g
  %g = sgd.reshard %0 : !g -> !w
  %1 = arith.mulf %g, %g : !w
  %2 = sgd.reduce add %1 dimensions = [0, 1] : !w -> !sp
  %3 = sgd.reshard %2 : !sp -> !s
  %4 = sgd.broadcast_in_dim %3 dims = [] : !s -> !w
  %5 = arith.divf %g, %4 : !w
  %6 = arith.addf %m, %5 : !w
  %7 = arith.subf %p, %6 : !w
  return %7, %6 : !w, !w
}

// -----

sgd.mesh @mesh = <["data"=8]>
!g = tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!w = tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}]>>
!x = tensor<256x2048xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!y = tensor<256x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>

// Momentum that another program has too keeps its sharding, and would have to be gathered.
// CHECK-LABEL: func.func @pinned
// CHECK-SAME: why = "a rank would send 22020096 bytes instead of 14680064"
// CHECK-NOT: sgd.pinned
// CHECK-NOT: [{"data"}, {}]>> {{.*}}mulf
func.func @pinned(%p: !w, %m: !w {sgd.pinned}, %x: !x) -> (!w {sgd.carry = 0 : i64}, !w {sgd.carry = 1 : i64}) {
  %y = sgd.dot_general %x, %p batching = [] x [] contracting = [1] x [0] : !x, !w -> !y
  %0 = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !x, !y -> !g
  %g = sgd.reshard %0 : !g -> !w
  %1 = arith.addf %m, %g : !w
  %2 = arith.subf %p, %1 : !w
  return %2, %1 : !w, !w
}

// -----

sgd.mesh @mesh = <["data"=8]>
!g = tensor<1023x513xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!w = tensor<1023x513xf32, #sgd.sharding<@mesh, [{}, {}]>>
!x = tensor<256x1023xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!y = tensor<256x513xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>

// CHECK-LABEL: func.func @uneven
// CHECK-SAME: why = "no dimension is a multiple of 8"
// CHECK: sgd.reshard {{.*}} -> tensor<1023x513xf32, #sgd.sharding<@mesh, [{}, {}]>>
func.func @uneven(%p: !w, %x: !x, %y: !y) -> (!w {sgd.carry = 0 : i64}) {
  %0 = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !x, !y -> !g
  %g = sgd.reshard %0 : !g -> !w
  %1 = arith.subf %p, %g : !w
  return %1 : !w
}

// -----

sgd.mesh @mesh = <["data"=8]>
!g = tensor<64x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!w = tensor<64x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!x = tensor<256x64xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!y = tensor<256x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>

// CHECK-LABEL: func.func @small
// CHECK-SAME: why = "sharded, it is estimated to take
// CHECK: sgd.reshard {{.*}} -> tensor<64x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
func.func @small(%p: !w, %x: !x, %y: !y) -> (!w {sgd.carry = 0 : i64}) {
  %0 = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !x, !y -> !g
  %g = sgd.reshard %0 : !g -> !w
  %1 = arith.subf %p, %g : !w
  return %1 : !w
}

// -----

sgd.mesh @mesh = <["data"=8]>
!g = tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!w = tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}]>>
!x = tensor<256x2048xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!y = tensor<256x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!z = tensor<256x2048xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>

// A value that a matmul reads is no update: a rank needs the whole.
// CHECK-LABEL: func.func @read_whole
// CHECK-SAME: why = "is read whole by sgd.dot_general
// CHECK: sgd.reshard {{.*}} -> tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}]>>
func.func @read_whole(%p: !w, %x: !x, %y: !y) -> (!w {sgd.carry = 0 : i64}, !z) {
  %0 = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !x, !y -> !g
  %g = sgd.reshard %0 : !g -> !w
  %1 = arith.subf %p, %g : !w
  %2 = sgd.dot_general %y, %1 batching = [] x [] contracting = [1] x [1] : !y, !w -> !z
  return %1, %2 : !w, !z
}

// -----

sgd.mesh @mesh = <["data"=8]>
!g = tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!w = tensor<2048x1024xf32, #sgd.sharding<@mesh, [{}, {}]>>
!x = tensor<256x2048xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!y = tensor<256x1024xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>

// A value that leads to no result of the function is no update either, and not worth a word.
// CHECK-LABEL: func.func @inner
// CHECK-NOT: sgd.decisions
func.func @inner(%x: !x, %y: !y) -> !x {
  %0 = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !x, !y -> !g
  %g = sgd.reshard %0 : !g -> !w
  %1 = sgd.dot_general %y, %g batching = [] x [] contracting = [1] x [1] : !y, !w -> !x
  return %1 : !x
}
