// Compilations that outlive the process: one file per compilation in a folder that any number of processes may use at
// once.
#ifndef SGD_COMPILER_COMPILE_CACHE_H
#define SGD_COMPILER_COMPILE_CACHE_H

#include "compiler/driver/driver.h"

namespace mlir::sgd {

/// Like compile(), but takes a compilation of the same sources and options from `folder` when one is there, and leaves
/// it there when not. Everything but the compile time, warnings included, is as if compiled anew. An entry is named by
/// a hash of what can change the result: the request (compiler/request) and which outputs are wanted, the texts of the
/// programs and of the topology file, the CPU that code is made for, and the build ids of the compiler and of its
/// libraries. Nothing is parsed
/// and no MLIR context exists before the look-up.
///
/// Entries are written aside and renamed, and hold a hash of themselves; one that is damaged or of another format is
/// compiled anew and replaced, likewise one that another user owns or may write, with a warning. Errors are not kept. A
/// folder that cannot be used costs one warning on `errors`, never the compilation. Files may be deleted at any time.
/// A compilation that adds an entry deletes those used longest ago until all take at most `limit` bytes; an entry
/// larger than that is not kept.
FailureOr<Compilation> compileCached(llvm::ArrayRef<ProgramSource> sources, const CompileOptions& options,
                                     llvm::StringRef folder, uint64_t limit, llvm::raw_ostream& errors,
                                     Timings* timings = nullptr);

/// Deletes the least recently used entries of `folder` until the others take at most `limit` bytes, and files that
/// interrupted writers left an hour ago. Other files stay. Skips entries that it cannot read or delete.
void trimCache(llvm::StringRef folder, uint64_t limit);

/// An entry's bytes. `messages` is what the compilation printed.
std::string packCompilation(const Compilation& compilation, llvm::StringRef messages);

/// The inverse; nullopt unless `bytes` are exactly what packCompilation wrote.
std::optional<std::pair<Compilation, std::string>> unpackCompilation(llvm::StringRef bytes);

}  // namespace mlir::sgd

#endif
