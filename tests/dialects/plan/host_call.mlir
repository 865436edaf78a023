// RUN: sgd-opt %s --split-input-file --verify-diagnostics | sgd-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @calls
func.func @calls(%x: memref<8xf32, #plan.space<private>>, %flag: memref<i1, #plan.space<private>>, %y: memref<2xi32, #plan.space<private>>) {
  // CHECK: plan.host_call "print" 7 ins(%arg0 : memref<8xf32, #plan.space<private>>) outs()
  plan.host_call "print" 7 ins(%x : memref<8xf32, #plan.space<private>>) outs()
  // CHECK: plan.host_call "f" 8 each_rank when(%arg1 : memref<i1, #plan.space<private>>) ins() outs(%arg2 : memref<2xi32, #plan.space<private>>)
  plan.host_call "f" 8 each_rank when(%flag : memref<i1, #plan.space<private>>) ins() outs(%y : memref<2xi32, #plan.space<private>>)
  return
}

// -----

func.func @flag(%flag: memref<2xi1, #plan.space<private>>) {
  // expected-error@+1 {{has the condition 'memref<2xi1, #plan.space<private>>'; expected one i1}}
  plan.host_call "f" 8 each_rank when(%flag : memref<2xi1, #plan.space<private>>) ins() outs()
  return
}

// -----

func.func @constants(%y: memref<2xi32, #plan.space<constant>>) {
  // expected-error@+1 {{writes to constants}}
  plan.host_call "f" 8 ins() outs(%y : memref<2xi32, #plan.space<constant>>)
  return
}
