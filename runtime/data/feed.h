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
#include "runtime/data/conversion.h"
#include "runtime/data/read_watch.h"
#include "runtime/data/shard.h"

namespace sgd::data {

// Finds values by position ("arg3") or by the model's own names. A name that stands for several values is not found:
// neither is "arg3" where the model calls another value so.
class NameTable {
 public:
  NameTable(std::string prefix, const std::vector<std::string>& names);

  std::optional<size_t> Find(std::string_view name) const;
  // Completes a message about a name that is not found: "; did you mean 'x'?", or else "; there are 'x', 'y' and 3
  // more".
  std::string Advice(std::string_view name) const;
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

// "[2, 0]" for the `position`th element of a row-major tensor.
std::string IndexText(uint64_t position, std::span<const uint64_t> dims);

// Completes "FILE: tensor 'x': ": that the element at `index`, of a file's type, is none of the input's.
std::string ValueFault(const Conversion& conversion, const std::string& index, const std::byte* element,
                       const InputType& input);

// From elements of a file, of the input's type or an integer's, to the input's.
Conversion ConversionTo(const InputType& input, ElementType from);

// InvalidArgument, with file, tensor and input, unless `entry` has the input's global type (DimsAs), or integers of
// another width, and its values are in the input's range. Reads the whole entry where some might not be.
absl::Status CheckTensor(const SafetensorsFile& file, const TensorEntry& entry, const InputType& input);

// Feeds decide from the step alone, so ranks agree without talking and a resumed run goes on where it was. Threads may
// share a feed.
class Feed {
 public:
  virtual ~Feed() = default;

  // Positions, in the program's inputs, of those that this feed fills.
  virtual std::span<const size_t> inputs() const = 0;

  // Fills a rank's shard of inputs()[i] for the step. `local` has shard.local_bytes(). `watch` knows the file
  // meanwhile. Errors name the file: it cannot be read, has changed, or holds a number that the input cannot be.
  virtual absl::Status Fill(uint64_t step, size_t i, const Shard& shard, std::span<std::byte> local,
                            ReadWatch& watch) const = 0;

  // Lets the system begin to read what Fill will need.
  virtual void Announce(uint64_t step, size_t i, const Shard& shard) const {}
};

}  // namespace sgd::data
