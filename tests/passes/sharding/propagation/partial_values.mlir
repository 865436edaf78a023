// RUN: sgd-opt %s --sgd-shard --sgd-verify-sharding --split-input-file | FileCheck %s

// A contraction over shards is partial, then reduced to where it is wanted.
sgd.mesh @mesh = <["data"=4]>
// CHECK-LABEL: @gradient
func.func @gradient(%x: tensor<32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}, %dy: tensor<32x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  // CHECK: %[[P:.*]] = sgd.dot_general {{.*}} -> tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
  // CHECK: sgd.reshard %[[P]] : {{.*}} -> tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}]>>
  %0 = sgd.dot_general %x, %dy batching = [] x [] contracting = [0] x [0] : tensor<32x8xf32>, tensor<32x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// ZeRO: the annotation of a sharded gradient reaches back through a transpose to the matmul.
sgd.mesh @mesh = <["data"=4]>
// CHECK-LABEL: @sharded_gradient
func.func @sharded_gradient(%x: tensor<32x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}, %dy: tensor<32x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>})
    -> tensor<4x8xf32> {
  // CHECK: %[[P:.*]] = sgd.dot_general {{.*}} -> tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
  // CHECK-NEXT: %[[R:.*]] = sgd.reshard %[[P]] : {{.*}} -> tensor<8x4xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>
  // CHECK-NEXT: %[[T:.*]] = sgd.transpose %[[R]]
  // CHECK-NEXT: return %[[T]]
  %0 = sgd.dot_general %x, %dy batching = [] x [] contracting = [0] x [0] : tensor<32x8xf32>, tensor<32x4xf32> -> tensor<8x4xf32>
  %1 = sgd.transpose %0 permutation = [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  // The transpose of a gathered parameter, which nobody but the next constraint sees.
  %2 = sgd.sharding_constraint %1 <@mesh, [{}, {}]> : tensor<4x8xf32>
  %3 = sgd.sharding_constraint %2 <@mesh, [{}, {"data"}]> : tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// Every kind of reduction has its partial state.
sgd.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: @kinds
func.func @kinds(%a: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"y"}, {"x"}]>}) -> (tensor<f32>, tensor<8xf32>) {
  // CHECK: sgd.reduce max {{.*}} -> tensor<f32, #sgd.sharding<@mesh, [], unreduced=max{"x", "y"}>>
  %0 = sgd.reduce max %a dimensions = [0, 1] : tensor<8x4xf32> -> tensor<f32>
  // CHECK: sgd.reduce mul {{.*}} -> tensor<8xf32, #sgd.sharding<@mesh, [{"y"}], unreduced=mul{"x"}>>
  %1 = sgd.reduce mul %a dimensions = [1] : tensor<8x4xf32> -> tensor<8xf32>
  return %0, %1 : tensor<f32>, tensor<8xf32>
}

// -----

// A scatter of sharded updates: what it adds onto counts once. A neutral constant is partial without work.
sgd.mesh @mesh = <["data"=4]>
// CHECK-LABEL: @scatters
func.func @scatters(%i: tensor<8x1xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}, %u: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>},
                    %t: tensor<32x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) -> (tensor<32x16xf32>, tensor<32x16xf32>) {
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.0{{.*}}> : tensor<32x16xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
  // CHECK: sgd.scatter add %[[ZERO]], %arg0, %arg1 {{.*}} -> tensor<32x16xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
  %z = arith.constant dense<0.0> : tensor<f32>
  %zeros = sgd.broadcast_in_dim %z dims = [] : tensor<f32> -> tensor<32x16xf32>
  %0 = sgd.scatter add %zeros, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
    input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64}
    : (tensor<32x16xf32>, tensor<8x1xi32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  // CHECK: %[[ONCE:.*]] = sgd.reshard %arg2 : {{.*}} -> tensor<32x16xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
  // CHECK: sgd.scatter add %[[ONCE]]
  %1 = sgd.scatter add %t, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
    input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64}
    : (tensor<32x16xf32>, tensor<8x1xi32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  return %0, %1 : tensor<32x16xf32>, tensor<32x16xf32>
}

// -----

// A partial result that the user asks for is left unreduced.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @unreduced_result
func.func @unreduced_result(%a: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<4x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>}) {
  // CHECK: %[[P:.*]] = sgd.dot_general
  // CHECK-NEXT: return %[[P]] : tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<8x4xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Summands are what ranks hold of a partial operand: nothing moves. Of another one, they are made where it leaves; ops between take them along.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @summands
func.func @summands(%a: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>})
    -> (tensor<2x4x2xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}, {}]>}, tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: %[[SUM:.*]] = sgd.reduce add %arg0 {{.*}} -> tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>>
  %0 = sgd.reduce add %a dimensions = [0] : tensor<2x8xf32> -> tensor<8xf32>
  %1 = sgd.sharding_constraint %0 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  // CHECK-NEXT: %[[TWICE:.*]] = arith.addf %[[SUM]], %[[SUM]] : tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>>
  %2 = arith.addf %1, %1 : tensor<8xf32>
  %3 = sgd.sharding_constraint %2 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  // CHECK-NEXT: %[[SHAPED:.*]] = sgd.reshape %[[TWICE]] : {{.*}} -> tensor<4x2xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"x"}>>
  %4 = sgd.reshape %3 : tensor<8xf32> -> tensor<4x2xf32>
  %5 = sgd.sharding_constraint %4 <@mesh, [{}, {}], unreduced={"x"}> : tensor<4x2xf32>
  // CHECK-NEXT: sgd.summands %[[SHAPED]] : {{.*}} -> tensor<2x4x2xf32, #sgd.sharding<@mesh, [{"x"}, {}, {}]>>
  %6 = sgd.summands %5 : tensor<4x2xf32> -> tensor<2x4x2xf32>
  // CHECK: %[[PLACED:.*]] = sgd.reshard %arg1 : {{.*}} -> tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>>
  // CHECK-NEXT: sgd.summands %[[PLACED]] : {{.*}} -> tensor<2x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %7 = sgd.sharding_constraint %b <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  %8 = sgd.summands %7 : tensor<8xf32> -> tensor<2x8xf32>
  return %6, %8 : tensor<2x4x2xf32>, tensor<2x8xf32>
}

// -----

// An op that is not linear gets the sum, and its result becomes summands. A result of the function that is not called unreduced is reduced.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @not_linear
func.func @not_linear(%a: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, tensor<8xf32>) {
  // CHECK: %[[SUM:.*]] = sgd.reduce add %arg0 {{.*}} -> tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>>
  %0 = sgd.reduce add %a dimensions = [0] : tensor<2x8xf32> -> tensor<8xf32>
  %1 = sgd.sharding_constraint %0 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  // CHECK: %[[WHOLE:.*]] = sgd.reshard %[[SUM]] : {{.*}} -> tensor<8xf32, #sgd.sharding<@mesh, [{}]>>
  // CHECK: %[[SINE:.*]] = math.sin %[[WHOLE]] : tensor<8xf32, #sgd.sharding<@mesh, [{}]>>
  // CHECK: %[[PARTIAL:.*]] = sgd.reshard %[[SINE]] : {{.*}} -> tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced={"x"}>>
  %2 = math.sin %1 : tensor<8xf32>
  %3 = sgd.sharding_constraint %2 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  // CHECK: sgd.summands %[[PARTIAL]]
  %4 = sgd.summands %3 : tensor<8xf32> -> tensor<2x8xf32>
  // CHECK: return %{{.*}}, %[[WHOLE]]
  return %4, %1 : tensor<2x8xf32>, tensor<8xf32>
}
