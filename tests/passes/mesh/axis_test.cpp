// Axis algebra, checked on every part of small axes against the meaning of a part: a mixed-radix
// digit of the rank's index.
#include "passes/mesh/axis.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace mlir::sgd {
namespace {

/// All parts of axis 0 of size n, size 1 left out.
std::vector<AxisPart> allParts(int64_t n) {
  std::vector<AxisPart> parts;
  for (int64_t begin = 1; begin < n; ++begin)
    for (int64_t size = 2; begin * size <= n; ++size)
      if (n % begin == 0 && n % (begin * size) == 0) parts.push_back({0, begin, size});
  return parts;
}

/// The digit that `part` means in index `i` of an axis of size n.
int64_t digit(const AxisPart& part, int64_t i, int64_t n) { return i / (n / part.end()) % part.size; }

int64_t tuple(const AxisParts& parts, int64_t i, int64_t n) {
  int64_t value = 0;
  for (const AxisPart& part : parts) value = value * part.size + digit(part, i, n);
  return value;
}

/// Number of different pairs of values of both lists over all indices.
size_t jointValues(const AxisParts& a, const AxisParts& b, int64_t n) {
  std::set<std::pair<int64_t, int64_t>> values;
  for (int64_t i = 0; i < n; ++i) values.insert({tuple(a, i, n), tuple(b, i, n)});
  return values.size();
}

constexpr int64_t kSizes[] = {2, 6, 8, 12, 16};

TEST(AxisTest, TheHeadersExample) {
  const auto x = [](int64_t begin, int64_t size) { return AxisPart{0, begin, size}; };
  EXPECT_EQ(digit(x(1, 2), 5, 8), 1);
  EXPECT_EQ(digit(x(2, 2), 5, 8), 0);
  EXPECT_EQ(digit(x(4, 2), 5, 8), 1);
  EXPECT_TRUE(contains(x(1, 4), x(2, 2)));
  EXPECT_EQ(intersection(x(1, 4), x(2, 4)), x(2, 2));
  EXPECT_EQ(difference(x(1, 8), x(2, 2)), (AxisParts{x(1, 2), x(4, 2)}));
  EXPECT_EQ(merged({x(1, 2), x(2, 2)}), AxisParts{x(1, 4)});
  EXPECT_EQ(merged({x(2, 2), x(1, 2)}), (AxisParts{x(2, 2), x(1, 2)}));
  EXPECT_EQ(commonPrefix({x(1, 4)}, {x(1, 2)}), AxisParts{x(1, 2)});
  EXPECT_EQ(getRankStride({8}, x(2, 2)), 2);
}

TEST(AxisTest, PartsThatDoNotOverlapAreIndependent) {
  for (int64_t n : kSizes)
    for (const AxisPart& a : allParts(n))
      for (const AxisPart& b : allParts(n))
        if (!overlaps(a, b)) EXPECT_EQ(jointValues({a}, {b}, n), static_cast<size_t>(a.size * b.size));
}

TEST(AxisTest, ContainedDigitsAreDetermined) {
  for (int64_t n : kSizes)
    for (const AxisPart& a : allParts(n))
      for (const AxisPart& b : allParts(n))
        if (contains(a, b)) EXPECT_EQ(jointValues({a}, {b}, n), static_cast<size_t>(a.size));
}

TEST(AxisTest, IntersectionIsInBothAndDifferenceIsTheRest) {
  for (int64_t n : kSizes) {
    for (const AxisPart& a : allParts(n)) {
      for (const AxisPart& b : allParts(n)) {
        std::optional<AxisPart> shared = intersection(a, b);
        EXPECT_EQ(shared.has_value(), intersection(b, a).has_value());
        if (!shared) {
          EXPECT_EQ(difference(a, b), AxisParts{a});
          continue;
        }
        EXPECT_TRUE(contains(a, *shared) && contains(b, *shared));
        AxisParts rest = difference(a, b);
        EXPECT_EQ(getGroupSize(rest) * shared->size, a.size);
        EXPECT_FALSE(overlaps(rest, {b}));
        EXPECT_EQ(jointValues(rest, {*shared}, n), static_cast<size_t>(a.size));
      }
    }
  }
}

TEST(AxisTest, MergingKeepsTheMeaning) {
  for (int64_t n : kSizes) {
    for (const AxisPart& a : allParts(n)) {
      for (const AxisPart& b : allParts(n)) {
        if (!canMerge(a, b)) continue;
        AxisParts one = merged({a, b});
        ASSERT_EQ(one.size(), 1u);
        for (int64_t i = 0; i < n; ++i) EXPECT_EQ(tuple(one, i, n), tuple({a, b}, i, n));
      }
    }
  }
  EXPECT_TRUE(merged({{0, 1, 1}, {1, 4, 1}}).empty());
}

/// All lists of at most two parts, which do not overlap, of axis 0 (size 8) and axis 1 (size 4), in
/// merged form.
std::vector<AxisParts> allLists() {
  std::vector<AxisPart> parts = allParts(8);
  for (AxisPart part : allParts(4)) parts.push_back({1, part.begin, part.size});
  std::vector<AxisParts> lists = {{}};
  for (const AxisPart& a : parts) {
    lists.push_back({a});
    for (const AxisPart& b : parts)
      if (!overlaps(a, b) && !canMerge(a, b)) lists.push_back({a, b});
  }
  return lists;
}

TEST(AxisTest, CommonPrefixIsAPrefixOfBothAndTheRestDiffers) {
  for (const AxisParts& a : allLists()) {
    for (const AxisParts& b : allLists()) {
      AxisParts prefix = commonPrefix(a, b);
      EXPECT_EQ(prefix, commonPrefix(b, a));
      ASSERT_TRUE(isPrefix(prefix, a));
      ASSERT_TRUE(isPrefix(prefix, b));
      AxisParts restA = dropPrefix(prefix, a), restB = dropPrefix(prefix, b);
      EXPECT_EQ(getGroupSize(prefix) * getGroupSize(restA), getGroupSize(a));
      AxisParts again = prefix;
      for (const AxisPart& part : restA) appendMerged(again, part);
      EXPECT_EQ(again, a);
      EXPECT_TRUE(commonPrefix(restA, restB).empty() || restA.empty() || restB.empty());
    }
  }
}

TEST(AxisTest, PrefixWithoutOverlapIsTheLongest) {
  for (const AxisParts& parts : allLists()) {
    for (const AxisParts& used : allLists()) {
      AxisParts prefix = prefixWithoutOverlap(parts, used);
      ASSERT_TRUE(isPrefix(prefix, parts));
      EXPECT_FALSE(overlaps(prefix, used));
      AxisParts rest = dropPrefix(prefix, parts);
      if (rest.empty()) continue;
      // The next smallest digit is taken.
      const AxisPart& next = rest.front();
      EXPECT_TRUE(overlaps({{next.axis, next.begin, 2}}, used));
    }
  }
}

TEST(AxisTest, DigitsOfDifferentDivisionsOverlap) {
  AxisPart half{0, 1, 2}, third{0, 1, 3}, lastHalf{0, 3, 2}, lastThird{0, 2, 3}, whole{0, 1, 6};
  EXPECT_TRUE(overlaps(half, lastHalf));
  EXPECT_TRUE(overlaps(lastHalf, half));
  EXPECT_FALSE(overlaps(half, lastThird));
  EXPECT_TRUE(prefixWithoutOverlap({half}, {lastHalf}).empty());
  EXPECT_EQ(prefixWithoutOverlap({whole}, {lastHalf}), AxisParts{third});
}

TEST(AxisTest, PrefixThatDividesCutsTheFirstThatDoesNot) {
  AxisPart x{0, 1, 4}, y{1, 1, 3};
  EXPECT_EQ(prefixThatDivides({x, y}, 24), (AxisParts{x, y}));
  EXPECT_EQ(prefixThatDivides({x, y}, 8), (AxisParts{x}));
  EXPECT_EQ(prefixThatDivides({x, y}, 6), (AxisParts{{0, 1, 2}}));
  EXPECT_TRUE(prefixThatDivides({x, y}, 9).empty());
}

}  // namespace
}  // namespace mlir::sgd
