// RUN: sgd-opt %s --sgd-check-shared-state -split-input-file -verify-diagnostics

// State by the same names, also where the user's own arguments are called otherwise; 'init' has none.
module {
  module {
    func.func @init(%key: tensor<2xui32> {sgd.name = "key"}) { return }
  }
  module {
    func.func @train(%w: tensor<4xf32> {sgd.name = "params['w']"}, %x: tensor<4xf32> {sgd.name = "x"}) -> (tensor<4xf32> {sgd.carry = 0 : i64, sgd.carry_basis = "names"}) {
      return %x : tensor<4xf32>
    }
  }
  module {
    func.func @eval(%w: tensor<4xf32> {sgd.name = "weights['w']"}, %x: tensor<4xf32> {sgd.name = "x"}) { return }
  }
}

// -----

// Inputs of equal names are no state.
module {
  module {
    func.func @train(%w: tensor<4xf32> {sgd.name = "params['w']"}, %x: tensor<4xf32> {sgd.name = "x"}) -> (tensor<4xf32> {sgd.carry = 0 : i64, sgd.carry_basis = "names"}) {
      return %x : tensor<4xf32>
    }
  }
  module {
    // expected-warning@+1 {{program 'eval' shares no state with program 'train': none of its 2 arguments has the name of a tensor that 'train' carries from step to step, such as 'w'; name state alike in both programs, or put them into two artifacts}}
    func.func @eval(%w: tensor<4xf32> {sgd.name = "params['kernel']"}, %x: tensor<4xf32> {sgd.name = "x"}) { return }
  }
}

// -----

module {
  module {
    // expected-warning@+1 {{program 'train' carries state that program 'finetune' does not: 'm' and 1 more; name state alike in both programs, or put them into two artifacts}}
    func.func @train(%w: tensor<4xf32> {sgd.name = "s.w"}, %m: tensor<4xf32> {sgd.name = "s.m"}, %v: tensor<4xf32> {sgd.name = "s.v"})
        -> (tensor<4xf32> {sgd.carry = 0 : i64, sgd.carry_basis = "names"}, tensor<4xf32> {sgd.carry = 1 : i64, sgd.carry_basis = "names"}, tensor<4xf32> {sgd.carry = 2 : i64, sgd.carry_basis = "names"}) {
      return %v, %w, %m : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }
  }
  module {
    func.func @finetune(%w: tensor<4xf32> {sgd.name = "s.w"}) -> (tensor<4xf32> {sgd.carry = 0 : i64, sgd.carry_basis = "names"}) {
      %0 = math.sin %w : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
}

// -----

// One program alone, and programs without state.
module {
  module {
    func.func @main(%w: tensor<4xf32> {sgd.name = "w"}) -> (tensor<4xf32> {sgd.carry = 0 : i64, sgd.carry_basis = "names"}) { return %w : tensor<4xf32> }
  }
}
