// Functions: names, donation, inlining and where the inlined ops come from.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// Names come from argument locations and result_info; donation from JAX's two attributes.
// CHECK-LABEL: module @jit_step {
// CHECK: func.func @main(
// CHECK-SAME: %{{[^:]*}}: tensor<4xf32> {sgd.alias_output = 1 : i64, sgd.name = "params['w']"}
// CHECK-SAME: %{{[^:]*}}: tensor<4xi8> {sgd.donated, sgd.name = "x", sgd.unsigned}
// CHECK-SAME: -> (tensor<f32> {sgd.name = "loss"}, tensor<4xf32>, tensor<4xi8> {sgd.unsigned})
module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> {tf.aliasing_output = 1 : i32} loc("params['w']"), %arg1: tensor<4xui8> {jax.buffer_donor = true} loc("x"))
      -> (tensor<f32> {jax.result_info = "loss"}, tensor<4xf32> {jax.result_info = ""}, tensor<4xui8>) {
    %0 = stablehlo.constant dense<1.0> : tensor<f32>
    return %0, %arg0, %arg1 : tensor<f32>, tensor<4xf32>, tensor<4xui8>
  }
}

// -----

// An op without a place of its own has that of the call; one with a place has both.
// CHECK-LABEL: func.func @caller
// CHECK: math.exp {{.*}} loc("exp"("model.py":7:3))
// CHECK: math.log {{.*}} loc(callsite("lib.py":1:2 at "model.py":7:3))
// CHECK: math.exp {{.*}} loc("exp"("model.py":9:3))
// CHECK: math.log {{.*}} loc(callsite("lib.py":1:2 at "model.py":9:3))
// CHECK-NOT: func.func
module {
  func.func public @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":7:3)
    %1 = call @f(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":9:3)
    return %1 : tensor<4xf32>
  }
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
    return %0 : tensor<4xf32>
  }
  func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.exponential %x : tensor<4xf32> loc("exp")
    %1 = stablehlo.log %0 : tensor<4xf32> loc("lib.py":1:2)
    return %1 : tensor<4xf32>
  }
}

// -----

// A composite is its decomposition.
// CHECK-LABEL: func.func @caller_of_composite
// CHECK: arith.addf
module {
  func.func public @caller_of_composite(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.composite "my.double" %x {decomposition = @double, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %x, %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Every public function stays.
// CHECK: func.func @init
// CHECK: func.func @main
module {
  func.func public @init() -> tensor<f32> {
    %0 = stablehlo.constant dense<1.0> : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func public @main(%x: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %x, %x : tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

// What the plugin says of a program.
// CHECK-LABEL: func.func @told
// CHECK-SAME: attributes {sgd.carry_is_known, sgd.even_results}
module {
  func.func public @told(%x: tensor<f32>) -> tensor<f32> attributes {sgd.carry_is_known, sgd.even_results} {
    %0 = stablehlo.add %x, %x : tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

// A use for XLA's sake is none.
// CHECK-LABEL: func.func @sunk
// CHECK: arith.addf
// CHECK-NOT: dce_sink
// CHECK: return
module {
  func.func public @sunk(%x: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %x, %x : tensor<f32>
    stablehlo.custom_call @dce_sink(%0) {has_side_effect = true} : (tensor<f32>) -> ()
    return %x : tensor<f32>
  }
}
