// RUN: sgd-opt %s --sgd-assign-roles --split-input-file --verify-diagnostics | FileCheck %s

// The loss depends on %w, %key and %scale, which steps carry: floats are parameters, other state is a buffer. It does not depend on %m and on the counter %n.
// CHECK-LABEL: @inferred
// CHECK-SAME: (%{{[^:]*}}: tensor<4xf32> {sgd.role = #sgd.role<parameter>}
// CHECK-SAME: tensor<4xf32> {sgd.role = #sgd.role<optimizer_state>}
// CHECK-SAME: tensor<4xi32> {sgd.role = #sgd.role<buffer>}
// CHECK-SAME: tensor<f32> {sgd.role = #sgd.role<parameter>}
// CHECK-SAME: tensor<i32> {sgd.role = #sgd.role<optimizer_state>}
// CHECK-SAME: tensor<4xf32> {sgd.role = #sgd.role<input>})
// CHECK-SAME: -> (tensor<4xf32> {sgd.carry = 0 : i64}, tensor<4xf32> {sgd.carry = 1 : i64}, tensor<4xi32> {sgd.carry = 2 : i64}, tensor<f32> {sgd.carry = 3 : i64}, tensor<i32> {sgd.carry = 4 : i64},
// CHECK-SAME: tensor<f32> {sgd.role = #sgd.role<loss>}, tensor<i1> {sgd.name = "result[1]['commit']", sgd.role = #sgd.role<commit>}, tensor<i32> {sgd.role = #sgd.role<metric>}, tensor<4xf32>)
func.func @inferred(%w: tensor<4xf32>, %m: tensor<4xf32>, %key: tensor<4xi32>, %scale: tensor<f32>, %n: tensor<i32>, %x: tensor<4xf32>)
    -> (tensor<4xf32> {sgd.carry = 0 : i64}, tensor<4xf32> {sgd.carry = 1 : i64}, tensor<4xi32> {sgd.carry = 2 : i64}, tensor<f32> {sgd.carry = 3 : i64}, tensor<i32> {sgd.carry = 4 : i64},
        tensor<f32>, tensor<i1> {sgd.name = "result[1]['commit']"}, tensor<i32>, tensor<4xf32>) {
  %noise = arith.sitofp %key : tensor<4xi32> to tensor<4xf32>
  %0 = arith.mulf %w, %x : tensor<4xf32>
  %1 = arith.mulf %0, %noise : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %sum = sgd.reduce add %1 dimensions = [0] : tensor<4xf32> -> tensor<f32>
  %loss = arith.mulf %sum, %scale : tensor<f32>
  %g = arith.mulf %x, %noise : tensor<4xf32>
  %m1 = arith.addf %m, %g : tensor<4xf32>
  %w1 = arith.subf %w, %m1 : tensor<4xf32>
  %c1 = arith.constant dense<1> : tensor<i32>
  %n1 = arith.addi %n, %c1 : tensor<i32>
  %ok = arith.constant dense<true> : tensor<i1>
  return %w1, %m1, %key, %scale, %n1, %loss, %ok, %n, %0 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i1>, tensor<i32>, tensor<4xf32>
}

// -----

