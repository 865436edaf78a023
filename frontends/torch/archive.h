// Members of a `.pt2` archive, a zip file without compression that torch.export.save writes.
#ifndef SGD_FRONTENDS_TORCH_ARCHIVE_H
#define SGD_FRONTENDS_TORCH_ARCHIVE_H

#include <memory>
#include <string>

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

struct zip;
struct zip_error;

namespace mlir::sgd::torch {

/// Returns whether `bytes` start with the signature of a zip file.
bool isZip(llvm::StringRef bytes);

/// An archive in memory or in a file. Names of members are relative to its one top folder.
class Archive {
 public:
  /// Fails with one line for damaged archives and for members with unsafe names. With kRestInFile at the end of
  /// `source`, reads from its file what is asked for.
  static llvm::Expected<Archive> open(llvm::MemoryBufferRef source);

  /// Returns the bytes of the member `name`. Fails if it is missing, compressed or larger than `mostBytes`.
  llvm::Expected<std::string> read(llvm::StringRef name, uint64_t mostBytes) const;

  /// Returns the first bytes of the member, `mostBytes` of them where there are as many. They are not checked for
  /// damage.
  llvm::Expected<std::string> readStart(llvm::StringRef name, uint64_t mostBytes) const;

 private:
  struct Closer {
    void operator()(zip* archive) const;
  };

  Archive(std::unique_ptr<zip, Closer> archive, std::string folder)
      : archive(std::move(archive)), folder(std::move(folder)) {}

  static llvm::Expected<Archive> check(zip* opened, zip_error* error);

  /// Returns the size of a member that is stored as it is.
  llvm::Expected<uint64_t> findSize(const std::string& path) const;

  std::unique_ptr<zip, Closer> archive;
  std::string folder;  // with a slash behind it
};

}  // namespace mlir::sgd::torch

#endif
