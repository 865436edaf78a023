// RUN: sgd-opt %s --split-input-file --verify-diagnostics

sgd.mesh @mesh = <["x"=4]>
func.func @sub_axis(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected whole axes; use the axis, or split it in the mesh}}
  %0 = sgd.manual_computation(%x) in [#sgd.sharding<@mesh, [{}]>] out [#sgd.sharding<@mesh, [{}]>] over <@mesh, {"x":(1)2}> {
  ^bb0(%a: tensor<8xf32>):
    sgd.yield %a : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sgd.mesh @mesh = <["x"=4, "y"=2]>
func.func @order(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected whole manual axes before others; reorder the axes}}
  %0 = sgd.manual_computation(%x) in [#sgd.sharding<@mesh, [{"y", "x"}]>] out [#sgd.sharding<@mesh, [{}]>] over <@mesh, {"x"}> {
  ^bb0(%a: tensor<2xf32>):
    sgd.yield %a : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @result(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{result 0: the body has 'tensor<2xf32>' where a rank holds 'tensor<8xf32>'}}
  %0 = sgd.manual_computation(%x) in [#sgd.sharding<@mesh, [{"x"}]>] out [#sgd.sharding<@mesh, [{}]>] over <@mesh, {"x"}> {
  ^bb0(%a: tensor<2xf32>):
    sgd.yield %a : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @pairs(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{pair [1, 4] is outside of 4 ranks}}
  %0 = sgd.permute_ranks %x pairs = [0, 1, 1, 4] over <@mesh, {"x"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @repeated(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{pair [2, 1] repeats a source or target}}
  %0 = sgd.permute_ranks %x pairs = [0, 1, 2, 1] over <@mesh, {"x"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sgd.mesh @mesh = <["x"=4, "y"=2]>
func.func @unreduced(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{operand 0: sharding is unreduced over "y"; expected sums over whole manual axes; reduce the value before, or name the axis among the manual ones}}
  %0 = sgd.manual_computation(%x) in [#sgd.sharding<@mesh, [{}], unreduced={"y"}>] out [#sgd.sharding<@mesh, [{}]>] over <@mesh, {"x"}> {
  ^bb0(%a: tensor<8xf32>):
    sgd.yield %a : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @summands(%x: tensor<8xf32>) -> tensor<4x9xf32> {
  // expected-error@+1 {{'sgd.summands' op has a result of 'tensor<4x9xf32>' for an operand of 'tensor<8xf32>'; expected numbers, and one more dimension in front; correct the result}}
  %0 = sgd.summands %x : tensor<8xf32> -> tensor<4x9xf32>
  return %0 : tensor<4x9xf32>
}
