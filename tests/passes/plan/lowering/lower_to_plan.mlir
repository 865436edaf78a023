// RUN: sgd-opt %s --sgd-lower-to-plan --split-input-file | FileCheck %s

// CHECK: func.func @kernels(%[[X:[^:]*]]: memref<8xf32, #plan.space<private>> {plan.tensor = #plan.tensor<[8]>, sgd.name = "x"})
// CHECK-SAME: -> (memref<8xf32, #plan.space<private>> {plan.tensor = #plan.tensor<[8]>})
func.func @kernels(%x: tensor<8xf32> {sgd.name = "x"}) -> tensor<8xf32> {
  // CHECK: %[[A:.*]] = plan.alloc
  // CHECK: plan.launch @kernel_0 ins(%[[X]] : {{.*}}) outs(%[[A]] : {{.*}}) range 1 grain 1
  // CHECK: plan.launch @kernel_0 ins(%[[A]]
  // CHECK: plan.launch @kernel_1
  %0 = fusion.cluster(%x) {
  ^bb0(%a: tensor<8xf32>):
    %2 = math.exp %a : tensor<8xf32>
    fusion.yield %2 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %1 = fusion.cluster(%0) {
  ^bb0(%b: tensor<8xf32>):
    %2 = math.exp %b : tensor<8xf32>
    fusion.yield %2 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // An op outside of clusters becomes a kernel of its own.
  %3 = math.tanh %1 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
// CHECK: plan.kernel @kernel_0
// CHECK: math.exp
// CHECK: plan.kernel @kernel_1
// CHECK: math.tanh
// CHECK-NOT: plan.kernel

// -----

// CHECK-LABEL: @views
func.func @views(%x: tensor<4x32xf32>) -> (tensor<2x16xf32>, tensor<128xf32>) {
  // A contiguous part and a reshape are no copies, except where they are returned.
  // CHECK: %[[S:.*]] = plan.view %{{.*}} at 128 : memref<4x32xf32, {{.*}}> -> memref<1x32xf32
  // CHECK: %[[R:.*]] = plan.view %[[S]] at 0 : {{.*}} -> memref<2x16xf32
  // CHECK: plan.copy %[[R]] to
  // CHECK: plan.copy
  %0 = sgd.slice %x starts = [1, 0] limits = [2, 32] strides = [1, 1] : tensor<4x32xf32> -> tensor<1x32xf32>
  %1 = sgd.reshape %0 : tensor<1x32xf32> -> tensor<2x16xf32>
  %2 = sgd.reshape %x : tensor<4x32xf32> -> tensor<128xf32>
  return %1, %2 : tensor<2x16xf32>, tensor<128xf32>
}

// -----

// CHECK-LABEL: @constants
func.func @constants(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<3xi32>, tensor<2xf32>) {
  // CHECK: %[[C:.*]] = plan.constant dense<{{.*}}> : memref<2x2xf32, #plan.space<constant>>
  // CHECK: plan.matmul ins(%{{.*}}, %[[C]]
  // CHECK: plan.constant dense<[1, 2, 3]>
  // CHECK: plan.copy
  // CHECK: plan.fill 5.000000e-01 : f32 to
  %0 = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %1 = fusion.matmul %x [0, 1], %0 [1, 2] into [0, 2] : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  %2 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %3 = arith.constant dense<0.5> : tensor<2xf32>
  return %1, %2, %3 : tensor<2x2xf32>, tensor<3xi32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: @contractions
func.func @contractions(%w: tensor<16x3x8xf32>, %x: tensor<4x16xf32>, %y: tensor<3x4x8xf32>) -> (tensor<3x4x8xf32>, tensor<4x16xf32>) {
  // CHECK: plan.matmul {{.*}} sizes [3, 4, 8, 16] strides [0, 16, 1], [8, 24, 1], [32, 8, 1]
  %0 = fusion.matmul %w [0, 1, 2], %x [3, 0] into [1, 3, 2] : tensor<16x3x8xf32>, tensor<4x16xf32> -> tensor<3x4x8xf32>
  // A sum over two dimensions that are not contiguous is a sum of matmuls.
  // CHECK: plan.matmul {{.*}} sizes [4, 16, 8]
  // CHECK: plan.matmul {{.*}} sizes [4, 16, 8] {{.*}} epilogue [residual]
  // CHECK: plan.matmul {{.*}} sizes [4, 16, 8] {{.*}} epilogue [residual]
  %1 = fusion.matmul %y [0, 1, 2], %w [3, 0, 2] into [1, 3] : tensor<3x4x8xf32>, tensor<16x3x8xf32> -> tensor<4x16xf32>
  return %0, %1 : tensor<3x4x8xf32>, tensor<4x16xf32>
}

// -----

sgd.mesh @mesh = <["data"=2]>

// Operands and results of collectives lie in the window, the argument among them too.
// CHECK: func.func @collectives(%[[X:[^:]*]]: memref<4xf32, #plan.space<window>>
func.func @collectives(%x: tensor<4xf32> {sgd.global_type = tensor<8xf32>, sgd.sharding = #sgd.sharding<@mesh, [{"data"}]>}) -> tensor<8xf32> {
  // CHECK-SAME: plan.tensor = #plan.tensor<[8], #sgd.sharding<@mesh, [{"data"}]>>
  // CHECK: %[[G:.*]] = plan.alloc : memref<8xf32, #plan.space<window>>
  // CHECK: plan.collective all_gather(%[[X]] : {{.*}}) to(%[[G]] : {{.*}}) dims [0] <@mesh, {"data"}>
  // CHECK: plan.collective all_reduce combining add(%[[G]]
  %0 = spmd.all_gather (%x) dims = [0] <@mesh, {"data"}> : (tensor<4xf32>) -> tensor<8xf32>
  %1 = spmd.all_reduce add (%0) <@mesh, {"data"}> : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// Tiles of 4 x 16 elements of x: one head's are 16 apart, which a matmul's strides say; the kernel works in scratch memory.
// CHECK-LABEL: func.func @tiled(
// CHECK: plan.tiled ins(%{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}} : {{.*}}) loops [2] strides [64, 0, 64] scratch 512 {
// CHECK: ^bb0(%[[X:.*]]: memref<112xf32, #plan.space<private>>, %[[W:.*]]: memref<16xf32, #plan.space<private>>, %[[Y:.*]]: memref<112xf32, #plan.space<private>>):
// CHECK: %[[S:.*]] = plan.alloc offset 256 : memref<4x1x16xf32, #plan.space<scratch>>
// CHECK: plan.matmul ins(%[[W]], %[[X]] {{.*}}) outs(%[[S]] {{.*}}) sizes [4, 16, 4] strides [4, 1], [32, 1], [16, 1]
// CHECK: %[[E:.*]] = plan.alloc offset 0 : memref<4x1x16xf32, #plan.space<scratch>>
// CHECK: plan.launch @kernel_0 ins(%[[S]] {{.*}}) outs(%[[E]]
// CHECK: %[[W0:.*]] = plan.view %[[W]] at 32
// CHECK: %[[Y0:.*]] = plan.view %[[Y]] at 256
// CHECK: plan.matmul ins(%[[W0]], %[[E]] {{.*}}) outs(%[[Y0]] {{.*}}) sizes [2, 16, 4] strides [4, 1], [16, 1], [32, 1] epilogue{{ +}}[residual]
func.func @tiled(%x: tensor<4x2x16xf32>, %w: tensor<4x4xf32>) -> tensor<4x2x16xf32> {
  %0 = fusion.tiled(%x, %w) loops [2] cuts [1, -1, 1] {
  ^bb0(%a: tensor<4x1x16xf32>, %b: tensor<4x4xf32>):
    %s = fusion.matmul %b [0, 1], %a [1, 2, 3] into [0, 2, 3] : tensor<4x4xf32>, tensor<4x1x16xf32> -> tensor<4x1x16xf32>
    %e = fusion.cluster(%s) {
    ^bb0(%c: tensor<4x1x16xf32>):
      %1 = math.exp %c : tensor<4x1x16xf32>
      fusion.yield %1 : tensor<4x1x16xf32>
    } : (tensor<4x1x16xf32>) -> tensor<4x1x16xf32>
    %r = sgd.slice %b starts = [2, 0] limits = [4, 4] strides = [1, 1] : tensor<4x4xf32> -> tensor<2x4xf32>
    %y = fusion.matmul %r [0, 1], %e [1, 2, 3] into [0, 2, 3] : tensor<2x4xf32>, tensor<4x1x16xf32> -> tensor<2x1x16xf32>
    fusion.tile_store %y to 0 at [2, 0, 0] add : tensor<2x1x16xf32>
  } : (tensor<4x2x16xf32>, tensor<4x4xf32>) -> tensor<4x2x16xf32>
  return %0 : tensor<4x2x16xf32>
}
