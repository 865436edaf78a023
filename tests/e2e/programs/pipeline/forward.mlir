// Nothing comes back: who stops is waited for in a send by the first stage, in a receive by the second.
module {
  sgd.mesh @mesh = <["stage"=2, "data"=2]> {sgd.stages = #sgd<axis"stage"=2>}

  func.func @first(%x: tensor<512x512xf32> {sgd.name = "x", sgd.position = 0 : i64}) attributes {sgd.stage = 0 : i64} {
    %h = math.tanh %x : tensor<512x512xf32>
    spmd.send %h to stage 1 channel 0 depth 3 : tensor<512x512xf32>
    return
  }

  func.func @second() -> (tensor<512x512xf32> {sgd.name = "result", sgd.position = 0 : i64}) attributes {sgd.stage = 1 : i64} {
    %h = spmd.receive channel 0 from stage 0 : tensor<512x512xf32>
    %y = math.tanh %h : tensor<512x512xf32>
    return %y : tensor<512x512xf32>
  }
}
