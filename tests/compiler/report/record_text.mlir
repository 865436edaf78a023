// RUN: sgd-opt %s --sgd-record-text | FileCheck %s

// The programs one after another, without attributes of the compilation.
// CHECK: sgd.request = #sgd.request<version = 2, {{.*}}sgd.text = "module @train {\0A  func.func @train() {\0A    return\0A  }\0A}\0Amodule @eval {\0A{{.*}}}\0A"}
module attributes {sgd.lower_bound = {bytes = 0 : i64, terms = []}, sgd.request = #sgd.request<version = 2, {programs = [["train", "t.mlir"], ["eval", "e.mlir"]]}>} {
  module @train {
    func.func @train() {
      return
    }
  }
  module @eval {
    func.func @eval() {
      return
    }
  }
}
