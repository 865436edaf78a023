// RUN: sgd-opt %s --verify-roundtrip -split-input-file -verify-diagnostics

func.func @loops(%x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = sgd.while(%x) trips 3 do {
  ^bb0(%a: tensor<4xf32>):
    %1 = arith.addf %a, %a : tensor<4xf32>
    sgd.yield %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %2:2 = sgd.while(%n, %x) while {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    %zero = arith.constant dense<0> : tensor<i32>
    %3 = arith.cmpi sgt, %i, %zero : tensor<i32>
    sgd.yield %3 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    %one = arith.constant dense<1> : tensor<i32>
    %3 = arith.subi %i, %one : tensor<i32>
    sgd.yield %3, %a : tensor<i32>, tensor<4xf32>
  } : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  return %0, %2#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @branches(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %0 = sgd.case %i(%x) {
  ^bb0(%a: tensor<4xf32>):
    sgd.yield %a : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    %1 = arith.addf %a, %a : tensor<4xf32>
    sgd.yield %1 : tensor<4xf32>
  } : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @slot(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'sgd.while' op the body has arguments of the types}}
  %0 = sgd.while(%x) trips 3 do {
  ^bb0(%a: tensor<8xf32>):
    sgd.yield %a : tensor<8xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @yield(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'sgd.while' op the body yields the types}}
  %0 = sgd.while(%x) trips 3 do {
  ^bb0(%a: tensor<4xf32>):
    %c = arith.constant dense<0.0> : tensor<8xf32>
    sgd.yield %c : tensor<8xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @neither(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'sgd.while' op has neither trips nor a condition; expected one of them; add one}}
  %0 = sgd.while(%x) do {
  ^bb0(%a: tensor<4xf32>):
    sgd.yield %a : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @condition(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'sgd.while' op has a condition that does not yield one boolean; expected a scalar i1; compare the values}}
  %0 = sgd.while(%x) while {
  ^bb0(%a: tensor<4xf32>):
    sgd.yield %a : tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    sgd.yield %a : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @index(%x: tensor<4xf32>, %i: tensor<i64>) -> tensor<4xf32> {
  // expected-error@+1 {{expected a scalar i32, or one i32 per coordinate; convert it}}
  %0 = sgd.case %i(%x) {
  ^bb0(%a: tensor<4xf32>):
    sgd.yield %a : tensor<4xf32>
  } : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @capture(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{required by region isolation constraints}}
  %0 = sgd.while(%x) trips 3 do {
  ^bb0(%a: tensor<4xf32>):
    // expected-error@+1 {{using value defined outside the region}}
    %1 = arith.addf %a, %x : tensor<4xf32>
    sgd.yield %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @coordinates(%x: tensor<4x8xf32>, %i: tensor<3xi32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{'sgd.case' op has the result 'tensor<4x8xf32>'; expected the leading dimensions of the index}}
  %0 = sgd.case %i(%x) {
  ^bb0(%a: tensor<4x8xf32>):
    sgd.yield %a : tensor<4x8xf32>
  } : (tensor<3xi32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @trips_by_rank(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'sgd.while' op has trips, as many on all ranks, and sgd.by_rank; expected one of them; drop one}}
  %0 = sgd.while(%x) trips 3 do {
  ^bb0(%a: tensor<4xf32>):
    sgd.yield %a : tensor<4xf32>
  } {sgd.by_rank} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
