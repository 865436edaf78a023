// RUN: not sgd-opt %s --sgd-annotate --split-input-file 2>%t.errors | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERROR < %t.errors

// The batch, a rule, and the shardings that an evaluation shares with the step.
// CHECK: func.func @train(%{{.*}}: tensor<8x4xf32> {sgd.name = "w", sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>}, %{{.*}}: tensor<16x8xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {?}]>})
// CHECK: func.func @eval(%{{.*}}: tensor<8x4xf32> {sgd.name = "w", sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>}, %{{.*}}: tensor<32x8xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {?}]>})
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22batch\22: \22data\22, \22rules\22: [{\22tensor\22: \22w\22, \22sharding\22: [null, \22model\22]}]}"}>} {
  module {
    sgd.mesh @mesh = <["data"=2, "model"=2]>
    func.func @train(%w: tensor<8x4xf32> {sgd.name = "w", sgd.role = #sgd.role<parameter>}, %x: tensor<16x8xf32> {sgd.name = "x"}) -> (tensor<8x4xf32> {sgd.carry = 0 : i64}) { return %w : tensor<8x4xf32> }
  }
  module {
    sgd.mesh @mesh = <["data"=2, "model"=2]>
    func.func @eval(%w: tensor<8x4xf32> {sgd.name = "w", sgd.role = #sgd.role<parameter>}, %x: tensor<32x8xf32> {sgd.name = "x"}) { return }
  }
}

// -----

// ERROR: error: shards over axes, but neither it nor the model has a mesh; give its axes by --mesh data=N, or in the field 'mesh'
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22batch\22: \22data\22}"}>} {
  func.func @main(%x: tensor<8xf32>) { return }
}
