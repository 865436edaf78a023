// RUN: not sgd-opt %s --sgd-check-compression --split-input-file 2>%t.errors | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERROR < %t.errors

// CHECK: sgd.mesh
// ERROR: error: field 'compress.data' compresses nothing: no program adds up values over it; expected a gradient that is added up over the axis, or no such field
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22compress\22: {\22data\22: \22bf16\22}}"}>} {
  sgd.mesh @mesh = <["data"=2]>
  func.func @main(%x: tensor<8xf32>) { return }
}

// -----

// An axis of one rank needs none.
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22compress\22: {\22data\22: \22bf16\22}}"}>} {
  sgd.mesh @mesh = <["data"=1]>
  func.func @main(%x: tensor<8xf32>) { return }
}
