// Elementwise ops: one graph-level op where arith and math agree with XLA on every input, an exact expansion elsewhere.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @floats
func.func @floats(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: math.absf
  %0 = stablehlo.abs %a : tensor<4xf32>
  // CHECK: math.cbrt
  %1 = stablehlo.cbrt %0 : tensor<4xf32>
  // CHECK: math.ceil
  %2 = stablehlo.ceil %1 : tensor<4xf32>
  // CHECK: math.cos
  %3 = stablehlo.cosine %2 : tensor<4xf32>
  // CHECK: math.exp %
  %4 = stablehlo.exponential %3 : tensor<4xf32>
  // CHECK: math.expm1
  %5 = stablehlo.exponential_minus_one %4 : tensor<4xf32>
  // CHECK: math.floor
  %6 = stablehlo.floor %5 : tensor<4xf32>
  // CHECK: math.log %
  %7 = stablehlo.log %6 : tensor<4xf32>
  // CHECK: math.log1p
  %8 = stablehlo.log_plus_one %7 : tensor<4xf32>
  // CHECK: arith.negf
  %9 = stablehlo.negate %8 : tensor<4xf32>
  // CHECK: math.round %
  %10 = stablehlo.round_nearest_afz %9 : tensor<4xf32>
  // CHECK: math.roundeven
  %11 = stablehlo.round_nearest_even %10 : tensor<4xf32>
  // CHECK: math.rsqrt
  %12 = stablehlo.rsqrt %11 : tensor<4xf32>
  // CHECK: math.sin
  %13 = stablehlo.sine %12 : tensor<4xf32>
  // CHECK: math.sqrt
  %14 = stablehlo.sqrt %13 : tensor<4xf32>
  // CHECK: math.tan %
  %15 = stablehlo.tan %14 : tensor<4xf32>
  // CHECK: math.tanh
  %16 = stablehlo.tanh %15 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  // CHECK: arith.addf
  %17 = stablehlo.add %16, %b : tensor<4xf32>
  // CHECK: arith.subf
  %18 = stablehlo.subtract %17, %b : tensor<4xf32>
  // CHECK: arith.mulf
  %19 = stablehlo.multiply %18, %b : tensor<4xf32>
  // CHECK: arith.divf
  %20 = stablehlo.divide %19, %b : tensor<4xf32>
  // CHECK: arith.remf
  %21 = stablehlo.remainder %20, %b : tensor<4xf32>
  // NaN wins.
  // CHECK: arith.maximumf
  %22 = stablehlo.maximum %21, %b : tensor<4xf32>
  // CHECK: arith.minimumf
  %23 = stablehlo.minimum %22, %b : tensor<4xf32>
  // CHECK: math.powf
  %24 = stablehlo.power %23, %b : tensor<4xf32>
  // CHECK: math.atan2
  %25 = stablehlo.atan2 %24, %b : tensor<4xf32>
  return %25 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @expanded_floats
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @expanded_floats(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xf32>) {
  // CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00>
  // CHECK: %[[NEG:.*]] = arith.negf %[[X]]
  // CHECK: %[[EXP:.*]] = math.exp %[[NEG]]
  // CHECK: %[[SUM:.*]] = arith.addf %[[ONE]], %[[EXP]]
  // CHECK: arith.divf %[[ONE]], %[[SUM]]
  %0 = stablehlo.logistic %x : tensor<4xf32>
  // Zeros keep their sign, NaN stays.
  // CHECK: %[[NONZERO:.*]] = arith.cmpf one, %[[X]]
  // CHECK: %[[UNIT:.*]] = math.copysign
  // CHECK: arith.select %[[NONZERO]], %[[UNIT]], %[[X]]
  %1 = stablehlo.sign %x : tensor<4xf32>
  // CHECK: %[[INF:.*]] = arith.constant dense<0x7F800000>
  // CHECK: %[[ABS:.*]] = math.absf %[[X]]
  // CHECK: arith.cmpf olt, %[[ABS]], %[[INF]]
  %2 = stablehlo.is_finite %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK: arith.mulf %[[X]], %[[X]]
  %3 = chlo.square %x : tensor<4xf32> -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @chlo
func.func @chlo(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>, tensor<4xi1>) {
  // CHECK: math.acos %
  %0 = chlo.acos %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.acosh
  %1 = chlo.acosh %0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.asin %
  %2 = chlo.asin %1 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.asinh
  %3 = chlo.asinh %2 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.atan %
  %4 = chlo.atan %3 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.atanh
  %5 = chlo.atanh %4 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.cosh
  %6 = chlo.cosh %5 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.sinh
  %7 = chlo.sinh %6 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.erf %
  %8 = chlo.erf %7 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.erfc
  %9 = chlo.erfc %8 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.absf
  // CHECK: arith.cmpf oeq
  %10 = chlo.is_inf %9 : tensor<4xf32> -> tensor<4xi1>
  // CHECK: arith.constant dense<0xFF800000>
  // CHECK: arith.cmpf oeq
  %11 = chlo.is_neg_inf %9 : tensor<4xf32> -> tensor<4xi1>
  return %9, %10, %11 : tensor<4xf32>, tensor<4xi1>, tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func @signed
// CHECK-SAME: tensor<4xi32>
// CHECK-NOT: sgd.unsigned
func.func @signed(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: sgd.divsi
  %0 = stablehlo.divide %a, %b : tensor<4xi32>
  // CHECK: sgd.remsi
  %1 = stablehlo.remainder %0, %b : tensor<4xi32>
  // CHECK: arith.maxsi
  %2 = stablehlo.maximum %1, %b : tensor<4xi32>
  // CHECK: arith.minsi
  %3 = stablehlo.minimum %2, %b : tensor<4xi32>
  // CHECK: sgd.shli
  %4 = stablehlo.shift_left %3, %b : tensor<4xi32>
  // CHECK: sgd.shrsi
  %5 = stablehlo.shift_right_arithmetic %4, %b : tensor<4xi32>
  // CHECK: sgd.shrui
  %6 = stablehlo.shift_right_logical %5, %b : tensor<4xi32>
  // CHECK: math.absi
  %7 = stablehlo.abs %6 : tensor<4xi32>
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0>
  // CHECK: arith.subi %[[ZERO]]
  %8 = stablehlo.negate %7 : tensor<4xi32>
  // CHECK: arith.constant dense<1>
  // CHECK: arith.constant dense<-1>
  // CHECK: arith.minsi
  // CHECK: arith.maxsi
  %9 = stablehlo.sign %8 : tensor<4xi32>
  // CHECK: arith.constant dense<-1>
  // CHECK: arith.xori
  %10 = stablehlo.not %9 : tensor<4xi32>
  // CHECK: math.ctpop
  %11 = stablehlo.popcnt %10 : tensor<4xi32>
  // CHECK: math.ctlz
  %12 = stablehlo.count_leading_zeros %11 : tensor<4xi32>
  // CHECK: arith.andi
  %13 = stablehlo.and %12, %b : tensor<4xi32>
  // CHECK: arith.ori
  %14 = stablehlo.or %13, %b : tensor<4xi32>
  // CHECK: arith.muli
  %15 = stablehlo.multiply %14, %b : tensor<4xi32>
  return %15 : tensor<4xi32>
}

// -----

// CHECK-LABEL: func.func @unsigned
// CHECK-SAME: %[[A:[^:]*]]: tensor<4xi32> {sgd.unsigned}, %[[B:[^:]*]]: tensor<4xi32> {sgd.unsigned}) -> (tensor<4xi32> {sgd.unsigned})
func.func @unsigned(%a: tensor<4xui32>, %b: tensor<4xui32>) -> tensor<4xui32> {
  // CHECK: sgd.divui %[[A]], %[[B]]
  %0 = stablehlo.divide %a, %b : tensor<4xui32>
  // CHECK: sgd.remui
  %1 = stablehlo.remainder %0, %b : tensor<4xui32>
  // CHECK: arith.maxui
  %2 = stablehlo.maximum %1, %b : tensor<4xui32>
  // CHECK: arith.minui
  %3 = stablehlo.minimum %2, %b : tensor<4xui32>
  // CHECK-NOT: math.absi
  %4 = stablehlo.abs %3 : tensor<4xui32>
  // CHECK: arith.minui
  %5 = stablehlo.sign %4 : tensor<4xui32>
  // CHECK: arith.constant dense<-1> : tensor<4xi32>
  %6 = stablehlo.constant dense<4294967295> : tensor<4xui32>
  // CHECK: arith.addi
  %7 = stablehlo.add %5, %6 : tensor<4xui32>
  return %7 : tensor<4xui32>
}

// -----

// CHECK-LABEL: func.func @booleans
func.func @booleans(%a: tensor<4xi1>, %b: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK: arith.ori
  %0 = stablehlo.add %a, %b : tensor<4xi1>
  // CHECK: arith.andi
  %1 = stablehlo.multiply %0, %b : tensor<4xi1>
  // CHECK: arith.ori
  %2 = stablehlo.maximum %1, %b : tensor<4xi1>
  // CHECK: arith.andi
  %3 = stablehlo.minimum %2, %b : tensor<4xi1>
  // CHECK: arith.constant dense<true>
  // CHECK: arith.xori
  %4 = stablehlo.not %3 : tensor<4xi1>
  // CHECK: arith.cmpi ult
  %5 = stablehlo.compare LT, %4, %b, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %5 : tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func @compare
func.func @compare(%f: tensor<4xf32>, %i: tensor<4xi32>, %u: tensor<4xui8>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  // CHECK: arith.cmpf oeq
  %0 = stablehlo.compare EQ, %f, %f, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: arith.cmpf une
  %1 = stablehlo.compare NE, %f, %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: arith.cmpi sge
  %2 = stablehlo.compare GE, %i, %i, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK: arith.cmpi ugt
  %3 = stablehlo.compare GT, %u, %u, UNSIGNED : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  // CHECK: %[[BITS:.*]] = arith.bitcast
  // CHECK: %[[SIGN:.*]] = sgd.shrsi %[[BITS]]
  // CHECK: %[[FLIP:.*]] = arith.andi %[[SIGN]]
  // CHECK: arith.xori %[[BITS]], %[[FLIP]]
  // CHECK: arith.cmpi slt
  %4 = stablehlo.compare LT, %f, %f, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0, %1, %2, %3, %4 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func @select_and_clamp
// CHECK-SAME: (%[[P:[^:]*]]: tensor<i1>, %[[X:[^:]*]]: tensor<4xf32>, %[[LOW:[^:]*]]: tensor<f32>
func.func @select_and_clamp(%p: tensor<i1>, %x: tensor<4xf32>, %low: tensor<f32>, %u: tensor<4xui8>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xui8>) {
  // CHECK: %[[WIDE:.*]] = sgd.broadcast_in_dim %[[P]] dims = [] : tensor<i1> -> tensor<4xi1>
  // CHECK: arith.select %[[WIDE]], %[[X]], %[[X]]
  %0 = stablehlo.select %p, %x, %x : tensor<i1>, tensor<4xf32>
  // CHECK: %[[MIN:.*]] = sgd.broadcast_in_dim %[[LOW]]
  // CHECK: %[[MAX:.*]] = sgd.broadcast_in_dim %[[LOW]]
  // CHECK: %[[RAISED:.*]] = arith.maximumf %[[X]], %[[MIN]]
  // CHECK: arith.minimumf %[[RAISED]], %[[MAX]]
  %1 = stablehlo.clamp %low, %x, %low : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: arith.maxui
  // CHECK: arith.minui
  %2 = stablehlo.clamp %u, %u, %u : tensor<4xui8>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xui8>
}

// -----

// A constant exponent: 5 = 101b.
// CHECK-LABEL: func.func @fifth_power
// CHECK-SAME: (%[[X:[^:]*]]: tensor<4xi32>
func.func @fifth_power(%x: tensor<4xui32>) -> tensor<4xui32> {
  // CHECK: %[[SQUARE:.*]] = arith.muli %[[X]], %[[X]]
  // CHECK: %[[FOURTH:.*]] = arith.muli %[[SQUARE]], %[[SQUARE]]
  // CHECK: arith.muli %{{.*}}, %[[FOURTH]]
  // CHECK-NEXT: return
  %scalar = stablehlo.constant dense<5> : tensor<ui32>
  %five = stablehlo.broadcast_in_dim %scalar, dims = [] : (tensor<ui32>) -> tensor<4xui32>
  %0 = stablehlo.power %x, %five : tensor<4xui32>
  return %0 : tensor<4xui32>
}

// -----

// Negative exponents give 0 unless the base is 1 or -1.
// CHECK-LABEL: func.func @power_of_signed
func.func @power_of_signed(%x: tensor<4xi8>, %y: tensor<4xi8>) -> tensor<4xi8> {
  // CHECK-COUNT-8: arith.select
  // CHECK: arith.cmpi ule
  // CHECK: arith.cmpi slt
  // CHECK: arith.select
  // CHECK: arith.select
  %0 = stablehlo.power %x, %y : tensor<4xi8>
  return %0 : tensor<4xi8>
}
