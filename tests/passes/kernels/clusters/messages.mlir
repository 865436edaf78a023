// Fusion keeps sends and receives in their order: what would need a later message before an earlier one is sent stays apart.
// RUN: sgd-opt %s --sgd-fuse-clusters --sgd-order | FileCheck %s

// Both halves read %a and would be one kernel; but what is received depends on what is sent.
// CHECK-LABEL: @ping_pong
// CHECK: %[[SENT:.*]] = fusion.cluster
// CHECK: spmd.send %[[SENT]] to stage 1 channel 0
// CHECK-NEXT: %[[BACK:.*]] = spmd.receive channel 1
// CHECK-NEXT: %[[SUM:.*]] = fusion.cluster
// CHECK: return %[[SUM]]
func.func @ping_pong(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = math.exp %a : tensor<4096xf32>
  spmd.send %0 to stage 1 channel 0 : tensor<4096xf32>
  %1 = spmd.receive channel 1 from stage 1 : tensor<4096xf32>
  %2 = arith.addf %a, %1 : tensor<4096xf32>
  return %2 : tensor<4096xf32>
}

// The first message is made by more work than the second; their order stays.
// CHECK-LABEL: @two_sends
// CHECK: spmd.send {{.*}} channel 0
// CHECK: spmd.send {{.*}} channel 1
// CHECK: spmd.receive channel 2
func.func @two_sends(%a: tensor<4096xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {
  %0 = math.exp %a : tensor<4096xf32>
  %1 = math.log %0 : tensor<4096xf32>
  %2 = arith.addf %1, %a : tensor<4096xf32>
  spmd.send %2 to stage 1 channel 0 : tensor<4096xf32>
  spmd.send %b to stage 1 channel 1 : tensor<16xf32>
  %3 = spmd.receive channel 2 from stage 1 : tensor<16xf32>
  %4 = arith.addf %3, %b : tensor<16xf32>
  return %4 : tensor<16xf32>
}
