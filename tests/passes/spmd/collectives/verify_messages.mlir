// Decisions about collectives that another stage makes: its value must be the same on all ranks there.
// RUN: sgd-opt %s --split-input-file --verify-diagnostics --spmd-verify

!f = tensor<8xf32>

sgd.mesh @mesh = <["stage"=2, "data"=4]> {sgd.stages = #sgd<axis"stage"=2>}
func.func @first(%x: tensor<i32> {sgd.sharding = #sgd.sharding<@mesh, []>}, %shard: tensor<4xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}]>})
    attributes {sgd.stage = 0 : i64, sgd.program = "main"} {
  %0 = sgd.reduce add %shard dimensions = [0] : tensor<4xi32> -> tensor<i32>
  %1 = spmd.all_reduce add(%0) <@mesh, {"data"}> : (tensor<i32>) -> tensor<i32>
  spmd.send %1 to stage 1 channel 0 : tensor<i32>
  return
}
func.func @second(%x: !f) -> !f attributes {sgd.stage = 1 : i64, sgd.program = "main"} {
  %0 = spmd.receive channel 0 from stage 0 : tensor<i32>
  %1 = sgd.case %0 (%x) {
  ^bb0(%a: !f):
    %2 = spmd.all_reduce add(%a) <@mesh, {"data"}> : (!f) -> !f
    sgd.yield %2 : !f
  }, {
  ^bb0(%a: !f):
    sgd.yield %a : !f
  } : (tensor<i32>, !f) -> !f
  return %1 : !f
}

// -----

!f = tensor<8xf32>

// By way of a third stage.
sgd.mesh @mesh = <["stage"=3, "data"=4]> {sgd.stages = #sgd<axis"stage"=3>}
func.func @last(%x: !f) -> !f attributes {sgd.stage = 2 : i64, sgd.program = "main"} {
  %0 = spmd.receive channel 1 from stage 1 : tensor<i32>
  // expected-error @+1 {{has collectives, and its index may differ between ranks along #sgd.axes<@mesh, {"data"}>}}
  %1 = sgd.case %0 (%x) {
  ^bb0(%a: !f):
    %2 = spmd.all_reduce add(%a) <@mesh, {"data"}> : (!f) -> !f
    sgd.yield %2 : !f
  }, {
  ^bb0(%a: !f):
    sgd.yield %a : !f
  } : (tensor<i32>, !f) -> !f
  return %1 : !f
}
func.func @middle() attributes {sgd.stage = 1 : i64, sgd.program = "main"} {
  %0 = spmd.receive channel 0 from stage 0 : tensor<i32>
  spmd.send %0 to stage 2 channel 1 : tensor<i32>
  return
}
func.func @first(%shard: tensor<4xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}]>}) attributes {sgd.stage = 0 : i64, sgd.program = "main"} {
  %0 = sgd.reduce add %shard dimensions = [0] : tensor<4xi32> -> tensor<i32>
  spmd.send %0 to stage 1 channel 0 : tensor<i32>
  return
}
