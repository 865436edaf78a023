// RUN: sgd-opt %s --sgd-fuse-epilogues --split-input-file | FileCheck %s
// RUN: sgd-opt %s --target=cuda:sm_90 --sgd-fuse-epilogues --split-input-file | FileCheck %s --check-prefix=GPU

!x = tensor<32x16xf32>
!w = tensor<16x8xf32>
!y = tensor<32x8xf32>
!b = tensor<8xf32>

// CHECK-LABEL: @bias(
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}}, %[[B:[^:]*]]:
// CHECK-NEXT: %[[Y:.*]] = fusion.library_matmul %[[X]] [0, 1], %[[W]] [1, 2] into [0, 2] epilogue [bias] bias %[[B]] :
// CHECK-NEXT: return %[[Y]]
func.func @bias(%x: !x, %w: !w, %b: !b) -> !y {
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %2 = sgd.broadcast_in_dim %b dims = [1] : !b -> tensor<1x8xf32>
  %3 = sgd.broadcast_in_dim %2 dims = [0, 1] : tensor<1x8xf32> -> !y
  %4 = arith.addf %0, %3 : !y
  return %4 : !y
}

// Where the library takes no maximum, the sum is a kernel's on its way to it.
// CHECK-LABEL: @bias_relu(
// CHECK-NEXT: %[[Y:.*]] = fusion.library_matmul {{.*}} epilogue [bias, relu] bias
// CHECK-NEXT: return %[[Y]]
// GPU-LABEL: @bias_relu(
// GPU-NOT: epilogue
// GPU: arith.maximumf
func.func @bias_relu(%x: !x, %w: !w, %b: !b) -> !y {
  %zero = arith.constant dense<0.0> : !y
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %3 = sgd.broadcast_in_dim %b dims = [1] : !b -> !y
  %4 = arith.addf %3, %0 : !y
  %5 = arith.maximumf %4, %zero : !y
  return %5 : !y
}

// A bias of heads and features is one of columns; what is reshaped is the same sum.
// CHECK-LABEL: @heads(
// CHECK: %[[B:.*]] = sgd.reshape %{{.*}} : tensor<2x4xf32> -> tensor<8xf32>
// CHECK-NEXT: %[[Y:.*]] = fusion.library_matmul {{.*}} epilogue [bias] bias %[[B]] :
// CHECK-NEXT: %[[Z:.*]] = sgd.reshape %[[Y]] : tensor<32x8xf32> -> tensor<4x8x2x4xf32>
// CHECK-NEXT: return %[[Z]]
func.func @heads(%x: !x, %w: !w, %b: tensor<2x4xf32>) -> tensor<4x8x2x4xf32> {
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %1 = sgd.reshape %0 : !y -> tensor<4x8x2x4xf32>
  %3 = sgd.broadcast_in_dim %b dims = [2, 3] : tensor<2x4xf32> -> tensor<4x8x2x4xf32>
  %4 = arith.addf %1, %3 : tensor<4x8x2x4xf32>
  return %4 : tensor<4x8x2x4xf32>
}

// A bias over rows is no bias of columns; one that is computed has no memory; a sum that only a kernel reads needs none.
// CHECK-LABEL: @kernels(
// CHECK-NOT: epilogue
func.func @kernels(%x: !x, %w: !w, %r: tensor<32xf32>, %b: !b) -> (!y, !y, !y) {
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %1 = sgd.broadcast_in_dim %r dims = [0] : tensor<32xf32> -> !y
  %2 = arith.addf %0, %1 : !y
  %3 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %4 = math.exp %b : !b
  %5 = sgd.broadcast_in_dim %4 dims = [1] : !b -> !y
  %6 = arith.addf %3, %5 : !y
  %7 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %8 = sgd.broadcast_in_dim %b dims = [1] : !b -> !y
  %9 = arith.addf %7, %8 : !y
  %10 = math.tanh %9 : !y
  return %2, %6, %10 : !y, !y, !y
}

// Backward reads the matmul itself: it must be written as it is.
// CHECK-LABEL: @needed_before(
// CHECK-NOT: epilogue
func.func @needed_before(%x: !x, %w: !w, %b: !b) -> (!y, !y) {
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %3 = sgd.broadcast_in_dim %b dims = [1] : !b -> !y
  %4 = arith.addf %0, %3 : !y
  return %0, %4 : !y, !y
}

