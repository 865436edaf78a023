// Loops and branches: unrolled or computed as a whole where that is cheap, else control flow of the graph level.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file | FileCheck %s

// 20000 iterations that are known; a value that the body reads from outside is an iter_arg of its own, a constant is made inside.
// CHECK-LABEL: @long
// CHECK-SAME: (%[[X:[^:]*]]: tensor<4xf32>, %[[Y:[^:]*]]: tensor<4xf32>)
func.func @long(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %half = stablehlo.constant dense<0.5> : tensor<4xf32>
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0>
  // CHECK: %[[LOOP:.*]]:3 = sgd.while(%[[ZERO]], %[[X]], %[[Y]]) trips 20000 do {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<i32>, %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>):
  // CHECK: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : tensor<4xf32>
  // CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[B]]
  // CHECK: %[[NEXT:.*]] = arith.mulf %[[SUM]], %[[HALF]]
  // CHECK: sgd.yield %{{.*}}, %[[NEXT]], %[[B]]
  // CHECK: return %[[LOOP]]#1
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<4xf32> cond {
    %end = stablehlo.constant dense<20000> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.add %a, %y : tensor<4xf32>
    %3 = stablehlo.multiply %2, %half : tensor<4xf32>
    stablehlo.return %1, %3 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// -----

// Unknown trips: the condition is computed each time.
// CHECK-LABEL: @unknown
func.func @unknown(%x: tensor<f32>, %limit: tensor<f32>) -> tensor<f32> {
  // CHECK: sgd.while(%{{.*}}, %{{.*}}) while {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %[[LIMIT:.*]]: tensor<f32>):
  // CHECK-NEXT: %[[MORE:.*]] = arith.cmpf olt, %[[A]], %[[LIMIT]]
  // CHECK-NEXT: sgd.yield %[[MORE]] : tensor<i1>
  // CHECK-NEXT: } do {
  // CHECK-NEXT: ^bb0(%[[B:.*]]: tensor<f32>, %[[C:.*]]: tensor<f32>):
  // CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[B]], %[[B]]
  // CHECK-NEXT: sgd.yield %[[NEXT]], %[[C]]
  %0 = stablehlo.while(%a = %x) : tensor<f32> cond {
    %1 = stablehlo.compare LT, %a, %limit, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %a, %a : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// A counter that would wrap around before it passes its bound is not counted: the condition decides.
// CHECK-LABEL: @wraps
func.func @wraps(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<ui8>
  // CHECK: sgd.while({{.*}}) while {
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<ui8>, tensor<f32> cond {
    %end = stablehlo.constant dense<253> : tensor<ui8>
    %1 = stablehlo.compare LE, %i, %end, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %seven = stablehlo.constant dense<7> : tensor<ui8>
    %1 = stablehlo.add %i, %seven : tensor<ui8>
    %2 = stablehlo.add %a, %a : tensor<f32>
    stablehlo.return %1, %2 : tensor<ui8>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}

// -----

// Branches with matmuls stay branches; of those with a few additions both are computed.
// CHECK-LABEL: @branches
// CHECK-SAME: (%[[P:[^:]*]]: tensor<i1>, %[[X:[^:]*]]: tensor<8x8xf32>)
func.func @branches(%p: tensor<i1>, %x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK: %[[INDEX:.*]] = arith.select %[[P]], %{{.*}}, %{{.*}} : tensor<i1>, tensor<i32>
  // CHECK: %[[CASE:.*]] = sgd.case %[[INDEX]](%[[X]]) {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<8x8xf32>):
  // CHECK-NEXT: sgd.dot_general %[[A]], %[[A]]
  // CHECK: }, {
  // CHECK-NEXT: ^bb0(%[[B:.*]]: tensor<8x8xf32>):
  // CHECK-NEXT: sgd.yield %[[B]]
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %1 : tensor<8x8xf32>
  }, {
    stablehlo.return %x : tensor<8x8xf32>
  }) : (tensor<i1>) -> tensor<8x8xf32>
  // CHECK-NOT: sgd.case
  // CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[X]]
  // CHECK: arith.select %{{.*}}, %[[SUM]], %[[X]]
  %2 = "stablehlo.if"(%p) ({
    %3 = stablehlo.add %x, %x : tensor<8x8xf32>
    stablehlo.return %3 : tensor<8x8xf32>
  }, {
    stablehlo.return %x : tensor<8x8xf32>
  }) : (tensor<i1>) -> tensor<8x8xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// 1,500 ops would be few for a loop of 8 iterations, but not for one of 300.
// CHECK-LABEL: @many_short
func.func @many_short(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: sgd.while({{.*}}) trips 300 do
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<4xf32> cond {
    %end = stablehlo.constant dense<300> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.add %a, %y : tensor<4xf32>
    %3 = stablehlo.multiply %2, %y : tensor<4xf32>
    stablehlo.return %1, %3 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
