// CPU code generation for clusters: the interface of a cluster's kernel, and its machine code as one
// position-independent shared object. Assumes static local shapes without encodings. Nothing here depends on the rank
// or on the number of threads of the build host.
#ifndef SGD_TARGETS_CPU_CODEGEN_CODEGEN_H
#define SGD_TARGETS_CPU_CODEGEN_CODEGEN_H

#include "dialects/fusion/fusion_dialect.h"
#include "targets/kernels/kernel_interface.h"

namespace mlir::sgd::cpu {

using namespace kernels;

/// A kernel is `void symbol(void* const* buffers, const int64_t* coordinates, int64_t begin, int64_t end)`:
/// `buffers` are the cluster's operands that are not overwritten in place, in order, then its results in order, each at
/// least 64-byte aligned; `coordinates` are the rank's linear indices over KernelInterface::coordinates. The kernel
/// computes the part [begin, end) of [0, range); begin is a multiple of the grain, end too or the range. Parts write
/// disjoint bytes, and the bits do not depend on how the range is cut. Elements are row-major; i1 is one byte, 0 or 1.
/// Zero-sized results are allowed.

/// Plans the loops of `cluster` without making code. Emits an error on the op that cannot be compiled.
FailureOr<KernelInterface> describeKernel(fusion::ClusterOp cluster);

/// The smallest part of `range` iterations of a kernel that is worth a thread: it moves 32 KiB, or computes as long.
int64_t getGrain(fusion::ClusterOp cluster, int64_t range);

/// The CPU for which code is made.
struct CpuTarget {
  std::string cpu;                    ///< LLVM's name, e.g. "x86-64-v3" or "znver5"
  SmallVector<std::string> features;  ///< what the code may need, as in /proc/cpuinfo, sorted: avx2, avx512f, ...
  unsigned vectorBits = 256;          ///< preferred register width

  /// `name` is native, x86-64-v3 or x86-64-v4. Fails (message to `error`) for other names and for hosts below
  /// x86-64-v3.
  static FailureOr<CpuTarget> get(StringRef name, std::string* error = nullptr);
};

/// The kernels as one ELF shared object: no undefined symbols, no writable data, no constructors, no dependencies. The
/// bytes depend on requests and target alone, not on `threads` (at least 1), the number of host threads that compile.
/// The requests' context must not be in use by others meanwhile.
FailureOr<SmallVector<char, 0>> compileKernels(ArrayRef<KernelRequest> requests, const CpuTarget& target,
                                               unsigned threads);

}  // namespace mlir::sgd::cpu

#endif
