// RUN: not sgd-opt %s --sgd-set-mesh --split-input-file 2>%t.errors | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERROR < %t.errors

// Axes of the program come first, then those of the recipe in its order; --mesh has the last word.
// CHECK: sgd.mesh @mesh = <["old"=3, "model"=2, "data"=8]>
module attributes {sgd.request = #sgd.request<version = 2, {mesh = [#sgd<axis"data"=8>], recipe_file = "r.json", recipe = "{\22mesh\22: {\22model\22: 2, \22data\22: 4}}"}>} {
  sgd.mesh @mesh = <["data"=2, "old"=3]>
  func.func @main(%x: tensor<8xf32>) { return }
}

// -----

// CHECK: sgd.mesh @mesh = <["data"=4]>
// CHECK: sgd.mesh @mesh = <["data"=4]>
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22mesh\22: {\22data\22: 4}}"}>} {
  module {
    func.func @train(%x: tensor<8xf32>) { return }
  }
  module {
    func.func @eval(%x: tensor<8xf32>) { return }
  }
}

// -----

// A recipe that names no sizes leaves its axes to --mesh.
// CHECK: sgd.mesh @mesh = <["old"=3, "data"=8]>
module attributes {sgd.request = #sgd.request<version = 2, {mesh = [#sgd<axis"data"=8>], recipe_file = "r.json", recipe = "{\22batch\22: \22data\22}"}>} {
  sgd.mesh @mesh = <["old"=3]>
  func.func @main(%x: tensor<8xf32>) { return }
}

// -----

// ERROR: error: --mesh names the axis 'model', which the model does not have; its axes are data
module attributes {sgd.request = #sgd.request<version = 2, {mesh = [#sgd<axis"model"=8>], programs = [["main", "step.mlir"]]}>} {
  sgd.mesh @mesh = <["data"=2]>
  func.func @main(%x: tensor<8xf32>) { return }
}
