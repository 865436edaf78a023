// Independent collectives of one kind and group travel together.
// RUN: sgd-opt %s --split-input-file --spmd-combine-collectives | FileCheck %s
// RUN: sgd-opt %s --split-input-file --spmd-combine-collectives=bucket-bytes=40 | FileCheck %s --check-prefix=SMALL

sgd.mesh @mesh = <["x"=4]>

// Element types may differ; transposes and small sums wait with the bucket; it stands where its last member stood.
// CHECK-LABEL: func.func @bucket
// CHECK-NEXT: %[[N:.*]] = math.exp %arg0
// CHECK-NEXT: %[[R:.*]]:3 = spmd.all_reduce add(%arg0, %arg1, %[[N]]) <@mesh, {"x"}> {sgd.decisions = ["a", "b"]} : (tensor<2x4xf32>, tensor<i32>, tensor<2x4xf32>)
// CHECK-NEXT: sgd.transpose %[[R]]#0
// CHECK-NEXT: arith.addi %[[R]]#1
// CHECK-NEXT: return
// SMALL-LABEL: func.func @bucket
// SMALL: spmd.all_reduce add(%{{.*}}, %{{.*}}) <@mesh
// SMALL: spmd.all_reduce add(%{{.*}}) <@mesh
func.func @bucket(%a: tensor<2x4xf32>, %i: tensor<i32>) -> (tensor<4x2xf32>, tensor<i32>, tensor<2x4xf32>) {
  %0 = spmd.all_reduce add(%a) <@mesh, {"x"}> {sgd.decisions = ["a"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = sgd.transpose %0 permutation = [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
  %2 = spmd.all_reduce add(%i) <@mesh, {"x"}> {sgd.decisions = ["b"]} : (tensor<i32>) -> tensor<i32>
  %3 = arith.addi %2, %2 : tensor<i32>
  %4 = math.exp %a : tensor<2x4xf32>
  %5 = spmd.all_reduce add(%4) <@mesh, {"x"}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1, %3, %5 : tensor<4x2xf32>, tensor<i32>, tensor<2x4xf32>
}

// -----

sgd.mesh @mesh = <["x"=4, "y"=2]>

// Dependent ones, other groups and other reductions stay apart.
// CHECK-LABEL: func.func @apart
// CHECK: spmd.all_reduce add(%arg0) <@mesh, {"x"}>
// CHECK: spmd.all_reduce add(%{{.*}}) <@mesh, {"x"}>
// CHECK: spmd.all_reduce add(%arg0) <@mesh, {"y"}>
// CHECK: spmd.all_reduce max(%arg0) <@mesh, {"x"}>
func.func @apart(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = spmd.all_reduce add(%a) <@mesh, {"x"}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = spmd.all_reduce add(%0) <@mesh, {"x"}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = spmd.all_reduce add(%a) <@mesh, {"y"}> : (tensor<4xf32>) -> tensor<4xf32>
  %3 = spmd.all_reduce max(%a) <@mesh, {"x"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// A value that a large op needs now is not delayed for a later collective: the op's other operand would live longer.
// CHECK-LABEL: func.func @needed
// CHECK: spmd.all_reduce add(%arg0)
// CHECK: arith.addf
// CHECK: spmd.all_reduce add(
func.func @needed(%a: tensor<256xf32>, %b: tensor<256xf32>) -> (tensor<256xf32>, tensor<256xf32>) {
  %0 = spmd.all_reduce add(%a) <@mesh, {"x"}> : (tensor<256xf32>) -> tensor<256xf32>
  %c = sgd.reverse %b dimensions = [0] : tensor<256xf32>
  %1 = arith.addf %0, %c : tensor<256xf32>
  %2 = spmd.all_reduce add(%b) <@mesh, {"x"}> : (tensor<256xf32>) -> tensor<256xf32>
  return %1, %2 : tensor<256xf32>, tensor<256xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// The update of a parameter waits: its other operands are arguments, which live anyway.
// CHECK-LABEL: func.func @update
// CHECK: spmd.all_reduce add(%arg0, %arg1)
// CHECK: arith.addf
func.func @update(%a: tensor<256xf32>, %b: tensor<256xf32>) -> (tensor<256xf32>, tensor<256xf32>) {
  %0 = spmd.all_reduce add(%a) <@mesh, {"x"}> : (tensor<256xf32>) -> tensor<256xf32>
  %half = arith.constant dense<5.000000e-01> : tensor<256xf32>
  %m = arith.mulf %b, %half : tensor<256xf32>
  %1 = arith.addf %0, %m : tensor<256xf32>
  %2 = spmd.all_reduce add(%b) <@mesh, {"x"}> : (tensor<256xf32>) -> tensor<256xf32>
  return %1, %2 : tensor<256xf32>, tensor<256xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Gathers and scatters keep a dimension per operand.
// CHECK-LABEL: func.func @dims
// CHECK: spmd.all_gather(%arg0, %arg1) dims = [0, 1] <@mesh, {"x"}> : (tensor<2x4xf32>, tensor<4x2xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>)
// CHECK: spmd.reduce_scatter add(%arg2, %arg2) dims = [1, 0] <@mesh, {"x"}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x2xf32>, tensor<2x8xf32>)
func.func @dims(%a: tensor<2x4xf32>, %b: tensor<4x2xf32>, %c: tensor<8x8xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x2xf32>, tensor<2x8xf32>) {
  %0 = spmd.all_gather(%a) dims = [0] <@mesh, {"x"}> : (tensor<2x4xf32>) -> tensor<8x4xf32>
  %1 = spmd.all_gather(%b) dims = [1] <@mesh, {"x"}> : (tensor<4x2xf32>) -> tensor<4x8xf32>
  %2 = spmd.reduce_scatter add(%c) dims = [1] <@mesh, {"x"}> : (tensor<8x8xf32>) -> tensor<8x2xf32>
  %3 = spmd.reduce_scatter add(%c) dims = [0] <@mesh, {"x"}> : (tensor<8x8xf32>) -> tensor<2x8xf32>
  return %0, %1, %2, %3 : tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x2xf32>, tensor<2x8xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Nothing moves past a barrier.
// CHECK-LABEL: func.func @barrier
// CHECK: spmd.all_reduce add(%arg0)
// CHECK-NEXT: sgd.optimization_barrier
// CHECK-NEXT: spmd.all_reduce add(
func.func @barrier(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = spmd.all_reduce add(%a) <@mesh, {"x"}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = sgd.optimization_barrier %b : (tensor<4xf32>) -> tensor<4xf32>
  %2 = spmd.all_reduce add(%1) <@mesh, {"x"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %2 : tensor<4xf32>, tensor<4xf32>
}
