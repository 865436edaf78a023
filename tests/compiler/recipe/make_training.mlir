// RUN: sgd-opt %s --sgd-make-training --split-input-file | FileCheck %s

// Two matrices that are each other's transposes on two ranks: parameters and momentum are stacks, which ranks own by rows.
// CHECK-LABEL: func.func @init
// CHECK-SAME: -> (tensor<4x8xf32> {sgd.name = "a"}, tensor<2x32xf32> {sgd.name = "optimizer/momentum_buffer/a+1", sgd.part_names = ["optimizer/momentum_buffer/a", "optimizer/momentum_buffer/b"], sgd.part_shapes = [array<i64: 4, 8>, array<i64: 8, 4>]}
// CHECK-LABEL: func.func @train
// CHECK-SAME: tensor<2x32xf32> {sgd.axes = {{\[\[\[#sgd<axis_ref"data">\], \[\]\]\]}}, sgd.name = "a+1", sgd.part_names = ["a", "b"], sgd.part_shapes = [array<i64: 4, 8>, array<i64: 8, 4>], sgd.role = #sgd.role<parameter>}
// CHECK-SAME: tensor<2x32xf32> {sgd.axes = {{\[\[\[#sgd<axis_ref"data">\], \[\]\]\]}}, sgd.name = "optimizer/momentum_buffer/a+1"
// CHECK: sgd.concatenate {{.*}} {sgd.axes = {{\[\[\[\], \[\]\], \[\[#sgd<axis_ref"data">\], \[\]\]\]}}} : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<2x32xf32>
// CHECK: sgd.dot_general {{.*}} batching = [0] x [0]
// CHECK-LABEL: func.func @eval
// CHECK-SAME: tensor<16x4xf32> {sgd.name = "x"
// CHECK-SAME: sgd.part_names = ["a", "b"]
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22mesh\22: {\22data\22: 2}, \22batch\22: \22data\22, \22zero\22: 3, \22train\22: {\22optimizer\22: \22muon\22}}"}>} {
  module {
    func.func @main(%x: tensor<16x4xf32> {sgd.name = "x", sgd.role = #sgd.role<input>}, %a: tensor<4x8xf32> {sgd.name = "a", sgd.init = "normal(1)", sgd.role = #sgd.role<parameter>},
        %b: tensor<8x4xf32> {sgd.name = "b", sgd.role = #sgd.role<parameter>}) -> (tensor<f32> {sgd.name = "loss"}) {
      %h = sgd.dot_general %x, %a batching = [] x [] contracting = [1] x [0] : tensor<16x4xf32>, tensor<4x8xf32> -> tensor<16x8xf32>
      %t = math.tanh %h : tensor<16x8xf32>
      %y = sgd.dot_general %t, %b batching = [] x [] contracting = [1] x [0] : tensor<16x8xf32>, tensor<8x4xf32> -> tensor<16x4xf32>
      %loss = sgd.reduce add %y dimensions = [0, 1] : tensor<16x4xf32> -> tensor<f32>
      return %loss : tensor<f32>
    }
  }
}

// -----

// A rule of the recipe shards the parameters: only their momentum is a stack.
// CHECK-LABEL: func.func @train
// CHECK-SAME: tensor<4x8xf32> {sgd.name = "a"
// CHECK-SAME: sgd.part_names = ["optimizer/momentum_buffer/a", "optimizer/momentum_buffer/b"]
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22mesh\22: {\22data\22: 2, \22model\22: 2}, \22batch\22: \22data\22, \22zero\22: 3, \22rules\22: [{\22tensor\22: \22a\22, \22sharding\22: [null, \22model\22]}, {\22tensor\22: \22b\22, \22sharding\22: [null, \22model\22]}], \22train\22: {\22optimizer\22: \22muon\22}}"}>} {
  module {
    func.func @main(%x: tensor<16x4xf32> {sgd.name = "x", sgd.role = #sgd.role<input>}, %a: tensor<4x8xf32> {sgd.name = "a", sgd.role = #sgd.role<parameter>},
        %b: tensor<8x4xf32> {sgd.name = "b", sgd.role = #sgd.role<parameter>}) -> (tensor<f32> {sgd.name = "loss"}) {
      %h = sgd.dot_general %x, %a batching = [] x [] contracting = [1] x [0] : tensor<16x4xf32>, tensor<4x8xf32> -> tensor<16x8xf32>
      %t = math.tanh %h : tensor<16x8xf32>
      %y = sgd.dot_general %t, %b batching = [] x [] contracting = [1] x [0] : tensor<16x8xf32>, tensor<8x4xf32> -> tensor<16x4xf32>
      %loss = sgd.reduce add %y dimensions = [0, 1] : tensor<16x4xf32> -> tensor<f32>
      return %loss : tensor<f32>
    }
  }
}

// -----

// In stages there are no stacks.
// CHECK-LABEL: func.func @train
// CHECK-NOT: sgd.part_names
// CHECK-LABEL: func.func @eval
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22mesh\22: {\22data\22: 2}, \22batch\22: \22data\22, \22zero\22: 3, \22stages\22: 2, \22train\22: {\22optimizer\22: \22muon\22}}"}>} {
  module {
    func.func @main(%x: tensor<16x4xf32> {sgd.name = "x", sgd.role = #sgd.role<input>}, %a: tensor<4x8xf32> {sgd.name = "a", sgd.role = #sgd.role<parameter>},
        %b: tensor<8x4xf32> {sgd.name = "b", sgd.role = #sgd.role<parameter>}) -> (tensor<f32> {sgd.name = "loss"}) {
      %h = sgd.dot_general %x, %a batching = [] x [] contracting = [1] x [0] : tensor<16x4xf32>, tensor<4x8xf32> -> tensor<16x8xf32>
      %t = math.tanh %h : tensor<16x8xf32>
      %y = sgd.dot_general %t, %b batching = [] x [] contracting = [1] x [0] : tensor<16x8xf32>, tensor<8x4xf32> -> tensor<16x4xf32>
      %loss = sgd.reduce add %y dimensions = [0, 1] : tensor<16x4xf32> -> tensor<f32>
      return %loss : tensor<f32>
    }
  }
}

// -----

// A rule shards the momentum.
// CHECK-LABEL: func.func @train
// CHECK-NOT: sgd.part_names
// CHECK-LABEL: func.func @eval
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22mesh\22: {\22data\22: 2}, \22batch\22: \22data\22, \22zero\22: 3, \22rules\22: [{\22tensor\22: \22optimizer/momentum_buffer/*\22, \22sharding\22: [\22data\22, null]}], \22train\22: {\22optimizer\22: \22muon\22}}"}>} {
  module {
    func.func @main(%x: tensor<16x4xf32> {sgd.name = "x", sgd.role = #sgd.role<input>}, %a: tensor<4x8xf32> {sgd.name = "a", sgd.role = #sgd.role<parameter>},
        %b: tensor<8x4xf32> {sgd.name = "b", sgd.role = #sgd.role<parameter>}) -> (tensor<f32> {sgd.name = "loss"}) {
      %h = sgd.dot_general %x, %a batching = [] x [] contracting = [1] x [0] : tensor<16x4xf32>, tensor<4x8xf32> -> tensor<16x8xf32>
      %t = math.tanh %h : tensor<16x8xf32>
      %y = sgd.dot_general %t, %b batching = [] x [] contracting = [1] x [0] : tensor<16x8xf32>, tensor<8x4xf32> -> tensor<16x4xf32>
      %loss = sgd.reduce add %y dimensions = [0, 1] : tensor<16x4xf32> -> tensor<f32>
      return %loss : tensor<f32>
    }
  }
}
