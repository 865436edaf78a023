// Each stage sends, walks a loop whose length is computed, and receives: were messages joined before the loop, each would wait for the other.
module {
  sgd.mesh @mesh = <["stage"=2]> {sgd.stages = #sgd<axis"stage"=2>}

  func.func @first(%x: tensor<4x4xf32> {sgd.name = "x", sgd.position = 0 : i64}, %n: tensor<i32> {sgd.name = "n", sgd.position = 2 : i64})
      -> (tensor<4x4xf32> {sgd.name = "result0", sgd.position = 0 : i64}) attributes {sgd.stage = 0 : i64} {
    %h = arith.mulf %x, %x : tensor<4x4xf32>
    spmd.send %h to stage 1 channel 0 : tensor<4x4xf32>
    %0:2 = sgd.while (%n, %x) while {
    ^bb0(%i: tensor<i32>, %a: tensor<4x4xf32>):
      %zero = arith.constant dense<0> : tensor<i32>
      %more = arith.cmpi sgt, %i, %zero : tensor<i32>
      sgd.yield %more : tensor<i1>
    } do {
    ^bb0(%i: tensor<i32>, %a: tensor<4x4xf32>):
      %one = arith.constant dense<1> : tensor<i32>
      %less = arith.subi %i, %one : tensor<i32>
      %twice = arith.addf %a, %a : tensor<4x4xf32>
      sgd.yield %less, %twice : tensor<i32>, tensor<4x4xf32>
    } : (tensor<i32>, tensor<4x4xf32>) -> (tensor<i32>, tensor<4x4xf32>)
    %b = spmd.receive channel 1 from stage 1 : tensor<4x4xf32>
    %y = arith.addf %0#1, %b : tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }

  func.func @second(%u: tensor<4x4xf32> {sgd.name = "u", sgd.position = 1 : i64}, %n: tensor<i32> {sgd.name = "n", sgd.position = 2 : i64})
      -> (tensor<4x4xf32> {sgd.name = "result1", sgd.position = 1 : i64}) attributes {sgd.stage = 1 : i64} {
    %h = arith.addf %u, %u : tensor<4x4xf32>
    spmd.send %h to stage 0 channel 1 : tensor<4x4xf32>
    %0:2 = sgd.while (%n, %u) while {
    ^bb0(%i: tensor<i32>, %a: tensor<4x4xf32>):
      %zero = arith.constant dense<0> : tensor<i32>
      %more = arith.cmpi sgt, %i, %zero : tensor<i32>
      sgd.yield %more : tensor<i1>
    } do {
    ^bb0(%i: tensor<i32>, %a: tensor<4x4xf32>):
      %one = arith.constant dense<1> : tensor<i32>
      %less = arith.subi %i, %one : tensor<i32>
      %twice = arith.addf %a, %a : tensor<4x4xf32>
      sgd.yield %less, %twice : tensor<i32>, tensor<4x4xf32>
    } : (tensor<i32>, tensor<4x4xf32>) -> (tensor<i32>, tensor<4x4xf32>)
    %a = spmd.receive channel 0 from stage 0 : tensor<4x4xf32>
    %y = arith.addf %0#1, %a : tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}
