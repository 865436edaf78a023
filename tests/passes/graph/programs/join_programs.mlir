// RUN: sgd-opt %s --sgd-join-programs --split-input-file | FileCheck %s

// CHECK: module attributes {sgd.compress = {data = "bf16"}} {
// CHECK-NEXT: sgd.mesh @mesh = <["data"=4]>
// CHECK-NEXT: func.func @train
// CHECK: func.func private @helper
// CHECK: func.func @eval
// CHECK-NOT: sgd.mesh
// CHECK-NOT: module
module {
  module attributes {sgd.compress = {data = "bf16"}} {
    sgd.mesh @mesh = <["data"=4]>
    func.func @train(%x: tensor<4xf32>) { return }
    func.func private @helper(%x: tensor<4xf32>) { return }
  }
  module {
    sgd.mesh @mesh = <["data"=4]>
    func.func @eval(%x: tensor<4xf32>) { return }
  }
}

// -----

// One module with its functions is joined already.
// CHECK: module {
// CHECK-NEXT: func.func @alone
func.func @alone(%x: tensor<4xf32>) { return }
