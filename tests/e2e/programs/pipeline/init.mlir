// Initial weights, all made by the first stage: those of the second are handed over.
module {
  sgd.mesh @mesh = <["stage"=2, "data"=2]> {sgd.stages = #sgd<axis"stage"=2>}

  func.func @first() -> (tensor<8x8xf32> {sgd.name = "result['w1']", sgd.position = 0 : i64}, tensor<8x4xf32> {sgd.name = "result['w2']", sgd.position = 1 : i64})
      attributes {sgd.stage = 0 : i64} {
    %scale = arith.constant dense<0.125> : tensor<8x8xf32>
    %shift = arith.constant dense<0.25> : tensor<8x4xf32>
    %i = sgd.iota dimension = 0 : tensor<8x8xf32>
    %w1 = arith.mulf %i, %scale : tensor<8x8xf32>
    %j = sgd.iota dimension = 1 : tensor<8x4xf32>
    %w2 = arith.mulf %j, %shift : tensor<8x4xf32>
    return %w1, %w2 : tensor<8x8xf32>, tensor<8x4xf32>
  }

  func.func @second() attributes {sgd.stage = 1 : i64} {
    return
  }
}
