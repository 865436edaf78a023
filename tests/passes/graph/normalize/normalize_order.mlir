// RUN: sgd-opt %s --sgd-normalize-order | FileCheck %s

!t = tensor<4xf32>

// CHECK-LABEL: @one_way
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: math.exp
// CHECK-NEXT: arith.subf
// CHECK-NEXT: return
func.func @one_way(%x: !t, %y: !t) -> (!t, !t) {
  %a = arith.addf %x, %y : !t
  %b = math.exp %a : !t
  %c = arith.mulf %x, %y : !t
  %d = arith.subf %b, %c : !t
  return %d, %b : !t, !t
}

// CHECK-LABEL: @another_way
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: math.exp
// CHECK-NEXT: arith.subf
// CHECK-NEXT: return
func.func @another_way(%x: !t, %y: !t) -> (!t, !t) {
  %c = arith.mulf %x, %y : !t
  %a = arith.addf %x, %y : !t
  %b = math.exp %a : !t
  %d = arith.subf %b, %c : !t
  return %d, %b : !t, !t
}

// An unused op stays, behind its operands.
// CHECK-LABEL: @unused
// CHECK-NEXT: arith.addf
// CHECK-NEXT: math.exp
// CHECK-NEXT: arith.negf
func.func @unused(%x: !t) -> !t {
  %a = arith.addf %x, %x : !t
  %n = arith.negf %a : !t
  %b = math.exp %a : !t
  return %b : !t
}
