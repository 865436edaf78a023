// RUN: sgd-opt %s --sgd-to-plan --sgd-fuse-epilogues --sgd-share-buffers | FileCheck %s
// RUN: sgd-opt %s --target=cuda:sm_90 --sgd-to-plan --sgd-fuse-epilogues --sgd-share-buffers | FileCheck %s --check-prefix=RELU

!x = tensor<32x16xf32>
!w = tensor<16x8xf32>
!y = tensor<32x8xf32>
!b = tensor<8xf32>

// CHECK-LABEL: @bias(
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*,[^,]*}}
// CHECK-NOT: plan.launch
// CHECK: plan.matmul {{.*}} bias(%{{.*}} : memref<8xf32, {{.*}} epilogue bias
// CHECK-NOT: plan.launch
func.func @bias(%x: !x, %w: !w, %b: !b) -> !y {
  %0 = sgd.contract %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %1 = sgd.cluster(%0, %b) {
  ^bb0(%p: !y, %q: !b):
    %2 = sgd.broadcast_in_dim %q dims = [1] : !b -> tensor<1x8xf32>
    %3 = sgd.broadcast_in_dim %2 dims = [0, 1] : tensor<1x8xf32> -> !y
    %4 = arith.addf %p, %3 : !y
    sgd.yield %4 : !y
  } : (!y, !b) -> !y
  return %1 : !y
}

// Where products take no maximum, a kernel does.
// RELU-LABEL: @bias(
// RELU: epilogue bias
// RELU-LABEL: @bias_relu(
// RELU-NOT: epilogue
// RELU: plan.launch
// RELU-LABEL: @row_bias(

// CHECK-LABEL: @bias_relu(
// CHECK-NOT: plan.launch
// CHECK: plan.matmul {{.*}} epilogue bias_relu
// CHECK-NOT: plan.launch
func.func @bias_relu(%x: !x, %w: !w, %b: !b) -> !y {
  %0 = sgd.contract %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %1 = sgd.cluster(%0, %b) {
  ^bb0(%p: !y, %q: !b):
    %zero = arith.constant dense<0.0> : !y
    %3 = sgd.broadcast_in_dim %q dims = [1] : !b -> !y
    %4 = arith.addf %3, %p : !y
    %5 = arith.maximumf %4, %zero : !y
    sgd.yield %5 : !y
  } : (!y, !b) -> !y
  return %1 : !y
}

// A bias over rows is no bias of columns.
// CHECK-LABEL: @row_bias(
// CHECK: plan.matmul
// CHECK-NOT: epilogue
// CHECK: plan.launch
func.func @row_bias(%x: !x, %w: tensor<16x32xf32>, %b: tensor<32xf32>) -> tensor<32x32xf32> {
  %0 = sgd.contract %x [0, 1], %w [1, 2] into [0, 2] : !x, tensor<16x32xf32> -> tensor<32x32xf32>
  %1 = sgd.cluster(%0, %b) {
  ^bb0(%p: tensor<32x32xf32>, %q: tensor<32xf32>):
    %3 = sgd.broadcast_in_dim %q dims = [0] : tensor<32xf32> -> tensor<32x32xf32>
    %4 = arith.addf %p, %3 : tensor<32x32xf32>
    sgd.yield %4 : tensor<32x32xf32>
  } : (tensor<32x32xf32>, tensor<32xf32>) -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}

// Backward reads the product itself: it must be written as it is.
// CHECK-LABEL: @needed_before(
// CHECK: plan.matmul
// CHECK-NOT: epilogue
// CHECK: plan.launch
func.func @needed_before(%x: !x, %w: !w, %b: !b) -> (!y, !y) {
  %0 = sgd.contract %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %1 = sgd.cluster(%0, %b) {
  ^bb0(%p: !y, %q: !b):
    %3 = sgd.broadcast_in_dim %q dims = [1] : !b -> !y
    %4 = arith.addf %p, %3 : !y
    sgd.yield %4 : !y
  } : (!y, !b) -> !y
  return %0, %1 : !y, !y
}

