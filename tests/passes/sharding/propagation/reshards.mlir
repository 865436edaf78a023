// RUN: sgd-opt %s --sgd-shard --sgd-verify-sharding --split-input-file | FileCheck %s

// FSDP: the weight is gathered, once for both uses, and the activations stay where they are.
sgd.mesh @mesh = <["data"=4]>
// CHECK-LABEL: @fsdp
func.func @fsdp(%x: tensor<512x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<64x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}) -> tensor<512x64xf32> {
  // CHECK: %[[W:.*]] = sgd.reshard %arg1 : {{.*}} -> tensor<64x64xf32, #sgd.sharding<@mesh, [{}, {}]>>
  // CHECK-NEXT: %[[H:.*]] = sgd.dot_general %arg0, %[[W]]
  %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<512x64xf32>, tensor<64x64xf32> -> tensor<512x64xf32>
  // CHECK-NEXT: sgd.dot_general %[[H]], %[[W]]
  %1 = sgd.dot_general %0, %w batching = [] x [] contracting = [1] x [0] : tensor<512x64xf32>, tensor<64x64xf32> -> tensor<512x64xf32>
  return %1 : tensor<512x64xf32>
}

// -----

// Megatron with a sequence-parallel residual: one gather into the block, one reduction straight into the residual's shards.
sgd.mesh @mesh = <["data"=2, "model"=2]>
// CHECK-LABEL: @megatron
func.func @megatron(%x: tensor<8x64x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {"model"}, {}]>},
                    %w1: tensor<64x256xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>},
                    %w2: tensor<256x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>}) -> tensor<8x64x64xf32> {
  // CHECK: %[[X:.*]] = sgd.reshard %arg0 : {{.*}} -> tensor<8x64x64xf32, #sgd.sharding<@mesh, [{"data"}, {}, {}]>>
  // CHECK-NEXT: %[[H:.*]] = sgd.dot_general %[[X]], %arg1 {{.*}} -> tensor<8x64x256xf32, #sgd.sharding<@mesh, [{"data"}, {}, {"model"}]>>
  %0 = sgd.dot_general %x, %w1 batching = [] x [] contracting = [2] x [0] : tensor<8x64x64xf32>, tensor<64x256xf32> -> tensor<8x64x256xf32>
  %1 = sgd.sharding_constraint %0 <@mesh, [{"data"}, {}, {"model"}]> : tensor<8x64x256xf32>
  // CHECK-NEXT: %[[G:.*]] = math.tanh %[[H]]
  %2 = math.tanh %1 : tensor<8x64x256xf32>
  // CHECK-NEXT: %[[P:.*]] = sgd.dot_general %[[G]], %arg2 {{.*}} unreduced={"model"}>>
  %3 = sgd.dot_general %2, %w2 batching = [] x [] contracting = [2] x [0] : tensor<8x64x256xf32>, tensor<256x64xf32> -> tensor<8x64x64xf32>
  // CHECK-NEXT: %[[R:.*]] = sgd.reshard %[[P]] : {{.*}} -> tensor<8x64x64xf32, #sgd.sharding<@mesh, [{"data"}, {"model"}, {}]>>
  // CHECK-NEXT: arith.addf %arg0, %[[R]]
  %4 = arith.addf %x, %3 : tensor<8x64x64xf32>
  %5 = sgd.sharding_constraint %4 <@mesh, [{"data"}, {"model"}, {}]> : tensor<8x64x64xf32>
  // CHECK-NEXT: return
  return %5 : tensor<8x64x64xf32>
}

// -----

// Axes of a dimension that must be whole move to another one: an all-to-all instead of a gather.
sgd.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: @window
func.func @window(%x: tensor<1x8x1x4xf32>, %w: tensor<4x1x4x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}, {"y"}]>}) -> tensor<1x5x1x8xf32> {
  // CHECK: %[[W:.*]] = sgd.reshard %arg1 : {{.*}} -> tensor<4x1x4x8xf32, #sgd.sharding<@mesh, [{}, {}, {}, {"y", "x"}]>>
  // CHECK-NEXT: sgd.convolution %arg0, %[[W]] {{.*}} -> tensor<1x5x1x8xf32, #sgd.sharding<@mesh, [{}, {}, {}, {"y", "x"}]>>
  %0 = sgd.convolution %x, %w strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<1x8x1x4xf32>, tensor<4x1x4x8xf32> -> tensor<1x5x1x8xf32>
  return %0 : tensor<1x5x1x8xf32>
}

// -----

// A slice exchanges what it needs: nothing is gathered for it.
sgd.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: @slice
func.func @slice(%a: tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<4x8xf32> {
  // CHECK-NEXT: sgd.slice %arg0 {{.*}} -> tensor<4x8xf32, #sgd.sharding<@mesh, [{"x"}, {"y"}]>>
  %0 = sgd.slice %a starts = [2, 0] limits = [6, 8] strides = [1, 1] : tensor<8x8xf32> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// The annotated result: updates are computed on shards, the new parameter is gathered once.
sgd.mesh @mesh = <["data"=4]>
// CHECK-LABEL: @zero_update
func.func @zero_update(%w: tensor<64x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}, %m: tensor<64x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>},
                       %g: tensor<64x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<64x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}, tensor<64x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}) {
  // CHECK: arith.addf {{.*}} : tensor<64x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
  %0 = arith.addf %m, %g : tensor<64x8xf32>
  // CHECK: %[[W:.*]] = sgd.reshard %arg0 : {{.*}} -> tensor<64x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
  // CHECK: %[[N:.*]] = arith.subf %[[W]], {{.*}} : tensor<64x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
  // CHECK: sgd.reshard %[[N]] : {{.*}} -> tensor<64x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  %1 = arith.subf %w, %0 : tensor<64x8xf32>
  return %1, %0 : tensor<64x8xf32>, tensor<64x8xf32>
}
