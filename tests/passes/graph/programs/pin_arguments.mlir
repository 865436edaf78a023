// RUN: sgd-opt %s --sgd-pin-arguments | FileCheck %s

// CHECK: func.func @train(%{{.*}}: tensor<4xf32> {sgd.name = "w", sgd.pinned}, %{{.*}}: tensor<4xf32> {sgd.name = "m"}, %{{.*}}: tensor<4xf32>)
// CHECK: func.func @eval(%{{.*}}: tensor<4xf32> {sgd.name = "w", sgd.pinned}, %{{.*}}: tensor<4xf32>)
module {
  module {
    func.func @train(%w: tensor<4xf32> {sgd.name = "w"}, %m: tensor<4xf32> {sgd.name = "m"}, %x: tensor<4xf32>) { return }
  }
  module {
    func.func @eval(%w: tensor<4xf32> {sgd.name = "w"}, %x: tensor<4xf32>) { return }
  }
}
