// Shardings of exports without Shardy: a mesh is derived from the tile assignments.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file | FileCheck %s

// CHECK: sgd.mesh @mesh = <["axis_0"=4, "axis_1"=2]>
// CHECK: func.func @main(
// CHECK-SAME: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"axis_0"}, {}]>}
// CHECK-SAME: tensor<4x6xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"axis_1"}]>}
// CHECK-SAME: tensor<6xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}
// CHECK-SAME: -> (tensor<8x6xf32> {sgd.name = "result", sgd.sharding = #sgd.sharding<@mesh, [{"axis_1", "axis_0"}, {}]>})
module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"},
                         %w: tensor<4x6xf32> {mhlo.sharding = "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"},
                         %b: tensor<6xf32> {mhlo.sharding = "{replicated}"})
      -> (tensor<8x6xf32> {jax.result_info = "result", mhlo.sharding = "{devices=[8,1]<=[4,2]T(1,0)}"}) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    // CHECK: sgd.sharding_constraint %{{.*}} <@mesh, [{"axis_0"}, {"axis_1"}]>
    %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "", mhlo.sharding = "{devices=[4,2]<=[8]}"} : (tensor<8x6xf32>) -> tensor<8x6xf32>
    // CHECK: sgd.sharding_constraint %{{.*}} <@mesh, [{"axis_1"}, {?}]>
    %2 = stablehlo.custom_call @Sharding(%1) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}"} : (tensor<8x6xf32>) -> tensor<8x6xf32>
    return %2 : tensor<8x6xf32>
  }
}

// -----

// Explicit lists of devices.
// CHECK: sgd.mesh @mesh = <["axis_0"=2, "axis_1"=2]>
// CHECK-SAME: {{$}}
// CHECK: func.func @main(
// CHECK-SAME: #sgd.sharding<@mesh, [{"axis_1"}, {"axis_0"}]>
// CHECK-SAME: #sgd.sharding<@mesh, [{"axis_0", "axis_1"}, {}]>
module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[2,2]0,2,1,3}"}, %y: tensor<8x4xf32> {mhlo.sharding = "{devices=[4,1]0,1,2,3}"}) -> tensor<8x4xf32> {
    return %x : tensor<8x4xf32>
  }
}
