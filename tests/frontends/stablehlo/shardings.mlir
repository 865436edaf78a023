// Shardings of sdy: the mesh, arguments, results, constraints and annotations on ops.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file | FileCheck %s

// CHECK: sgd.mesh @mesh = <["data"=4, "model"=2]>
// CHECK-NOT: sdy
// CHECK: func.func @main(
// CHECK-SAME: %[[X:[^:]*]]: tensor<16x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}
// CHECK-SAME: %[[W:[^:]*]]: tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{?}p1, {"model", "data":(1)2}p2], replicated={"data":(2)2}>}
// CHECK-SAME: %{{[^:]*}}: tensor<4xf32>)
// CHECK-SAME: -> (tensor<16x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data", "model"}, {}]>}, tensor<8xf32>)
sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = []}}
func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}p1, {"model", "data":(1)2}p2], replicated={"data":(2)2}>},
                %free: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>})
    -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "model"}, {}]>}, tensor<8xf32>) {
  // CHECK: %[[DOT:.*]] = sgd.dot_general
  // CHECK: %[[A:.*]] = sgd.sharding_constraint %[[DOT]] <@mesh, [{?}, {"model"}]>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {"model"}]> : tensor<16x8xf32>
  // An annotation on an op is a constraint on its results.
  // CHECK: %[[EXP:.*]] = math.exp %[[A]]
  // CHECK: %[[B:.*]] = sgd.sharding_constraint %[[EXP]] <@mesh, [{"data"}, {}]>
  %2 = stablehlo.exponential %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>]>} : tensor<16x8xf32>
  // A constraint that leaves everything open says nothing.
  // CHECK-NOT: sgd.sharding_constraint
  %3 = sdy.sharding_constraint %2 <@mesh, [{?}, {?}]> : tensor<16x8xf32>
  // Unreduced axes hold summands.
  // CHECK: sgd.sharding_constraint %{{.*}} <@mesh, [{}], unreduced={"data"}>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16x8xf32>, tensor<f32>) -> tensor<8xf32>
  %5 = sdy.sharding_constraint %4 <@mesh, [{}], unreduced={"data"}> : tensor<8xf32>
  return %3, %5 : tensor<16x8xf32>, tensor<8xf32>
}

// -----

// Shardings of an inner function's arguments and results hold at the call.
// CHECK: func.func @main
// CHECK: sgd.sharding_constraint %{{.*}} <@m, [{"x"}]>
// CHECK: arith.addf
// CHECK: sgd.sharding_constraint %{{.*}} <@m, [{}]>
sdy.mesh @m = <["x"=2]>
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}) {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The empty mesh of an unsharded program leaves no trace.
// CHECK: module {
// CHECK-NEXT: func.func @main(%[[X:.*]]: tensor<2xf32>)
// CHECK-NEXT: return %[[X]]
sdy.mesh @empty_mesh = <[]>
func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = sdy.sharding_constraint %x <@empty_mesh, [{}]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// On the empty mesh beside a real one: replicated.
// CHECK: sgd.sharding_constraint %{{.*}} <@mesh, [{}]>
sdy.mesh @empty_mesh = <[]>
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<2xf32> {
  %0 = sdy.sharding_constraint %x <@empty_mesh, [{}]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
