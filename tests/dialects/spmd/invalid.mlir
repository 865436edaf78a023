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

// -----

func.func @to_itself(%a: tensor<8xf32>) attributes {sgd.stage = 1 : i64} {
  // expected-error@+1 {{connects stage 1 with itself; expected another one; use the value}}
  spmd.send %a to stage 1 channel 0 : tensor<8xf32>
  return
}

// -----

func.func @no_place(%a: tensor<8xf32>) {
  // expected-error@+1 {{has a channel of depth 0; expected 1 to 1024; correct it}}
  spmd.send %a to stage 1 channel 0 depth 0 : tensor<8xf32>
  return
}

// -----

func.func @negative() -> tensor<8xf32> {
  // expected-error@+1 {{names stage 0 and channel -1; expected numbers from 0; correct them}}
  %0 = spmd.receive channel -1 from stage 0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
