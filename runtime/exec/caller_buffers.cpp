// A range of a space can be elsewhere when every slice that touches it lies in it.
#include "runtime/exec/caller_buffers.h"

#include <algorithm>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/operands.h"
#include "runtime/artifact/reader.h"

namespace sgd::exec {
namespace {

bool IsSame(const artifact::Slice& a, const artifact::Slice& b) {
  return a.space() == b.space() && a.offset() == b.offset() && a.size() == b.size();
}

bool Overlap(const artifact::Slice& a, const artifact::Slice& b) {
  return a.space() == b.space() && a.offset() < b.offset() + b.size() && b.offset() < a.offset() + a.size();
}

bool Holds(const artifact::Slice& outer, const artifact::Slice& inner) {
  return inner.offset() >= outer.offset() && inner.offset() + inner.size() <= outer.offset() + outer.size();
}

bool Overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

}  // namespace

class CallerBuffers::Binder {
 public:
  Binder(const artifact::Program& program, CallerBuffers& bound) : program_(program), bound_(bound) {}

  absl::Status Add(const CallerTensor& tensor, bool is_input, uint64_t private_bytes) {
    const uint64_t count = is_input ? artifact::Size(program_.inputs()) : artifact::Size(program_.outputs());
    if (tensor.position >= count)
      return absl::InvalidArgumentError(absl::StrCat("a buffer is for ", is_input ? "input " : "output ",
                                                     tensor.position, " of ", count, "; expected a position below"));
    const auto index = static_cast<uint32_t>(tensor.position);
    const artifact::Slice& slice =
        *(is_input ? program_.inputs()->Get(index)->slice() : program_.outputs()->Get(index)->slice());
    if (absl::Status status = Check(tensor, slice, private_bytes); !status.ok()) {
      const auto* name = is_input ? program_.inputs()->Get(index)->name() : program_.outputs()->Get(index)->name();
      return absl::InvalidArgumentError(absl::StrCat("the buffer for ", is_input ? "input " : "output ",
                                                     tensor.position, " '", absl::CEscape(name->str()), "' ",
                                                     status.message()));
    }
    buffers_.push_back(tensor.bytes);
    std::byte* place = bound_.memory_.Address(slice);
    if (place == tensor.bytes.data()) return absl::OkStatus();
    if (IsAlone(slice)) {
      bound_.memory_.Bind(slice, tensor.bytes.data());
    } else if (is_input) {
      bound_.copies_in_.push_back({tensor.bytes.data(), place, tensor.bytes.size()});
    } else {
      bound_.copies_out_.push_back({place, tensor.bytes.data(), tensor.bytes.size()});
    }
    return absl::OkStatus();
  }

 private:
  // The message goes on behind the tensor's name. Two tensors in one place may have one buffer.
  absl::Status Check(const CallerTensor& tensor, const artifact::Slice& slice, uint64_t private_bytes) const {
    if (tensor.bytes.size() != slice.size())
      return absl::InvalidArgumentError(
          absl::StrCat("has ", tensor.bytes.size(), " bytes; expected ", slice.size(), ", those of its shard"));
    if (reinterpret_cast<uintptr_t>(tensor.bytes.data()) % CallerTensor::kAlignment != 0)
      return absl::InvalidArgumentError(
          absl::StrCat("is not aligned; expected a multiple of ", CallerTensor::kAlignment, " bytes"));
    const std::byte* const in_place = bound_.memory_.Address(slice);
    for (const std::span<const std::byte> other : buffers_) {
      if (Overlap(other, tensor.bytes) && other.data() != in_place)
        return absl::InvalidArgumentError("overlaps the buffer of another tensor; expected one of its own");
    }
    if (Overlap({bound_.memory_.private_base, private_bytes}, tensor.bytes))
      return absl::InvalidArgumentError("is in the arena; expected memory outside of it");
    return absl::OkStatus();
  }

  // Whether nothing but tensors in the same place, and instructions inside of it, touch a slice.
  bool IsAlone(const artifact::Slice& slice) const {
    if (slice.space() != artifact::Space::Private && slice.space() != artifact::Space::Host) return false;
    if (bound_.memory_.IsBound(slice)) return false;
    const auto fits = [&](const auto* tensor) {
      return !Overlap(*tensor->slice(), slice) || IsSame(*tensor->slice(), slice);
    };
    for (uint32_t i = 0; i < artifact::Size(program_.inputs()); ++i)
      if (!fits(program_.inputs()->Get(i))) return false;
    for (uint32_t i = 0; i < artifact::Size(program_.outputs()); ++i)
      if (!fits(program_.outputs()->Get(i))) return false;
    bool is_alone = true;
    for (uint32_t i = 0; i < artifact::Size(program_.instructions()); ++i) {
      artifact::ForEachOperand(*program_.instructions()->Get(i), [&](const artifact::Operand& operand) {
        const artifact::Slice* touched = operand.slice;
        if (touched == nullptr || touched->size() == 0 || !Overlap(*touched, slice)) return;
        is_alone = is_alone && Holds(slice, *touched);
      });
    }
    return is_alone;
  }

  const artifact::Program& program_;
  CallerBuffers& bound_;
  std::vector<std::span<const std::byte>> buffers_;
};

absl::StatusOr<CallerBuffers> CallerBuffers::Bind(const artifact::Program& program, const device::MemoryMap& memory,
                                                  uint64_t private_bytes, std::span<const CallerTensor> inputs,
                                                  std::span<const CallerTensor> outputs) {
  CallerBuffers bound;
  bound.memory_ = memory;
  Binder binder(program, bound);
  for (const bool is_input : {true, false}) {
    for (const CallerTensor& tensor : is_input ? inputs : outputs) {
      if (absl::Status status = binder.Add(tensor, is_input, private_bytes); !status.ok()) return status;
    }
  }
  return bound;
}

}  // namespace sgd::exec
