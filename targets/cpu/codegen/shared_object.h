// Links relocatable objects into one shared object without a linker process.
#ifndef SGD_TARGETS_CPU_CODEGEN_SHARED_OBJECT_H
#define SGD_TARGETS_CPU_CODEGEN_SHARED_OBJECT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

namespace mlir::sgd::cpu {

/// Joins x86-64 ELF relocatable objects (code and read-only data that refer to each other within one object only) into
/// an ET_DYN file: one read-only and one executable segment, global functions exported, nothing undefined, writable, or
/// run at load. Fails on undefined symbols, writable data and relocations that a loader would have to apply.
llvm::Expected<llvm::SmallVector<char, 0>> linkSharedObject(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects);

}  // namespace mlir::sgd::cpu

#endif
