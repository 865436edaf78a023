// Matmuls of ragged groups, in their three modes, and the ragged all-to-all.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @rows(
// A row's group is how many groups have ended before it.
// CHECK: %[[ENDS:.*]] = sgd.cumulative add %arg2 dimension = 0
// CHECK: %[[ROWS:.*]] = sgd.reduce add %{{.*}} dimensions = [0] : tensor<3x8xi32> -> tensor<8xi32>
// CHECK: %[[GROUPS:.*]] = sgd.iota dimension = 0 : tensor<3xi32>
// CHECK: sgd.grouped_dot %arg0, %arg1 rows = %[[ROWS]] groups = %[[GROUPS]] :
func.func @rows(%a: tensor<8x6xf32>, %b: tensor<3x6x5xf32>, %sizes: tensor<3xi32>) -> tensor<8x5xf32> {
  %0 = "chlo.ragged_dot"(%a, %b, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x6xf32>, tensor<3x6x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

// CHECK-LABEL: func.func @contracted(
// CHECK: sgd.grouped_dot %arg0, %arg1 rows = %{{.*}} groups = %{{.*}} contracted :
func.func @contracted(%a: tensor<8x6xf32>, %b: tensor<8x5xf32>, %sizes: tensor<3xi32>) -> tensor<3x6x5xf32> {
  %0 = "chlo.ragged_dot"(%a, %b, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>}> : (tensor<8x6xf32>, tensor<8x5xf32>, tensor<3xi32>) -> tensor<3x6x5xf32>
  return %0 : tensor<3x6x5xf32>
}

// -----

// The gradient of the rows reads the groups' matrices without a copy.
// CHECK-LABEL: func.func @gradient(
// CHECK: sgd.grouped_dot %arg0, %arg1 rows = %{{.*}} groups = %{{.*}} transposed :
func.func @gradient(%a: tensor<8x5xf32>, %b: tensor<3x6x5xf32>, %sizes: tensor<3xi32>) -> tensor<8x6xf32> {
  %0 = "chlo.ragged_dot"(%a, %b, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x5xf32>, tensor<3x6x5xf32>, tensor<3xi32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// Tensors of more dimensions become one dot_general, with a dimension for the group.
// CHECK-LABEL: func.func @wide(
// CHECK: %[[LHS:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<3x8x6x2xi1>, tensor<3x8x6x2xf32>
// CHECK: sgd.dot_general %[[LHS]], %arg1
func.func @wide(%a: tensor<8x6x2xf32>, %b: tensor<3x6x2x5xf32>, %sizes: tensor<3xi32>) -> tensor<8x5xf32> {
  %0 = "chlo.ragged_dot"(%a, %b, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1, 2], rhs_contracting_dimensions = [1, 2], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x6x2xf32>, tensor<3x6x2x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

// CHECK-LABEL: func.func @batch(
// CHECK-NEXT: sgd.dot_general %arg0, %arg1
func.func @batch(%a: tensor<4x8x6xf32>, %b: tensor<4x6x5xf32>, %sizes: tensor<3xi32>) -> tensor<4x8x5xf32> {
  %0 = "chlo.ragged_dot"(%a, %b, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<4x8x6xf32>, tensor<4x6x5xf32>, tensor<3xi32>) -> tensor<4x8x5xf32>
  return %0 : tensor<4x8x5xf32>
}

// -----

func.func @groups(%a: tensor<8x6xf32>, %b: tensor<3x6x5xf32>, %sizes: tensor<4xi32>) -> tensor<8x5xf32> {
  // expected-error@+1 {{'chlo.ragged_dot' has 4 group sizes for 3 groups of the rhs}}
  %0 = "chlo.ragged_dot"(%a, %b, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x6xf32>, tensor<3x6x5xf32>, tensor<4xi32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

func.func @dims(%a: tensor<8x6xf32>, %b: tensor<3x6x5xf32>, %sizes: tensor<3xi32>) -> tensor<8x5xf32> {
  // expected-error@+1 {{'chlo.ragged_dot' has dimension numbers that are not those of its operands}}
  %0 = "chlo.ragged_dot"(%a, %b, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [7], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x6xf32>, tensor<3x6x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

// Slices are at most as long as the shorter of input and output: so many rows go to each rank.
// CHECK-LABEL: func.func @exchange(
// CHECK: spmd.all_to_all %{{.*}} : tensor<2x4x3xf32> -> tensor<2x4x3xf32>
sdy.mesh @mesh = <["x"=2]>
func.func @exchange(%a: tensor<8x3xf32>, %o: tensor<12x3xf32>, %n: tensor<8xi32>) -> tensor<12x3xf32> {
  %0 = sdy.manual_computation(%a, %o, %n) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x3xf32>, %p: tensor<6x3xf32>, %m: tensor<4xi32>) {
    %i = stablehlo.slice %m [0:2] : (tensor<4xi32>) -> tensor<2xi32>
    %j = stablehlo.slice %m [2:4] : (tensor<4xi32>) -> tensor<2xi32>
    %1 = stablehlo.custom_call @ragged_all_to_all(%b, %p, %i, %j, %i, %j) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<4x3xf32>, tensor<6x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<6x3xf32>
    sdy.return %1 : tensor<6x3xf32>
  } : (tensor<8x3xf32>, tensor<12x3xf32>, tensor<8xi32>) -> tensor<12x3xf32>
  return %0 : tensor<12x3xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @slices(%a: tensor<8x3xf32>, %n: tensor<6xi32>) -> tensor<8x3xf32> {
  %0 = sdy.manual_computation(%a, %n) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x3xf32>, %m: tensor<3xi32>) {
    // expected-error@+1 {{@ragged_all_to_all has 3 slices for groups of 2 ranks; expected as many for each rank}}
    %1 = stablehlo.custom_call @ragged_all_to_all(%b, %b, %m, %m, %m, %m) {backend_config = {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<4x3xf32>
    sdy.return %1 : tensor<4x3xf32>
  } : (tensor<8x3xf32>, tensor<6xi32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}
