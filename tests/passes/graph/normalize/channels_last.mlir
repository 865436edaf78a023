// RUN: sgd-opt %s --split-input-file --sgd-move-channels-last | FileCheck %s

// Elementwise ops with repeated and constant operands, a residual connection, and the statistics of a batch norm.

// CHECK-LABEL: @between_convolutions
// CHECK-NOT: sgd.transpose
// CHECK: %[[Y:.*]] = sgd.convolution
// CHECK: %[[LAST:.*]] = sgd.reshape %[[Y]] : tensor<2x4x4x1x8xf32> -> tensor<2x4x4x8xf32>
// CHECK: sgd.reduce add %[[LAST]] dimensions = [0, 1, 2] : tensor<2x4x4x8xf32> -> tensor<8xf32>
// CHECK: sgd.broadcast_in_dim %{{.*}} dims = [0, 1, 2, 3] : tensor<1x1x1x8xf32> -> tensor<2x4x4x8xf32>
// CHECK: arith.subf %[[LAST]], %{{.*}} : tensor<2x4x4x8xf32>
// CHECK: %[[BIAS:.*]] = sgd.broadcast_in_dim %{{.*}} dims = [3] : tensor<8xf32> -> tensor<2x4x4x8xf32>
// CHECK: arith.addf %{{.*}}, %[[BIAS]] : tensor<2x4x4x8xf32>
// CHECK: arith.cmpf ogt, %{{.*}}, %{{.*}} : tensor<2x4x4x8xf32>
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4x4x8xi1>, tensor<2x4x4x8xf32>
// CHECK-NOT: sgd.transpose
// CHECK: sgd.convolution
func.func @between_convolutions(%x: tensor<2x4x4x1x3xf32>, %k: tensor<3x3x1x3x8xf32>, %l: tensor<3x3x1x8x8xf32>, %b: tensor<8xf32>) -> tensor<2x4x4x1x8xf32> {
  %y = sgd.convolution %x, %k strides = [1, 1] low = [1, 1] high = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x4x4x1x3xf32>, tensor<3x3x1x3x8xf32> -> tensor<2x4x4x1x8xf32>
  %last = sgd.reshape %y : tensor<2x4x4x1x8xf32> -> tensor<2x4x4x8xf32>
  %first = sgd.transpose %last permutation = [0, 3, 1, 2] : tensor<2x4x4x8xf32> -> tensor<2x8x4x4xf32>
  %sum = sgd.reduce add %first dimensions = [0, 2, 3] : tensor<2x8x4x4xf32> -> tensor<8xf32>
  %kept = sgd.reshape %sum : tensor<8xf32> -> tensor<1x8x1x1xf32>
  %mean = sgd.broadcast_in_dim %kept dims = [0, 1, 2, 3] : tensor<1x8x1x1xf32> -> tensor<2x8x4x4xf32>
  %distance = arith.subf %first, %mean : tensor<2x8x4x4xf32>
  %bias = sgd.broadcast_in_dim %b dims = [1] : tensor<8xf32> -> tensor<2x8x4x4xf32>
  %shifted = arith.addf %distance, %bias : tensor<2x8x4x4xf32>
  %residual = arith.addf %shifted, %first : tensor<2x8x4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<2x8x4x4xf32>
  %positive = arith.cmpf ogt, %residual, %zero : tensor<2x8x4x4xf32>
  %relu = arith.select %positive, %residual, %zero : tensor<2x8x4x4xi1>, tensor<2x8x4x4xf32>
  %images = sgd.transpose %relu permutation = [0, 2, 3, 1] : tensor<2x8x4x4xf32> -> tensor<2x4x4x8xf32>
  %grouped = sgd.reshape %images : tensor<2x4x4x8xf32> -> tensor<2x4x4x1x8xf32>
  %z = sgd.convolution %grouped, %l strides = [1, 1] low = [1, 1] high = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x4x4x1x8xf32>, tensor<3x3x1x8x8xf32> -> tensor<2x4x4x1x8xf32>
  return %z : tensor<2x4x4x1x8xf32>
}

