// RUN: sgd-opt %s --sgd-lower-to-plan | FileCheck %s

// A workspace for each lane, and lanes from sizes alone: 16 elements and none of work in 64 bytes each.
// CHECK-LABEL: func.func @lu
// CHECK: %[[WORK:.*]] = plan.alloc : memref<192xi8,
// CHECK: plan.linear_algebra lu ins({{.*}}) outs({{.*}}) workspace(%[[WORK]] : {{.*}}) batch 3 sizes [4, 4, 0] lanes 3
func.func @lu(%a: tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x4xi32>, tensor<3xi32>) {
  %0:3 = sgd.linear_algebra lu (%a) : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3x4xi32>, tensor<3xi32>)
  return %0#0, %0#1, %0#2 : tensor<3x4x4xf32>, tensor<3x4xi32>, tensor<3xi32>
}

// Where the matrices lie: none.
// CHECK-LABEL: func.func @solve
// CHECK-NOT: workspace
// CHECK: plan.linear_algebra triangular_solve lower transpose ins({{.*}}) outs({{.*}}) batch 1 sizes [4, 2, 0] lanes 1
func.func @solve(%a: tensor<4x4xf64>, %b: tensor<4x2xf64>) -> tensor<4x2xf64> {
  %0 = sgd.linear_algebra triangular_solve lower transpose (%a, %b) : (tensor<4x4xf64>, tensor<4x2xf64>) -> tensor<4x2xf64>
  return %0 : tensor<4x2xf64>
}

// Transforms to reals over several dimensions keep the spectrum of one tensor: 2 * 4 * 5 numbers of 4 bytes, in 192 bytes.
// CHECK-LABEL: func.func @spectrum
// CHECK: %[[WORK:.*]] = plan.alloc : memref<384xi8,
// CHECK: plan.linear_algebra inverse_real_fft two_dims ins({{.*}}) outs({{.*}}) workspace(%[[WORK]] : {{.*}}) batch 2 sizes [4, 8, 1] lanes 2
func.func @spectrum(%re: tensor<2x4x5xf32>, %im: tensor<2x4x5xf32>) -> tensor<2x4x8xf32> {
  %0 = sgd.linear_algebra inverse_real_fft two_dims (%re, %im) : (tensor<2x4x5xf32>, tensor<2x4x5xf32>) -> tensor<2x4x8xf32>
  return %0 : tensor<2x4x8xf32>
}

// Others need none.
// CHECK-LABEL: func.func @transform
// CHECK-NOT: workspace
// CHECK: plan.linear_algebra fft inverse ins({{.*}}) outs({{.*}}) batch 3 sizes [1, 8, 1] lanes 1
func.func @transform(%re: tensor<3x8xf32>, %im: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %0:2 = sgd.linear_algebra fft inverse (%re, %im) : (tensor<3x8xf32>, tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>)
  return %0#0 : tensor<3x8xf32>
}
