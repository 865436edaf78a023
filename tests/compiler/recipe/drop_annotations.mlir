// RUN: not sgd-opt %s --sgd-drop-annotations --split-input-file 2>%t.errors | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERROR < %t.errors

// CHECK-NOT: sgd.mesh
// CHECK: func.func @main(%[[X:.*]]: tensor<8xf32> {sgd.name = "x"}) -> tensor<8xf32>
// CHECK-NEXT: return %[[X]]
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22annotations\22: \22ignore\22}"}>} {
  sgd.mesh @mesh = <["data"=4]>
  func.func @main(%x: tensor<8xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"data"}]>}) -> (tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}]>}) {
    %0 = sgd.sharding_constraint %x <@mesh, [{"data"}]> : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// Without such a recipe nothing changes.
// CHECK: sgd.mesh @mesh
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{}"}>} {
  sgd.mesh @mesh = <["data"=4]>
  func.func @main(%x: tensor<8xf32>) { return }
}

// -----

// ERROR: error: field 'annotations' ignores the mesh of the model, and parts of the model are written for one rank of it (jax.shard_map); expected a step of whole tensors; write these parts without it, or keep annotations
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22annotations\22: \22ignore\22}"}>} {
  module attributes {sgd.was_manual} {
    func.func @main(%x: tensor<8xf32>) { return }
  }
}
