// RUN: sgd-opt %s --sgd-share-mesh --split-input-file --verify-diagnostics | FileCheck %s

// A program without a mesh gets that of the others.
// CHECK: sgd.mesh @mesh = <["data"=4]>
// CHECK: func.func @train
// CHECK: sgd.mesh @mesh = <["data"=4]>
// CHECK: func.func @eval
module {
  module {
    sgd.mesh @mesh = <["data"=4]>
    func.func @train(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
  }
  module {
    func.func @eval(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
  }
}

// -----

// expected-error @unknown {{program 'eval' has the mesh #sgd.mesh<["data"=2]> where another has #sgd.mesh<["data"=4]>; programs of one artifact run on one mesh}}
module {
  module {
    sgd.mesh @mesh = <["data"=4]>
    func.func @train(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
  }
  module {
    sgd.mesh @mesh = <["data"=2]>
    func.func @eval(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
  }
}
