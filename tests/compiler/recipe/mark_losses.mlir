// RUN: not sgd-opt %s --sgd-mark-losses --split-input-file 2>%t.errors | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERROR < %t.errors

// The name wins over the program.
// CHECK: -> (tensor<f32> {sgd.name = "result[0]"}, tensor<f32> {sgd.name = "result[1].cost", sgd.role = #sgd.role<loss>})
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22loss\22: \22result[1].cost\22}"}>} {
  func.func @main(%x: tensor<f32>) -> (tensor<f32> {sgd.name = "result[0]", sgd.role = #sgd.role<loss>}, tensor<f32> {sgd.name = "result[1].cost"}) { return %x, %x : tensor<f32>, tensor<f32> }
}

// -----

// ERROR: error: --loss: no result is called 'cots'; expected the name of a result; did you mean cost?
module attributes {sgd.request = #sgd.request<version = 2, {loss = "cots"}>} {
  func.func @main(%x: tensor<f32>) -> (tensor<f32> {sgd.name = "cost"}) { return %x : tensor<f32> }
}
