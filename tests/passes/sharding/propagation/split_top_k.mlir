// The largest of each shard travel, not the rows.
// RUN: sgd-opt %s --split-input-file --sgd-shard --sgd-split-top-k --sgd-verify-sharding | FileCheck %s

sgd.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func.func @rows
// CHECK: %[[ROWS:.*]] = sgd.reshape %arg0 {{.*}} -> tensor<4x32xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
// CHECK: %[[VALUES:.*]], %[[POSITIONS:.*]] = sgd.top_k %[[ROWS]] k = 5 {{.*}} -> (tensor<4x5xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<4x5xi32, #sgd.sharding<@mesh, [{"x"}, {}]>>)
// CHECK: %[[OFFSET:.*]] = arith.muli
// CHECK: %[[GLOBAL:.*]] = arith.addi %[[POSITIONS]], %[[OFFSET]]
// CHECK: %[[CANDIDATES:.*]] = sgd.reshard %{{.*}} : tensor<20xf32, #sgd.sharding<@mesh, [{"x"}]>> -> tensor<20xf32, #sgd.sharding<@mesh, [{}]>>
// CHECK: %[[WHERE:.*]] = sgd.reshard %{{.*}} : tensor<20xi32, #sgd.sharding<@mesh, [{"x"}]>> -> tensor<20xi32, #sgd.sharding<@mesh, [{}]>>
// CHECK: %[[LARGEST:.*]], %[[AT:.*]] = sgd.top_k %[[CANDIDATES]] k = 5
// CHECK: %[[TAKEN:.*]] = sgd.gather %[[WHERE]], %[[AT]]
// CHECK: return %[[LARGEST]], %[[TAKEN]]
func.func @rows(%a: tensor<128xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> (tensor<5xf32>, tensor<5xi32>) {
  %0, %1 = sgd.top_k %a k = 5 : (tensor<128xf32>) -> (tensor<5xf32>, tensor<5xi32>)
  return %0, %1 : tensor<5xf32>, tensor<5xi32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Most of every shard: nothing is gained.
// CHECK-LABEL: func.func @most
// CHECK: sgd.top_k %{{.*}} k = 5 : (tensor<16xf32
// CHECK-NOT: sgd.top_k
func.func @most(%a: tensor<16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> (tensor<5xf32>, tensor<5xi32>) {
  %0, %1 = sgd.top_k %a k = 5 : (tensor<16xf32>) -> (tensor<5xf32>, tensor<5xi32>)
  return %0, %1 : tensor<5xf32>, tensor<5xi32>
}
