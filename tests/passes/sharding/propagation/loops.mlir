// One sharding per iter_arg: from what goes in, through the body, to what comes out, and back.
// RUN: sgd-opt %s --sgd-shard --sgd-verify-sharding --split-input-file | FileCheck %s

sgd.mesh @mesh = <["data"=2, "model"=2]>

// The rows of %x shard the carry, which the constant that it begins with does not say.
// CHECK-LABEL: @carry
func.func @carry(%x: tensor<6x8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"data"}, {}]>}) -> tensor<8x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x4xf32>
  %start = arith.constant dense<0> : tensor<i32>
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8x4xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
  // CHECK: %[[LOOP:.*]]:3 = sgd.while(%{{.*}}, %{{.*}}, %[[ZERO]]) trips 6 do {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32, {{.*}}>, %{{.*}}: tensor<6x8x4xf32, #sgd.sharding<@mesh, [{}, {"data"}, {}]>>, %{{.*}}: tensor<8x4xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>):
  // CHECK-NOT: sgd.reshard
  // CHECK: sgd.yield
  // CHECK: return %[[LOOP]]#2 : tensor<8x4xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
  %0:3 = sgd.while(%start, %x, %zero) trips 6 do {
  ^bb0(%i: tensor<i32>, %a: tensor<6x8x4xf32>, %sum: tensor<8x4xf32>):
    %c0 = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %i, %one : tensor<i32>
    %slice = sgd.dynamic_slice %a, %i, %c0, %c0 sizes = [1, 8, 4] : (tensor<6x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4xf32>
    %row = sgd.reshape %slice : tensor<1x8x4xf32> -> tensor<8x4xf32>
    %1 = arith.addf %sum, %row : tensor<8x4xf32>
    sgd.yield %next, %a, %1 : tensor<i32>, tensor<6x8x4xf32>, tensor<8x4xf32>
  } : (tensor<i32>, tensor<6x8x4xf32>, tensor<8x4xf32>) -> (tensor<i32>, tensor<6x8x4xf32>, tensor<8x4xf32>)
  return %0#2 : tensor<8x4xf32>
}

// -----

sgd.mesh @mesh = <["data"=2, "model"=2]>

// Values that change places have to agree: the second is resharded once, before the loop.
// CHECK-LABEL: @swap
// CHECK-SAME: %[[X:[^:]*]]: tensor<8x4xf32, {{[^:]*}}>> {{[^%]*}}, %[[Y:[^:]*]]: tensor
func.func @swap(%x: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>},
                %y: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>}) -> tensor<8x4xf32> {
  // CHECK: sgd.while
  // CHECK-NOT: sgd.reshard
  // CHECK: sgd.yield
  %0:2 = sgd.while(%x, %y) trips 5 do {
  ^bb0(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>):
    %1 = math.exp %a : tensor<8x4xf32>
    sgd.yield %b, %1 : tensor<8x4xf32>, tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  return %0#0 : tensor<8x4xf32>
}

// -----

sgd.mesh @mesh = <["data"=2]>

// The predicate is whole on every rank: it is reduced in the condition.
// CHECK-LABEL: @decide
func.func @decide(%x: tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}]>}, %i: tensor<i32>) -> tensor<8xf32> {
  // CHECK: sgd.while({{.*}}) while {
  // CHECK: sgd.reduce add {{.*}} unreduced={"data"}
  // CHECK: sgd.reshard {{.*}} unreduced={"data"}{{.*}} -> tensor<f32, #sgd.sharding<@mesh, []>>
  // CHECK: sgd.yield {{.*}} : tensor<i1, #sgd.sharding<@mesh, []>>
  %0 = sgd.while(%x) while {
  ^bb0(%a: tensor<8xf32>):
    %one = arith.constant dense<1.0> : tensor<f32>
    %sum = sgd.reduce add %a dimensions = [0] : tensor<8xf32> -> tensor<f32>
    %more = arith.cmpf ogt, %sum, %one : tensor<f32>
    sgd.yield %more : tensor<i1>
  } do {
  ^bb0(%a: tensor<8xf32>):
    %half = arith.constant dense<0.5> : tensor<8xf32>
    %1 = arith.mulf %a, %half : tensor<8xf32>
    sgd.yield %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: sgd.case %{{.*}}(%{{.*}}) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<8xf32, #sgd.sharding<@mesh, [{"data"}]>>):
  %2 = sgd.case %i(%0) {
  ^bb0(%a: tensor<8xf32>):
    %3 = math.exp %a : tensor<8xf32>
    sgd.yield %3 : tensor<8xf32>
  }, {
  ^bb0(%a: tensor<8xf32>):
    sgd.yield %a : tensor<8xf32>
  } : (tensor<i32>, tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

sgd.mesh @mesh = <["data"=2]>

// Gradients of a sequence that update sharded state: partial in each iteration, whatever shards the accumulators.
// CHECK-LABEL: @accumulate
func.func @accumulate(%x: tensor<4x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}, %g: tensor<4x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>},
                      %m: tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"data"}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  // CHECK: sgd.while
  // CHECK: sgd.dot_general {{.*}} contracting = [0] x [0] : tensor<4x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>, tensor<4x16xf32, #sgd.sharding<@mesh, [{"data"}, {}]>> -> tensor<8x16xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
  // CHECK: sgd.yield
  %0:4 = sgd.while(%x, %g, %zero, %zero) trips 4 do {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4x16xf32>, %sum: tensor<8x8xf32>, %more: tensor<8x8xf32>):
    %1 = sgd.dot_general %a, %b batching = [] x [] contracting = [0] x [0] : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
    %2 = sgd.slice %1 starts = [0, 0] limits = [8, 8] strides = [1, 1] : tensor<8x16xf32> -> tensor<8x8xf32>
    %3 = sgd.slice %1 starts = [0, 8] limits = [8, 16] strides = [1, 1] : tensor<8x16xf32> -> tensor<8x8xf32>
    %4 = arith.addf %sum, %2 : tensor<8x8xf32>
    %5 = arith.addf %more, %3 : tensor<8x8xf32>
    sgd.yield %a, %b, %4, %5 : tensor<4x8xf32>, tensor<4x16xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  } : (tensor<4x8xf32>, tensor<4x16xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x16xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
  %6 = arith.addf %m, %0#2 : tensor<8x8xf32>
  %7 = arith.addf %m, %0#3 : tensor<8x8xf32>
  return %6, %7 : tensor<8x8xf32>, tensor<8x8xf32>
}
