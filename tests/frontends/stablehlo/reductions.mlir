// Reduce and scatter: the kind is read from the body, an initial value that is not neutral is combined afterwards.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @kinds
func.func @kinds(%x: tensor<4x8xf32>, %i: tensor<4xi32>, %u: tensor<4xui32>, %p: tensor<4xi1>) -> (tensor<8xf32>, tensor<4xf32>, tensor<i32>, tensor<ui32>, tensor<i1>, tensor<i1>) {
  // CHECK: sgd.reduce{{ +}}add %{{.*}} dimensions = [0] : tensor<4x8xf32> -> tensor<8xf32>
  // CHECK-NOT: arith.addf
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  // CHECK: sgd.reduce{{ +}}max
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %1 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: sgd.reduce{{ +}}min
  %high = stablehlo.constant dense<2147483647> : tensor<i32>
  %2 = stablehlo.reduce(%i init: %high) applies stablehlo.minimum across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
  // CHECK: sgd.reduce{{ +}}umax
  %least = stablehlo.constant dense<0> : tensor<ui32>
  %3 = stablehlo.reduce(%u init: %least) applies stablehlo.maximum across dimensions = [0] : (tensor<4xui32>, tensor<ui32>) -> tensor<ui32>
  // CHECK: sgd.reduce{{ +}}and
  %true = stablehlo.constant dense<true> : tensor<i1>
  %4 = stablehlo.reduce(%p init: %true) applies stablehlo.and across dimensions = [0] : (tensor<4xi1>, tensor<i1>) -> tensor<i1>
  // CHECK: sgd.reduce{{ +}}or
  // CHECK-NEXT: return
  %false = stablehlo.constant dense<false> : tensor<i1>
  %5 = stablehlo.reduce(%p init: %false) applies stablehlo.add across dimensions = [0] : (tensor<4xi1>, tensor<i1>) -> tensor<i1>
  return %0, %1, %2, %3, %4, %5 : tensor<8xf32>, tensor<4xf32>, tensor<i32>, tensor<ui32>, tensor<i1>, tensor<i1>
}

// -----

// CHECK-LABEL: func.func @initial_value
// CHECK-SAME: (%[[X:[^:]*]]: tensor<4x8xf32>, %[[INIT:[^:]*]]: tensor<f32>)
func.func @initial_value(%x: tensor<4x8xf32>, %init: tensor<f32>) -> tensor<8xf32> {
  // CHECK: %[[SUM:.*]] = sgd.reduce{{ +}}add %[[X]]
  // CHECK: %[[WIDE:.*]] = sgd.broadcast_in_dim %[[INIT]] dims = [] : tensor<f32> -> tensor<8xf32>
  // CHECK: arith.addf %[[SUM]], %[[WIDE]]
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A constant that is annotated is still neutral.
// CHECK-LABEL: func.func @annotated_initial_value
// CHECK: sgd.reduce{{ +}}add
// CHECK-NEXT: return
sdy.mesh @mesh = <["x"=2]>
func.func @annotated_initial_value(%x: tensor<4xf32>) -> tensor<f32> {
  %scalar = stablehlo.constant dense<0.0> : tensor<f32>
  %init = sdy.sharding_constraint %scalar <@mesh, [], replicated={"x"}> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Independent reductions in one op, operands in either order.
// CHECK-LABEL: func.func @two_at_once
func.func @two_at_once(%x: tensor<4xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  // CHECK: sgd.reduce{{ +}}add
  // CHECK-NEXT: sgd.reduce{{ +}}mul
  %0:2 = stablehlo.reduce(%x init: %zero), (%x init: %one) across dimensions = [0] : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>) {
    %1 = stablehlo.add %b, %a : tensor<f32>
    %2 = stablehlo.multiply %c, %d : tensor<f32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}

// -----

// CHECK-LABEL: func.func @scatter
func.func @scatter(%x: tensor<4x8xf32>, %i: tensor<4x1xi32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK: sgd.scatter{{ +}}set
  // CHECK-SAME: update_window_dims = array<i64: 1>
  %0 = "stablehlo.scatter"(%x, %i, %y) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: sgd.scatter{{ +}}add
  // CHECK-SAME: unique_indices
  %1 = "stablehlo.scatter"(%x, %i, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %2 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}
