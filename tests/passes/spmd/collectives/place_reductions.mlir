// Where partial values are reduced.
// RUN: sgd-opt %s --split-input-file --sgd-place-reductions | FileCheck %s

sgd.mesh @mesh = <["data"=4]>

// A sum whose only user wants shards becomes a reduce-scatter: one reshard from summands to shards.
// CHECK-LABEL: func.func @straight_to_shards
// CHECK: %[[G:.*]] = sgd.dot_general
// CHECK-NEXT: %[[R:.*]] = sgd.reshard %[[G]] : tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>> -> tensor<16x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
// CHECK-NEXT: return %[[R]]
func.func @straight_to_shards(%x: tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>, %y: tensor<32x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>)
    -> tensor<16x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>> {
  %g = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>, tensor<32x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>> -> tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
  %r = sgd.reshard %g : tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>> -> tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  %s = sgd.reshard %r : tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}]>> -> tensor<16x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
  return %s : tensor<16x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
}

// -----

sgd.mesh @mesh = <["data"=4]>

// Two sums that are added, one of them transposed in between (an embedding used at both ends): one reduction.
// CHECK-LABEL: func.func @tied
// CHECK: %[[A:.*]] = sgd.dot_general %arg0, %arg1
// CHECK: %[[B:.*]] = sgd.dot_general %arg1, %arg0
// CHECK: %[[T:.*]] = sgd.transpose %[[B]] permutation = [1, 0] : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>> -> tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[T]] : tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
// CHECK-NEXT: %[[R:.*]] = sgd.reshard %[[S]]
// CHECK-NEXT: return %[[R]]
func.func @tied(%x: tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>, %y: tensor<32x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>)
    -> tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}]>> {
  %a = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>, tensor<32x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>> -> tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
  %ra = sgd.reshard %a : tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>> -> tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  %b = sgd.dot_general %y, %x batching = [] x [] contracting = [0] x [0] : tensor<32x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>, tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>> -> tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
  %rb = sgd.reshard %b : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>> -> tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
  %t = sgd.transpose %rb permutation = [1, 0] : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>> -> tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  %s = arith.addf %ra, %t : tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  return %s : tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
}

// -----

sgd.mesh @mesh = <["data"=4]>

// A chain of scalar sums that starts from zero needs one reduction.
// CHECK-LABEL: func.func @norm
// CHECK-COUNT-1: sgd.reshard
// CHECK-NOT: sgd.reshard
func.func @norm(%a: tensor<8xf32, #sgd.sharding<@mesh, [{"data"}]>>, %b: tensor<8xf32, #sgd.sharding<@mesh, [{"data"}]>>) -> tensor<f32, #sgd.sharding<@mesh, []>> {
  %zero = arith.constant dense<0.0> : tensor<f32, #sgd.sharding<@mesh, []>>
  %0 = sgd.reduce add %a dimensions = [0] : tensor<8xf32, #sgd.sharding<@mesh, [{"data"}]>> -> tensor<f32, #sgd.sharding<@mesh, [], unreduced={"data"}>>
  %1 = sgd.reshard %0 : tensor<f32, #sgd.sharding<@mesh, [], unreduced={"data"}>> -> tensor<f32, #sgd.sharding<@mesh, []>>
  %2 = arith.addf %1, %zero : tensor<f32, #sgd.sharding<@mesh, []>>
  %3 = sgd.reduce add %b dimensions = [0] : tensor<8xf32, #sgd.sharding<@mesh, [{"data"}]>> -> tensor<f32, #sgd.sharding<@mesh, [], unreduced={"data"}>>
  %4 = sgd.reshard %3 : tensor<f32, #sgd.sharding<@mesh, [], unreduced={"data"}>> -> tensor<f32, #sgd.sharding<@mesh, []>>
  %5 = arith.addf %2, %4 : tensor<f32, #sgd.sharding<@mesh, []>>
  return %5 : tensor<f32, #sgd.sharding<@mesh, []>>
}

// -----

sgd.mesh @mesh = <["data"=4]>

// The value that is sent is the smaller one.
// CHECK-LABEL: func.func @shrinks
// CHECK: %[[P:.*]] = sgd.reduce add %arg0 dimensions = [0]
// CHECK-NEXT: %[[Q:.*]] = sgd.reduce add %[[P]] dimensions = [0] : tensor<16xf32, #sgd.sharding<@mesh, [{}], unreduced={"data"}>> -> tensor<f32, #sgd.sharding<@mesh, [], unreduced={"data"}>>
// CHECK-NEXT: sgd.reshard %[[Q]]
func.func @shrinks(%x: tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>) -> tensor<f32, #sgd.sharding<@mesh, []>> {
  %p = sgd.reduce add %x dimensions = [0] : tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>> -> tensor<16xf32, #sgd.sharding<@mesh, [{}], unreduced={"data"}>>
  %r = sgd.reshard %p : tensor<16xf32, #sgd.sharding<@mesh, [{}], unreduced={"data"}>> -> tensor<16xf32, #sgd.sharding<@mesh, [{}]>>
  %q = sgd.reduce add %r dimensions = [0] : tensor<16xf32, #sgd.sharding<@mesh, [{}]>> -> tensor<f32, #sgd.sharding<@mesh, []>>
  return %q : tensor<f32, #sgd.sharding<@mesh, []>>
}

