// RUN: sgd-opt %s --sgd-fuse-clusters | FileCheck %s

// A softmax is one kernel that reads its input once.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[C:.*]] = fusion.cluster(%arg0) {
// CHECK-NOT: fusion.cluster
// CHECK: return %[[C]]
func.func @softmax(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %m = sgd.reduce max %x dimensions = [1] : tensor<64x256xf32> -> tensor<64xf32>
  %mk = sgd.broadcast_in_dim %m dims = [0] : tensor<64xf32> -> tensor<64x1xf32>
  %mb = sgd.broadcast_in_dim %mk dims = [0, 1] : tensor<64x1xf32> -> tensor<64x256xf32>
  %c = arith.subf %x, %mb : tensor<64x256xf32>
  %e = math.exp %c : tensor<64x256xf32>
  %s = sgd.reduce add %e dimensions = [1] : tensor<64x256xf32> -> tensor<64xf32>
  %sb = sgd.broadcast_in_dim %s dims = [0] : tensor<64xf32> -> tensor<64x256xf32>
  %r = arith.divf %e, %sb : tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}

// The residual sum and its layer norm are one kernel with two results, although the matmul in between reads one of them.
// CHECK-LABEL: func.func @residual_and_norm
// CHECK: %[[C:.*]]:2 = fusion.cluster(%arg0, %arg1) {
// CHECK: fusion.matmul %[[C]]#1
// CHECK: fusion.cluster({{.*}}%[[C]]#0
// CHECK-NOT: fusion.cluster
func.func @residual_and_norm(%x: tensor<64x256xf32>, %y: tensor<64x256xf32>, %w: tensor<256x256xf32>) -> tensor<64x256xf32> {
  %n = arith.constant dense<3.906250e-03> : tensor<64xf32>
  %h = arith.addf %x, %y : tensor<64x256xf32>
  %s = sgd.reduce add %h dimensions = [1] : tensor<64x256xf32> -> tensor<64xf32>
  %mean = arith.mulf %s, %n : tensor<64xf32>
  %mb = sgd.broadcast_in_dim %mean dims = [0] : tensor<64xf32> -> tensor<64x256xf32>
  %c = arith.subf %h, %mb : tensor<64x256xf32>
  %p = fusion.matmul %c [0, 1], %w [1, 2] into [0, 2] : tensor<64x256xf32>, tensor<256x256xf32> -> tensor<64x256xf32>
  %r = arith.addf %h, %p : tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}

