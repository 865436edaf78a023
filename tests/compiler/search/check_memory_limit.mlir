// RUN: sgd-opt %s --sgd-plan-within-limit --sgd-check-memory-limit --split-input-file --verify-diagnostics -o /dev/null

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

// expected-error @unknown {{needs 768 bytes in each rank, even with recomputation; --memory-limit allows 767; the smallest feasible limit is 768; the largest buffers: }}
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

// expected-error @unknown {{even with recomputation; the recipe's memory_limit allows 700;}}
module attributes {sgd.request = #sgd.request<version = 2, {level = "spmd", recipe = "{\22memory_limit\22: \22700\22}", recipe_file = "r.json", programs = [["main", "m.mlir"]], target = "cpu", cpu = "x86-64-v3", topology = "host"}>} {
  module @main {
    sgd.mesh @mesh = <[]>
    func.func @main(%x: tensor<64xf32>, %w: tensor<64xf32>) -> tensor<64xf32> {
      %a = arith.addf %x, %w : tensor<64xf32>
      return %a : tensor<64xf32>
    }
  }
}
