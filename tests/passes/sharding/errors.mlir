// RUN: sgd-opt %s --sgd-shard --split-input-file --verify-diagnostics

sgd.mesh @mesh = <["model"=4]>
// expected-error @below {{cannot shard dimension 1 (size 10) of 'logits' over axis "model" (size 4) evenly; pad it or drop the axis}}
func.func @argument(%a: tensor<8x10xf32> {sgd.name = "logits", sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>}) {
  return
}

// -----

sgd.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @below {{cannot shard dimension 0 (size 12) of result 0 over axes "x", "y" (size 8) evenly; pad it or drop the axes}}
func.func @result(%a: tensor<12xf32>) -> (tensor<12xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}]>}) {
  return %a : tensor<12xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @constraint(%a: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @below {{cannot shard dimension 0 (size 6) of the constrained value over axis "x" (size 4) evenly; pad it or drop the axis}}
  %0 = sgd.sharding_constraint %a <@mesh, [{"x"}]> : tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>
sgd.mesh @other = <["x"=4]>
// expected-error @below {{argument 0 is sharded over mesh @other, but the program's mesh is @mesh; use one mesh}}
func.func @two_meshes(%a: tensor<8xf32> {sgd.sharding = #sgd.sharding<@other, [{"x"}]>}) {
  return
}

// -----

func.func private @callee(tensor<8xf32>)
func.func @no_rule(%a: tensor<8xf32>) {
  // expected-error @below {{'func.call' has no sharding rule; it cannot be used in a sharded program}}
  func.call @callee(%a) : (tensor<8xf32>) -> ()
  return
}

// -----

// expected-error @below {{cannot shard a function of several blocks; lower control flow to structured ops first}}
func.func @blocks(%a: tensor<8xf32>) {
  return
^next:
  return
}

// -----

func.func @resource_constant() {
  // expected-error @below {{can only shard constants written as dense<...>}}
  %0 = arith.constant sparse<[[0]], [1.0]> : tensor<8xf32>
  return
}
