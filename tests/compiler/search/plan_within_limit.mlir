// RUN: sgd-opt %s --sgd-plan-within-limit --split-input-file --verify-diagnostics | FileCheck %s

// Six matrices are alive at once without a limit, and five fit: the first matmul runs again before its late reader.
// CHECK-LABEL: module attributes {plan.private_bytes = 81920 : i64
// CHECK-SAME: level = "plan"
// CHECK: func.func @main(%[[X:[a-z0-9]+]]: {{.*}}, %[[W:[a-z0-9]+]]: {{.*}}) ->
// CHECK-COUNT-4: plan.matmul
// CHECK: plan.matmul ins(%[[X]], %[[W]]{{.*}}#sgd.decision<recompute, {chosen = "matmul", freed_bytes = 16384 : i64
// CHECK: plan.matmul
module attributes {sgd.request = #sgd.request<version = 2, {level = "spmd", memory_limit = 90000 : i64, programs = [["main", "m.mlir"]], target = "cpu", cpu = "x86-64-v3", topology = "host"}>} {
  module @main {
    sgd.mesh @mesh = <[]>
    func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %a = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %b = sgd.dot_general %a, %w batching = [] x [] contracting = [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %c = sgd.dot_general %b, %w batching = [] x [] contracting = [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %d = sgd.dot_general %c, %b batching = [] x [] contracting = [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %e = sgd.dot_general %d, %a batching = [] x [] contracting = [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      return %e : tensor<64x64xf32>
    }
  }
}

// -----

// A limit that is met costs nothing.
// CHECK-LABEL: module attributes {plan.private_bytes = 768 : i64
// CHECK: plan.launch
// CHECK-NOT: recompute
module attributes {sgd.request = #sgd.request<version = 2, {level = "spmd", memory_limit = 768 : i64, programs = [["main", "m.mlir"]], target = "cpu", cpu = "x86-64-v3", topology = "host"}>} {
  module @main {
    sgd.mesh @mesh = <[]>
    func.func @main(%x: tensor<64xf32>, %w: tensor<64xf32>) -> tensor<64xf32> {
      %a = arith.addf %x, %w : tensor<64xf32>
      return %a : tensor<64xf32>
    }
  }
}

// -----

// A limit that cannot be met: the plan with the smallest peak, for sgd-check-memory-limit to refuse.
// CHECK-LABEL: module attributes {plan.private_bytes = 768 : i64
// CHECK-SAME: memory_limit = 767
module attributes {sgd.request = #sgd.request<version = 2, {level = "spmd", memory_limit = 767 : i64, programs = [["main", "m.mlir"]], target = "cpu", cpu = "x86-64-v3", topology = "host"}>} {
  module @main {
    sgd.mesh @mesh = <[]>
    func.func @main(%x: tensor<64xf32>, %w: tensor<64xf32>) -> tensor<64xf32> {
      %a = arith.addf %x, %w : tensor<64xf32>
      return %a : tensor<64xf32>
    }
  }
}

// -----

// expected-error @+1 {{has no memory limit; expected one in its request; compile with --memory-limit, or leave this pass out}}
module attributes {sgd.request = #sgd.request<version = 2, {level = "spmd", programs = [["main", "m.mlir"]], target = "cpu", cpu = "x86-64-v3", topology = "host"}>} {
}

// -----

// expected-error @+1 {{'sgd.request' is missing}}
module {
}
