// The last accesses of bytes: for every byte of every space, the last write and the last reads of each stream.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/artifact/program_generated.h"

namespace sgd::device {

// By stream: how far it has come, counted in instructions from 1; 0 is nothing yet.
using Progress = std::vector<uint64_t>;

// Raises `progress` to `other`, stream by stream, where that is further.
void Raise(Progress& progress, const Progress& other);

class ByteHistory {
 public:
  explicit ByteHistory(uint32_t streams) : streams_(streams) {}

  // Raises `needed` to what has to be complete before the slice may be read (all writes to it), or written (reads as
  // well).
  void Before(const artifact::Slice& slice, bool is_write, Progress& needed) const;

  // The instruction `number` of a stream reads or writes the slice.
  void Add(const artifact::Slice& slice, bool is_write, uint32_t stream, uint64_t number);

 private:
  // The history of the bytes from its key to its end.
  struct Segment {
    uint64_t end = 0;
    Progress written;
    Progress read;
  };
  using Segments = std::map<uint64_t, Segment>;

  // Makes segments begin and end at the slice's bounds and cover it.
  static void Cut(Segments& segments, uint64_t begin, uint64_t end, uint32_t streams);

  uint32_t streams_;
  std::map<artifact::Space, Segments> spaces_;
};

}  // namespace sgd::device