// The first product dies in the sum: the second accumulates into it.
// CHECK-LABEL: @accumulate(
// CHECK: plan.matmul {{.*}} outs(%[[C:.*]] : memref
// CHECK-NOT: plan.launch
// CHECK: plan.matmul {{.*}} outs(%[[C]] : {{.*}} epilogue accumulate
// CHECK: plan.launch
func.func @accumulate(%x: !x, %w: !w, %v: !w) -> !y {
  %0 = sgd.contract %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %1 = sgd.contract %x [0, 1], %v [1, 2] into [0, 2] : !x, !w -> !y
  %2 = sgd.cluster(%0, %1) {
  ^bb0(%p: !y, %q: !y):
    %3 = arith.addf %p, %q : !y
    sgd.yield %3 : !y
  } : (!y, !y) -> !y
  %4 = sgd.cluster(%2) {
  ^bb0(%p: !y):
    %5 = math.exp %p : !y
    sgd.yield %5 : !y
  } : (!y) -> !y
  return %4 : !y
}

// An argument keeps its value.
// CHECK-LABEL: @addend_is_kept(
// CHECK: plan.matmul
// CHECK-NOT: epilogue
// CHECK: plan.launch
func.func @addend_is_kept(%x: !x, %w: !w, %r: !y) -> !y {
  %0 = sgd.contract %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %1 = sgd.cluster(%0, %r) {
  ^bb0(%p: !y, %q: !y):
    %3 = arith.addf %p, %q : !y
    sgd.yield %3 : !y
  } : (!y, !y) -> !y
  return %1 : !y
}

// CHECK-LABEL: @convolution_bias_relu(
// CHECK-NOT: plan.launch
// CHECK: plan.convolution {{.*}} bias({{.*}} epilogue bias_relu
// CHECK-NOT: plan.launch
func.func @convolution_bias_relu(%x: tensor<2x8x4xf32>, %w: tensor<3x4x8xf32>, %b: !b) -> tensor<2x8x8xf32> {
  %0 = sgd.convolve %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [1] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x4x8xf32> -> tensor<2x8x8xf32>
  %1 = sgd.cluster(%0, %b) {
  ^bb0(%p: tensor<2x8x8xf32>, %q: !b):
    %zero = arith.constant dense<0.0> : tensor<2x8x8xf32>
    %3 = sgd.broadcast_in_dim %q dims = [2] : !b -> tensor<2x8x8xf32>
    %4 = arith.addf %3, %p : tensor<2x8x8xf32>
    %5 = arith.maximumf %4, %zero : tensor<2x8x8xf32>
    sgd.yield %5 : tensor<2x8x8xf32>
  } : (tensor<2x8x8xf32>, !b) -> tensor<2x8x8xf32>
  return %1 : tensor<2x8x8xf32>
}

// The convolution of one phase of several is not the whole value.
// CHECK-LABEL: @phases_bias(
// CHECK-COUNT-2: plan.convolution
// CHECK-NOT: epilogue
// CHECK: plan.launch
func.func @phases_bias(%x: tensor<2x4x4xf32>, %w: tensor<3x4x8xf32>, %b: !b) -> tensor<2x7x8xf32> {
  %0 = sgd.convolve %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [1] lhs_dilations = [2] rhs_dilations = [1] : tensor<2x4x4xf32>, tensor<3x4x8xf32> -> tensor<2x7x8xf32>
  %1 = sgd.cluster(%0, %b) {
  ^bb0(%p: tensor<2x7x8xf32>, %q: !b):
    %3 = sgd.broadcast_in_dim %q dims = [2] : !b -> tensor<2x7x8xf32>
    %4 = arith.addf %3, %p : tensor<2x7x8xf32>
    sgd.yield %4 : tensor<2x7x8xf32>
  } : (tensor<2x7x8xf32>, !b) -> tensor<2x7x8xf32>
  return %1 : tensor<2x7x8xf32>
}
