// Which ops the families' programs hold: what the coverage page calls fuzzed.
#ifndef SGD_TESTS_FUZZ_OP_FAMILIES_H
#define SGD_TESTS_FUZZ_OP_FAMILIES_H

#include <map>
#include <ostream>
#include <set>

#include "tests/fuzz/families.h"

namespace mlir::sgd::fuzz {

/// Ops of the input dialects and of the graph level by name, each with the families, by index, of which one of the
/// first `programs` programs holds it, imported where it is StableHLO. Mixes and damaged texts are left out.
std::map<std::string, std::set<size_t>> findOpFamilies(size_t programs);

/// A line for each op: its name, a tab, families.
void printOpFamilies(std::ostream& stream, size_t programs);

}  // namespace mlir::sgd::fuzz

#endif
