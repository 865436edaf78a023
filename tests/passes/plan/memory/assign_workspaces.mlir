// RUN: sgd-opt %s --target=cuda:sm_90 --sgd-lower-to-plan --sgd-assign-workspaces --sgd-assign-offsets | FileCheck %s

// As large as operands and result together, and 256 bytes for the alignment that libraries ask for. Both lie at one place; integers need none.
// CHECK-LABEL: module attributes {plan.private_bytes = {{[0-9]+}}
// CHECK-LABEL: @products
// CHECK: %[[W0:.*]] = plan.alloc offset [[AT:[0-9]+]] : memref<3840xi8, #plan.space<private>>
// CHECK: plan.matmul {{.*}} workspace(%[[W0]] : memref<3840xi8, {{.*}}) sizes [32, 8, 16]
// CHECK: %[[W1:.*]] = plan.alloc offset [[AT]] : memref<2560xi8, #plan.space<private>>
// CHECK: plan.matmul {{.*}} workspace(%[[W1]] : memref<2560xi8, {{.*}}) sizes [8, 8, 32]
// CHECK: plan.matmul
// CHECK-NOT: workspace
func.func @products(%x: tensor<32x16xf32>, %w: tensor<16x8xf32>, %i: tensor<4x4xi32>) -> (tensor<8x8xf32>, tensor<4x4xi32>) {
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : tensor<32x16xf32>, tensor<16x8xf32> -> tensor<32x8xf32>
  %1 = fusion.matmul %0 [0, 1], %0 [0, 2] into [1, 2] : tensor<32x8xf32>, tensor<32x8xf32> -> tensor<8x8xf32>
  %2 = fusion.matmul %i [0, 1], %i [1, 2] into [0, 2] : tensor<4x4xi32>, tensor<4x4xi32> -> tensor<4x4xi32>
  return %1, %2 : tensor<8x8xf32>, tensor<4x4xi32>
}