// A value that reaches a cluster both directly and through a library call is not made in it: the call would wait for the cluster's end.
// CHECK-LABEL: func.func @no_circle
// CHECK: %[[E:.*]] = fusion.cluster(%arg0) {
// CHECK: %[[P:.*]] = fusion.matmul %[[E]]
// CHECK: fusion.cluster(%[[E]], %[[P]]) {
func.func @no_circle(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = math.exp %x : tensor<64x64xf32>
  %p = fusion.matmul %e [0, 1], %w [1, 2] into [0, 2] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %r = arith.addf %e, %p : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// Two column sums over one tensor read it once.
// CHECK-LABEL: func.func @siblings
// CHECK: fusion.cluster
// CHECK: sgd.reduce
// CHECK: sgd.reduce
// CHECK-NOT: fusion.cluster
func.func @siblings(%x: tensor<512x64xf32>, %y: tensor<512x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = sgd.reduce add %x dimensions = [0] : tensor<512x64xf32> -> tensor<64xf32>
  %p = arith.mulf %x, %y : tensor<512x64xf32>
  %1 = sgd.reduce add %p dimensions = [0] : tensor<512x64xf32> -> tensor<64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}

// Rows and columns of one tensor are walked by different kernels.
// CHECK-LABEL: func.func @rows_and_columns
// CHECK-COUNT-2: fusion.cluster
func.func @rows_and_columns(%x: tensor<512x64xf32>) -> (tensor<64xf32>, tensor<512xf32>) {
  %0 = sgd.reduce add %x dimensions = [0] : tensor<512x64xf32> -> tensor<64xf32>
  %1 = sgd.reduce add %x dimensions = [1] : tensor<512x64xf32> -> tensor<512xf32>
  return %0, %1 : tensor<64xf32>, tensor<512xf32>
}

// Both readers compute a cheap value instead of storing it; an expensive one is stored.
// CHECK-LABEL: func.func @cheap_and_dear
// CHECK: %[[E:.*]] = fusion.cluster(%arg0) {
// CHECK: math.exp
// CHECK: arith.negf
// CHECK: arith.negf
func.func @cheap_and_dear(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>) {
  %e = math.exp %x : tensor<64x64xf32>
  %n = arith.negf %e : tensor<64x64xf32>
  %a = arith.mulf %n, %n : tensor<64x64xf32>
  %p = fusion.matmul %a [0, 1], %w [1, 2] into [0, 2] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %s = arith.addf %p, %n : tensor<64x64xf32>
  %c = sgd.reduce add %s dimensions = [0] : tensor<64x64xf32> -> tensor<64xf32>
  return %p, %c : tensor<64x64xf32>, tensor<64xf32>
}

// Views of arguments, large constants and library calls stay outside.
// CHECK-LABEL: func.func @outside
// CHECK-NOT: fusion.cluster
func.func @outside(%x: tensor<8x8x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>) {
  %v = sgd.reshape %x : tensor<8x8x64xf32> -> tensor<64x64xf32>
  %p = fusion.matmul %v [0, 1], %w [1, 2] into [0, 2] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %c = arith.constant dense<1.000000e+00> : tensor<64xf32>
  return %p, %c : tensor<64x64xf32>, tensor<64xf32>
}

// A reduction over a dimension of size 1 is a copy: a kernel with other results than its size does not store it.
// CHECK-LABEL: func.func @one_element_rows
// CHECK: fusion.cluster(%arg0) {
// CHECK: fusion.yield {{.*}} : tensor<8xi1>
// CHECK: fusion.cluster({{.*}}) {
// CHECK: fusion.yield {{.*}} : tensor<8x64xf32>
func.func @one_element_rows(%i: tensor<8x1xi32>, %x: tensor<8x64xf32>, %y: tensor<64x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %zero = arith.constant dense<0> : tensor<8x1xi32>
  %nan = arith.constant dense<0x7FC00000> : tensor<8x64xf32>
  %c = arith.cmpi sge, %i, %zero : tensor<8x1xi32>
  %r = sgd.reduce and %c dimensions = [1] : tensor<8x1xi1> -> tensor<8xi1>
  %b = sgd.broadcast_in_dim %r dims = [0] : tensor<8xi1> -> tensor<8x64xi1>
  %s = arith.select %b, %x, %nan : tensor<8x64xi1>, tensor<8x64xf32>
  %p = fusion.matmul %s [0, 1], %y [1, 2] into [0, 2] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %t = arith.select %b, %p, %nan : tensor<8x64xi1>, tensor<8x64xf32>
  return %s, %t : tensor<8x64xf32>, tensor<8x64xf32>
}

// Sums of shifted sums: each level reads the one before twice, so that adding again costs more than storing after some.
// CHECK-LABEL: func.func @doubling
// CHECK-COUNT-2: fusion.cluster
// CHECK-NOT: fusion.cluster
// CHECK: return
func.func @doubling(%x: tensor<4096xf32>) -> tensor<4033xf32> {
  %a0 = sgd.slice %x starts = [0] limits = [4095] strides = [1] : tensor<4096xf32> -> tensor<4095xf32>
  %b0 = sgd.slice %x starts = [1] limits = [4096] strides = [1] : tensor<4096xf32> -> tensor<4095xf32>
  %0 = arith.addf %a0, %b0 : tensor<4095xf32>
  %a1 = sgd.slice %0 starts = [0] limits = [4093] strides = [1] : tensor<4095xf32> -> tensor<4093xf32>
  %b1 = sgd.slice %0 starts = [2] limits = [4095] strides = [1] : tensor<4095xf32> -> tensor<4093xf32>
  %1 = arith.addf %a1, %b1 : tensor<4093xf32>
  %a2 = sgd.slice %1 starts = [0] limits = [4089] strides = [1] : tensor<4093xf32> -> tensor<4089xf32>
  %b2 = sgd.slice %1 starts = [4] limits = [4093] strides = [1] : tensor<4093xf32> -> tensor<4089xf32>
  %2 = arith.addf %a2, %b2 : tensor<4089xf32>
  %a3 = sgd.slice %2 starts = [0] limits = [4081] strides = [1] : tensor<4089xf32> -> tensor<4081xf32>
  %b3 = sgd.slice %2 starts = [8] limits = [4089] strides = [1] : tensor<4089xf32> -> tensor<4081xf32>
  %3 = arith.addf %a3, %b3 : tensor<4081xf32>
  %a4 = sgd.slice %3 starts = [0] limits = [4065] strides = [1] : tensor<4081xf32> -> tensor<4065xf32>
  %b4 = sgd.slice %3 starts = [16] limits = [4081] strides = [1] : tensor<4081xf32> -> tensor<4065xf32>
  %4 = arith.addf %a4, %b4 : tensor<4065xf32>
  %a5 = sgd.slice %4 starts = [0] limits = [4033] strides = [1] : tensor<4065xf32> -> tensor<4033xf32>
  %b5 = sgd.slice %4 starts = [32] limits = [4065] strides = [1] : tensor<4065xf32> -> tensor<4033xf32>
  %5 = arith.addf %a5, %b5 : tensor<4033xf32>
  return %5 : tensor<4033xf32>
}

// A value that is read at several places, and takes many ops, is stored.
// CHECK-LABEL: func.func @stored_chain
// CHECK: %[[Y:.*]] = fusion.cluster(%arg0)
// CHECK-COUNT-9: arith.mulf
// CHECK: fusion.cluster(%[[Y]])
// CHECK-NOT: arith.mulf
// CHECK: return
func.func @stored_chain(%x: tensor<4096xf32>) -> tensor<4094xf32> {
  %0 = arith.mulf %x, %x : tensor<4096xf32>
  %1 = arith.mulf %0, %x : tensor<4096xf32>
  %2 = arith.mulf %1, %x : tensor<4096xf32>
  %3 = arith.mulf %2, %x : tensor<4096xf32>
  %4 = arith.mulf %3, %x : tensor<4096xf32>
  %5 = arith.mulf %4, %x : tensor<4096xf32>
  %6 = arith.mulf %5, %x : tensor<4096xf32>
  %7 = arith.mulf %6, %x : tensor<4096xf32>
  %y = arith.mulf %7, %x : tensor<4096xf32>
  %a = sgd.slice %y starts = [0] limits = [4094] strides = [1] : tensor<4096xf32> -> tensor<4094xf32>
  %b = sgd.slice %y starts = [1] limits = [4095] strides = [1] : tensor<4096xf32> -> tensor<4094xf32>
  %c = sgd.slice %y starts = [2] limits = [4096] strides = [1] : tensor<4096xf32> -> tensor<4094xf32>
  %d = arith.addf %a, %b : tensor<4094xf32>
  %e = arith.addf %d, %c : tensor<4094xf32>
  return %e : tensor<4094xf32>
}
