// RUN: sgd-opt %s --sgd-choose-schedule --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed -n '/^\/\/ -----$/q;p' %s | sgd-opt --sgd-choose-schedule=text=spmd 2>/dev/null | FileCheck %s --check-prefix=TEXT

// Of schedules that are as fast, the first one is taken, and it alone says anything.
// CHECK-LABEL: module attributes {
// CHECK-SAME: plan.stage_bytes
// CHECK-SAME: level = "plan"
// CHECK: sgd.mesh @mesh = <["stage"=2]> {sgd.schedule = "1f1b"
// CHECK: func.func @main_stage0
// CHECK: func.func @main_stage1
// TEXT: sgd.text = "module @main {{.*}}sgd.schedule = \221f1b\22{{.*}}@main_stage1{{.*}}spmd.receive
module attributes {sgd.request = #sgd.request<version = 2, {level = "sharded", micro = #sgd<axis"micro"=2>, programs = [["main", "m.mlir"]], target = "cpu", cpu = "x86-64-v3", topology = "host"}>} {
  module @main {
    sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>}
    // expected-remark @+1 {{schedule '1f1b' is the fastest; its pipeline bubble is}}
    func.func @main(%w0: tensor<16x16xf32, #sgd.sharding<@mesh, [{}, {}]>> {sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>, sgd.stage = 0 : i64}, %w1: tensor<16x16xf32, #sgd.sharding<@mesh, [{}, {}]>> {sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>, sgd.stage = 1 : i64}, %x: tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>> {sgd.role = #sgd.role<input>, sgd.sequential_dim = 0 : i64, sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) -> (tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
      %0 = sgd.dot_general %x, %w0 batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<16x16xf32, #sgd.sharding<@mesh, [{}, {}]>> -> tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
      %1 = math.tanh %0 : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
      %2 = sgd.dot_general %1, %w1 batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<16x16xf32, #sgd.sharding<@mesh, [{}, {}]>> -> tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
      return %2 : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
    }
  }
}

// -----

// The mesh names a schedule.
// expected-error @+1 {{leaves no choice of a schedule; expected a mesh with stages, a batch in several parts and several schedules; leave this pass out}}
module attributes {sgd.request = #sgd.request<version = 2, {level = "sharded", micro = #sgd<axis"micro"=2>, programs = [["main", "m.mlir"]], target = "cpu", cpu = "x86-64-v3", topology = "host"}>} {
  module @main {
    sgd.mesh @mesh = <[]> {sgd.schedule = "gpipe", sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>}
  }
}

// -----

// Under a limit that no schedule meets, the remark says which one needs the least memory.
// CHECK-LABEL: module attributes {
// CHECK-SAME: plan.stage_bytes
// CHECK-SAME: level = "plan"
module attributes {sgd.request = #sgd.request<version = 2, {level = "sharded", memory_limit = 100 : i64, micro = #sgd<axis"micro"=2>, programs = [["main", "m.mlir"]], target = "cpu", cpu = "x86-64-v3", topology = "host"}>} {
  module @main {
    sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>}
    // expected-remark @+1 {{schedule '1f1b' needs the least memory; its pipeline bubble is}}
    func.func @main(%w0: tensor<16x16xf32, #sgd.sharding<@mesh, [{}, {}]>> {sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>, sgd.stage = 0 : i64}, %w1: tensor<16x16xf32, #sgd.sharding<@mesh, [{}, {}]>> {sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>, sgd.stage = 1 : i64}, %x: tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>> {sgd.role = #sgd.role<input>, sgd.sequential_dim = 0 : i64, sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) -> (tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
      %0 = sgd.dot_general %x, %w0 batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<16x16xf32, #sgd.sharding<@mesh, [{}, {}]>> -> tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
      %1 = sgd.dot_general %0, %w1 batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>, tensor<16x16xf32, #sgd.sharding<@mesh, [{}, {}]>> -> tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
      return %1 : tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}]>>
    }
  }
}
