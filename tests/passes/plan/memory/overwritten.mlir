// RUN: sgd-opt %s --sgd-assign-offsets --split-input-file | FileCheck %s

// Each instruction writes all of argument %w, which is then the result: from its last reader on its place is free for
// others, %1 here, until it is written.

!small = memref<16xf32, #plan.space<private>>

// CHECK-LABEL: func.func @matmul(%{{.*}}: {{.*}} {plan.offset = 0 : i64}
func.func @matmul(%w: !small, %k: memref<4xf32, #plan.space<private>>) -> (!small {plan.alias = 0 : i64}) {
  // CHECK: plan.alloc
  %0 = plan.alloc : !small
  plan.copy %w to %0 : !small -> !small
  // CHECK: plan.alloc offset 0 :
  %1 = plan.alloc : !small
  plan.copy %0 to %1 : !small -> !small
  %2 = plan.alloc : !small
  plan.copy %1 to %2 : !small -> !small
  plan.matmul ins(%2, %k : !small, memref<4xf32, #plan.space<private>>) outs(%w : !small)
    sizes [4, 4, 1] strides [1, 1], [4, 1], [4, 1]
  return %w : !small
}

// -----

// Half of %w keeps what it held.
!small = memref<16xf32, #plan.space<private>>

// CHECK-LABEL: func.func @matmul_of_a_part(%{{.*}}: {{.*}} {plan.offset = 0 : i64}
func.func @matmul_of_a_part(%w: !small, %k: memref<4xf32, #plan.space<private>>) -> (!small {plan.alias = 0 : i64}) {
  // CHECK: plan.alloc
  %0 = plan.alloc : !small
  plan.copy %w to %0 : !small -> !small
  // CHECK-NOT: plan.alloc offset 0 :
  %1 = plan.alloc : !small
  plan.copy %0 to %1 : !small -> !small
  %2 = plan.alloc : !small
  plan.copy %1 to %2 : !small -> !small
  plan.matmul ins(%2, %k : !small, memref<4xf32, #plan.space<private>>) outs(%w : !small)
    sizes [2, 4, 1] strides [1, 1], [4, 1], [4, 1]
  return %w : !small
}

// -----

// Reads the value that %w held.
!small = memref<16xf32, #plan.space<private>>

// CHECK-LABEL: func.func @matmul_accumulates(%{{.*}}: {{.*}} {plan.offset = 0 : i64}
func.func @matmul_accumulates(%w: !small, %k: memref<4xf32, #plan.space<private>>) -> (!small {plan.alias = 0 : i64}) {
  // CHECK: plan.alloc
  %0 = plan.alloc : !small
  plan.copy %w to %0 : !small -> !small
  // CHECK-NOT: plan.alloc offset 0 :
  %1 = plan.alloc : !small
  plan.copy %0 to %1 : !small -> !small
  %2 = plan.alloc : !small
  plan.copy %1 to %2 : !small -> !small
  plan.matmul ins(%2, %k : !small, memref<4xf32, #plan.space<private>>) outs(%w : !small)
    sizes [4, 4, 1] strides [1, 1], [4, 1], [4, 1] epilogue [residual]
  return %w : !small
}

// -----

!small = memref<16xf32, #plan.space<private>>

// CHECK-LABEL: func.func @convolution(%{{.*}}: {{.*}} {plan.offset = 0 : i64}
func.func @convolution(%w: !small, %k: memref<4xf32, #plan.space<private>>) -> (!small {plan.alias = 0 : i64}) {
  // CHECK: plan.alloc
  %0 = plan.alloc : !small
  plan.copy %w to %0 : !small -> !small
  // CHECK: plan.alloc offset 0 :
  %1 = plan.alloc : !small
  plan.copy %0 to %1 : !small -> !small
  %2 = plan.alloc : !small
  plan.copy %1 to %2 : !small -> !small
  plan.convolution ins(%2, %k : !small, memref<4xf32, #plan.space<private>>) outs(%w : !small)
    sizes [1, 1, 1, 1] windows [16] to [16] of [1] strides [1] dilations [1] low [0] layouts [16, 0, 1, 1], [0, 0, 0, 0], [16, 0, 1, 1]
  return %w : !small
}

// -----

!small = memref<16xf32, #plan.space<private>>

// CHECK-LABEL: func.func @convolution_of_a_part(%{{.*}}: {{.*}} {plan.offset = 0 : i64}
func.func @convolution_of_a_part(%w: !small, %k: memref<4xf32, #plan.space<private>>) -> (!small {plan.alias = 0 : i64}) {
  // CHECK: plan.alloc
  %0 = plan.alloc : !small
  plan.copy %w to %0 : !small -> !small
  // CHECK-NOT: plan.alloc offset 0 :
  %1 = plan.alloc : !small
  plan.copy %0 to %1 : !small -> !small
  %2 = plan.alloc : !small
  plan.copy %1 to %2 : !small -> !small
  plan.convolution ins(%2, %k : !small, memref<4xf32, #plan.space<private>>) outs(%w : !small)
    sizes [1, 1, 1, 1] windows [15] to [15] of [1] strides [1] dilations [1] low [0] layouts [16, 0, 1, 1], [0, 0, 0, 0], [16, 0, 1, 1]
  return %w : !small
}

// -----

!small = memref<16xf32, #plan.space<private>>

// CHECK-LABEL: func.func @convolution_accumulates(%{{.*}}: {{.*}} {plan.offset = 0 : i64}
func.func @convolution_accumulates(%w: !small, %k: memref<4xf32, #plan.space<private>>) -> (!small {plan.alias = 0 : i64}) {
  // CHECK: plan.alloc
  %0 = plan.alloc : !small
  plan.copy %w to %0 : !small -> !small
  // CHECK-NOT: plan.alloc offset 0 :
  %1 = plan.alloc : !small
  plan.copy %0 to %1 : !small -> !small
  %2 = plan.alloc : !small
  plan.copy %1 to %2 : !small -> !small
  plan.convolution ins(%2, %k : !small, memref<4xf32, #plan.space<private>>) outs(%w : !small)
    sizes [1, 1, 1, 1] windows [16] to [16] of [1] strides [1] dilations [1] low [0] layouts [16, 0, 1, 1], [0, 0, 0, 0], [16, 0, 1, 1] epilogue [residual]
  return %w : !small
}

// -----

!small = memref<16xbf16, #plan.space<private>>

// CHECK-LABEL: func.func @attention(%{{.*}}: {{.*}} {plan.offset = 0 : i64}
func.func @attention(%w: !small) -> (!small {plan.alias = 0 : i64}) {
  // CHECK: plan.alloc
  %0 = plan.alloc : !small
  plan.copy %w to %0 : !small -> !small
  // CHECK: plan.alloc offset 0 :
  %1 = plan.alloc : !small
  plan.copy %0 to %1 : !small -> !small
  %2 = plan.alloc : !small
  plan.copy %1 to %2 : !small -> !small
  %l = plan.alloc : memref<1x8xf32, #plan.space<private>>
  plan.attention ins(%2, %2, %2 : !small, !small, !small) outs(%w, %l : !small, memref<1x8xf32, #plan.space<private>>)
    sizes [1, 1, 1, 8, 8, 2, 2] layouts [16, 16, 2, 16, 16, 2, 16, 16, 2, 16, 16, 2] steps [1, 1] scale 1.0
  return %w : !small
}

// -----

!small = memref<16xbf16, #plan.space<private>>

// CHECK-LABEL: func.func @attention_of_a_part(%{{.*}}: {{.*}} {plan.offset = 0 : i64}
func.func @attention_of_a_part(%w: !small) -> (!small {plan.alias = 0 : i64}) {
  // CHECK: plan.alloc
  %0 = plan.alloc : !small
  plan.copy %w to %0 : !small -> !small
  // CHECK-NOT: plan.alloc offset 0 :
  %1 = plan.alloc : !small
  plan.copy %0 to %1 : !small -> !small
  %2 = plan.alloc : !small
  plan.copy %1 to %2 : !small -> !small
  %l = plan.alloc : memref<1x7xf32, #plan.space<private>>
  plan.attention ins(%2, %2, %2 : !small, !small, !small) outs(%w, %l : !small, memref<1x7xf32, #plan.space<private>>)
    sizes [1, 1, 1, 7, 7, 2, 2] layouts [16, 16, 2, 16, 16, 2, 16, 16, 2, 16, 16, 2] steps [1, 1] scale 1.0
  return %w : !small
}

// -----

!small = memref<1x4x4xf32, #plan.space<private>>

// CHECK-LABEL: func.func @linear_algebra(%{{.*}}: {{.*}} {plan.offset = 0 : i64}
func.func @linear_algebra(%w: !small) -> (!small {plan.alias = 0 : i64}) {
  // CHECK: plan.alloc
  %0 = plan.alloc : !small
  plan.copy %w to %0 : !small -> !small
  // CHECK: plan.alloc offset 0 :
  %1 = plan.alloc : !small
  plan.copy %0 to %1 : !small -> !small
  %2 = plan.alloc : !small
  plan.copy %1 to %2 : !small -> !small
  %i = plan.alloc : memref<1xi32, #plan.space<private>>
  plan.linear_algebra cholesky lower ins(%2 : !small) outs(%w, %i : !small, memref<1xi32, #plan.space<private>>) batch 1 sizes [4, 4, 0] lanes 1
  return %w : !small
}

// -----

!small = memref<16xf32, #plan.space<private>>

// CHECK-LABEL: func.func @tiled(%{{.*}}: {{.*}} {plan.offset = 0 : i64}
func.func @tiled(%w: !small) -> (!small {plan.alias = 0 : i64}) {
  // CHECK: plan.alloc
  %0 = plan.alloc : !small
  plan.copy %w to %0 : !small -> !small
  // CHECK: plan.alloc offset 0 :
  %1 = plan.alloc : !small
  plan.copy %0 to %1 : !small -> !small
  %2 = plan.alloc : !small
  plan.copy %1 to %2 : !small -> !small
  plan.tiled ins(%2 : !small) outs(%w : !small) loops [4] strides [16, 16] scratch 0 {
  ^bb0(%a: memref<4xf32, #plan.space<private>>, %c: memref<4xf32, #plan.space<private>>):
    plan.matmul ins(%a, %a : memref<4xf32, #plan.space<private>>, memref<4xf32, #plan.space<private>>)
      outs(%c : memref<4xf32, #plan.space<private>>) sizes [4, 1, 1] strides [1, 1], [1, 1], [1, 1]
  }
  return %w : !small
}

// -----

!small = memref<16xf32, #plan.space<private>>

// CHECK-LABEL: func.func @tiles_of_a_part(%{{.*}}: {{.*}} {plan.offset = 0 : i64}
func.func @tiles_of_a_part(%w: !small) -> (!small {plan.alias = 0 : i64}) {
  // CHECK: plan.alloc
  %0 = plan.alloc : !small
  plan.copy %w to %0 : !small -> !small
  // CHECK-NOT: plan.alloc offset 0 :
  %1 = plan.alloc : !small
  plan.copy %0 to %1 : !small -> !small
  %2 = plan.alloc : !small
  plan.copy %1 to %2 : !small -> !small
  plan.tiled ins(%2 : !small) outs(%w : !small) loops [3] strides [16, 16] scratch 0 {
  ^bb0(%a: memref<4xf32, #plan.space<private>>, %c: memref<4xf32, #plan.space<private>>):
    plan.matmul ins(%a, %a : memref<4xf32, #plan.space<private>>, memref<4xf32, #plan.space<private>>)
      outs(%c : memref<4xf32, #plan.space<private>>) sizes [4, 1, 1] strides [1, 1], [1, 1], [1, 1]
  }
  return %w : !small
}

// -----

!small = memref<16xf32, #plan.space<private>>

// CHECK-LABEL: func.func @tiles_accumulate(%{{.*}}: {{.*}} {plan.offset = 0 : i64}
func.func @tiles_accumulate(%w: !small) -> (!small {plan.alias = 0 : i64}) {
  // CHECK: plan.alloc
  %0 = plan.alloc : !small
  plan.copy %w to %0 : !small -> !small
  // CHECK-NOT: plan.alloc offset 0 :
  %1 = plan.alloc : !small
  plan.copy %0 to %1 : !small -> !small
  %2 = plan.alloc : !small
  plan.copy %1 to %2 : !small -> !small
  plan.tiled ins(%2 : !small) outs(%w : !small) loops [4] strides [16, 16] scratch 0 {
  ^bb0(%a: memref<4xf32, #plan.space<private>>, %c: memref<4xf32, #plan.space<private>>):
    plan.matmul ins(%a, %a : memref<4xf32, #plan.space<private>>, memref<4xf32, #plan.space<private>>)
      outs(%c : memref<4xf32, #plan.space<private>>) sizes [4, 1, 1] strides [1, 1], [1, 1], [1, 1] epilogue [residual]
  }
  return %w : !small
}
