// Bytes remember who touched them last.
#include "tests/targets/gpu/emulator/access_checker.h"

#include <algorithm>

namespace sgd::emulator {

void AccessChecker::BeginLaunch(std::span<const Extent> global, bool tracks_order) {
  problem_.clear();
  epoch_ = 1;
  knows_global_ = !global.empty();
  // Buffers that are one memory, such as an operand given twice, are one region.
  std::vector<Extent> sorted(global.begin(), global.end());
  std::sort(sorted.begin(), sorted.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  global_.clear();
  for (const Extent& extent : sorted) {
    if (extent.bytes == 0) continue;
    if (!global_.empty()) {
      Extent& last = global_.back().extent;
      if (extent.begin < last.begin + last.bytes) {
        last.bytes = std::max(last.begin + last.bytes, extent.begin + extent.bytes) - last.begin;
        continue;
      }
    }
    global_.push_back({extent, {}});
  }
  if (tracks_order) {
    for (Region& region : global_) region.bytes.assign(region.extent.bytes, {});
  }
}

void AccessChecker::BeginBlock(uint32_t block, std::span<const Extent> shared) {
  block_ = block;
  ++epoch_;
  shared_.resize(shared.size());
  for (size_t i = 0; i < shared.size(); ++i) {
    shared_[i].extent = shared[i];
    shared_[i].bytes.assign(shared[i].bytes, {});
  }
}

void AccessChecker::Say(uint32_t thread, const std::string& what) {
  if (problem_.empty()) problem_ = "thread " + std::to_string(thread) + " " + what;
}

uint64_t AccessChecker::Judge(uint32_t thread, const Access& access, bool is_shared) {
  const char* memory = is_shared ? "shared memory" : "global memory";
  const char* does = access.is_write ? "writes " : "reads ";
  if (access.address % access.align != 0) {
    Say(thread, std::string(does) + std::to_string(access.bytes) + " bytes of " + memory + " that are not aligned to " +
                    std::to_string(access.align));
  }
  if (!is_shared && !knows_global_) return access.address;
  std::vector<Region>& regions = is_shared ? shared_ : global_;
  for (Region& region : regions) {
    const uint64_t offset = access.address - region.extent.begin;
    if (offset >= region.extent.bytes || access.bytes > region.extent.bytes - offset) continue;
    const Touched now{block_, thread, epoch_};
    if (!region.bytes.empty()) {
      for (uint32_t i = 0; i < access.bytes; ++i) Track(region.bytes[offset + i], now, access, memory);
    }
    return access.address;
  }
  Say(thread, std::string(does) + std::to_string(access.bytes) + " bytes of " + memory + " that are not the kernel's");
  return reinterpret_cast<uintptr_t>(nowhere_);
}

void AccessChecker::Track(Byte& byte, const Touched& now, const Access& access, const char* memory) {
  const auto say = [&](const Touched& other, const char* what) {
    const std::string where = other.block == now.block ? "" : " of block " + std::to_string(other.block);
    Say(now.thread, std::string(access.is_write ? "writes " : "reads ") + memory + " that thread " +
                        std::to_string(other.thread) + where + " " + what);
  };
  const auto unordered = [&](const Touched& before, bool by_several) {
    if (before.epoch == 0) return false;
    return before.block != now.block || (before.epoch == now.epoch && (by_several || before.thread != now.thread));
  };
  if (unordered(byte.write, false)) say(byte.write, "has written, with no barrier between");
  if (access.is_write) {
    if (byte.read_as_read_only) say(byte.read, "has read as what nobody writes");
    if (byte.read_by_blocks || unordered(byte.read, byte.read_by_threads))
      say(byte.read, "has read, with no barrier between");
    byte.write = now;
    return;
  }
  if (access.is_read_only && byte.write.epoch != 0) say(byte.write, "has written, as what nobody writes");
  byte.read_as_read_only |= access.is_read_only;
  byte.read_by_blocks |= byte.read.epoch != 0 && byte.read.block != now.block;
  byte.read_by_threads = byte.read.epoch == now.epoch && (byte.read_by_threads || byte.read.thread != now.thread);
  byte.read = now;
}

}  // namespace sgd::emulator
