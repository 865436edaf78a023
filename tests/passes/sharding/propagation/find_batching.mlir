// Rows indexed by their own number.
// RUN: sgd-opt %s --sgd-find-batching | FileCheck %s

// x[arange(8), labels], with what JAX does to negative indices.
// CHECK-LABEL: func.func @gather
// CHECK: sgd.gather %arg0, %{{.*}} {collapsed_slice_dims = array<i64: 1>, {{.*}}indices_batching_dims = array<i64: 0>, offset_dims = array<i64>, operand_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1>} : (tensor<8x10xf32>, tensor<8x1xi32>) -> tensor<8xf32>
func.func @gather(%x: tensor<8x10xf32>, %labels: tensor<8xi32>) -> tensor<8xf32> {
  %rows = sgd.iota dimension = 0 : tensor<8xi32>
  %zero = arith.constant dense<0> : tensor<8xi32>
  %eight = arith.constant dense<8> : tensor<8xi32>
  %isNegative = arith.cmpi slt, %rows, %zero : tensor<8xi32>
  %fromEnd = arith.addi %rows, %eight : tensor<8xi32>
  %row = arith.select %isNegative, %fromEnd, %rows : tensor<8xi1>, tensor<8xi32>
  %0 = sgd.broadcast_in_dim %row dims = [0] : tensor<8xi32> -> tensor<8x1xi32>
  %1 = sgd.broadcast_in_dim %labels dims = [0] : tensor<8xi32> -> tensor<8x1xi32>
  %2 = sgd.concatenate %0, %1 dimension = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
  %3 = sgd.gather %x, %2 {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 0, 1>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0, 1>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 1>} : (tensor<8x10xf32>, tensor<8x2xi32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// CHECK-LABEL: func.func @scatter
// CHECK: sgd.scatter  add %arg0, %{{.*}}, %arg2 {{.*}}indices_batching_dims = array<i64: 0>, input_batching_dims = array<i64: 0>, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1>
func.func @scatter(%x: tensor<8x10xf32>, %labels: tensor<8x1xi32>, %u: tensor<8xf32>) -> tensor<8x10xf32> {
  %rows = sgd.iota dimension = 0 : tensor<8xi32>
  %0 = sgd.reshape %rows : tensor<8xi32> -> tensor<8x1xi32>
  %2 = sgd.concatenate %0, %labels dimension = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
  %3 = sgd.scatter add %x, %2, %u {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0, 1>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0, 1>, index_vector_dim = 1 : i64} : (tensor<8x10xf32>, tensor<8x2xi32>, tensor<8xf32>) -> tensor<8x10xf32>
  return %3 : tensor<8x10xf32>
}

// Fewer indices than rows: not one for each.
// CHECK-LABEL: func.func @fewer
// CHECK: operand_batching_dims = array<i64>,
func.func @fewer(%x: tensor<9x10xf32>, %labels: tensor<8x1xi32>) -> tensor<8xf32> {
  %rows = sgd.iota dimension = 0 : tensor<8x1xi32>
  %2 = sgd.concatenate %rows, %labels dimension = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
  %3 = sgd.gather %x, %2 {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 0, 1>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0, 1>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 1>} : (tensor<9x10xf32>, tensor<8x2xi32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