// -----

sgd.mesh @mesh = <["data"=4]>

// A broadcast would grow, a maximum of sums is no sum: the reductions stay before them.
// CHECK-LABEL: func.func @stays
// CHECK: sgd.reshard
// CHECK-NEXT: sgd.broadcast_in_dim
// CHECK: sgd.reduce add
// CHECK-NEXT: sgd.reshard
// CHECK: arith.maximumf
func.func @stays(%x: tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>, %y: tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>)
    -> (tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<16xf32, #sgd.sharding<@mesh, [{}]>>) {
  %p = sgd.reduce add %x dimensions = [0] : tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>> -> tensor<16xf32, #sgd.sharding<@mesh, [{}], unreduced={"data"}>>
  %r = sgd.reshard %p : tensor<16xf32, #sgd.sharding<@mesh, [{}], unreduced={"data"}>> -> tensor<16xf32, #sgd.sharding<@mesh, [{}]>>
  %b = sgd.broadcast_in_dim %r dims = [1] : tensor<16xf32, #sgd.sharding<@mesh, [{}]>> -> tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
  %q = sgd.reduce add %y dimensions = [0] : tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>> -> tensor<16xf32, #sgd.sharding<@mesh, [{}], unreduced={"data"}>>
  %s = sgd.reshard %q : tensor<16xf32, #sgd.sharding<@mesh, [{}], unreduced={"data"}>> -> tensor<16xf32, #sgd.sharding<@mesh, [{}]>>
  %m = arith.maximumf %r, %s : tensor<16xf32, #sgd.sharding<@mesh, [{}]>>
  return %b, %m : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<16xf32, #sgd.sharding<@mesh, [{}]>>
}

// -----

sgd.mesh @mesh = <["data"=4]>

// One user wants shards, one the whole: scattering and gathering costs what reducing costs, and the shards are there sooner.
// CHECK-LABEL: func.func @two_users
// CHECK: %[[P:.*]] = sgd.reduce add
// CHECK-NEXT: %[[H:.*]] = sgd.reshard %[[P]] : {{.*}} -> tensor<16xf32, #sgd.sharding<@mesh, [{"data"}]>>
// CHECK: sgd.reshard %[[H]] : {{.*}} -> tensor<16xf32, #sgd.sharding<@mesh, [{}]>>
// CHECK-NOT: sgd.reshard
func.func @two_users(%x: tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>) -> (tensor<16xf32, #sgd.sharding<@mesh, [{}]>>, tensor<16xf32, #sgd.sharding<@mesh, [{"data"}]>>) {
  %p = sgd.reduce add %x dimensions = [0] : tensor<32x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>> -> tensor<16xf32, #sgd.sharding<@mesh, [{}], unreduced={"data"}>>
  %r = sgd.reshard %p : tensor<16xf32, #sgd.sharding<@mesh, [{}], unreduced={"data"}>> -> tensor<16xf32, #sgd.sharding<@mesh, [{}]>>
  %s = sgd.reshard %r : tensor<16xf32, #sgd.sharding<@mesh, [{}]>> -> tensor<16xf32, #sgd.sharding<@mesh, [{"data"}]>>
  return %r, %s : tensor<16xf32, #sgd.sharding<@mesh, [{}]>>, tensor<16xf32, #sgd.sharding<@mesh, [{"data"}]>>
}

// -----

sgd.mesh @mesh = <["data"=4]>

// The gather of a parameter is done once for all users.
// CHECK-LABEL: func.func @shared_gather
// CHECK-COUNT-1: sgd.reshard
// CHECK-NOT: sgd.reshard
func.func @shared_gather(%w: tensor<16xf32, #sgd.sharding<@mesh, [{"data"}]>>) -> (tensor<16xf32, #sgd.sharding<@mesh, [{}]>>, tensor<16xf32, #sgd.sharding<@mesh, [{}]>>) {
  %a = sgd.reshard %w : tensor<16xf32, #sgd.sharding<@mesh, [{"data"}]>> -> tensor<16xf32, #sgd.sharding<@mesh, [{}]>>
  %b = arith.negf %a : tensor<16xf32, #sgd.sharding<@mesh, [{}]>>
  %c = sgd.reshard %w : tensor<16xf32, #sgd.sharding<@mesh, [{"data"}]>> -> tensor<16xf32, #sgd.sharding<@mesh, [{}]>>
  %d = math.exp %c : tensor<16xf32, #sgd.sharding<@mesh, [{}]>>
  return %b, %d : tensor<16xf32, #sgd.sharding<@mesh, [{}]>>, tensor<16xf32, #sgd.sharding<@mesh, [{}]>>
}

