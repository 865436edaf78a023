// Collectives of manual computations.
#ifndef SGD_TESTS_FUZZ_COLLECTIVES_H
#define SGD_TESTS_FUZZ_COLLECTIVES_H

#include "tests/fuzz/program.h"

namespace mlir::sgd::fuzz {

using Axes = std::vector<unsigned>;  // of a mesh, by number

/// `{"x", "y"}`
std::string printAxes(const Axes& axes);

/// Adds a collective over some of `manual`, or the rank's number, to a body that is manual over these.
void addCollective(Program& body, const Axes& manual);

/// Adds to a body that is manual over `axes` what the first rank along these has of `value`: the same on all of them.
Value makeUniform(Program& body, const Value& value, const Axes& axes);

}  // namespace mlir::sgd::fuzz

#endif
