// Rank 0 calls with whole values and sends its results; ranks that call each for itself have their shards.
// RUN: sgd-opt %s --split-input-file --verify-diagnostics --sgd-shard --sgd-localize | FileCheck %s

sgd.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func.func @once(
func.func @once(%a: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> tensor<3xf32> {
  // CHECK: %[[WHOLE:.*]] = spmd.all_gather(%arg0)
  // CHECK: %[[OWN:.*]] = sgd.host_call "f" 1(%[[WHOLE]]) : (tensor<8x4xf32>) -> tensor<3xf32>
  // CHECK: %[[ALL:.*]] = spmd.broadcast %[[OWN]] <@mesh, {"x", "y"}>
  // CHECK: return %[[ALL]]
  %0 = sgd.host_call "f" 1(%a) : (tensor<8x4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @shards(
func.func @shards(%a: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: sgd.host_call "f" 1 each_rank(%arg0) : (tensor<4x4xf32>) -> ()
  sgd.host_call "f" 1 each_rank(%a) : (tensor<8x4xf32>) -> ()
  return
}

// -----

sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @coordinates(
func.func @coordinates(%a: tensor<2x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %when: tensor<2xi1> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>})
    -> (tensor<2xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) {
  // CHECK-DAG: %[[A:.*]] = sgd.reshape %arg0 : tensor<1x4xf32> -> tensor<4xf32>
  // CHECK-DAG: %[[WHEN:.*]] = sgd.reshape %arg1 : tensor<1xi1> -> tensor<i1>
  // CHECK: %[[OWN:.*]] = sgd.host_call "f" 1 each_rank when %[[WHEN]] : tensor<i1>(%[[A]]) : (tensor<4xf32>) -> tensor<i32>
  // CHECK: sgd.reshape %[[OWN]] : tensor<i32> -> tensor<1xi32>
  %0 = sgd.host_call "f" 1 each_rank coordinates 1 when %when : tensor<2xi1>(%a) : (tensor<2x4xf32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

sgd.mesh @mesh = <["x"=2]>
func.func @uneven(%a: tensor<7xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) {
  // expected-error@+1 {{'f' gets the shards of operand 0, whose dimension 0 of size 7 is unevenly sharded over 2 ranks; expected equal shards; call it with the whole value, or pad it}}
  sgd.host_call "f" 1 each_rank(%a) : (tensor<7xf32>) -> ()
  return
}
