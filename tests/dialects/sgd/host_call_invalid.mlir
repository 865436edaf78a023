// RUN: sgd-opt %s -split-input-file -verify-diagnostics

func.func @coordinates(%a: tensor<2xf32>) {
  // expected-error@+1 {{has 1 coordinates; expected 0, or more with each_rank; correct coordinates}}
  sgd.host_call "f" 1 coordinates 1(%a) : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @condition(%a: tensor<2xf32>, %when: tensor<i1>) {
  // expected-error@+1 {{has a condition, and rank 0 calls for all; expected it with each_rank alone; drop 'when'}}
  sgd.host_call "f" 1 when %when : tensor<i1>(%a) : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @scalar(%a: tensor<f32>) {
  // expected-error@+1 {{has 1 coordinates and the tensor 'tensor<f32>'; expected them as leading dimensions of all tensors; broadcast it}}
  sgd.host_call "f" 1 each_rank coordinates 1(%a) : (tensor<f32>) -> ()
  return
}

// -----

func.func @sizes(%a: tensor<2x4xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{has tensors with the leading dimensions [2] and [3]; expected equal coordinates of all; broadcast one}}
  %0 = sgd.host_call "f" 1 each_rank coordinates 1(%a) : (tensor<2x4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @flags(%a: tensor<2x4xf32>, %when: tensor<2xf32>) {
  // expected-error@+1 {{has the condition 'tensor<2xf32>'; expected one i1 for each coordinate; reduce it}}
  sgd.host_call "f" 1 each_rank coordinates 1 when %when : tensor<2xf32>(%a) : (tensor<2x4xf32>) -> ()
  return
}
