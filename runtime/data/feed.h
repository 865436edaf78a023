// Fills a program's inputs anew at every step; the interface of row_feed.h and batch_feed.h,
// and the names of inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/data/shard.h"

namespace sgd::data {

// Finds values by position ("arg3") or by the model's own names. A name that stands for several values is not found:
// neither is "arg3" where the model calls another value so.
class NameTable {
 public:
  NameTable(std::string prefix, const std::vector<std::string>& names);

  std::optional<size_t> Find(std::string_view name) const;
  // "arg3".
  std::string Position(size_t index) const;
  size_t size() const { return size_; }
  // The most bytes of a text that Find knows.
  size_t longest_name() const;

 private:
  std::string prefix_;
  size_t size_;
  std::map<std::string, std::optional<size_t>, std::less<>> by_name_;
};

// An input of a program as feeds see it.
struct InputType {
  std::string name;
  TensorType type;
  unsigned narrow_bits = 0;  // 2 or 4: I8 or U8 hold integers of so many bits; 0: all bits count
  artifact::InputRole role = artifact::InputRole::Input;
  std::vector<std::string> aliases = {};  // further names of it in the model
};

// InvalidArgument, with file, tensor and index, when the entry holds a number that integers of `input.narrow_bits` bits
// cannot be. Reads the whole entry where narrow_bits is not 0, nothing otherwise.
absl::Status CheckRange(const SafetensorsFile& file, const TensorEntry& entry, const InputType& input);

// InvalidArgument, with file, tensor and input, unless `entry` has the input's global type (DimsAs), or integers of
// another width, and its values are in the input's range (CheckRange, CheckFits).
absl::Status CheckTensor(const SafetensorsFile& file, const TensorEntry& entry, const InputType& input);

// Feeds decide from the step alone, so ranks agree without talking and a resumed run goes on where
// it was.
class Feed {
 public:
  virtual ~Feed() = default;

  // Positions, in the program's inputs, of those that this feed fills.
  virtual std::span<const size_t> inputs() const = 0;

  // Fills a rank's shard of inputs()[i] for the step. `local` has shard.local_bytes().
  virtual void Fill(uint64_t step, size_t i, const Shard& shard, std::span<std::byte> local) const = 0;
};

}  // namespace sgd::data
