// RUN: sgd-opt %s --sgd-form-stages --canonicalize | FileCheck %s

// Stage 0 has rows 0 and 1, which follow each other, and of the other tensor rows 0 and 3, which do not; stage 1 has the rest.

sgd.mesh @mesh = <[]> {sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "interleaved:2"}

// CHECK-LABEL: func.func @step_stage0(
// CHECK-SAME: %[[W:[^:]+]]: tensor<2x4xf32> {sgd.global_type = tensor<3x4xf32>, sgd.name = "w", sgd.position = 0 : i64, sgd.rows = array<i64: 0, 2>}
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x4xf32> {sgd.global_type = tensor<4x4xf32>, sgd.name = "v", sgd.position = 1 : i64, sgd.rows = array<i64: 0, 1, 3, 1>}
// CHECK-SAME: %{{[^:]+}}: tensor<1x4xf32> {sgd.name = "x", sgd.position = 2 : i64}
// CHECK-SAME: tensor<2x4xf32> {sgd.carry = 0 : i64, sgd.global_type = tensor<3x4xf32>, sgd.name = "result0", sgd.position = 0 : i64, sgd.rows = array<i64: 0, 2>}
// CHECK-DAG: sgd.slice %[[W]] starts = [0, 0] limits = [1, 4]
// CHECK-DAG: sgd.slice %[[W]] starts = [1, 0] limits = [2, 4]
// CHECK-DAG: sgd.slice %[[V]] starts = [0, 0] limits = [1, 4]
// CHECK-DAG: sgd.slice %[[V]] starts = [1, 0] limits = [2, 4]
// CHECK: sgd.concatenate %{{.+}}, %{{.+}} dimension = 0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
// CHECK-LABEL: func.func @step_stage1(
// CHECK-SAME: %{{[^:]+}}: tensor<1x4xf32> {sgd.global_type = tensor<3x4xf32>, sgd.name = "w", sgd.position = 0 : i64, sgd.rows = array<i64: 2, 1>}
// CHECK-SAME: %{{[^:]+}}: tensor<2x4xf32> {sgd.global_type = tensor<4x4xf32>, sgd.name = "v", sgd.position = 1 : i64, sgd.rows = array<i64: 1, 2>}
func.func @step(%w0: tensor<1x4xf32> {sgd.name = "w", sgd.rows = array<i64: 0, 1>, sgd.stage = 0 : i64, sgd.whole = array<i64: 0, 3>},
                %w1: tensor<1x4xf32> {sgd.name = "w", sgd.rows = array<i64: 1, 1>, sgd.stage = 2 : i64, sgd.whole = array<i64: 0, 3>},
                %w2: tensor<1x4xf32> {sgd.name = "w", sgd.rows = array<i64: 2, 1>, sgd.stage = 3 : i64, sgd.whole = array<i64: 0, 3>},
                %v3: tensor<1x4xf32> {sgd.name = "v", sgd.rows = array<i64: 3, 1>, sgd.stage = 2 : i64, sgd.whole = array<i64: 1, 4>},
                %v1: tensor<2x4xf32> {sgd.name = "v", sgd.rows = array<i64: 1, 2>, sgd.stage = 1 : i64, sgd.whole = array<i64: 1, 4>},
                %v0: tensor<1x4xf32> {sgd.name = "v", sgd.rows = array<i64: 0, 1>, sgd.stage = 0 : i64, sgd.whole = array<i64: 1, 4>},
                %x: tensor<1x4xf32> {sgd.name = "x", sgd.whole = array<i64: 2, -1>})
    -> (tensor<1x4xf32> {sgd.carry = 0 : i64, sgd.rows = array<i64: 0, 1>, sgd.whole = array<i64: 0, 3>},
        tensor<1x4xf32> {sgd.carry = 1 : i64, sgd.rows = array<i64: 1, 1>, sgd.whole = array<i64: 0, 3>},
        tensor<1x4xf32> {sgd.carry = 2 : i64, sgd.rows = array<i64: 2, 1>, sgd.whole = array<i64: 0, 3>},
        tensor<1x4xf32> {sgd.carry = 3 : i64, sgd.rows = array<i64: 3, 1>, sgd.whole = array<i64: 1, 4>},
        tensor<2x4xf32> {sgd.carry = 4 : i64, sgd.rows = array<i64: 1, 2>, sgd.whole = array<i64: 1, 4>},
        tensor<1x4xf32> {sgd.carry = 5 : i64, sgd.rows = array<i64: 0, 1>, sgd.whole = array<i64: 1, 4>},
        tensor<1x4xf32> {sgd.whole = array<i64: 2, -1>}) {
  %a = arith.mulf %x, %w0 : tensor<1x4xf32>
  %b = arith.addf %a, %v0 : tensor<1x4xf32>
  %s1 = sgd.slice %v1 starts = [1, 0] limits = [2, 4] strides = [1, 1] : tensor<2x4xf32> -> tensor<1x4xf32>
  %c = arith.mulf %b, %s1 : tensor<1x4xf32>
  %d = arith.mulf %c, %w1 : tensor<1x4xf32>
  %e = arith.addf %d, %v3 : tensor<1x4xf32>
  %f = arith.mulf %e, %w2 : tensor<1x4xf32>
  %nw0 = arith.addf %w0, %w0 : tensor<1x4xf32>
  %nw1 = arith.addf %w1, %w1 : tensor<1x4xf32>
  %nw2 = arith.addf %w2, %w2 : tensor<1x4xf32>
  %nv3 = arith.addf %v3, %v3 : tensor<1x4xf32>
  %nv1 = arith.addf %v1, %v1 : tensor<2x4xf32>
  %nv0 = arith.addf %v0, %v0 : tensor<1x4xf32>
  return %nw0, %nw1, %nw2, %nv3, %nv1, %nv0, %f : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<2x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}
