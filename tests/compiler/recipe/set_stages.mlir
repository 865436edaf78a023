// RUN: not sgd-opt %s --sgd-set-stages --split-input-file 2>%t.errors | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERROR < %t.errors

// CHECK: sgd.mesh @mesh = <["data"=2]> {sgd.schedule = "gpipe", sgd.stages = #sgd<axis"stage"=4>}
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22stages\22: 4, \22schedule\22: \22gpipe\22}"}>} {
  sgd.mesh @mesh = <["data"=2]>
  func.func @main(%x: tensor<8xf32>) { return }
}

// -----

// Stages that are a list come later.
// CHECK-NOT: sgd.stages
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22stages\22: [{\22match\22: \22a\22}, {\22match\22: \22b\22}]}"}>} {
  func.func @main(%x: tensor<8xf32>) { return }
}

// -----

// ERROR: error: field 'stages': the mesh has an axis 'stage' already; give that one another name, the stages are an axis of their own
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22stages\22: 2}"}>} {
  sgd.mesh @mesh = <["stage"=2]>
  func.func @main(%x: tensor<8xf32>) { return }
}
