// Values that lie in memory are read where they lie when only dimensions of one element move.
// RUN: sgd-opt %s --sgd-fuse-clusters | FileCheck %s

// CHECK-LABEL: func.func @chunks
// CHECK-NEXT: %[[CHUNKS:.*]] = sgd.reshape %arg0 : tensor<1x1x512x64xf32> -> tensor<1x1x8x64x64xf32>
// CHECK-NEXT: %[[MOVED:.*]] = sgd.reshape %[[CHUNKS]] : tensor<1x1x8x64x64xf32> -> tensor<1x8x1x64x64xf32>
// CHECK-NEXT: return %[[MOVED]]
func.func @chunks(%x: tensor<1x1x512x64xf32>) -> tensor<1x8x1x64x64xf32> {
  %0 = sgd.reshape %x : tensor<1x1x512x64xf32> -> tensor<1x1x8x64x64xf32>
  %1 = sgd.transpose %0 permutation = [0, 2, 1, 3, 4] : tensor<1x1x8x64x64xf32> -> tensor<1x8x1x64x64xf32>
  return %1 : tensor<1x8x1x64x64xf32>
}

// CHECK-LABEL: func.func @leading_dimension
// CHECK-NEXT: %[[ONE:.*]] = sgd.reshape %arg0 : tensor<512x64xf32> -> tensor<1x512x64xf32>
// CHECK-NEXT: return %[[ONE]]
func.func @leading_dimension(%x: tensor<512x64xf32>) -> tensor<1x512x64xf32> {
  %0 = sgd.broadcast_in_dim %x dims = [1, 2] : tensor<512x64xf32> -> tensor<1x512x64xf32>
  return %0 : tensor<1x512x64xf32>
}

// Dimensions of several elements change places; a value of a kernel is moved in it.
// CHECK-LABEL: func.func @moved
// CHECK-COUNT-2: fusion.cluster
// CHECK-NOT: sgd.reshape
func.func @moved(%x: tensor<1x8x64xf32>) -> (tensor<1x64x8xf32>, tensor<8x1x64xf32>) {
  %0 = sgd.transpose %x permutation = [0, 2, 1] : tensor<1x8x64xf32> -> tensor<1x64x8xf32>
  %1 = math.tanh %x : tensor<1x8x64xf32>
  %2 = sgd.transpose %1 permutation = [1, 0, 2] : tensor<1x8x64xf32> -> tensor<8x1x64xf32>
  return %0, %2 : tensor<1x64x8xf32>, tensor<8x1x64xf32>
}

// The sum of one summand is that summand.
// CHECK-LABEL: func.func @summand
// CHECK-NEXT: %[[SUM:.*]] = sgd.reshape %arg0 : tensor<1x8x1xf32> -> tensor<8xf32>
// CHECK-NEXT: return %[[SUM]]
func.func @summand(%x: tensor<1x8x1xf32>) -> tensor<8xf32> {
  %0 = sgd.reduce add %x dimensions = [0, 2] : tensor<1x8x1xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