// -----

sgd.mesh @mesh = <["a"=2, "b"=2]>

// A sharding that is free to make from the value itself is made from it, whatever its other users need.
// CHECK-LABEL: func.func @replicated_value
// CHECK-DAG: sgd.reshard %arg0 : {{.*}} -> tensor<16xf32, #sgd.sharding<@mesh, [{"a"}]>>
// CHECK-DAG: sgd.reshard %arg0 : {{.*}} -> tensor<16xf32, #sgd.sharding<@mesh, [{"b"}]>>
func.func @replicated_value(%x: tensor<16xf32, #sgd.sharding<@mesh, [{}]>>) -> (tensor<16xf32, #sgd.sharding<@mesh, [{"a"}]>>, tensor<16xf32, #sgd.sharding<@mesh, [{"b"}]>>) {
  %a = sgd.reshard %x : tensor<16xf32, #sgd.sharding<@mesh, [{}]>> -> tensor<16xf32, #sgd.sharding<@mesh, [{"a"}]>>
  %b = sgd.reshard %a : tensor<16xf32, #sgd.sharding<@mesh, [{"a"}]>> -> tensor<16xf32, #sgd.sharding<@mesh, [{"b"}]>>
  return %a, %b : tensor<16xf32, #sgd.sharding<@mesh, [{"a"}]>>, tensor<16xf32, #sgd.sharding<@mesh, [{"b"}]>>
}

// -----

sgd.mesh @mesh = <["data"=4]>
!shards = tensor<8xi32, #sgd.sharding<@mesh, [{"data"}]>>
!partial = tensor<i32, #sgd.sharding<@mesh, [], unreduced={"data"}>>
!sum = tensor<i32, #sgd.sharding<@mesh, []>>
!narrow = tensor<i16, #sgd.sharding<@mesh, []>>
!row = tensor<1xi16, #sgd.sharding<@mesh, [{}]>>

// Integers wrap: products with a constant, differences from zero and the low bits of a sum are linear, and so is
// another shape. One reduction is left, of the narrow type.
// CHECK-LABEL: func.func @scaled_integers
// CHECK: arith.muli {{.*}} : tensor<i32, #sgd.sharding<@mesh, [], unreduced={"data"}>>
// CHECK: arith.subi {{.*}} : tensor<i32, #sgd.sharding<@mesh, [], unreduced={"data"}>>
// CHECK: arith.trunci
// CHECK: sgd.broadcast_in_dim
// CHECK: %[[S:.*]] = arith.addi {{.*}} : tensor<1xi16, #sgd.sharding<@mesh, [{}], unreduced={"data"}>>
// CHECK-NEXT: %[[R:.*]] = sgd.reshard %[[S]]
// CHECK-NEXT: return %[[R]]
func.func @scaled_integers(%a: !shards, %b: tensor<8x1xi16, #sgd.sharding<@mesh, [{"data"}, {}]>>) -> !row {
  %three = arith.constant dense<3> : !sum
  %zero = arith.constant dense<0> : !sum
  %0 = sgd.reduce add %a dimensions = [0] : !shards -> !partial
  %1 = sgd.reshard %0 : !partial -> !sum
  %2 = arith.muli %three, %1 : !sum
  %3 = arith.subi %zero, %2 : !sum
  %4 = arith.trunci %3 : !sum to !narrow
  %5 = sgd.broadcast_in_dim %4 dims = [] : !narrow -> !row
  %6 = sgd.reduce add %b dimensions = [0] : tensor<8x1xi16, #sgd.sharding<@mesh, [{"data"}, {}]>> -> tensor<1xi16, #sgd.sharding<@mesh, [{}], unreduced={"data"}>>
  %7 = sgd.reshard %6 : tensor<1xi16, #sgd.sharding<@mesh, [{}], unreduced={"data"}>> -> !row
  %8 = arith.addi %5, %7 : !row
  return %8 : !row
}

// -----

sgd.mesh @mesh = <["data"=4]>
!shards = tensor<8xf32, #sgd.sharding<@mesh, [{"data"}]>>
!partial = tensor<f32, #sgd.sharding<@mesh, [], unreduced={"data"}>>
!sum = tensor<f32, #sgd.sharding<@mesh, []>>
!narrow = tensor<bf16, #sgd.sharding<@mesh, []>>

