// Ranks call with their own values, where they run the block at hand.
// RUN: sgd-opt %s --sgd-expand-manual --split-input-file --verify-diagnostics | FileCheck %s

sgd.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func.func @values(
func.func @values(%x: tensor<8xf32>) -> tensor<4xi32> {
  // CHECK: sgd.host_call "f" 3 each_rank coordinates 2(%{{.*}}) : (tensor<2x2x4xf32>) -> tensor<2x2x1xi32>
  %0 = sgd.manual_computation(%x) in [#sgd.sharding<@mesh, [{"x"}]>] out [#sgd.sharding<@mesh, [{"x", "y"}]>] over <@mesh, {"x", "y"}> {
  ^bb0(%a: tensor<4xf32>):
    %b = sgd.host_call "f" 3 each_rank(%a) : (tensor<4xf32>) -> tensor<1xi32>
    sgd.yield %b : tensor<1xi32>
  } : (tensor<8xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// Ranks choose different branches: each branch runs for the ranks that choose it.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @branches(
func.func @branches(%x: tensor<8xf32>, %i: tensor<2xi32>) -> tensor<8xf32> {
  // CHECK-NOT: sgd.case
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq
  // CHECK: %[[WHEN:.*]] = sgd.sharding_constraint %[[FIRST]]
  // CHECK: sgd.host_call "f" 3 each_rank coordinates 1 when %[[WHEN]]
  // CHECK-NOT: sgd.case
  %0 = sgd.manual_computation(%x, %i) in [#sgd.sharding<@mesh, [{"x"}]>, #sgd.sharding<@mesh, [{"x"}]>] out [#sgd.sharding<@mesh, [{"x"}]>] over <@mesh, {"x"}> {
  ^bb0(%a: tensor<4xf32>, %j: tensor<1xi32>):
    %k = sgd.reshape %j : tensor<1xi32> -> tensor<i32>
    sgd.case %k (%a) {
    ^bb0(%b: tensor<4xf32>):
      sgd.host_call "f" 3 each_rank(%b) : (tensor<4xf32>) -> ()
      sgd.yield
    }, {
    ^bb0(%b: tensor<4xf32>):
      sgd.yield
    } : (tensor<i32>, tensor<4xf32>) -> ()
    sgd.yield %a : tensor<4xf32>
  } : (tensor<8xf32>, tensor<2xi32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @free_axis(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sgd.manual_computation(%x) in [#sgd.sharding<@mesh, [{"x"}]>] out [#sgd.sharding<@mesh, [{"x"}]>] over <@mesh, {"x"}> {
  ^bb0(%a: tensor<4xf32>):
    // expected-error@+1 {{'f' is called on each rank, and the axis "y" is not manual here; expected all axes of the mesh; name them in shard_map}}
    sgd.host_call "f" 3 each_rank(%a) : (tensor<4xf32>) -> ()
    sgd.yield %a : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sgd.mesh @mesh = <["x"=2]>
func.func @once(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sgd.manual_computation(%x) in [#sgd.sharding<@mesh, [{"x"}]>] out [#sgd.sharding<@mesh, [{"x"}]>] over <@mesh, {"x"}> {
  ^bb0(%a: tensor<4xf32>):
    // expected-error@+1 {{'f' is called once for all ranks, in a manual computation, whose ranks have values of their own; expected a call of each rank; write each_rank}}
    sgd.host_call "f" 3(%a) : (tensor<4xf32>) -> ()
    sgd.yield %a : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
