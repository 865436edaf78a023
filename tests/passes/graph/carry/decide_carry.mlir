// RUN: sgd-opt %s --sgd-decide-carry --split-input-file | FileCheck %s

// Names; a counter that wraps around; what nobody returns is constant.
// CHECK-LABEL: @names
// CHECK-NOT: sgd.carry_doubt
// CHECK: -> (tensor<4xf32> {sgd.carry = 0 : i64, sgd.carry_basis = "names", sgd.name = "result[1].w"}, tensor<i32> {sgd.carry = 1 : i64, sgd.carry_basis = "names", sgd.name = "result[1].step"})
func.func @names(%w: tensor<4xf32> {sgd.name = "state.w"}, %step: tensor<i32> {sgd.name = "state.step"}, %rate: tensor<4xf32> {sgd.name = "rate"})
    -> (tensor<4xf32> {sgd.name = "result[1].w"}, tensor<i32> {sgd.name = "result[1].step"}) {
  %c8 = arith.constant dense<8> : tensor<i32>
  %0 = arith.subf %w, %rate : tensor<4xf32>
  %1 = sgd.remsi %step, %c8 : tensor<i32>
  return %0, %1 : tensor<4xf32>, tensor<i32>
}

// -----

// The arguments' memory goes crosswise, their values do not.
// CHECK-LABEL: @names_against_aliases
// CHECK: -> (tensor<4xf32> {sgd.carry = 1 : i64, sgd.carry_basis = "names", sgd.name = "result.b"}, tensor<4xf32> {sgd.carry = 0 : i64, sgd.carry_basis = "names", sgd.name = "result.a"})
func.func @names_against_aliases(%a: tensor<4xf32> {sgd.name = "state.a", sgd.alias_output = 0 : i64}, %b: tensor<4xf32> {sgd.name = "state.b", sgd.alias_output = 1 : i64})
    -> (tensor<4xf32> {sgd.name = "result.b"}, tensor<4xf32> {sgd.name = "result.a"}) {
  %0 = arith.addf %a, %b : tensor<4xf32>
  %1 = arith.mulf %0, %b : tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Without names: parameters and momentum by what is added to what, through a loop and a branch.
// CHECK-LABEL: @nameless
// CHECK: -> (tensor<4xf32> {sgd.carry = 0 : i64, sgd.carry_basis = "dataflow"}, tensor<4xf32> {sgd.carry = 1 : i64, sgd.carry_basis = "dataflow"})
func.func @nameless(%w: tensor<4xf32>, %m: tensor<4xf32>, %x: tensor<f32>, %i: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %rate = arith.constant dense<0.9> : tensor<4xf32>
  %g = sgd.broadcast_in_dim %x dims = [] : tensor<f32> -> tensor<4xf32>
  %0 = arith.mulf %m, %rate : tensor<4xf32>
  %1 = arith.addf %0, %g : tensor<4xf32>
  %2:2 = sgd.while (%w, %1) trips 3 do {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %s = arith.subf %a, %b : tensor<4xf32>
    sgd.yield %s, %b : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %3 = sgd.case %i (%2#0) {
  ^bb0(%a: tensor<4xf32>):
    sgd.yield %a : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    %e = math.exp %a : tensor<4xf32>
    sgd.yield %e : tensor<4xf32>
  } : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  return %3, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Dataflow says crosswise, position does not.
// CHECK-LABEL: @crosswise
// CHECK-SAME: sgd.carry_candidate = 1 : i64, sgd.carry_doubt = "position pairs them otherwise than dataflow does"
// CHECK-SAME: sgd.carry_candidate = 0 : i64, sgd.carry_doubt = "position pairs them otherwise than dataflow does"
// CHECK-NOT: sgd.carry =
// CHECK: return
func.func @crosswise(%w: tensor<4xf32>, %m: tensor<4xf32>, %x: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %g = sgd.broadcast_in_dim %x dims = [] : tensor<f32> -> tensor<4xf32>
  %rate = arith.constant dense<0.9> : tensor<4xf32>
  %0 = arith.mulf %m, %rate : tensor<4xf32>
  %1 = arith.addf %0, %g : tensor<4xf32>
  %2 = arith.subf %w, %1 : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// An alias is no reason, and against position and dataflow it leaves the pair open.
// CHECK-LABEL: @against_alias
// CHECK-SAME: sgd.carry_doubt = "aliases pair them otherwise than position and dataflow do"
// CHECK-NOT: sgd.carry =
// CHECK: return
func.func @against_alias(%w: tensor<4xf32> {sgd.alias_output = 1 : i64}, %g: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.subf %w, %g : tensor<4xf32>
  %1 = math.exp %g : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A gradient has the parameter's path.
// CHECK-LABEL: @gradient
// CHECK-NOT: sgd.carry_candidate
// CHECK-SAME: sgd.carry_doubt = "a result has its path, but the program computes no update of it there: it may be a gradient"
// CHECK-NOT: sgd.carry =
// CHECK: return
func.func @gradient(%w: tensor<4xf32> {sgd.name = "params['w']"}) -> (tensor<4xf32> {sgd.name = "result[1]['w']"}) {
  %c = arith.constant dense<0.1> : tensor<4xf32>
  %0 = math.sin %w : tensor<4xf32>
  %1 = arith.mulf %w, %c : tensor<4xf32>
  %2 = arith.addf %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Gradients that are an argument: which of the two is the state, only the user knows; and constant data beside the state.
// CHECK-LABEL: @gradients_as_argument
// CHECK-SAME: sgd.carry_doubt = "several results could be as well"
// CHECK-SAME: sgd.carry_doubt = "several results could be as well"
// CHECK-NOT: sgd.carry =
// CHECK: return
func.func @gradients_as_argument(%m: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  %rate = arith.constant dense<0.9> : tensor<4xf32>
  %0 = arith.mulf %m, %rate : tensor<4xf32>
  %1 = arith.addf %0, %g : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @rival
// CHECK-SAME: (%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32> {sgd.carry_candidate = 0 : i64, sgd.carry_doubt = "the next value of another input is computed from it as if from its own"})
// CHECK-SAME: -> (tensor<4xf32> {sgd.carry = 0 : i64, sgd.carry_basis = "dataflow"})
func.func @rival(%w: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  %rate = arith.constant dense<0.1> : tensor<4xf32>
  %0 = arith.mulf %g, %rate : tensor<4xf32>
  %1 = arith.subf %w, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
