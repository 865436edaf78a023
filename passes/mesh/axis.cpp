// Algebra of axis parts; every function compares ranges [begin, end) of sub-axes of the same axis.
#include "passes/mesh/axis.h"

#include <algorithm>
#include <numeric>

namespace mlir::sgd {

using llvm::ArrayRef;

int64_t getGroupSize(ArrayRef<AxisPart> parts) {
  int64_t size = 1;
  for (const AxisPart& part : parts) size *= part.size;
  return size;
}

int64_t getRankStride(ArrayRef<int64_t> mesh, const AxisPart& part) {
  int64_t stride = mesh[part.axis] / part.end();
  for (size_t axis = part.axis + 1; axis < mesh.size(); ++axis) stride *= mesh[axis];
  return stride;
}

bool overlaps(const AxisPart& a, const AxisPart& b) {
  return a.axis == b.axis && a.begin % b.end() != 0 && b.begin % a.end() != 0;
}

bool overlaps(ArrayRef<AxisPart> a, ArrayRef<AxisPart> b) {
  for (const AxisPart& x : a)
    for (const AxisPart& y : b)
      if (overlaps(x, y)) return true;
  return false;
}

bool contains(const AxisPart& outer, const AxisPart& inner) {
  return outer.axis == inner.axis && inner.begin % outer.begin == 0 && outer.end() % inner.end() == 0;
}

std::optional<AxisPart> intersection(const AxisPart& a, const AxisPart& b) {
  if (!overlaps(a, b)) return std::nullopt;
  int64_t begin = std::max(a.begin, b.begin), end = std::min(a.end(), b.end());
  AxisPart shared{a.axis, begin, end / begin};
  if (end % begin != 0 || !contains(a, shared) || !contains(b, shared)) return std::nullopt;
  return shared;
}

AxisParts difference(const AxisPart& a, const AxisPart& b) {
  std::optional<AxisPart> shared = intersection(a, b);
  if (!shared) return {a};
  AxisParts rest;
  appendMerged(rest, {a.axis, a.begin, shared->begin / a.begin});
  appendMerged(rest, {a.axis, shared->end(), a.end() / shared->end()});
  return rest;
}

AxisParts difference(ArrayRef<AxisPart> parts, ArrayRef<AxisPart> removed) {
  AxisParts rest(parts.begin(), parts.end());
  for (const AxisPart& part : removed) {
    AxisParts next;
    for (const AxisPart& kept : rest) next.append(difference(kept, part));
    rest = std::move(next);
  }
  return rest;
}

bool canMerge(const AxisPart& major, const AxisPart& minor) {
  return major.axis == minor.axis && major.end() == minor.begin;
}

void appendMerged(AxisParts& parts, const AxisPart& part) {
  if (part.size == 1) return;
  if (!parts.empty() && canMerge(parts.back(), part))
    parts.back().size *= part.size;
  else
    parts.push_back(part);
}

AxisParts merged(ArrayRef<AxisPart> parts) {
  AxisParts result;
  for (const AxisPart& part : parts) appendMerged(result, part);
  return result;
}

AxisParts commonPrefix(ArrayRef<AxisPart> a, ArrayRef<AxisPart> b) {
  AxisParts prefix;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == b[i]) {
      prefix.push_back(a[i]);
      continue;
    }
    if (a[i].axis == b[i].axis && a[i].begin == b[i].begin) {
      const AxisPart& shorter = a[i].size < b[i].size ? a[i] : b[i];
      const AxisPart& longer = a[i].size < b[i].size ? b[i] : a[i];
      if (contains(longer, shorter)) prefix.push_back(shorter);
    }
    break;
  }
  return prefix;
}

bool isPrefix(ArrayRef<AxisPart> prefix, ArrayRef<AxisPart> longer) {
  return ArrayRef<AxisPart>(commonPrefix(prefix, longer)) == prefix;
}

AxisParts dropPrefix(ArrayRef<AxisPart> prefix, ArrayRef<AxisPart> longer) {
  AxisParts rest;
  if (prefix.empty()) return AxisParts(longer.begin(), longer.end());
  const AxisPart& cut = longer[prefix.size() - 1];
  appendMerged(rest, {cut.axis, prefix.back().end(), cut.end() / prefix.back().end()});
  rest.append(longer.begin() + prefix.size(), longer.end());
  return rest;
}

/// The major sub-axis of `part` before it meets `used`, or nullopt when `used` begins at once.
static std::optional<AxisPart> majorWithoutOverlap(AxisPart part, ArrayRef<AxisPart> used) {
  for (const AxisPart& other : used) {
    if (!overlaps(part, other)) continue;
    if (other.begin <= part.begin || other.begin % part.begin != 0) return std::nullopt;
    part.size = std::gcd(part.size, other.begin / part.begin);
    if (part.size == 1) return std::nullopt;
  }
  return part;
}

AxisParts prefixWithoutOverlap(ArrayRef<AxisPart> parts, ArrayRef<AxisPart> used) {
  AxisParts prefix;
  for (const AxisPart& part : parts) {
    std::optional<AxisPart> free = majorWithoutOverlap(part, used);
    if (free) prefix.push_back(*free);
    if (free != part) break;
  }
  return prefix;
}

AxisParts prefixThatDivides(ArrayRef<AxisPart> parts, int64_t size) {
  AxisParts prefix;
  for (const AxisPart& part : parts) {
    int64_t fitting = std::gcd(size, part.size);
    if (fitting > 1) prefix.push_back({part.axis, part.begin, fitting});
    if (fitting != part.size) break;
    size /= fitting;
  }
  return prefix;
}

}  // namespace mlir::sgd
