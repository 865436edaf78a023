// Host calls become instructions in the order of the program, and are not removed, repeated or fused with others.
// RUN: sgd-opt %s --canonicalize --cse --sgd-fuse-clusters --sgd-order --sgd-lower-to-plan | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: plan.host_call "f" 1 ins(
// CHECK: plan.host_call "f" 1 ins(
// CHECK: plan.launch
// CHECK: plan.host_call "g" 2 ins(
func.func @main(%x: tensor<8xf32>) {
  sgd.host_call "f" 1(%x) : (tensor<8xf32>) -> ()
  sgd.host_call "f" 1(%x) : (tensor<8xf32>) -> ()
  %0 = math.exp %x : tensor<8xf32>
  sgd.host_call "g" 2(%0) : (tensor<8xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @loop
// CHECK: plan.loop
// CHECK: plan.host_call "h" 3 ins() outs()
func.func @loop() {
  sgd.while() trips 3 do {
    sgd.host_call "h" 3() : () -> ()
    sgd.yield
  } : () -> ()
  return
}
