// RUN: sgd-opt %s --verify-roundtrip -split-input-file -verify-diagnostics

!x = tensor<8x16xbf16>
!w = tensor<16x32xbf16>
!h = tensor<8x32xbf16>

func.func @calls(%x: !x, %w: !w, %b: tensor<32xbf16>, %r: !h, %dy: tensor<8x64xbf16>) -> (!h, !h, !h, tensor<16x64xbf16>, tensor<64xbf16>) {
  %0, %pre = fusion.library_matmul %x [0, 1], %w [1, 2] into [0, 2] epilogue [bias, gelu] bias %b : (!x, !w, tensor<32xbf16>) -> (!h, !h)
  %1 = fusion.library_matmul %x [0, 1], %w [1, 2] into [0, 2] epilogue [residual, bias, relu] residual %r bias %b : (!x, !w, !h, tensor<32xbf16>) -> !h
  %2 = fusion.library_matmul %x [0, 1], %w [1, 2] into [0, 2] epilogue [gelu_gradient] at %pre : (!x, !w, !h) -> !h
  %3, %s = fusion.library_matmul %x [0, 1], %dy [0, 2] into [1, 2] epilogue [rhs_reduction] : (!x, tensor<8x64xbf16>) -> (tensor<16x64xbf16>, tensor<64xbf16>)
  return %0, %1, %2, %3, %s : !h, !h, !h, tensor<16x64xbf16>, tensor<64xbf16>
}

// -----

func.func @none(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{has no epilogue; expected a plain contraction or convolution then}}
  %0 = fusion.library_matmul %x [0, 1], %w [1, 2] into [0, 2] epilogue [] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @unknown(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{'swish' is no epilogue; expected residual, bias, relu, ...}}
  %0 = fusion.library_matmul %x [0, 1], %w [1, 2] into [0, 2] epilogue [swish] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @order(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{has bias after relu; expected residual, bias and then one of the others}}
  %0 = fusion.library_matmul %x [0, 1], %w [1, 2] into [0, 2] epilogue [relu, bias] bias %b : (tensor<8x16xf32>, tensor<16x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @no_bias(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{has no operand bias for epilogue step bias}}
  %0 = fusion.library_matmul %x [0, 1], %w [1, 2] into [0, 2] epilogue [bias] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @wrong_bias(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %b: tensor<8xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{needs a bias that is a vector over the result's last dimensions}}
  %0 = fusion.library_matmul %x [0, 1], %w [1, 2] into [0, 2] epilogue [bias] bias %b : (tensor<8x16xf32>, tensor<16x4xf32>, tensor<8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @reduction_and_bias(%x: tensor<8x16xf32>, %w: tensor<8x4xf32>, %b: tensor<4xf32>) -> (tensor<16x4xf32>, tensor<4xf32>) {
  // expected-error@+1 {{has rhs_reduction with another step}}
  %0, %1 = fusion.library_matmul %x [0, 1], %w [0, 2] into [1, 2] epilogue [bias, rhs_reduction] bias %b : (tensor<8x16xf32>, tensor<8x4xf32>, tensor<4xf32>) -> (tensor<16x4xf32>, tensor<4xf32>)
  return %0, %1 : tensor<16x4xf32>, tensor<4xf32>
}

// -----

func.func @no_reduction(%x: tensor<8x16xf32>, %w: tensor<8x4xf32>) -> tensor<16x4xf32> {
  // expected-error@+1 {{has no operand reduction for epilogue step rhs_reduction}}
  %0 = fusion.library_matmul %x [0, 1], %w [0, 2] into [1, 2] epilogue [rhs_reduction] : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}

// -----

func.func @batch_reduction(%x: tensor<2x8x16xf32>, %w: tensor<2x8x4xf32>) -> (tensor<2x16x4xf32>, tensor<4xf32>) {
  // expected-error@+1 {{has a reduction of an operand in batches}}
  %0, %1 = fusion.library_matmul %x [3, 0, 1], %w [3, 0, 2] into [3, 1, 2] epilogue [rhs_reduction] : (tensor<2x8x16xf32>, tensor<2x8x4xf32>) -> (tensor<2x16x4xf32>, tensor<4xf32>)
  return %0, %1 : tensor<2x16x4xf32>, tensor<4xf32>
}

// -----

func.func @no_pre_activation(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{has no operand aux for epilogue step gelu_gradient}}
  %0 = fusion.library_matmul %x [0, 1], %w [1, 2] into [0, 2] epilogue [gelu_gradient] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @convolution_gelu(%x: tensor<2x8x4xf32>, %w: tensor<3x4x8xf32>) -> tensor<2x8x8xf32> {
  // expected-error@+1 {{has epilogue step gelu, which convolutions have not}}
  %0 = fusion.library_convolution %x [0, 4, 2], %w [4, 2, 3] into [0, 4, 3] strides = [1] low = [1] lhs_dilations = [1] rhs_dilations = [1] epilogue [gelu] : (tensor<2x8x4xf32>, tensor<3x4x8xf32>) -> tensor<2x8x8xf32>
  return %0 : tensor<2x8x8xf32>
}
