#include "runtime/artifact/file_mapping.h"

#include <sys/mman.h>

#include <utility>

namespace sgd::artifact {

FileMapping::FileMapping(FileMapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

FileMapping& FileMapping::operator=(FileMapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

FileMapping::~FileMapping() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace sgd::artifact
