// Every op of the graph level prints and parses back to itself.
// RUN: sgd-opt %s --verify-roundtrip | FileCheck %s

// CHECK: sgd.mesh @mesh = <["data"=4, "model"=2]>
sgd.mesh @mesh = <["data"=4, "model"=2]>

// CHECK-LABEL: @shardings
// CHECK-SAME: tensor<8x64xf32, #sgd.sharding<@mesh, [{"data"}, {"model":(1)2, ?}p1], unreduced=max{"data":(2)2}>>
func.func @shardings(%a: tensor<8x64xf32, #sgd.sharding<@mesh, [{"data"}, {"model":(1)2, ?}p1], unreduced=max{"data":(2)2}>>,
                     %b: tensor<8xf32, #sgd.sharding<@mesh, [{}], replicated={"model"}>>) {
  // CHECK: sgd.reshard
  %0 = sgd.reshard %b : tensor<8xf32, #sgd.sharding<@mesh, [{}], replicated={"model"}>> -> tensor<8xf32, #sgd.sharding<@mesh, [{"data"}]>>
  return
}

// CHECK-LABEL: @convolution
func.func @convolution(%x: tensor<2x9x8x4x2xf32>, %w: tensor<3x2x4x2x6xf32>) -> tensor<2x5x7x4x6xf32> {
  // CHECK: sgd.convolution %{{.*}}, %{{.*}} strides = [2, 1] low = [1, -1] high = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1]
  %0 = sgd.convolution %x, %w strides = [2, 1] low = [1, -1] high = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1]
    : tensor<2x9x8x4x2xf32>, tensor<3x2x4x2x6xf32> -> tensor<2x5x7x4x6xf32>
  return %0 : tensor<2x5x7x4x6xf32>
}

// CHECK-LABEL: @structured
func.func @structured(%x: tensor<8x64xf32>, %w: tensor<64x16xf32>, %s: tensor<f32>, %i: tensor<8x1xi32>) -> tensor<16x8xf32> {
  // CHECK: sgd.sharding_constraint %{{.*}} <@mesh, [{"data"}, {}]>
  %0 = sgd.sharding_constraint %x <@mesh, [{"data"}, {}]> : tensor<8x64xf32>
  // CHECK: sgd.dot_general %{{.*}}, %{{.*}} batching = [] x [] contracting = [1] x [0]
  %1 = sgd.dot_general %0, %w batching = [] x [] contracting = [1] x [0] : tensor<8x64xf32>, tensor<64x16xf32> -> tensor<8x16xf32>
  // CHECK: sgd.transpose %{{.*}} permutation = [1, 0]
  %2 = sgd.transpose %1 permutation = [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  // CHECK: sgd.reduce max %{{.*}} dimensions = [1]
  %4 = sgd.reduce max %x dimensions = [1] : tensor<8x64xf32> -> tensor<8xf32>
  // CHECK: sgd.broadcast_in_dim %{{.*}} dims = [0]
  %5 = sgd.broadcast_in_dim %4 dims = [0] : tensor<8xf32> -> tensor<8x64xf32>
  // CHECK: sgd.slice %{{.*}} starts = [0, 2] limits = [8, 6] strides = [1, 2]
  %6 = sgd.slice %5 starts = [0, 2] limits = [8, 6] strides = [1, 2] : tensor<8x64xf32> -> tensor<8x2xf32>
  // CHECK: sgd.pad %{{.*}}, %{{.*}} low = [0, 1] high = [0, -1] interior = [0, 3]
  %7 = sgd.pad %6, %s low = [0, 1] high = [0, -1] interior = [0, 3] : tensor<8x2xf32>, tensor<f32> -> tensor<8x5xf32>
  // CHECK: sgd.concatenate
  %8 = sgd.concatenate %7, %6 dimension = 1 : (tensor<8x5xf32>, tensor<8x2xf32>) -> tensor<8x7xf32>
  // CHECK: sgd.gather
  %9 = sgd.gather %w, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 16>} : (tensor<64x16xf32>, tensor<8x1xi32>) -> tensor<8x16xf32>
  // CHECK: sgd.scatter add
  %10 = sgd.scatter add %w, %i, %9 {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<64x16xf32>, tensor<8x1xi32>, tensor<8x16xf32>) -> tensor<64x16xf32>
  // CHECK: sgd.iota dimension = 1 : tensor<2x3xi32>
  %11 = sgd.iota dimension = 1 : tensor<2x3xi32>
  // CHECK: sgd.divsi
  %12 = sgd.divsi %11, %11 : tensor<2x3xi32>
  // CHECK: sgd.fptosi %{{.*}} : tensor<8x64xf32> to tensor<8x64xi8>
  %13 = sgd.fptosi %x : tensor<8x64xf32> to tensor<8x64xi8>
  return %2 : tensor<16x8xf32>
}

// CHECK-LABEL: @order
func.func @order(%k: tensor<8x16xf32>, %v: tensor<8x16xi32>) -> (tensor<8x16xf32>, tensor<8x16xi32>, tensor<8x2xf32>) {
  // CHECK: %[[S:.*]]:2 = sgd.sort(%arg0, %arg1) dimension = 0 {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: i32, %{{.*}}: i32):
  // CHECK-NEXT: %[[L:.*]] = arith.cmpf olt, %[[A]], %[[B]] : f32
  // CHECK-NEXT: sgd.yield %[[L]] : i1
  // CHECK-NEXT: } : (tensor<8x16xf32>, tensor<8x16xi32>) -> (tensor<8x16xf32>, tensor<8x16xi32>)
  %0:2 = sgd.sort(%k, %v) dimension = 0 {
  ^bb0(%a: f32, %b: f32, %x: i32, %y: i32):
    %less = arith.cmpf olt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<8x16xf32>, tensor<8x16xi32>) -> (tensor<8x16xf32>, tensor<8x16xi32>)
  // CHECK: sgd.top_k %{{.*}} k = 2 : (tensor<8x16xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
  %values, %positions = sgd.top_k %0#0 k = 2 : (tensor<8x16xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
  return %0#0, %0#1, %values : tensor<8x16xf32>, tensor<8x16xi32>, tensor<8x2xf32>
}
