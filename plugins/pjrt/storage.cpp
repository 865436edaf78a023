// Own memory is aligned to cache lines, as kernels and NumPy's views of it like it.
#include "plugins/pjrt/storage.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "plugins/pjrt/program.h"

namespace sgd::pjrt {

namespace {

constexpr size_t kAlignment = 64;

absl::StatusOr<void*> AllocateBytes(size_t bytes) {
  void* memory = std::aligned_alloc(kAlignment, (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment);
  if (memory == nullptr) return absl::ResourceExhaustedError(absl::StrCat("no memory for a buffer of ", bytes, " bytes"));
  return memory;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Storage>> Storage::Allocate(size_t bytes) {
  absl::StatusOr<void*> memory = AllocateBytes(bytes);
  if (!memory.ok()) return memory.status();
  auto storage = absl::WrapUnique(new Storage());
  storage->own_ = *memory;
  storage->bytes_ = {static_cast<std::byte*>(*memory), bytes};
  return std::shared_ptr<Storage>(std::move(storage));
}

std::shared_ptr<Storage> Storage::Resident(std::shared_ptr<Program> program, uint32_t rank, size_t output) {
  auto storage = std::shared_ptr<Storage>(new Storage());
  storage->bytes_ = program->OutputBytes(rank, output);
  storage->rank_ = rank;
  storage->output_ = output;
  storage->program_ = std::move(program);
  return storage;
}

Storage::~Storage() { std::free(own_); }

absl::Status Storage::Detach() {
  if (program_ == nullptr) return absl::OkStatus();
  absl::StatusOr<void*> memory = AllocateBytes(bytes_.size());
  if (!memory.ok()) return memory.status();
  std::memcpy(*memory, bytes_.data(), bytes_.size());
  own_ = *memory;
  bytes_ = {static_cast<std::byte*>(own_), bytes_.size()};
  program_ = nullptr;
  return absl::OkStatus();
}

void Storage::Forget() {
  program_ = nullptr;
  bytes_ = {};
}

}  // namespace sgd::pjrt
