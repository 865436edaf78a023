// Cumulative ops as steps over the tensor, and as what becomes a kernel.
// RUN: sgd-opt %s --split-input-file --sgd-lower-scans | FileCheck %s --check-prefixes=CHECK,STEPS
// RUN: sgd-opt %s --split-input-file --sgd-lower-scans=workers=4 | FileCheck %s --check-prefixes=CHECK,KERNELS

// CHECK-LABEL: @short
func.func @short(%a: tensor<5xf32>) -> tensor<5xf32> {
  // STEPS-NOT: sgd.cumulative
  // STEPS: %[[BY1:.*]] = sgd.pad %arg0, %{{.*}} low = [1] high = [-1]
  // STEPS: %[[TWO:.*]] = arith.addf %[[BY1]], %arg0
  // STEPS: %[[BY2:.*]] = sgd.pad %[[TWO]], %{{.*}} low = [2] high = [-2]
  // STEPS: %[[FOUR:.*]] = arith.addf %[[BY2]], %[[TWO]]
  // STEPS: %[[BY4:.*]] = sgd.pad %[[FOUR]], %{{.*}} low = [4] high = [-4]
  // STEPS: %[[ALL:.*]] = arith.addf %[[BY4]], %[[FOUR]]
  // STEPS-NEXT: return %[[ALL]]
  // KERNELS: sgd.cumulative add %{{.*}} dimension = 1 : tensor<1x5xf32>
  // KERNELS-NOT: sgd.cumulative
  %0 = sgd.cumulative add %a dimension = 0 : tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// Two rows of 10,001 elements in two parts each, filled up to whole parts.
// CHECK-LABEL: @long_rows
func.func @long_rows(%a: tensor<2x10001xf32>) -> tensor<2x10001xf32> {
  // KERNELS: sgd.pad %arg0, %{{.*}} low = [0, 0] high = [0, 15]
  // KERNELS: %[[CUT:.*]] = sgd.reshape %{{.*}} -> tensor<2x2x5008xf32>
  // KERNELS: %[[PARTS:.*]] = sgd.cumulative max %[[CUT]] dimension = 2 : tensor<2x2x5008xf32>
  // KERNELS: sgd.slice %[[PARTS]] starts = [0, 0, 5007]
  // KERNELS: %[[TOTALS:.*]] = sgd.cumulative max %{{.*}} dimension = 1 : tensor<2x2xf32>
  // KERNELS: %[[BEFORE:.*]] = sgd.pad %[[TOTALS]], %{{.*}} low = [0, 1] high = [0, -1]
  // KERNELS: %[[SPREAD:.*]] = sgd.broadcast_in_dim %[[BEFORE]] dims = [0, 1]
  // KERNELS: arith.maximumf %[[SPREAD]], %[[PARTS]]
  %0 = sgd.cumulative max %a dimension = 1 : tensor<2x10001xf32>
  return %0 : tensor<2x10001xf32>
}

// -----

// The sum of what is behind comes from the first element of a part.
// CHECK-LABEL: @backwards
func.func @backwards(%a: tensor<10000xf32>) -> tensor<10000xf32> {
  // KERNELS: %[[PARTS:.*]] = sgd.cumulative add %{{.*}} dimension = 2 reverse : tensor<1x2x5000xf32>
  // KERNELS: sgd.slice %[[PARTS]] starts = [0, 0, 0]
  // KERNELS: %[[TOTALS:.*]] = sgd.cumulative add %{{.*}} dimension = 1 reverse : tensor<1x2xf32>
  // KERNELS: sgd.pad %[[TOTALS]], %{{.*}} low = [0, -1] high = [0, 1]
  %0 = sgd.cumulative add %a dimension = 0 reverse : tensor<10000xf32>
  return %0 : tensor<10000xf32>
}

// -----

// Short columns stay; few long ones are rows meanwhile.
// CHECK-LABEL: @columns
func.func @columns(%a: tensor<3x100x7xf32>, %b: tensor<3x1000x7xf32>) -> (tensor<3x100x7xf32>, tensor<3x1000x7xf32>) {
  // KERNELS: sgd.cumulative add %arg0 dimension = 1 : tensor<3x100x7xf32>
  // KERNELS: sgd.transpose %arg1 permutation = [0, 2, 1]
  // KERNELS: sgd.cumulative mul %{{.*}} dimension = 1 : tensor<21x1000xf32>
  // KERNELS: sgd.transpose %{{.*}} permutation = [0, 2, 1]
  %0 = sgd.cumulative add %a dimension = 1 : tensor<3x100x7xf32>
  %1 = sgd.cumulative mul %b dimension = 1 : tensor<3x1000x7xf32>
  return %0, %1 : tensor<3x100x7xf32>, tensor<3x1000x7xf32>
}

// -----

// CHECK-LABEL: @nothing
func.func @nothing(%a: tensor<4x1xf32>, %b: tensor<0x3xf32>) -> (tensor<4x1xf32>, tensor<0x3xf32>) {
  // CHECK-NEXT: return %arg0, %arg1
  %0 = sgd.cumulative add %a dimension = 1 : tensor<4x1xf32>
  %1 = sgd.cumulative add %b dimension = 1 : tensor<0x3xf32>
  return %0, %1 : tensor<4x1xf32>, tensor<0x3xf32>
}
