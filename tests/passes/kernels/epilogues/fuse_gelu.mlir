// RUN: sgd-opt %s --target=cuda:sm_90 --sgd-fuse-epilogues --split-input-file | FileCheck %s

!x = tensor<8x16xbf16>
!w = tensor<16x32xbf16>
!h = tensor<8x32xbf16>

// As JAX writes a layer with gelu and its gradient: the tanh is shared, and constants are rounded to bf16.
// CHECK-LABEL: @layer_and_gradient
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}}, %[[B:[^:]*]]: {{[^,]*}}, %[[DY:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
func.func @layer_and_gradient(%x: !x, %w: !w, %b: tensor<32xbf16>, %dy: tensor<8x64xbf16>, %v: tensor<32x64xbf16>) -> (!h, !h) {
  // CHECK-NEXT: %[[H:.*]], %[[P:.*]] = fusion.library_matmul %[[X]] [0, 1], %[[W]] [1, 2] into [0, 2] epilogue [bias, gelu] bias %[[B]]
  // CHECK-NEXT: %[[D:.*]] = fusion.library_matmul %[[DY]] [0, 1], %[[V]] [2, 1] into [0, 2] epilogue [gelu_gradient] at %[[P]]
  // CHECK-NEXT: return %[[H]], %[[D]]
  %c3 = arith.constant dense<3.0> : !h
  %cubic = arith.constant dense<4.467770e-02> : !h
  %scale = arith.constant dense<7.968750e-01> : !h
  %one = arith.constant dense<1.0> : !h
  %half = arith.constant dense<0.5> : !h
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !h
  %b0 = sgd.broadcast_in_dim %b dims = [1] : tensor<32xbf16> -> tensor<1x32xbf16>
  %b1 = sgd.broadcast_in_dim %b0 dims = [0, 1] : tensor<1x32xbf16> -> !h
  %1 = arith.addf %0, %b1 : !h
  %2 = arith.mulf %1, %1 : !h
  %3 = arith.mulf %2, %1 : !h
  %4 = arith.mulf %c3, %2 : !h
  %5 = arith.mulf %cubic, %3 : !h
  %6 = arith.addf %1, %5 : !h
  %7 = arith.mulf %scale, %6 : !h
  %8 = math.tanh %7 : !h
  %9 = arith.subf %one, %8 : !h
  %10 = arith.addf %one, %8 : !h
  %11 = arith.mulf %half, %10 : !h
  %12 = arith.mulf %1, %11 : !h
  %g = fusion.matmul %dy [0, 1], %v [2, 1] into [0, 2] : tensor<8x64xbf16>, tensor<32x64xbf16> -> !h
  %13 = arith.mulf %1, %g : !h
  %14 = arith.mulf %g, %11 : !h
  %15 = arith.mulf %half, %13 : !h
  %16 = arith.mulf %15, %9 : !h
  %17 = arith.mulf %16, %8 : !h
  %18 = arith.addf %16, %17 : !h
  %19 = arith.mulf %scale, %18 : !h
  %20 = arith.addf %14, %19 : !h
  %21 = arith.mulf %cubic, %19 : !h
  %22 = arith.mulf %21, %4 : !h
  %23 = arith.addf %20, %22 : !h
  return %12, %23 : !h, !h
}

// -----

!x = tensor<8x16xf16>
!w = tensor<16x32xf16>
!h = tensor<8x32xf16>
!f = tensor<8x32xf32>

// Computed in f32 between, without a bias; the power of 3 is one too.
// CHECK-LABEL: @in_single
func.func @in_single(%x: !x, %w: !w) -> !h {
  // CHECK-NEXT: %[[H:.*]], %{{.*}} = fusion.library_matmul %{{.*}} into [0, 2] epilogue [gelu] : (
  // CHECK-NEXT: return %[[H]]
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !h
  %1 = arith.extf %0 : !h to !f
  %c3 = arith.constant dense<3.0> : !f
  %cubic = arith.constant dense<0.044715> : !f
  %scale = arith.constant dense<0.797884583> : !f
  %one = arith.constant dense<1.0> : !f
  %two = arith.constant dense<2.0> : !f
  %2 = math.powf %1, %c3 : !f
  %3 = arith.mulf %2, %cubic : !f
  %4 = arith.addf %3, %1 : !f
  %5 = arith.mulf %4, %scale : !f
  %6 = math.tanh %5 : !f
  %7 = arith.addf %6, %one : !f
  %8 = arith.mulf %1, %7 : !f
  %9 = arith.divf %8, %two : !f
  %10 = arith.truncf %9 : !f to !h
  return %10 : !h
}

// -----

!x = tensor<8x16xbf16>
!w = tensor<16x32xbf16>
!h = tensor<8x32xbf16>

// Another constant is another function; so is an f32 matmul's, and rows of 12 elements are none that the library keeps.
// CHECK-LABEL: @another_function
// CHECK: fusion.matmul %
// CHECK-NOT: gelu
func.func @another_function(%x: !x, %w: !w) -> !h {
  %cubic = arith.constant dense<5.0e-02> : !h
  %scale = arith.constant dense<7.968750e-01> : !h
  %one = arith.constant dense<1.0> : !h
  %half = arith.constant dense<0.5> : !h
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !h
  %1 = arith.mulf %0, %0 : !h
  %2 = arith.mulf %1, %0 : !h
  %3 = arith.mulf %cubic, %2 : !h
  %4 = arith.addf %0, %3 : !h
  %5 = arith.mulf %scale, %4 : !h
  %6 = math.tanh %5 : !h
  %7 = arith.addf %one, %6 : !h
  %8 = arith.mulf %half, %7 : !h
  %9 = arith.mulf %0, %8 : !h
  return %9 : !h
}

// CHECK-LABEL: @short_rows
// CHECK: fusion.matmul %
// CHECK-NOT: gelu
func.func @short_rows(%x: !x, %w: tensor<16x12xbf16>) -> tensor<8x12xbf16> {
  %cubic = arith.constant dense<4.467770e-02> : tensor<8x12xbf16>
  %scale = arith.constant dense<7.968750e-01> : tensor<8x12xbf16>
  %one = arith.constant dense<1.0> : tensor<8x12xbf16>
  %half = arith.constant dense<0.5> : tensor<8x12xbf16>
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, tensor<16x12xbf16> -> tensor<8x12xbf16>
  %1 = arith.mulf %0, %0 : tensor<8x12xbf16>
  %2 = arith.mulf %1, %0 : tensor<8x12xbf16>
  %3 = arith.mulf %cubic, %2 : tensor<8x12xbf16>
  %4 = arith.addf %0, %3 : tensor<8x12xbf16>
  %5 = arith.mulf %scale, %4 : tensor<8x12xbf16>
  %6 = math.tanh %5 : tensor<8x12xbf16>
  %7 = arith.addf %one, %6 : tensor<8x12xbf16>
  %8 = arith.mulf %half, %7 : tensor<8x12xbf16>
  %9 = arith.mulf %0, %8 : tensor<8x12xbf16>
  return %9 : tensor<8x12xbf16>
}

// The gradient's matmul is needed for something else too: it stays.
// CHECK-LABEL: @product_read_twice
// CHECK: fusion.library_matmul {{.*}} epilogue [gelu]
// CHECK: fusion.matmul %
// CHECK-NOT: gelu_gradient
func.func @product_read_twice(%x: !x, %w: !w, %dy: tensor<8x64xbf16>, %v: tensor<64x32xbf16>) -> (!h, !h, !h) {
  %c3 = arith.constant dense<1.340330e-01> : !h
  %cubic = arith.constant dense<4.467770e-02> : !h
  %scale = arith.constant dense<7.968750e-01> : !h
  %one = arith.constant dense<1.0> : !h
  %half = arith.constant dense<0.5> : !h
  %0 = fusion.matmul %x [0, 1], %w [1, 2] into [0, 2] : !x, !w -> !h
  %1 = arith.mulf %0, %0 : !h
  %2 = arith.mulf %1, %0 : !h
  %3 = arith.mulf %cubic, %2 : !h
  %4 = arith.addf %0, %3 : !h
  %5 = arith.mulf %scale, %4 : !h
  %6 = math.tanh %5 : !h
  %7 = arith.addf %one, %6 : !h
  %8 = arith.mulf %half, %7 : !h
  %9 = arith.mulf %0, %8 : !h
  %g = fusion.matmul %dy [0, 1], %v [1, 2] into [0, 2] : tensor<8x64xbf16>, tensor<64x32xbf16> -> !h
  %10 = arith.mulf %6, %6 : !h
  %11 = arith.subf %one, %10 : !h
  %12 = arith.mulf %half, %0 : !h
  %13 = arith.mulf %12, %11 : !h
  %14 = arith.mulf %c3, %1 : !h
  %15 = arith.addf %one, %14 : !h
  %16 = arith.mulf %scale, %15 : !h
  %17 = arith.mulf %13, %16 : !h
  %18 = arith.addf %8, %17 : !h
  %19 = arith.mulf %g, %18 : !h
  %20 = math.exp %g : !h
  return %9, %19, %20 : !h, !h, !h
}
