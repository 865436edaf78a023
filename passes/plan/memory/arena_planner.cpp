// Best-fit placement of buffers with lifetimes: n log n in the number of buffers as long as the bytes occupied at one
// time have few holes.
#include "passes/plan/memory/arena_planner.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "passes/plan/memory/occupied_space.h"

namespace mlir::sgd::memory {
namespace {

uint64_t roundUp(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

int64_t span(const ArenaBuffer& buffer) {
  int64_t total = 0;
  for (const Lifetime& lifetime : buffer.lifetimes) total += lifetime.last - lifetime.first + 1;
  return total;
}

/// Places the buffers of `order` one after another around those that are fixed.
ArenaPlan placeInOrder(const std::vector<ArenaBuffer>& buffers, const std::vector<size_t>& order) {
  ArenaPlan plan;
  plan.offsets.assign(buffers.size(), 0);
  OccupiedSpace space({&buffers});
  auto put = [&](size_t i, uint64_t offset) {
    const uint64_t end = roundUp(offset + buffers[i].size);
    plan.offsets[i] = offset;
    plan.size = std::max(plan.size, end);
    if (buffers[i].size != 0) space.add(buffers[i].lifetimes, {offset, end});
  };
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].fixedOffset) put(i, *buffers[i].fixedOffset);
  for (size_t i : order) put(i, space.findGap(buffers[i].lifetimes, roundUp(buffers[i].size)));
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

/// Bytes alive at each instant at which that changes: a tree whose nodes hold the most below them, relative to what was
/// added to their parents.
class Profile {
 public:
  explicit Profile(const std::vector<ArenaBuffer>& buffers) {
    for (const ArenaBuffer& buffer : buffers)
      for (const Lifetime& lifetime : buffer.lifetimes) instants.push_back(lifetime.first);
    std::sort(instants.begin(), instants.end());
    instants.erase(std::unique(instants.begin(), instants.end()), instants.end());
    while (leaves < instants.size()) leaves *= 2;
    most.assign(2 * leaves, 0);
    added.assign(2 * leaves, 0);
    for (const ArenaBuffer& buffer : buffers) add(buffer, 1);
  }

  void add(const ArenaBuffer& buffer, int64_t times) {
    const int64_t bytes = times * static_cast<int64_t>(roundUp(buffer.size));
    for (const Lifetime& lifetime : buffer.lifetimes)
      forEachCover(leaves, getIndex(lifetime.first), getIndex(lifetime.last + 1), [&](size_t node) {
        most[node] += bytes;
        added[node] += bytes;
        for (node /= 2; node != 0; node /= 2) most[node] = added[node] + std::max(most[2 * node], most[2 * node + 1]);
      });
  }

  /// The first instant at which most is alive, as an index. There is one when any buffer is.
  size_t getPeak() const {
    size_t node = 1;
    while (node < leaves) node = most[2 * node] >= most[2 * node + 1] ? 2 * node : 2 * node + 1;
    return node - leaves;
  }

  size_t getNumLeaves() const { return leaves; }
  /// The number of instants before this one.
  size_t getIndex(int64_t instant) const {
    return std::lower_bound(instants.begin(), instants.end(), instant) - instants.begin();
  }

 private:
  std::vector<int64_t> instants;
  size_t leaves = 1;
  std::vector<int64_t> most, added;
};

/// Guests by the instants at which they are alive; each moves once.
class GuestQueue {
 public:
  /// In the order of `guests`, those that may move.
  GuestQueue(const std::vector<ArenaBuffer>& buffers, const std::vector<size_t>& guests, const Profile& profile)
      : leaves(profile.getNumLeaves()), lists(2 * leaves), isTaken(guests.size()) {
    for (size_t rank = 0; rank < guests.size(); ++rank) {
      const ArenaBuffer& buffer = buffers[guests[rank]];
      if (buffer.fixedOffset || buffer.size == 0) continue;
      for (const Lifetime& lifetime : buffer.lifetimes)
        forEachCover(leaves, profile.getIndex(lifetime.first), profile.getIndex(lifetime.last + 1),
                     [&](size_t node) { lists[node].ranks.push_back(rank); });
    }
  }

  /// Takes the first guest that is alive at `instant`: its number in the order.
  std::optional<size_t> take(size_t instant) {
    std::optional<size_t> first;
    for (size_t node = leaves + instant; node != 0; node /= 2) {
      List& list = lists[node];
      while (list.next < list.ranks.size() && isTaken[list.ranks[list.next]]) ++list.next;
      if (list.next < list.ranks.size()) first = std::min(first.value_or(isTaken.size()), list.ranks[list.next]);
    }
    if (first) isTaken[*first] = true;
    return first;
  }

 private:
  struct List {
    std::vector<size_t> ranks;
    size_t next = 0;
  };
  size_t leaves;
  std::vector<List> lists;
  std::vector<bool> isTaken;
};

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
  OccupiedSpace space({&guests, &host});
  for (const ArenaBuffer& buffer : host)
    if (buffer.size != 0)
      space.add(buffer.lifetimes, {*buffer.fixedOffset, roundUp(*buffer.fixedOffset + buffer.size)});
  Profile profile(guests);
  GuestQueue queue(guests, bySize, profile);
  // The host only gets fuller: who finds no room once never will.
  while (std::optional<size_t> next = queue.take(profile.getPeak())) {
    const ArenaBuffer& guest = guests[bySize[*next]];
    const uint64_t size = roundUp(guest.size), offset = space.findGap(guest.lifetimes, size);
    if (offset + size > hostSize) continue;
    moved[bySize[*next]] = offset;
    space.add(guest.lifetimes, {offset, offset + size});
    profile.add(guest, -1);
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
