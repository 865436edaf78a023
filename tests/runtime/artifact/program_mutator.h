// Programs of artifacts, changed at random but with hashes that are right: what whoever writes files by hand may try.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace sgd::testing {

struct Mutation {
  std::string artifact;
  // The table of kernels is as it was, so that the code does what it says.
  bool keeps_kernels = true;
};

// The artifact after one to four changes to its program section: fields, elements of vectors, lengths, offsets, kinds
// of unions, swapped and copied structs, and bytes wherever they lie. Everything follows from `random`.
Mutation Mutate(std::string_view original, std::mt19937_64& random);

// How many numbers the artifact's program section holds outside of its table of kernels, by the schema.
uint64_t CountNumbers(std::string_view original);

// Values that each of them is set to.
inline constexpr uint64_t kNumberChanges = 8;

// The artifact after one change: number `index` is 0, 1, one more or less than it was, or a large number of a kind.
Mutation ChangeNumber(std::string_view original, uint64_t index, uint64_t change);

}  // namespace sgd::testing
