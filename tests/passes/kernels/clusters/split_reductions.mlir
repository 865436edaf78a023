// RUN: sgd-opt %s --sgd-split-reductions --split-input-file | FileCheck %s
// RUN: sgd-opt %s --sgd-split-reductions='parts=512 columns=32' --split-input-file | FileCheck %s --check-prefix=MANY

// A sum of everything: parts that threads share, then the parts.
// CHECK-LABEL: func.func @all
// CHECK: %[[R:.*]] = sgd.reshape %arg0 : tensor<1024x1024xf32> -> tensor<64x16384xf32>
// CHECK: %[[P:.*]] = sgd.reduce add %[[R]] dimensions = [1] : tensor<64x16384xf32> -> tensor<64xf32>
// CHECK: sgd.reduce add %[[P]] dimensions = [0] : tensor<64xf32> -> tensor<f32>
func.func @all(%x: tensor<1024x1024xf32>) -> tensor<f32> {
  %0 = sgd.reduce add %x dimensions = [0, 1] : tensor<1024x1024xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Partial sums of narrow floats are not rounded; a maximum is exact in any type.
// CHECK-LABEL: func.func @narrow
// CHECK: arith.extf %arg0
// CHECK: sgd.reduce add {{.*}} -> tensor<2x32xf32>
// CHECK: sgd.reduce add {{.*}} -> tensor<2xf32>
// CHECK: arith.truncf {{.*}} : tensor<2xf32> to tensor<2xbf16>
// CHECK-NOT: extf
// CHECK: sgd.reduce max {{.*}} -> tensor<2x32xbf16>
func.func @narrow(%x: tensor<2x524288xbf16>) -> (tensor<2xbf16>, tensor<2xbf16>) {
  %0 = sgd.reduce add %x dimensions = [1] : tensor<2x524288xbf16> -> tensor<2xbf16>
  %1 = sgd.reduce max %x dimensions = [1] : tensor<2x524288xbf16> -> tensor<2xbf16>
  return %0, %1 : tensor<2xbf16>, tensor<2xbf16>
}

// -----

// Columns are summed over bands of rows.
// CHECK-LABEL: func.func @columns
// CHECK: sgd.reshape %arg0 : tensor<8x256x384xf32> -> tensor<32x64x384xf32>
// CHECK: sgd.reduce add {{.*}} dimensions = [1] : tensor<32x64x384xf32> -> tensor<32x384xf32>
// CHECK: sgd.reduce add {{.*}} dimensions = [0] : tensor<32x384xf32> -> tensor<384xf32>
func.func @columns(%x: tensor<8x256x384xf32>) -> tensor<384xf32> {
  %0 = sgd.reduce add %x dimensions = [0, 1] : tensor<8x256x384xf32> -> tensor<384xf32>
  return %0 : tensor<384xf32>
}

// -----

// More workers, each of fewer columns, have more bands.
// CHECK-LABEL: func.func @tall
// CHECK: sgd.reduce add {{.*}} dimensions = [1] : tensor<32x512x64xf32> -> tensor<32x64xf32>
// MANY-LABEL: func.func @tall
// MANY: sgd.reduce add {{.*}} dimensions = [1] : tensor<256x64x64xf32> -> tensor<256x64xf32>
func.func @tall(%x: tensor<16384x64xf32>) -> tensor<64xf32> {
  %0 = sgd.reduce add %x dimensions = [0] : tensor<16384x64xf32> -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// Few columns become more of them, which fill vectors.
// CHECK-LABEL: func.func @few_columns
// CHECK: sgd.reshape %arg0 : tensor<65536x10xf32> -> tensor<32x256x8x10xf32>
// CHECK: sgd.reduce add {{.*}} dimensions = [1] : tensor<32x256x8x10xf32> -> tensor<32x8x10xf32>
// CHECK: sgd.reduce add {{.*}} dimensions = [0, 1] : tensor<32x8x10xf32> -> tensor<10xf32>
func.func @few_columns(%x: tensor<65536x10xf32>) -> tensor<10xf32> {
  %0 = sgd.reduce add %x dimensions = [0] : tensor<65536x10xf32> -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// -----

// A length without divisors: what the parts leave over is reduced by itself, and joins them.
// CHECK-LABEL: func.func @prime
// CHECK: %[[MAIN:.*]] = sgd.slice %arg0 starts = [0] limits = [104724]
// CHECK: %[[PARTS:.*]] = sgd.reshape %[[MAIN]] : tensor<104724xf32> -> tensor<6x17454xf32>
// CHECK: %[[FIRST:.*]] = sgd.reduce add %[[PARTS]] dimensions = [1]
// CHECK: %[[SUM:.*]] = sgd.reduce add %[[FIRST]] dimensions = [0]
// CHECK: %[[REST:.*]] = sgd.slice %arg0 starts = [104724] limits = [104729]
// CHECK: %[[LAST:.*]] = sgd.reduce add %[[REST]] dimensions = [0]
// CHECK: arith.addf %[[SUM]], %[[LAST]]
func.func @prime(%x: tensor<104729xf32>) -> tensor<f32> {
  %0 = sgd.reduce add %x dimensions = [0] : tensor<104729xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Enough rows for threads, and few elements, stay as they are.
// CHECK-LABEL: func.func @stay
// CHECK-COUNT-3: sgd.reduce
// CHECK-NOT: sgd.reduce
func.func @stay(%x: tensor<64x8192xf32>, %y: tensor<1000xf32>, %e: tensor<0x100000xf32>)
    -> (tensor<64xf32>, tensor<f32>, tensor<100000xf32>) {
  %0 = sgd.reduce add %x dimensions = [1] : tensor<64x8192xf32> -> tensor<64xf32>
  %1 = sgd.reduce add %y dimensions = [0] : tensor<1000xf32> -> tensor<f32>
  %2 = sgd.reduce add %e dimensions = [0] : tensor<0x100000xf32> -> tensor<100000xf32>
  return %0, %1, %2 : tensor<64xf32>, tensor<f32>, tensor<100000xf32>
}
