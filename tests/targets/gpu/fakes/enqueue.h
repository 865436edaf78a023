// Work of the fakes of libraries on the streams of the fake of the driver.
#pragma once

#include <cuda.h>

#include <cstdlib>
#include <memory>

// Enqueues work that is called until it is ready (CUDA_ERROR_NOT_READY before). `data` is released when it has run, or
// when the last graph that holds it is gone.
extern "C" CUresult sgd_emulated_enqueue(CUstream stream, CUresult (*function)(void*), void* data,
                                         void (*release)(void*));

namespace sgd::emulated {

// Enqueues Run() of `call`, once or each time that a graph runs it; false of it ends the process.
template <typename Call>
CUresult EnqueueCall(CUstream stream, std::unique_ptr<Call> call) {
  const auto run = [](void* data) {
    if (!static_cast<Call*>(data)->Run()) std::abort();
    return CUDA_SUCCESS;
  };
  return sgd_emulated_enqueue(stream, run, call.release(), [](void* data) { delete static_cast<Call*>(data); });
}

}  // namespace sgd::emulated