// Linear too, but summands would be rounded where the program rounds their sum.
// CHECK-LABEL: func.func @rounded
// CHECK-COUNT-2: sgd.reshard
// CHECK: arith.addf {{.*}} : tensor<bf16, #sgd.sharding<@mesh, []>>
func.func @rounded(%a: !shards, %b: !shards) -> !narrow {
  %0 = sgd.reduce add %a dimensions = [0] : !shards -> !partial
  %1 = sgd.reshard %0 : !partial -> !sum
  %2 = arith.truncf %1 : !sum to !narrow
  %3 = sgd.reduce add %b dimensions = [0] : !shards -> !partial
  %4 = sgd.reshard %3 : !partial -> !sum
  %5 = arith.truncf %4 : !sum to !narrow
  %6 = arith.addf %2, %5 : !narrow
  return %6 : !narrow
}

// -----

sgd.mesh @mesh = <["x"=2]>

// A table that is read, and multiplied with transposed, is gathered once.
// CHECK-LABEL: func.func @shared_gather
// CHECK: %[[G:.*]] = sgd.reshard %arg0
// CHECK-NOT: sgd.reshard
// CHECK: %[[T:.*]] = sgd.transpose %[[G]] permutation = [1, 0] : tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>> -> tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
// CHECK-NOT: sgd.reshard
// CHECK: sgd.dot_general {{.*}}, %[[T]]
func.func @shared_gather(%w: tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, %b: tensor<16x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>)
    -> tensor<16x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>> {
  %g = sgd.reshard %w : tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>> -> tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
  %y = sgd.dot_general %b, %g batching = [] x [] contracting = [1] x [0] : tensor<16x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>> -> tensor<16x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %t = sgd.transpose %w permutation = [1, 0] : tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>> -> tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>
  %h = sgd.reshard %t : tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {"x"}]>> -> tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  %z = sgd.dot_general %y, %h batching = [] x [] contracting = [1] x [0] : tensor<16x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>> -> tensor<16x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  return %z : tensor<16x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
}

// -----

sgd.mesh @mesh = <["data"=2]>

!x = tensor<8x4xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
!part = tensor<4x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!sum = tensor<4x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
!row = tensor<1x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
!stack = tensor<4x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
!owned = tensor<4x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>

// Sums that are joined, with zeros, and then sharded along the joined dimension: one reduction straight to the shards.
// CHECK-LABEL: func.func @joined
// CHECK-NOT: sgd.reshard
// CHECK: %[[JOINED:.*]] = sgd.concatenate {{.*}} dimension = 0 {{.*}} -> tensor<4x16xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
// CHECK-NEXT: %[[OWNED:.*]] = sgd.reshard %[[JOINED]] : {{.*}} -> tensor<4x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
// CHECK-NEXT: return %[[OWNED]]
func.func @joined(%x: !x, %y: !x) -> !owned {
  %a = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !x, !x -> !part
  %b = sgd.dot_general %y, %x batching = [] x [] contracting = [0] x [0] : !x, !x -> !part
  %c = sgd.dot_general %y, %y batching = [] x [] contracting = [0] x [0] : !x, !x -> !part
  %ra = sgd.reshard %a : !part -> !sum
  %rb = sgd.reshard %b : !part -> !sum
  %rc = sgd.reshard %c : !part -> !sum
  %fa = sgd.reshape %ra : !sum -> !row
  %fb = sgd.reshape %rb : !sum -> !row
  %fc = sgd.reshape %rc : !sum -> !row
  %zero = arith.constant dense<0.0> : !row
  %joined = sgd.concatenate %fa, %fb, %fc, %zero dimension = 0 : (!row, !row, !row, !row) -> !stack
  %owned = sgd.reshard %joined : !stack -> !owned
  return %owned : !owned
}

// A row that is no sum of ranks must not be added up.
// CHECK-LABEL: func.func @joined_with_another
// CHECK-COUNT-2: sgd.reshard {{.*}} : tensor<4x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
// CHECK: sgd.concatenate {{.*}} -> tensor<4x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
func.func @joined_with_another(%x: !x, %y: !x, %other: tensor<2x16xf32, #sgd.sharding<@mesh, [{}, {}]>>) -> !owned {
  %a = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : !x, !x -> !part
  %b = sgd.dot_general %y, %x batching = [] x [] contracting = [0] x [0] : !x, !x -> !part
  %ra = sgd.reshard %a : !part -> !sum
  %rb = sgd.reshard %b : !part -> !sum
  %fa = sgd.reshape %ra : !sum -> !row
  %fb = sgd.reshape %rb : !sum -> !row
  %joined = sgd.concatenate %fa, %fb, %other dimension = 0 : (!row, !row, tensor<2x16xf32, #sgd.sharding<@mesh, [{}, {}]>>) -> !stack
  %owned = sgd.reshard %joined : !stack -> !owned
  return %owned : !owned
}