// -----

// Ops that move elements: their dimensions are those of the other order.

// CHECK-LABEL: @movement
// CHECK: %[[LAST:.*]] = sgd.reshape %{{.*}} : tensor<2x4x6x1x8xf32> -> tensor<2x4x6x8xf32>
// CHECK: %[[PAD:.*]] = sgd.pad %[[LAST]], %{{.*}} low = [0, 1, 2, 3] high = [0, -1, 0, 0] interior = [0, 0, 1, 0] : tensor<2x4x6x8xf32>, tensor<f32> -> tensor<2x4x13x11xf32>
// CHECK: %[[SLICE:.*]] = sgd.slice %[[PAD]] starts = [0, 1, 2, 3] limits = [2, 4, 8, 11] strides = [1, 1, 3, 4] : tensor<2x4x13x11xf32> -> tensor<2x3x2x2xf32>
// CHECK: %[[REVERSE:.*]] = sgd.reverse %[[SLICE]] dimensions = [3, 1] : tensor<2x3x2x2xf32>
// CHECK: %[[JOINED:.*]] = sgd.concatenate %[[REVERSE]], %[[SLICE]] dimension = 3 : (tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>) -> tensor<2x3x2x4xf32>
// CHECK: %[[OUT:.*]] = sgd.transpose %[[JOINED]] permutation = [0, 3, 1, 2] : tensor<2x3x2x4xf32> -> tensor<2x4x3x2xf32>
// CHECK: return %[[OUT]]
func.func @movement(%x: tensor<2x4x6x1x3xf32>, %k: tensor<1x1x1x3x8xf32>) -> tensor<2x4x3x2xf32> {
  %y = sgd.convolution %x, %k strides = [1, 1] low = [0, 0] high = [0, 0] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x4x6x1x3xf32>, tensor<1x1x1x3x8xf32> -> tensor<2x4x6x1x8xf32>
  %last = sgd.reshape %y : tensor<2x4x6x1x8xf32> -> tensor<2x4x6x8xf32>
  %first = sgd.transpose %last permutation = [0, 3, 1, 2] : tensor<2x4x6x8xf32> -> tensor<2x8x4x6xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %padded = sgd.pad %first, %zero low = [0, 3, 1, 2] high = [0, 0, -1, 0] interior = [0, 0, 0, 1] : tensor<2x8x4x6xf32>, tensor<f32> -> tensor<2x11x4x13xf32>
  %part = sgd.slice %padded starts = [0, 3, 1, 2] limits = [2, 11, 4, 8] strides = [1, 4, 1, 3] : tensor<2x11x4x13xf32> -> tensor<2x2x3x2xf32>
  %back = sgd.reverse %part dimensions = [1, 2] : tensor<2x2x3x2xf32>
  %both = sgd.concatenate %back, %part dimension = 1 : (tensor<2x2x3x2xf32>, tensor<2x2x3x2xf32>) -> tensor<2x4x3x2xf32>
  return %both : tensor<2x4x3x2xf32>
}

// -----

// A reshape that splits channels into groups or merges positions stays one; one that merges channels with positions does not move.

