// The verifier that closes the SPMD stage.
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
  %0 = fusion.cluster(%a) {
  ^bb0(%b: tensor<8xf32>):
    // expected-error @below {{stands inside 'fusion.cluster': whether it runs could differ between ranks}}
    %1 = spmd.all_reduce add(%b) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
    fusion.yield %1 : tensor<8xf32>
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

// -----

// A sum over all of an axis is the same along it: the loop ends on all ranks together.
sgd.mesh @mesh = <["x"=4, "y"=2]>
func.func @agreed(%a: tensor<f32> {sgd.sharding = #sgd.sharding<@mesh, []>}, %p: tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = sgd.while(%p) while {
  ^bb0(%c: tensor<8xf32>):
    %1 = sgd.reduce add %c dimensions = [0] : tensor<8xf32> -> tensor<f32>
    %2 = spmd.all_reduce add(%1) <@mesh, {"x":(1)2, "x":(2)2}> : (tensor<f32>) -> tensor<f32>
    %limit = arith.constant dense<9.0> : tensor<f32>
    %3 = arith.cmpf olt, %2, %limit : tensor<f32>
    sgd.yield %3 : tensor<i1>
  } do {
  ^bb0(%c: tensor<8xf32>):
    %1 = spmd.all_reduce max(%c) <@mesh, {"y"}> : (tensor<8xf32>) -> tensor<8xf32>
    sgd.yield %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sgd.mesh @mesh = <["x"=4, "y"=2]>
func.func @half_agreed(%p: tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @below {{has collectives, and its predicate may differ between ranks along}}
  %0 = sgd.while(%p) while {
  ^bb0(%c: tensor<8xf32>):
    %1 = sgd.reduce add %c dimensions = [0] : tensor<8xf32> -> tensor<f32>
    %2 = spmd.all_reduce add(%1) <@mesh, {"x":(1)2}> : (tensor<f32>) -> tensor<f32>
    %limit = arith.constant dense<9.0> : tensor<f32>
    %3 = arith.cmpf olt, %2, %limit : tensor<f32>
    sgd.yield %3 : tensor<i1>
  } do {
  ^bb0(%c: tensor<8xf32>):
    %1 = spmd.all_reduce max(%c) <@mesh, {"y"}> : (tensor<8xf32>) -> tensor<8xf32>
    sgd.yield %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Values of later iterations count.
sgd.mesh @mesh = <["x"=4]>
func.func @carried(%n: tensor<i32>) -> tensor<i32> {
  // expected-error @below {{its predicate may differ between ranks along}}
  %0:2 = sgd.while(%n, %n) while {
  ^bb0(%c: tensor<i32>, %d: tensor<i32>):
    %limit = arith.constant dense<9> : tensor<i32>
    %3 = arith.cmpi slt, %c, %limit : tensor<i32>
    sgd.yield %3 : tensor<i1>
  } do {
  ^bb0(%c: tensor<i32>, %d: tensor<i32>):
    %1 = spmd.all_reduce max(%d) <@mesh, {"x"}> : (tensor<i32>) -> tensor<i32>
    %id = spmd.partition_id <@mesh, {"x"}> : tensor<i32>
    %2 = arith.addi %1, %id : tensor<i32>
    sgd.yield %d, %2 : tensor<i32>, tensor<i32>
  } : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  return %0#0 : tensor<i32>
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @own_branch(%a: tensor<8xf32>) -> tensor<8xf32> {
  %i = spmd.partition_id <@mesh, {"x"}> : tensor<i32>
  // expected-error @below {{its index may differ between ranks along}}
  %0 = sgd.case %i(%a) {
  ^bb0(%b: tensor<8xf32>):
    %2 = spmd.all_reduce add(%b) <@mesh, {"x"}> : (tensor<8xf32>) -> tensor<8xf32>
    sgd.yield %2 : tensor<8xf32>
  }, {
  ^bb0(%b: tensor<8xf32>):
    sgd.yield %b : tensor<8xf32>
  } : (tensor<i32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A value that differs along "x" differs along "y" once ranks have exchanged their places.
sgd.mesh @mesh = <["x"=2, "y"=2]>
func.func @exchanged(%n: tensor<1xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<1xi32> {
  %0 = spmd.collective_permute %n from <@mesh, {"x", "y"}> to <@mesh, {"y", "x"}> : tensor<1xi32>
  %1 = spmd.all_reduce max(%0) <@mesh, {"y"}> : (tensor<1xi32>) -> tensor<1xi32>
  %2 = sgd.while(%1) while {
  ^bb0(%c: tensor<1xi32>):
    %limit = arith.constant dense<9> : tensor<1xi32>
    %3 = arith.cmpi slt, %c, %limit : tensor<1xi32>
    %4 = sgd.reshape %3 : tensor<1xi1> -> tensor<i1>
    sgd.yield %4 : tensor<i1>
  } do {
  ^bb0(%c: tensor<1xi32>):
    %3 = spmd.all_reduce max(%c) <@mesh, {"y"}> : (tensor<1xi32>) -> tensor<1xi32>
    sgd.yield %3 : tensor<1xi32>
  } : (tensor<1xi32>) -> tensor<1xi32>
  return %2 : tensor<1xi32>
}
