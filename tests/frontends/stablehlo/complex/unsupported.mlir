// Refuses ops without a meaning on complex numbers, or without one yet, with the op and its place.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -verify-diagnostics

func.func @pooling(%x: tensor<4xcomplex<f32>>, %y: tensor<2xcomplex<f32>>, %init: tensor<complex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error@+1 {{'stablehlo.select_and_scatter' is not supported on complex numbers; compute with real and imaginary parts}}
  %0 = "stablehlo.select_and_scatter"(%x, %y, %init) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %p = stablehlo.real %a : (tensor<complex<f32>>) -> tensor<f32>
    %q = stablehlo.real %b : (tensor<complex<f32>>) -> tensor<f32>
    %more = stablehlo.compare GE, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }, {
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %s = stablehlo.add %a, %b : tensor<complex<f32>>
    stablehlo.return %s : tensor<complex<f32>>
  }) : (tensor<4xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<complex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

func.func @order(%x: tensor<4xcomplex<f32>>) -> tensor<4xi1> {
  // expected-error@+1 {{'stablehlo.compare' orders complex numbers, which have no order; compare real and imaginary parts}}
  %0 = stablehlo.compare LT, %x, %x, FLOAT : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// expected-error@+1 {{argument 0 has type 'tensor<?xcomplex<f32>>'; dynamic shapes are not supported, export with concrete shapes}}
func.func @dynamic(%x: tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>> {
  return %x : tensor<?xcomplex<f32>>
}

// -----

func.func @call(%x: tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>> {
  // expected-error@+1 {{'stablehlo.custom_call' @library is not supported on complex numbers}}
  %0 = stablehlo.custom_call @library(%x, %x) : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  return %0 : tensor<4x4xcomplex<f32>>
}

// -----

sdy.mesh @mesh = <["data"=2]>
func.func @differences_over_ranks(%z: tensor<4xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = sdy.manual_computation(%z) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"data"} (%part: tensor<2xcomplex<f32>>) {
    // expected-error@+1 {{'stablehlo.all_reduce' combines complex numbers by something else than add or multiply; combine real and imaginary parts}}
    %sum = "stablehlo.all_reduce"(%part) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
      %s = stablehlo.subtract %a, %b : tensor<complex<f32>>
      stablehlo.return %s : tensor<complex<f32>>
    }) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
    sdy.return %sum : tensor<2xcomplex<f32>>
  } : (tensor<4xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}

// -----

func.func @lengths(%x: tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>> {
  // expected-error@+1 {{'stablehlo.fft' of lengths [8] does not fit 'tensor<4x8xf32>' and 'tensor<4x8xcomplex<f32>>'}}
  %0 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>>
  return %0 : tensor<4x8xcomplex<f32>>
}

// -----

func.func @kind(%x: tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>> {
  // expected-error@+1 {{'stablehlo.fft' of type FFT does not fit 'tensor<4x8xf32>' and 'tensor<4x8xcomplex<f32>>'}}
  %0 = stablehlo.fft %x, type = FFT, length = [8] : (tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>>
  return %0 : tensor<4x8xcomplex<f32>>
}
