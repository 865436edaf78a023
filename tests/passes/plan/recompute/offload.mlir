// RUN: sgd-opt %s --sgd-recompute="budget=21000 offload=all topology=h100" --split-input-file | FileCheck %s
// RUN: sgd-opt %s --sgd-recompute="budget=21000 offload=activations topology=h100" --split-input-file | FileCheck %s --check-prefix=STAYS
// RUN: sgd-opt %s --sgd-recompute="budget=21000 offload=states topology=h100" --split-input-file | FileCheck %s --check-prefix=STATES
// RUN: sgd-opt %s --sgd-recompute="budget=21000 offload=all" --split-input-file | FileCheck %s --check-prefix=NONE
// RUN: sgd-opt %s --sgd-recompute="budget=21000 offload=all topology=h100" --sgd-share-buffers --sgd-assign-offsets --split-input-file | FileCheck %s --check-prefix=PLAN
// RUN: not sgd-opt %s --sgd-recompute="budget=21000 offload=some" --split-input-file 2>&1 | FileCheck %s --check-prefix=WRONG

// WRONG: error: option 'offload' is 'some'; expected 'never', 'states', 'activations' or 'all'; correct it

!a = memref<32x65536xf32, #plan.space<private>>
!b = memref<65536x32xf32, #plan.space<private>>
!large = memref<4096xf32, #plan.space<private>>
!value = memref<32x32xf32, #plan.space<private>>

// The first product is read again behind the large buffer. It would take longer to compute it again than the device
// waits for its copies. Without memory beside the device's, as on the host, it is.
// CHECK-LABEL: @waits
// CHECK: plan.matmul {{.*}}outs(%[[FIRST:.*]] : memref<32x32xf32, #plan.space<private>>) sizes
// CHECK: %[[HOST:.*]] = plan.alloc : memref<32x32xf32, #plan.space<host>>
// CHECK: %[[OUT:.*]] = plan.host_copy %[[FIRST]] to %[[HOST]]
// CHECK: plan.host_copied %[[OUT]]
// CHECK: plan.fill
// CHECK: %[[IN:.*]] = plan.host_copy %[[HOST]] to %[[BACK:[^ ]*]] :
// CHECK: plan.host_copied %[[IN]]
// CHECK-NEXT: plan.copy %[[BACK]]
// CHECK-NOT: decision<recompute
// STAYS-LABEL: @waits
// STAYS: plan.host_copy
// STATES-LABEL: @waits
// STATES-NOT: plan.host_copy
// STATES: #sgd.decision<recompute,
// NONE-NOT: plan.host_copy
// NONE: #sgd.decision<recompute,
// PLAN: plan.host_bytes = 4096 : i64, plan.private_bytes = {{[0-9]+}} : i64
func.func @waits(%a: !a, %b: !b) -> !value {
  %first = plan.alloc : !value
  plan.matmul ins(%a, %b : !a, !b) outs(%first : !value) sizes [32, 32, 65536] strides [65536, 1], [32, 1], [32, 1]
  %second = plan.alloc : !value
  plan.copy %first to %second : !value -> !value
  %third = plan.alloc : !value
  plan.matmul ins(%a, %b : !a, !b) outs(%third : !value) sizes [32, 32, 65536] strides [65536, 1], [32, 1], [32, 1]
  %large = plan.alloc : !large
  plan.fill 1.0 : f32 to %large : !large
  %part = plan.view %large at 0 : !large -> !value
  plan.copy %second to %part : !value -> !value
  plan.copy %third to %part : !value -> !value
  %fourth = plan.alloc : !value
  plan.copy %part to %fourth : !value -> !value
  %fifth = plan.alloc : !value
  plan.matmul ins(%a, %b : !a, !b) outs(%fifth : !value) sizes [32, 32, 65536] strides [65536, 1], [32, 1], [32, 1]
  plan.copy %first to %fifth : !value -> !value
  return %fifth : !value
}

// -----

!a = memref<32x65536xf32, #plan.space<private>>
!b = memref<65536x32xf32, #plan.space<private>>
!large = memref<5120xf32, #plan.space<private>>
!value = memref<32x32xf32, #plan.space<private>>

// State that the step updates in its place is on the host between steps: it is brought in behind the large buffer,
// whose memory it then has, and taken out at the end.
// CHECK-LABEL: @updates
// CHECK-SAME: (%[[STATE:.*]]: memref<32x32xf32, #plan.space<host>>
// CHECK-SAME: -> (memref<32x32xf32, #plan.space<host>>
// CHECK: plan.fill
// CHECK: %[[DEVICE:.*]] = plan.alloc : memref<32x32xf32, #plan.space<private>>
// CHECK-NEXT: %[[IN:.*]] = plan.host_copy %[[STATE]] to %[[DEVICE]]
// CHECK: plan.host_copied %[[IN]]
// CHECK: plan.copy %[[DEVICE]] to %[[NEXT:[^ ]*]] :
// CHECK: %[[OUT:.*]] = plan.host_copy %[[NEXT]] to %[[STATE]]
// CHECK-NEXT: plan.host_copied %[[OUT]]
// CHECK-NEXT: return %[[STATE]]
// STAYS-LABEL: @updates
// STAYS-NOT: plan.host_copy
// STATES-LABEL: @updates
// STATES: plan.host_copy
// NONE-LABEL: @updates
// NONE-NOT: plan.host_copy
func.func @updates(%state: !value, %a: !a, %b: !b) -> (!value {plan.alias = 0 : i64, sgd.carry = 0 : i64}) {
  %large = plan.alloc : !large
  plan.fill 1.0 : f32 to %large : !large
  %part = plan.view %large at 0 : !large -> !value
  %first = plan.alloc : !value
  plan.matmul ins(%a, %b : !a, !b) outs(%first : !value) sizes [32, 32, 65536] strides [65536, 1], [32, 1], [32, 1]
  plan.copy %part to %first : !value -> !value
  %second = plan.alloc : !value
  plan.copy %state to %second : !value -> !value
  plan.copy %first to %second : !value -> !value
  return %second : !value
}