// Roles that are there stay, and others follow from them: with the penalty as the loss, %w is state of the optimizer. A frozen parameter is not carried.
// CHECK-LABEL: @explicit
// CHECK-SAME: (%{{[^:]*}}: tensor<4xf32> {sgd.role = #sgd.role<optimizer_state>}, %{{[^:]*}}: tensor<4xf32> {sgd.role = #sgd.role<buffer>}, %{{[^:]*}}: tensor<4xf32> {sgd.role = #sgd.role<parameter>}, %{{[^:]*}}: tensor<2xi64> {sgd.role = #sgd.role<generator>})
// CHECK-SAME: tensor<f32> {sgd.name = "loss", sgd.role = #sgd.role<metric>}, tensor<f32> {sgd.name = "penalty", sgd.role = #sgd.role<loss>}, tensor<4xf32> {sgd.role = #sgd.role<metric>}
func.func @explicit(%w: tensor<4xf32>, %v: tensor<4xf32> {sgd.role = #sgd.role<buffer>}, %frozen: tensor<4xf32> {sgd.role = #sgd.role<parameter>}, %state: tensor<2xi64> {sgd.role = #sgd.role<generator>})
    -> (tensor<4xf32> {sgd.carry = 0 : i64}, tensor<4xf32> {sgd.carry = 1 : i64}, tensor<f32> {sgd.name = "loss"}, tensor<f32> {sgd.name = "penalty", sgd.role = #sgd.role<loss>}, tensor<4xf32> {sgd.role = #sgd.role<metric>}, tensor<2xi64> {sgd.carry = 3 : i64}) {
  %0 = arith.mulf %w, %frozen : tensor<4xf32>
  %loss = sgd.reduce add %0 dimensions = [0] : tensor<4xf32> -> tensor<f32>
  %penalty = sgd.reduce add %v dimensions = [0] : tensor<4xf32> -> tensor<f32>
  return %w, %v, %loss, %penalty, %0, %state : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<2xi64>
}

// -----

// Without a loss nothing tells parameters from optimizer state.
// CHECK-LABEL: @no_loss
// CHECK-SAME: (%{{[^:]*}}: tensor<4xf32> {sgd.role = #sgd.role<parameter>}, %{{[^:]*}}: tensor<4xf32> {sgd.role = #sgd.role<input>}) -> (tensor<4xf32> {sgd.carry = 0 : i64})
func.func @no_loss(%w: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<4xf32> {sgd.carry = 0 : i64}) {
  %0 = arith.addf %w, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// An evaluation has the step's state under its names, whatever the order of programs.
// CHECK-LABEL: @eval
// CHECK-SAME: tensor<4xf32> {sgd.name = "w", sgd.role = #sgd.role<parameter>}
// CHECK-SAME: tensor<4xf32> {sgd.name = "m", sgd.role = #sgd.role<optimizer_state>}
// CHECK-SAME: tensor<4xf32> {sgd.name = "x", sgd.role = #sgd.role<input>}
module {
  module {
    func.func @eval(%w: tensor<4xf32> {sgd.name = "w"}, %m: tensor<4xf32> {sgd.name = "m"}, %x: tensor<4xf32> {sgd.name = "x"}) -> tensor<4xf32> {
      return %w : tensor<4xf32>
    }
  }
  module {
    func.func @train(%w: tensor<4xf32> {sgd.name = "w"}, %m: tensor<4xf32> {sgd.name = "m"}, %x: tensor<4xf32> {sgd.name = "x"})
        -> (tensor<f32>, tensor<4xf32> {sgd.carry = 0 : i64}, tensor<4xf32> {sgd.carry = 1 : i64}) {
      %0 = arith.mulf %w, %x : tensor<4xf32>
      %loss = sgd.reduce add %0 dimensions = [0] : tensor<4xf32> -> tensor<f32>
      return %loss, %w, %m : tensor<f32>, tensor<4xf32>, tensor<4xf32>
    }
  }
}

// -----

// Of stages, the first scalar is the loss, in each stage that returns it; what it depends on is not known.
// CHECK-LABEL: @first
// CHECK-SAME: tensor<4xf32> {sgd.role = #sgd.role<parameter>}
// CHECK-SAME: tensor<f32> {sgd.position = 1 : i64, sgd.role = #sgd.role<metric>}, tensor<f32> {sgd.position = 0 : i64, sgd.role = #sgd.role<loss>}
func.func @first(%w: tensor<4xf32>) -> (tensor<4xf32> {sgd.carry = 0 : i64, sgd.position = 2 : i64}, tensor<f32> {sgd.position = 1 : i64}, tensor<f32> {sgd.position = 0 : i64})
    attributes {sgd.stage = 0 : i64} {
  %0 = arith.constant dense<1.0> : tensor<f32>
  return %w, %0, %0 : tensor<4xf32>, tensor<f32>, tensor<f32>
}
// CHECK-LABEL: @second
// CHECK-SAME: -> (tensor<f32> {sgd.position = 0 : i64, sgd.role = #sgd.role<loss>})
func.func @second() -> (tensor<f32> {sgd.position = 0 : i64}) attributes {sgd.stage = 1 : i64} {
  %0 = arith.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Names of other tensors say nothing about commits.
// CHECK-LABEL: @other_names
// CHECK-NOT: role<commit>
func.func @other_names(%w: tensor<4xf32>, %ok: tensor<i1>)
    -> (tensor<i1> {sgd.carry = 1 : i64, sgd.name = "result[0]['commit']"}, tensor<f32> {sgd.name = "result[1]['commit']"}, tensor<i1> {sgd.name = "result[1]['committed']"}) {
  %0 = arith.constant dense<1.0> : tensor<f32>
  return %ok, %0, %ok : tensor<i1>, tensor<f32>, tensor<i1>
}

// -----

// expected-error @+1 {{results 0 and 1 are called 'commit', and either could decide whether a step is committed; expected one; rename the other}}
func.func @two_names(%ok: tensor<i1>) -> (tensor<i1> {sgd.name = "result['a']['commit']"}, tensor<i1> {sgd.name = "result['b']['commit']"}) {
  return %ok, %ok : tensor<i1>, tensor<i1>
}

// -----

// expected-error @+1 {{result 0 has the role 'commit', and is carried to argument 0 'ok' of the next step; expected a result that is not; return it as a result of its own}}
func.func @carried_result(%ok: tensor<i1> {sgd.name = "ok"}) -> (tensor<i1> {sgd.carry = 0 : i64, sgd.role = #sgd.role<commit>}) {
  return %ok : tensor<i1>
}

// -----

// expected-error @+1 {{argument 0 'w' has the role 'input', and a result is its value in the next step; expected the role of state, such as 'parameter'; correct it, or leave it out}}
func.func @carried_input(%w: tensor<4xf32> {sgd.name = "w", sgd.role = #sgd.role<input>}) -> (tensor<4xf32> {sgd.carry = 0 : i64}) {
  return %w : tensor<4xf32>
}

// -----

// expected-error @+1 {{argument 1 has the role 'optimizer_state', and no result is known to be its value in the next step; expected one; return its next value under its name, or give it the role 'parameter', 'buffer' or 'input'}}
func.func @lost_state(%w: tensor<4xf32>, %m: tensor<4xf32> {sgd.role = #sgd.role<optimizer_state>}) -> (tensor<4xf32> {sgd.carry = 0 : i64}) {
  %0 = arith.subf %w, %m : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{argument 0 'e' has the role 'compression_error', which is that of the state that compressed reductions add; expected another role; correct it, or leave it out}}
func.func @compiler_state(%e: tensor<4xf32> {sgd.name = "e", sgd.role = #sgd.role<compression_error>}) -> (tensor<4xf32> {sgd.carry = 0 : i64}) {
  return %e : tensor<4xf32>
}

// -----

module {
  module {
    func.func @train(%w: tensor<4xf32> {sgd.name = "w"}) -> (tensor<4xf32> {sgd.carry = 0 : i64}) {
      return %w : tensor<4xf32>
    }
  }
  module {
    // expected-error @+1 {{argument 0 'w' has the role 'input', and program 'train' has it as state ('parameter'); expected one of both; rename the argument, or correct the role}}
    func.func @eval(%w: tensor<4xf32> {sgd.name = "w", sgd.role = #sgd.role<input>}) -> tensor<4xf32> {
      return %w : tensor<4xf32>
    }
  }
}
