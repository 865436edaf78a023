// RUN: sgd-opt %s --sgd-split-barriers | FileCheck %s

sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>}

// What differs between parts of the batch is apart from parameters; a barrier of one kind stays as it is.

// CHECK-LABEL: func.func @recomputed
// CHECK-SAME: %[[X:.+]]: tensor<8x4xf32> {{.*}}, %[[W:.+]]: tensor<4x4xf32>, %[[V:.+]]: tensor<4x4xf32>
// CHECK: %[[PART:.+]] = spmd.shard_slice
// CHECK: %[[OWN:.+]]:2 = sgd.optimization_barrier %[[W]], %[[V]] :
// CHECK: %[[H:.+]] = sgd.optimization_barrier %[[PART]] :
// CHECK: sgd.dot_general %[[H]], %[[OWN]]#0
// CHECK: sgd.optimization_barrier %{{.+}}, %[[H]] :
// CHECK: sgd.optimization_barrier %[[W]], %[[OWN]]#1 :
func.func @recomputed(%x: tensor<8x4xf32> {sgd.sequential_dim = 0 : i64}, %w: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<4x4xf32>) {
  %part = spmd.shard_slice %x dim = 0 <@mesh, {"micro"}> : tensor<8x4xf32> -> tensor<2x4xf32>
  %b:3 = sgd.optimization_barrier %w, %part, %v : (tensor<4x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>)
  %y = sgd.dot_general %b#1, %b#0 batching = [] x [] contracting = [1] x [0] : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
  %c:2 = sgd.optimization_barrier %y, %b#1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  %d:2 = sgd.optimization_barrier %w, %b#2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return %c#0, %d#1 : tensor<2x4xf32>, tensor<4x4xf32>
}
