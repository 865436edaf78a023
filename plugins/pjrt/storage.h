// The bytes of a buffer: memory of its own, or the output of a program, where it stays until the program runs again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sgd::pjrt {

class Program;

class Storage {
 public:
  // Of `bytes` uninitialized bytes. ResourceExhausted without memory.
  static absl::StatusOr<std::shared_ptr<Storage>> Allocate(size_t bytes);
  // An output of the last run of `program`, on the rank at `index` of its own.
  static std::shared_ptr<Storage> Resident(std::shared_ptr<Program> program, size_t index, size_t output);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  // Valid until the program of a resident one runs again; else as long as the storage. Under the lock of RankPools for
  // resident ones.
  std::span<std::byte> bytes() const { return bytes_; }

  // Whether it is an output of `program`, on the rank at `index`.
  bool IsOutput(const Program& program, size_t index, size_t output) const {
    return program_.get() == &program && index_ == index && output_ == output;
  }
  // The output that it is; meaningless unless it is resident.
  size_t output() const { return output_; }
  bool is_resident() const { return program_ != nullptr; }
  // Copies a resident one into memory of its own, so that its bytes stay where they are.
  absl::Status Detach();
  // Its bytes are gone: what reads it has been destroyed.
  void Forget();

 private:
  Storage() = default;

  std::span<std::byte> bytes_;
  void* own_ = nullptr;               // what bytes_ are in, unless they are resident
  std::shared_ptr<Program> program_;  // null unless it is resident
  size_t index_ = 0;
  size_t output_ = 0;
};

}  // namespace sgd::pjrt