// CHECK-LABEL: @reshapes
// CHECK: %[[LAST:.*]] = sgd.reshape %{{.*}} : tensor<2x4x6x1x8xf32> -> tensor<2x4x6x8xf32>
// CHECK: %[[FIRST:.*]] = sgd.transpose %[[LAST]] permutation = [0, 3, 1, 2]
// CHECK: %[[GROUPS:.*]] = sgd.reshape %[[LAST]] : tensor<2x4x6x8xf32> -> tensor<2x4x6x4x2xf32>
// CHECK: sgd.reduce add %[[GROUPS]] dimensions = [1, 2, 4] : tensor<2x4x6x4x2xf32> -> tensor<2x4xf32>
// CHECK: %[[TOKENS:.*]] = sgd.reshape %[[LAST]] : tensor<2x4x6x8xf32> -> tensor<2x24x8xf32>
// CHECK: %[[FLAT:.*]] = sgd.reshape %[[FIRST]] : tensor<2x8x4x6xf32> -> tensor<2x192xf32>
// CHECK: return %{{.*}}, %[[TOKENS]], %[[FLAT]]
func.func @reshapes(%x: tensor<2x4x6x1x3xf32>, %k: tensor<1x1x1x3x8xf32>) -> (tensor<2x4xf32>, tensor<2x24x8xf32>, tensor<2x192xf32>) {
  %y = sgd.convolution %x, %k strides = [1, 1] low = [0, 0] high = [0, 0] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x4x6x1x3xf32>, tensor<1x1x1x3x8xf32> -> tensor<2x4x6x1x8xf32>
  %last = sgd.reshape %y : tensor<2x4x6x1x8xf32> -> tensor<2x4x6x8xf32>
  %first = sgd.transpose %last permutation = [0, 3, 1, 2] : tensor<2x4x6x8xf32> -> tensor<2x8x4x6xf32>
  %groups = sgd.reshape %first : tensor<2x8x4x6xf32> -> tensor<2x4x2x4x6xf32>
  %sums = sgd.reduce add %groups dimensions = [2, 3, 4] : tensor<2x4x2x4x6xf32> -> tensor<2x4xf32>
  %merged = sgd.reshape %first : tensor<2x8x4x6xf32> -> tensor<2x8x24xf32>
  %tokens = sgd.transpose %merged permutation = [0, 2, 1] : tensor<2x8x24xf32> -> tensor<2x24x8xf32>
  %flat = sgd.reshape %first : tensor<2x8x4x6xf32> -> tensor<2x192xf32>
  return %sums, %tokens, %flat : tensor<2x4xf32>, tensor<2x24x8xf32>, tensor<2x192xf32>
}

// -----

// Channels scaled by a number each, and positions repeated, as by upsampling.

// CHECK-LABEL: @repeated
// CHECK: %[[LAST:.*]] = sgd.reshape %{{.*}} : tensor<2x4x4x1x8xf32> -> tensor<2x4x4x8xf32>
// CHECK: %[[MEAN:.*]] = sgd.reduce add %[[LAST]] dimensions = [1, 2] : tensor<2x4x4x8xf32> -> tensor<2x8xf32>
// CHECK: %[[GATE:.*]] = sgd.broadcast_in_dim %{{.*}} dims = [0, 3] : tensor<2x8xf32> -> tensor<2x4x4x8xf32>
// CHECK: %[[SCALED:.*]] = arith.mulf %[[LAST]], %[[GATE]] : tensor<2x4x4x8xf32>
// CHECK: %[[WIDE:.*]] = sgd.broadcast_in_dim %[[SCALED]] dims = [0, 1, 2, 4] : tensor<2x4x4x8xf32> -> tensor<2x4x4x2x8xf32>
// CHECK: %[[MERGED:.*]] = sgd.reshape %[[WIDE]] : tensor<2x4x4x2x8xf32> -> tensor<2x4x8x8xf32>
// CHECK: sgd.transpose %[[MERGED]] permutation = [0, 3, 1, 2]
func.func @repeated(%x: tensor<2x4x4x1x3xf32>, %k: tensor<1x1x1x3x8xf32>) -> tensor<2x8x4x8xf32> {
  %y = sgd.convolution %x, %k strides = [1, 1] low = [0, 0] high = [0, 0] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x4x4x1x3xf32>, tensor<1x1x1x3x8xf32> -> tensor<2x4x4x1x8xf32>
  %last = sgd.reshape %y : tensor<2x4x4x1x8xf32> -> tensor<2x4x4x8xf32>
  %first = sgd.transpose %last permutation = [0, 3, 1, 2] : tensor<2x4x4x8xf32> -> tensor<2x8x4x4xf32>
  %mean = sgd.reduce add %first dimensions = [2, 3] : tensor<2x8x4x4xf32> -> tensor<2x8xf32>
  %gate = sgd.broadcast_in_dim %mean dims = [0, 1] : tensor<2x8xf32> -> tensor<2x8x4x4xf32>
  %scaled = arith.mulf %first, %gate : tensor<2x8x4x4xf32>
  %wide = sgd.broadcast_in_dim %scaled dims = [0, 1, 2, 3] : tensor<2x8x4x4xf32> -> tensor<2x8x4x4x2xf32>
  %merged = sgd.reshape %wide : tensor<2x8x4x4x2xf32> -> tensor<2x8x4x8xf32>
  return %merged : tensor<2x8x4x8xf32>
}

