// RUN: sgd-opt %s --sgd-record-unsplit-peak --split-input-file --verify-diagnostics | FileCheck %s

// Arguments and results of 1024, 512 and 512 bytes, and a temporary of 512 bytes; the module stays as it is.
// CHECK-LABEL: module attributes {
// CHECK-SAME: level = "sharded"
// CHECK-SAME: sgd.unsplit_peak = 2560 : i64}
// CHECK: sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>}
// CHECK: sgd.sequential_dim = 0
module attributes {sgd.request = #sgd.request<version = 2, {level = "sharded", micro = #sgd<axis"micro"=2>, programs = [["main", "m.mlir"]], target = "cpu", cpu = "x86-64-v3", topology = "host"}>} {
  module @main {
    sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>}
    func.func @main(%w: tensor<16x16xf32, #sgd.sharding<@mesh, [{}, {}]>> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}, %x: tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>> {sgd.sequential_dim = 0 : i64, sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) -> (tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
      %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<16x16xf32, #sgd.sharding<@mesh, [{}, {}]>> -> tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
      %1 = sgd.dot_general %0, %w batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<16x16xf32, #sgd.sharding<@mesh, [{}, {}]>> -> tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
      return %1 : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
    }
  }
}

// -----

// Nothing is noted, and nothing said, where the whole batch cannot be planned.
// CHECK-LABEL: module attributes {
// CHECK-NOT: sgd.unsplit_peak
module attributes {sgd.request = #sgd.request<version = 2, {level = "sharded", micro = #sgd<axis"micro"=2>, programs = [["main", "m.mlir"]], target = "cpu", cpu = "x86-64-v3", topology = "nowhere"}>} {
  module @main {
    sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>}
    func.func @main(%x: tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>> {sgd.sequential_dim = 0 : i64, sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) -> (tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
      return %x : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
    }
  }
}
