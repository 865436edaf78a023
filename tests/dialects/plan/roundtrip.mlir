// RUN: sgd-opt %s --verify-roundtrip | FileCheck %s

sgd.mesh @mesh = <["data"=2, "model"=2]>
!p = memref<4x8xf32, #plan.space<private>>
!w = memref<4x8xf32, #plan.space<window>>

// CHECK: plan.kernel @exp in_place [0]
plan.kernel @exp in_place [0] {
^bb0(%x: tensor<4x8xf32>):
  %0 = fusion.cluster(%x) {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = math.exp %a : tensor<4x8xf32>
    fusion.yield %1 : tensor<4x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
}

// CHECK: func.func @main(%{{.*}}: memref<4x8xf32, #plan.space<private>> {plan.offset = 0 : i64, plan.tensor = #plan.tensor<[8, 8], #sgd.sharding<@mesh, [{"data"}, {}]>, unsigned>})
func.func @main(%x: !p {plan.offset = 0 : i64, plan.tensor = #plan.tensor<[8, 8], #sgd.sharding<@mesh, [{"data"}, {}]>, unsigned>}) -> !p {
  // CHECK: plan.alloc offset 128 : memref<4x8xf32, #plan.space<private>>
  %0 = plan.alloc offset 128 : !p
  // CHECK: plan.copy %{{.*}} to %{{.*}} : memref
  plan.copy %x to %0 : !p -> !p
  // CHECK: plan.launch @exp ins() outs(%{{.*}} : {{.*}}) coordinates [#sgd.axes<@mesh, {"data"}>] range 4 grain 2
  plan.launch @exp ins() outs(%0 : !p) coordinates [#sgd.axes<@mesh, {"data"}>] range 4 grain 2
  // CHECK: plan.launch @exp {{.*}} range 4 grain 2 work <transcendental single 32, read 128, written 128>
  plan.launch @exp ins() outs(%0 : !p) range 4 grain 2 work <read 128, transcendental single 32, written 128>
  // CHECK: plan.constant dense<1.000000e+00> : tensor<8x4xf32> : memref<8x4xf32, #plan.space<constant>>
  %1 = plan.constant dense<1.0> : tensor<8x4xf32> : memref<8x4xf32, #plan.space<constant>>
  %2 = plan.alloc : memref<4x4xf32, #plan.space<private>>
  // CHECK: plan.matmul {{.*}} sizes [4, 4, 8] strides [8, 1], [4, 1], [4, 1]
  plan.matmul ins(%0, %1 : !p, memref<8x4xf32, #plan.space<constant>>) outs(%2 : memref<4x4xf32, #plan.space<private>>) sizes [4, 4, 8] strides [8, 1], [4, 1], [4, 1]
  // CHECK: epilogue [residual]
  plan.matmul ins(%0, %1 : !p, memref<8x4xf32, #plan.space<constant>>) outs(%2 : memref<4x4xf32, #plan.space<private>>) sizes [4, 4, 8] strides [8, 1], [4, 1], [4, 1] epilogue [residual]
  %c = plan.alloc : memref<2x2x4xf32, #plan.space<private>>
  // CHECK: plan.convolution {{.*}} sizes [2, 1, 4, 4] windows [4] to [2] of [1] strides [2] dilations [-1] low [0] layouts [16, 0, 1, 4], [0, 4, 1, 16], [8, 0, 1, 4] epilogue [residual]
  plan.convolution ins(%0, %1 : !p, memref<8x4xf32, #plan.space<constant>>) outs(%c : memref<2x2x4xf32, #plan.space<private>>) sizes [2, 1, 4, 4] windows [4] to [2] of [1] strides [2] dilations [-1] low [0] layouts [16, 0, 1, 4], [0, 4, 1, 16], [8, 0, 1, 4] epilogue [residual]
  %s = plan.alloc : memref<64xi8, #plan.space<private>>
  // CHECK: plan.convolution {{.*}} workspace(%{{.*}} : memref<64xi8, #plan.space<private>>) sizes [2, 1, 4, 4] windows [4] to [2] of [1] strides [1] dilations [-1] of_lhs [2] low [0] layouts
  plan.convolution ins(%0, %1 : !p, memref<8x4xf32, #plan.space<constant>>) outs(%c : memref<2x2x4xf32, #plan.space<private>>) workspace(%s : memref<64xi8, #plan.space<private>>) sizes [2, 1, 4, 4] windows [4] to [2] of [1] strides [1] dilations [-1] of_lhs [2] low [0] layouts [16, 0, 1, 4], [0, 4, 1, 16], [8, 0, 1, 4]
  %3 = plan.alloc : !w
  // CHECK: plan.fill 0.000000e+00 : f32 to
  plan.fill 0.0 : f32 to %3 : !w
  // CHECK: plan.collective all_reduce combining add 
  plan.collective all_reduce combining add (%3 : !w) to (%3 : !w) dims [] <@mesh, {"data"}>
  %4 = plan.alloc : memref<2x8xf32, #plan.space<window>>
  // CHECK: plan.collective reduce_scatter combining add{{.*}} dims [0]
  plan.collective reduce_scatter combining add (%3 : !w) to (%4 : memref<2x8xf32, #plan.space<window>>) dims [0] <@mesh, {"data"}>
  // CHECK: plan.collective all_gather(
  plan.collective all_gather (%4 : memref<2x8xf32, #plan.space<window>>) to (%3 : !w) dims [0] <@mesh, {"data"}>
  %5 = plan.alloc : !w
  // CHECK: plan.collective permute{{.*}} from <@mesh, {"model", "data"}>
  plan.collective permute (%3 : !w) to (%5 : !w) dims [] <@mesh, {"data", "model"}> from <@mesh, {"model", "data"}>
  %8 = plan.alloc : memref<6x8xf32, #plan.space<window>>
  // CHECK: plan.collective gather_range{{.*}} dims [] <@mesh, {"data"}> ranges [#sgd.range<dim = 0, size = 8, scale = 4, offset = -1>] to axes <@mesh, {"data"}>
  plan.collective gather_range (%3 : !w) to (%8 : memref<6x8xf32, #plan.space<window>>) dims [] <@mesh, {"data"}>
    ranges [#sgd.range<dim = 0, size = 8, scale = 4, offset = -1>] to axes <@mesh, {"data"}>
  // CHECK: %[[UNDER_WAY:.*]] = plan.collective all_reduce combining add{{.*}} <@mesh, {"model"}> : !plan.token
  %7 = plan.collective all_reduce combining add (%5 : !w) to (%5 : !w) dims [] <@mesh, {"model"}> : !plan.token
  // CHECK: plan.done %[[UNDER_WAY]]
  plan.done %7
  // CHECK: plan.view %{{.*}} at 64
  %6 = plan.view %0 at 64 : !p -> memref<16xf32, #plan.space<private>>
  return %0 : !p
}

// CHECK-LABEL: @messages
func.func @messages(%x: !p) attributes {sgd.stage = 1 : i64} {
  // CHECK: plan.receive channel 3 from stage 0 to %{{.*}} mailbox 256 : memref<4x8xf32
  plan.receive channel 3 from stage 0 to %x mailbox 256 : !p
  // CHECK: plan.send %{{.*}} to stage 2 channel 1 depth 2 : memref<4x8xf32
  plan.send %x to stage 2 channel 1 depth 2 : !p
  return
}

// CHECK-LABEL: @tiled
func.func @tiled(%x: !p, %w: memref<8x8xf32, #plan.space<private>>, %y: !p) {
  // CHECK: plan.tiled ins(%{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}} : {{.*}}) loops [4] strides [32, 0, 32] scratch 64 {
  plan.tiled ins(%x, %w : !p, memref<8x8xf32, #plan.space<private>>) outs(%y : !p) loops [4] strides [32, 0, 32] scratch 64 {
  ^bb0(%a: memref<8xf32, #plan.space<private>>, %b: memref<64xf32, #plan.space<private>>, %c: memref<8xf32, #plan.space<private>>):
    // CHECK: plan.alloc offset 0 : memref<8xf32, #plan.space<scratch>>
    %s = plan.alloc offset 0 : memref<8xf32, #plan.space<scratch>>
    plan.matmul ins(%a, %b : memref<8xf32, #plan.space<private>>, memref<64xf32, #plan.space<private>>)
      outs(%s : memref<8xf32, #plan.space<scratch>>) sizes [1, 8, 8] strides [8, 1], [8, 1], [8, 1]
    plan.matmul ins(%s, %b : memref<8xf32, #plan.space<scratch>>, memref<64xf32, #plan.space<private>>)
      outs(%c : memref<8xf32, #plan.space<private>>) sizes [1, 8, 8] strides [8, 1], [8, 1], [8, 1]
  }
  return
}
