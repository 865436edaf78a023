// RUN: not sgd-opt %s --sgd-cut-batch --split-input-file 2>%t.errors | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERROR < %t.errors

// The flag and the field say the same.
// CHECK: sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=4>}
// CHECK: func.func @main(%{{.*}}: tensor<16x8xf32> {sgd.sequential_dim = 0 : i64})
module attributes {sgd.request = #sgd.request<version = 2, {micro = #sgd<axis"micro"=4>}>} {
  func.func @main(%x: tensor<16x8xf32>) { return }
}

// -----

// CHECK: sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"parts"=2>}
module attributes {sgd.request = #sgd.request<version = 2, {recipe_file = "r.json", recipe = "{\22sequential\22: {\22parts\22: 2}}"}>} {
  func.func @main(%x: tensor<16x8xf32>) { return }
}

// -----

// ERROR: error: --micro: no program has an input with rows; expected a batch to be cut over 'micro'
module attributes {sgd.request = #sgd.request<version = 2, {micro = #sgd<axis"micro"=4>}>} {
  func.func @main(%x: tensor<f32>) { return }
}
