// Best-fit placement of buffers with lifetimes; quadratic in the number of buffers that conflict.
#include "passes/memory/arena_planner.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace mlir::sgd::memory {
namespace {

uint64_t roundUp(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool overlap(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

bool conflict(const ArenaBuffer& a, const ArenaBuffer& b) {
  for (const Lifetime& x : a.lifetimes)
    for (const Lifetime& y : b.lifetimes)
      if (overlap(x, y)) return true;
  return false;
}

int64_t span(const ArenaBuffer& buffer) {
  int64_t total = 0;
  for (const Lifetime& lifetime : buffer.lifetimes) total += lifetime.last - lifetime.first + 1;
  return total;
}

struct Placed {
  uint64_t begin, end;
};

/// The smallest gap between `busy` that holds `size` bytes, else the end of the last.
uint64_t bestGap(std::vector<Placed>& busy, uint64_t size) {
  std::sort(busy.begin(), busy.end(), [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
  uint64_t free = 0, best = 0, bestSize = std::numeric_limits<uint64_t>::max();
  for (const Placed& placed : busy) {
    if (placed.begin >= free + size && placed.begin - free < bestSize) {
      best = free;
      bestSize = placed.begin - free;
    }
    free = std::max(free, placed.end);
  }
  return bestSize == std::numeric_limits<uint64_t>::max() ? free : best;
}

/// Places the buffers of `order` one after another around those that are fixed.
ArenaPlan placeInOrder(const std::vector<ArenaBuffer>& buffers, const std::vector<size_t>& order) {
  ArenaPlan plan;
  plan.offsets.assign(buffers.size(), 0);
  std::vector<size_t> done;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].fixedOffset) continue;
    plan.offsets[i] = *buffers[i].fixedOffset;
    plan.size = std::max(plan.size, roundUp(plan.offsets[i] + buffers[i].size));
    done.push_back(i);
  }
  for (size_t i : order) {
    std::vector<Placed> busy;
    for (size_t other : done)
      if (buffers[other].size != 0 && conflict(buffers[i], buffers[other]))
        busy.push_back({plan.offsets[other], roundUp(plan.offsets[other] + buffers[other].size)});
    plan.offsets[i] = bestGap(busy, roundUp(buffers[i].size));
    plan.size = std::max(plan.size, plan.offsets[i] + roundUp(buffers[i].size));
    done.push_back(i);
  }
  return plan;
}

}  // namespace

ArenaPlan planArena(const std::vector<ArenaBuffer>& buffers) {
  std::vector<size_t> order;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (!buffers[i].fixedOffset) order.push_back(i);
  // Each order is by a key, largest first, then by position, so that it is total.
  auto placeBy = [&](auto key) {
    std::vector<size_t> sorted = order;
    std::sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) {
      const auto keyA = key(a), keyB = key(b);
      return keyA != keyB ? keyA > keyB : a < b;
    });
    return placeInOrder(buffers, sorted);
  };
  ArenaPlan best = placeBy([&](size_t i) { return std::pair(buffers[i].size, span(buffers[i])); });
  const uint64_t bound = lowerBound(buffers);
  if (best.size > bound) {
    ArenaPlan other = placeBy([&](size_t i) { return static_cast<double>(buffers[i].size) * span(buffers[i]); });
    if (other.size < best.size) best = std::move(other);
  }
  if (best.size > bound) {
    ArenaPlan other = placeBy([&](size_t i) { return -buffers[i].lifetimes.front().first; });
    if (other.size < best.size) best = std::move(other);
  }
  return best;
}

namespace {

/// Bytes alive at each instant at which that changes.
class Profile {
 public:
  explicit Profile(const std::vector<ArenaBuffer>& buffers) {
    for (const ArenaBuffer& buffer : buffers)
      for (const Lifetime& lifetime : buffer.lifetimes) instants.push_back(lifetime.first);
    std::sort(instants.begin(), instants.end());
    instants.erase(std::unique(instants.begin(), instants.end()), instants.end());
    alive.assign(instants.size(), 0);
    for (const ArenaBuffer& buffer : buffers) add(buffer, 1);
  }

  void add(const ArenaBuffer& buffer, int64_t times) {
    for (const Lifetime& lifetime : buffer.lifetimes) {
      auto first = std::lower_bound(instants.begin(), instants.end(), lifetime.first),
           last = std::upper_bound(first, instants.end(), lifetime.last);
      for (auto it = first; it != last; ++it)
        alive[it - instants.begin()] += times * static_cast<int64_t>(roundUp(buffer.size));
    }
  }

  /// An instant at which most is alive. There is one when any buffer is.
  int64_t getPeak() const { return instants[std::max_element(alive.begin(), alive.end()) - alive.begin()]; }

 private:
  std::vector<int64_t> instants, alive;
};

bool isAlive(const ArenaBuffer& buffer, int64_t instant) {
  return std::any_of(buffer.lifetimes.begin(), buffer.lifetimes.end(),
                     [&](const Lifetime& l) { return l.first <= instant && instant <= l.last; });
}

}  // namespace

std::vector<std::optional<uint64_t>> moveIntoGaps(const std::vector<ArenaBuffer>& guests,
                                                  const std::vector<ArenaBuffer>& host, uint64_t hostSize) {
  std::vector<std::optional<uint64_t>> moved(guests.size());
  if (guests.empty() || hostSize == 0) return moved;
  std::vector<size_t> bySize(guests.size());
  std::iota(bySize.begin(), bySize.end(), size_t{0});
  std::sort(bySize.begin(), bySize.end(), [&](size_t a, size_t b) {
    return guests[a].size != guests[b].size ? guests[a].size > guests[b].size : a < b;
  });
  auto findGap = [&](const ArenaBuffer& guest) -> std::optional<uint64_t> {
    std::vector<Placed> busy;
    for (const ArenaBuffer& buffer : host)
      if (buffer.size != 0 && conflict(guest, buffer))
        busy.push_back({*buffer.fixedOffset, roundUp(*buffer.fixedOffset + buffer.size)});
    for (size_t i = 0; i < guests.size(); ++i)
      if (moved[i] && conflict(guest, guests[i])) busy.push_back({*moved[i], *moved[i] + roundUp(guests[i].size)});
    uint64_t offset = bestGap(busy, roundUp(guest.size));
    return offset + roundUp(guest.size) <= hostSize ? std::optional(offset) : std::nullopt;
  };
  Profile profile(guests);
  auto moveOne = [&](int64_t peak) {
    for (size_t i : bySize) {
      if (moved[i] || guests[i].fixedOffset || guests[i].size == 0 || !isAlive(guests[i], peak)) continue;
      if (!(moved[i] = findGap(guests[i]))) continue;
      profile.add(guests[i], -1);
      return true;
    }
    return false;
  };
  while (moveOne(profile.getPeak())) {
  }
  return moved;
}

uint64_t lowerBound(const std::vector<ArenaBuffer>& buffers) {
  std::map<int64_t, int64_t> change;
  for (const ArenaBuffer& buffer : buffers)
    for (const Lifetime& lifetime : buffer.lifetimes) {
      change[lifetime.first] += static_cast<int64_t>(roundUp(buffer.size));
      change[lifetime.last + 1] -= static_cast<int64_t>(roundUp(buffer.size));
    }
  int64_t alive = 0, most = 0;
  for (auto [instruction, bytes] : change) most = std::max(most, alive += bytes);
  return static_cast<uint64_t>(most);
}

}  // namespace mlir::sgd::memory
