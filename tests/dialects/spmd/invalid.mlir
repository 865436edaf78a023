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
  // expected-error@+1 {{does not divide axis "x" of size 4; expected sizes whose product divides it; correct the sub-axis}}
  %0 = spmd.reduce_scatter add(%a) dims = [0] <@mesh, {"x":(1)3}> : (tensor<9xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @sum_of_f8(%a: tensor<8xf8E5M2>) -> tensor<8xf8E5M2> {
  // expected-error@+1 {{cannot combine elements of type 'f8E5M2'; expected wider ones; convert them to f32 first}}
  %0 = spmd.all_reduce add(%a) <@mesh, {"x"}> : (tensor<8xf8E5M2>) -> tensor<8xf8E5M2>
  return %0 : tensor<8xf8E5M2>
}