// The first matmul dies in the sum: the second is added to it.
// CHECK-LABEL: @accumulate(
// CHECK-NEXT: %[[P:.*]] = fusion.matmul
// CHECK-NEXT: %[[S:.*]] = fusion.library_matmul {{.*}} epilogue [residual] residual %[[P]] :
// CHECK-NEXT: fusion.matmul %[[S]]
// GPU-LABEL: @accumulate(
// GPU: epilogue [residual]
func.func @accumulate(%x: !x, %w: !w, %v: !w) -> tensor<32x32xf32> {
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %1 = fusion.matmul %x [0, 1], %v [1, 2] into [0, 2] : !x, !w -> !y
  %2 = arith.addf %0, %1 : !y
  %3 = fusion.matmul %2 [0, 1], %2 [2, 1] into [0, 2] : !y, !y -> tensor<32x32xf32>
  return %3 : tensor<32x32xf32>
}

// The sum of a kernel alone; an addend that is read by what the matmul does not need; an argument, which keeps its value.
// CHECK-LABEL: @addends_are_kept(
// CHECK-NOT: epilogue
func.func @addends_are_kept(%x: !x, %w: !w, %v: !w, %r: !y) -> (!y, !y, !y, !y) {
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %1 = fusion.matmul %x [0, 1], %v [1, 2] into [0, 2] : !x, !w -> !y
  %2 = arith.addf %0, %1 : !y
  %3 = math.tanh %2 : !y
  %4 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %5 = fusion.matmul %x [0, 1], %v [1, 2] into [0, 2] : !x, !w -> !y
  %6 = arith.addf %4, %5 : !y
  %7 = math.tanh %4 : !y
  %8 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %9 = arith.addf %8, %r : !y
  return %3, %6, %7, %9 : !y, !y, !y, !y
}

// Unless the sum is to lie in the argument's place: state that grows.
// CHECK-LABEL: @grows(
// CHECK: epilogue [residual] residual %{{.*}} :
func.func @grows(%x: !x, %w: !w, %r: !y {sgd.alias_output = 0 : i64}) -> !y {
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %1 = arith.addf %r, %0 : !y
  return %1 : !y
}

// Other readers of the addend have run when the matmul does, since it needs them.
// CHECK-LABEL: @residual_stream(
// CHECK: epilogue [residual] residual %[[R:[^ ]*]] :
func.func @residual_stream(%x: !x, %w: !w, %v: tensor<8x8xf32>) -> !y {
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !y
  %1 = math.tanh %0 : !y
  %2 = fusion.matmul %1 [0, 1], %v [1, 2] into [0, 2] : !y, tensor<8x8xf32> -> !y
  %3 = arith.addf %0, %2 : !y
  return %3 : !y
}

// Matmuls in batches are a tile's where there are tiles.
// CHECK-LABEL: @batches(
// CHECK-NOT: epilogue
// GPU-LABEL: @batches(
// GPU: epilogue [bias]
func.func @batches(%x: tensor<4x32x16xf32>, %w: tensor<4x16x8xf32>, %b: !b) -> tensor<4x32x8xf32> {
  %0 = fusion.matmul %x [3, 0, 1], %w [3, 1, 2] into [3, 0, 2] : tensor<4x32x16xf32>, tensor<4x16x8xf32> -> tensor<4x32x8xf32>
  %1 = sgd.broadcast_in_dim %b dims = [2] : !b -> tensor<4x32x8xf32>
  %2 = arith.addf %0, %1 : tensor<4x32x8xf32>
  return %2 : tensor<4x32x8xf32>
}

// CHECK-LABEL: @convolution_bias_relu(
// CHECK-NEXT: %[[Y:.*]] = fusion.library_convolution {{.*}} epilogue [bias, relu] bias %{{.*}} :
// CHECK-NEXT: return %[[Y]]
func.func @convolution_bias_relu(%x: tensor<2x8x4xf32>, %w: tensor<3x4x8xf32>, %b: !b) -> tensor<2x8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x8x8xf32>
  %0 = fusion.convolution %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [1] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x4xf32>, tensor<3x4x8xf32> -> tensor<2x8x8xf32>
  %3 = sgd.broadcast_in_dim %b dims = [2] : !b -> tensor<2x8x8xf32>
  %4 = arith.addf %3, %0 : tensor<2x8x8xf32>
  %5 = arith.maximumf %4, %zero : tensor<2x8x8xf32>
  return %5 : tensor<2x8x8xf32>
}

// The convolution of one phase of several is not the whole value.
// CHECK-LABEL: @phases_bias(
// CHECK-NOT: epilogue
func.func @phases_bias(%x: tensor<2x4x4xf32>, %w: tensor<3x4x8xf32>, %b: !b) -> tensor<2x7x8xf32> {
  %0 = fusion.convolution %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [1] lhs_dilations = [2] rhs_dilations = [1] : tensor<2x4x4xf32>, tensor<3x4x8xf32> -> tensor<2x7x8xf32>
  %3 = sgd.broadcast_in_dim %b dims = [2] : !b -> tensor<2x7x8xf32>
  %4 = arith.addf %3, %0 : tensor<2x7x8xf32>
  return %4 : tensor<2x7x8xf32>
}