// -----

// An operand in the other order is transposed unless it is larger than what is moved.

// CHECK-LABEL: @other_operands
// CHECK: %[[LAST:.*]] = sgd.reshape %{{.*}} : tensor<2x4x4x1x8xf32> -> tensor<2x4x4x8xf32>
// CHECK: %[[MASK:.*]] = sgd.transpose %arg2 permutation = [0, 2, 3, 1] : tensor<2x8x4x4xf32> -> tensor<2x4x4x8xf32>
// CHECK: %[[MASKED:.*]] = arith.mulf %[[LAST]], %[[MASK]] : tensor<2x4x4x8xf32>
// CHECK: %[[FIRST:.*]] = sgd.transpose %[[MASKED]] permutation = [0, 3, 1, 2]
// CHECK: sgd.concatenate %[[FIRST]], %arg3 dimension = 1 : (tensor<2x8x4x4xf32>, tensor<2x16x4x4xf32>) -> tensor<2x24x4x4xf32>
func.func @other_operands(%x: tensor<2x4x4x1x3xf32>, %k: tensor<1x1x1x3x8xf32>, %m: tensor<2x8x4x4xf32>, %n: tensor<2x16x4x4xf32>) -> tensor<2x24x4x4xf32> {
  %y = sgd.convolution %x, %k strides = [1, 1] low = [0, 0] high = [0, 0] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x4x4x1x3xf32>, tensor<1x1x1x3x8xf32> -> tensor<2x4x4x1x8xf32>
  %last = sgd.reshape %y : tensor<2x4x4x1x8xf32> -> tensor<2x4x4x8xf32>
  %first = sgd.transpose %last permutation = [0, 3, 1, 2] : tensor<2x4x4x8xf32> -> tensor<2x8x4x4xf32>
  %masked = arith.mulf %first, %m : tensor<2x8x4x4xf32>
  %joined = sgd.concatenate %masked, %n dimension = 1 : (tensor<2x8x4x4xf32>, tensor<2x16x4x4xf32>) -> tensor<2x24x4x4xf32>
  return %joined : tensor<2x24x4x4xf32>
}

// -----

// Other transposes, such as those of gradients of kernels, stay where they are.

// CHECK-LABEL: @other_order
// CHECK: %[[T:.*]] = sgd.transpose %{{.*}} permutation = [3, 1, 2, 0]
// CHECK: math.absf %[[T]] : tensor<8x4x4x2xf32>
func.func @other_order(%x: tensor<2x4x4x1x3xf32>, %k: tensor<1x1x1x3x8xf32>) -> tensor<8x4x4x2xf32> {
  %y = sgd.convolution %x, %k strides = [1, 1] low = [0, 0] high = [0, 0] lhs_dilations = [1, 1] rhs_dilations = [1, 1] : tensor<2x4x4x1x3xf32>, tensor<1x1x1x3x8xf32> -> tensor<2x4x4x1x8xf32>
  %last = sgd.reshape %y : tensor<2x4x4x1x8xf32> -> tensor<2x4x4x8xf32>
  %t = sgd.transpose %last permutation = [3, 1, 2, 0] : tensor<2x4x4x8xf32> -> tensor<8x4x4x2xf32>
  %z = math.absf %t : tensor<8x4x4x2xf32>
  return %z : tensor<8x4x4x2xf32>
}
