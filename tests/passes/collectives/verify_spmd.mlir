// What closes the SPMD stage.
// RUN: sgd-opt %s --split-input-file --spmd-verify --verify-diagnostics

sgd.mesh @mesh = <["x"=4, "y"=2]>
func.func @valid(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.all_reduce add(%a) <@mesh, {"x":(2)2, "y"}> : (tensor<8xf32>) -> tensor<8xf32>
  %1 = spmd.collective_permute %0 from <@mesh, {"x", "y"}> to <@mesh, {"y", "x":(1)2, "x":(2)2}> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>
// expected-error @below {{still has the type}}
func.func @sharding(%a: tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>) {
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @reshard(%a: tensor<8xf32>) {
  // expected-error @below {{is left, which sgd-localize should have removed}}
  %0 = sgd.reshard %a : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @twice(%a: tensor<8xf32>) {
  // expected-error @below {{has groups that do not partition the ranks: sharding uses axis "x" twice}}
  %0 = spmd.all_reduce add(%a) <@mesh, {"x", "x"}> : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sgd.mesh @mesh = <["x"=6]>
func.func @uneven_part(%a: tensor<8xf32>) {
  // expected-error @below {{does not divide axis "x" of size 6}}
  %0 = spmd.all_reduce add(%a) <@mesh, {"x":(1)4}> : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sgd.mesh @mesh = <["x"=4, "y"=4]>
func.func @permute(%a: tensor<8xf32>) {
  // expected-error @below {{which are not the same axes in another order}}
  %0 = spmd.collective_permute %a from <@mesh, {"x"}> to <@mesh, {"y"}> : tensor<8xf32>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @inside(%a: tensor<8xf32>) {
  %0 = sgd.cluster(%a) {
  ^bb0(%b: tensor<8xf32>):
    // expected-error @below {{stands inside 'sgd.cluster': whether it runs could differ between ranks}}
    %1 = spmd.all_reduce add(%b) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
    sgd.yield %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @by_rank(%i: tensor<i32>, %a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sgd.case %i(%a) {
  ^bb0(%b: tensor<8xf32>):
    %1 = sgd.while(%b) trips 3 do {
    ^bb0(%c: tensor<8xf32>):
      // expected-error @below {{stands in a 'sgd.case' that ranks decide about alone: whether it runs differs between ranks}}
      %2 = spmd.all_reduce add(%c) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
      sgd.yield %2 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    sgd.yield %1 : tensor<8xf32>
  }, {
  ^bb0(%b: tensor<8xf32>):
    sgd.yield %b : tensor<8xf32>
  } {sgd.by_rank} : (tensor<i32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
