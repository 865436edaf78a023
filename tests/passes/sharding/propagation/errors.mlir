// RUN: sgd-opt %s --sgd-shard --split-input-file --verify-diagnostics

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
  // expected-error @below {{is no dense constant; expected dense<...> to be sharded; write its elements}}
  %0 = arith.constant sparse<[[0]], [1.0]> : tensor<8xf32>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
// expected-error @below {{'w' is sharded as #sgd.sharding<@mesh, [{}], unreduced={"x"}>: only values inside a program can be unreduced; drop 'unreduced', or compile with --keep-unreduced}}
func.func @partial_argument(%a: tensor<8xf32> {sgd.name = "w", sgd.sharding = #sgd.sharding<@mesh, [{}], unreduced={"x"}>}) {
  return
}

// -----

sgd.mesh @mesh = <["x"=6]>
func.func @sub_axes_of_two_divisions(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{sharding uses sub-axes of different divisions of axis "x" of size 6: (1)2 and (3)2}}
  %0 = sgd.sharding_constraint %a <@mesh, [{"x":(1)2}, {"x":(3)2}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
