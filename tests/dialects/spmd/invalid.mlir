// RUN: sgd-opt %s --split-input-file --verify-diagnostics

sgd.mesh @mesh = <["x"=4]>
func.func @axis_twice(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{has groups that do not partition the ranks: sharding uses axis "x" twice}}
  %0 = spmd.all_reduce add(%a) <@mesh, {"x", "x":(1)2}> : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @part_that_does_not_divide(%a: tensor<9xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{does not divide axis "x" of size 4}}
  %0 = spmd.reduce_scatter add(%a) dims = [0] <@mesh, {"x":(1)3}> : (tensor<9xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
