// RUN: not sgd-opt %s --sgd-match-stages --split-input-file 2>%t.errors | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERROR < %t.errors

// By name, and by the scope of what reads an argument with the role of state.
// CHECK: sgd.mesh @mesh = <[]> {sgd.stages = #sgd<axis"stage"=2>}
// CHECK: func.func @main(%{{.*}}: tensor<8xf32> {sgd.name = "embed", sgd.stage = 0 : i64}, %{{.*}}: tensor<8xf32> {sgd.name = "w", sgd.role = #sgd.role<parameter>, sgd.stage = 1 : i64}, %{{.*}}: tensor<8xf32> {sgd.name = "x"})
// ERROR: warning: field 'stages' without 'sequential': with one micro-batch, only one stage computes at a time
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22stages\22: [{\22match\22: \22embed\22}, {\22match\22: \22head\22}]}"}>} {
  func.func @main(%embed: tensor<8xf32> {sgd.name = "embed"}, %w: tensor<8xf32> {sgd.name = "w", sgd.role = #sgd.role<parameter>}, %x: tensor<8xf32> {sgd.name = "x"}) -> (tensor<8xf32>, tensor<8xf32> {sgd.carry = 1 : i64}) {
    %0 = arith.mulf %w, %x : tensor<8xf32> loc("jit(step)/head/mul")
    return %0, %w : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// ERROR: error: field 'stages[1].match': 'heads' decides no parameter: none has such a name or is read in such a scope, or earlier stages match all of them; the nearest name is head
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22stages\22: [{\22match\22: \22embed\22}, {\22match\22: \22heads\22}]}"}>} {
  func.func @main(%embed: tensor<8xf32> {sgd.name = "embed"}, %head: tensor<8xf32> {sgd.name = "head"}) { return }
}
