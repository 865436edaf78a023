// RUN: sgd-opt %s --sgd-shard --sgd-verify-sharding --split-input-file | FileCheck %s

// Data parallel: forward through everything, the weight stays whole.
sgd.mesh @mesh = <["data"=4]>
// CHECK-LABEL: @forward
func.func @forward(%x: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<4x6xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) -> tensor<8x6xf32> {
  // CHECK: sgd.dot_general {{.*}} -> tensor<8x6xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
  %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<8x4xf32>, tensor<4x6xf32> -> tensor<8x6xf32>
  // CHECK: math.tanh {{.*}} : tensor<8x6xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
  %1 = math.tanh %0 : tensor<8x6xf32>
  // CHECK-NOT: reshard
  return %1 : tensor<8x6xf32>
}

// -----

// Backward from a result, to an argument that says nothing.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @backward
// CHECK-SAME: %arg0: tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {"x"}]>> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}
func.func @backward(%a: tensor<8x4xf32>) -> (tensor<4x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = arith.negf %a : tensor<8x4xf32>
  // CHECK-NOT: reshard
  %1 = sgd.transpose %0 permutation = [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// A closed dimension takes nothing; an open one does.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @open_and_closed
// CHECK-SAME: %arg1: tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
// CHECK-SAME: %arg2: tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
func.func @open_and_closed(%a: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
                           %c: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{?}, {}]>}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  // CHECK: %[[B:.*]] = sgd.reshard %arg1 : {{.*}} -> tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  // CHECK: arith.addf %arg0, %[[B]]
  %0 = arith.addf %a, %b : tensor<8x4xf32>
  // CHECK: arith.addf %arg0, %arg2
  %1 = arith.addf %a, %c : tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Priority 0 is propagated to its end before priority 1 is seen.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @priorities
func.func @priorities(%a: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}p1, {}]>}, %b: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}p0]>}) -> tensor<8x4xf32> {
  // CHECK: arith.mulf {{.*}} : tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>
  %0 = arith.mulf %a, %b : tensor<8x4xf32>
  // CHECK: math.exp {{.*}} : tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>
  %1 = math.exp %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// A closed dimension of priority 1 takes no axes of priority 0.
sgd.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: @closed
// CHECK-SAME: %arg0: tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
func.func @closed(%a: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}p1, {}]>}, %b: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x4xf32> {
  // CHECK: arith.mulf {{.*}} : tensor<8x4xf32, #sgd.sharding<@mesh, [{"y"}, {}]>>
  %0 = arith.mulf %a, %b : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// Two axes want the result of a matmul; the larger operand comes first. Neither operand is touched by the other.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @conflict
func.func @conflict(%a: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<4x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x64xf32> {
  // CHECK: %[[A:.*]] = sgd.reshard %arg0 : {{.*}} -> tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
  // CHECK: sgd.dot_general %[[A]], %arg1 {{.*}} -> tensor<8x64xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<8x4xf32>, tensor<4x64xf32> -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// -----

// An axis is cut where a reshape splits the dimension that it shards, and merged again where it joins.
sgd.mesh @mesh = <["x"=8]>
// CHECK-LABEL: @sub_axes
func.func @sub_axes(%a: tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<8x2xf32> {
  // CHECK: sgd.reshape %arg0 {{.*}} -> tensor<4x4xf32, #sgd.sharding<@mesh, [{"x":(1)4}, {"x":(4)2}]>>
  %0 = sgd.reshape %a : tensor<16xf32> -> tensor<4x4xf32>
  // CHECK: sgd.reshape {{.*}} -> tensor<8x2xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %1 = sgd.reshape %0 : tensor<4x4xf32> -> tensor<8x2xf32>
  // CHECK-NOT: reshard
  return %1 : tensor<8x2xf32>
}

// -----

// Axes need not divide the dimensions that they come to shard.
sgd.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @does_not_divide
func.func @does_not_divide(%a: tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<4x2xf32> {
  // CHECK: sgd.reshape %arg0 {{.*}} -> tensor<4x2xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %0 = sgd.reshape %a : tensor<8xf32> -> tensor<4x2xf32>
  // CHECK-NOT: sgd.reshard
  // CHECK: sgd.concatenate {{.*}} -> tensor<6x2xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %c = arith.constant dense<0.0> : tensor<2x2xf32>
  %1 = sgd.concatenate %0, %c dimension = 0 : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<6x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// Axes of size 1 leave no trace.
sgd.mesh @mesh = <["data"=1, "model"=2]>
// CHECK-LABEL: @size_one
// CHECK-SAME: %arg0: tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {"model"}]>>
func.func @size_one(%a: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {"model"}]>}) -> tensor<8x4xf32> {
  return %a : tensor<8x4xf32>
}

// -----

// Without a mesh there is one rank.
// CHECK: sgd.mesh @mesh = <[]>
// CHECK-LABEL: @no_mesh
// CHECK: arith.addf {{.*}} : tensor<8xf32, #sgd.sharding<@mesh, [{}]>>
func.func @no_mesh(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = arith.addf %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A result without an annotation of its own comes back as the argument whose buffer it takes.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @carried
// CHECK-SAME: -> (tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
func.func @carried(%a: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>, sgd.alias_output = 0 : i64}, %b: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x4xf32> {
  // CHECK: sgd.reshard {{.*}} -> tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %0 = arith.negf %b : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// Scalars that are no tensors have no sharding.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @scalars
func.func @scalars(%c: i1, %a: tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // CHECK: arith.xori %{{.*}}, %{{.*}} : i1
  %true = arith.constant true
  %0 = arith.xori %c, %true : i1
  // CHECK: arith.select {{.*}} : tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>
  %1 = math.exp %a : tensor<8xf32>
  %2 = arith.select %0, %a, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// An open constraint adds nothing to the one before it, and takes nothing away.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @open_constraint
// CHECK-SAME: %arg0: tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>
func.func @open_constraint(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: math.exp %arg0 : tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>
  %0 = math.exp %a : tensor<8xf32>
  %1 = sgd.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
  %2 = sgd.sharding_constraint %1 <@mesh, [{?}]> : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// Parameters sharded along the batch's axis are gathered: neither they nor their gradients shard the activations.
sgd.mesh @mesh = <["data"=4]>
// CHECK-LABEL: @batch_before_parameters
func.func @batch_before_parameters(%x: tensor<64x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>},
    %v: tensor<16x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<16x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}, tensor<64x16xf32>) {
  // CHECK: sgd.dot_general {{.*}} -> tensor<64x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
  %h = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<64x8xf32>, tensor<8x16xf32> -> tensor<64x16xf32>
  // CHECK: sgd.dot_general {{.*}} -> tensor<64x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
  %y = sgd.dot_general %h, %v batching = [] x [] contracting = [1] x [0] : tensor<64x16xf32>, tensor<16x8xf32> -> tensor<64x8xf32>
  // CHECK: sgd.dot_general {{.*}} -> tensor<16x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
  %dv = sgd.dot_general %h, %y batching = [] x [] contracting = [0] x [0] : tensor<64x16xf32>, tensor<64x8xf32> -> tensor<16x8xf32>
  // CHECK: sgd.dot_general {{.*}} -> tensor<64x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
  %dh = sgd.dot_general %y, %v batching = [] x [] contracting = [1] x [1] : tensor<64x8xf32>, tensor<16x8xf32> -> tensor<64x16xf32>
  // CHECK: arith.mulf {{.*}} : tensor<64x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
  %m = arith.mulf %h, %dh : tensor<64x16xf32>
  return %dv, %m : tensor<16x8xf32>, tensor<64x16xf32>
}
