// Ops of the graph level in StableHLO, and calls for those that it does not have. Values are compared in
// import_values.h.
// RUN: sgd-opt %s -sgd-export-stablehlo -split-input-file | FileCheck %s
// RUN: sgd-opt %s -sgd-export-stablehlo -split-input-file | sgd-opt -split-input-file | FileCheck %s

// Signedness is the user's in arguments and results, and the op's in between.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<4xui32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<4xi8> {jax.buffer_donor = true}) -> (tensor<4xui32>, tensor<4xi32>)
func.func @unsigned(%a: tensor<4xi32> {sgd.unsigned, sgd.alias_output = 0 : i64}, %b: tensor<4xi8> {sgd.donated}) -> (tensor<4xi32> {sgd.unsigned}, tensor<4xi32>) {
  // CHECK: %[[A:.*]] = stablehlo.bitcast_convert %arg0 : (tensor<4xui32>) -> tensor<4xi32>
  // CHECK: %[[SUM:.*]] = stablehlo.add %[[A]], %[[A]] : tensor<4xi32>
  %0 = arith.addi %a, %a : tensor<4xi32>
  // CHECK: stablehlo.divide %{{.*}}, %{{.*}} : tensor<4xui32>
  %1 = sgd.divui %0, %a : tensor<4xi32>
  // CHECK: stablehlo.convert %arg1 : (tensor<4xi8>) -> tensor<4xi32>
  %2 = arith.extsi %b : tensor<4xi8> to tensor<4xi32>
  // CHECK: %[[R:.*]] = stablehlo.bitcast_convert %{{.*}} : (tensor<4xi32>) -> tensor<4xui32>
  // CHECK: return %[[R]]
  return %1, %2 : tensor<4xi32>, tensor<4xi32>
}

// -----

// CHECK-LABEL: func.func @main
func.func @counted(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<i64>
  // CHECK: stablehlo.while(%[[X:.*]] = %arg0, %[[I:.*]] = %[[ZERO]]) : tensor<8xf32>, tensor<i64>
  // CHECK: cond {
  // CHECK: %[[TRIPS:.*]] = stablehlo.constant dense<5> : tensor<i64>
  // CHECK: stablehlo.compare LT, %[[I]], %[[TRIPS]], SIGNED
  // CHECK: } do {
  // CHECK: %[[NEXT:.*]] = stablehlo.add %[[I]]
  // CHECK: %[[Y:.*]] = stablehlo.sine %[[X]] : tensor<8xf32>
  // CHECK: stablehlo.return %[[Y]], %[[NEXT]]
  %0 = sgd.while (%x) trips 5 do {
  ^bb0(%y: tensor<8xf32>):
    %1 = math.sin %y : tensor<8xf32>
    sgd.yield %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @main
func.func @calls(%a: tensor<2x4x4xf32>, %x: tensor<3xf32>) -> (tensor<2x4x4xf32>, tensor<3xf32>) {
  // CHECK: %{{.*}}:2 = stablehlo.custom_call @sgd.linear_algebra(%arg0) {backend_config = "{kind = \22cholesky\22, lower}"} : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2xi32>)
  %0:2 = sgd.linear_algebra cholesky lower (%a) : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2xi32>)
  // CHECK: stablehlo.custom_call @sgd.host_call(%arg1) {{{.*}}callee = \22f\22{{.*}}has_side_effect = true} : (tensor<3xf32>) -> ()
  sgd.host_call "f" 7 (%x) : (tensor<3xf32>) -> ()
  // CHECK: stablehlo.custom_call @math.exp2(%arg1)
  %1 = math.exp2 %x : tensor<3xf32>
  return %0#0, %1 : tensor<2x4x4xf32>, tensor<3xf32>
}

// -----

// Marks of the compiler are not in locations.
// RUN: sgd-opt %s -sgd-export-stablehlo -split-input-file -mlir-print-debuginfo | FileCheck %s --check-prefix=LOC
// LOC-LABEL: func.func @main
// LOC: stablehlo.sine %arg0 : tensor<3xf32> loc(#[[SINE:loc[0-9]*]])
// LOC: #[[FILE:loc[0-9]*]] = loc("a.py":3:4)
// LOC: #[[SINE]] = loc("jit(f)/sin"(#[[FILE]]))
func.func @locations(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = math.sin %x : tensor<3xf32> loc(fused<"sgd.part 0 of 1">["jit(f)/sin"("a.py":3:4)])
  return %0 : tensor<3xf32>
}
