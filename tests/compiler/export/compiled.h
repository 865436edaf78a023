// Programs of an artifact that was compiled from text, as the runtime reads them.
#ifndef SGD_TESTS_COMPILER_EXPORT_COMPILED_H
#define SGD_TESTS_COMPILER_EXPORT_COMPILED_H

#include <memory>
#include <string>
#include <vector>

#include "runtime/artifact/reader.h"

namespace mlir::sgd {

namespace artifact = ::sgd::artifact;

/// The artifact of a file `step.mlir` with this text, for CPUs; null, and the test fails, where it does not compile.
std::unique_ptr<artifact::ArtifactFile> compileToFile(const std::string& text);

/// Instructions of one kind, in their order.
std::vector<const artifact::Instruction*> findInstructions(const artifact::Program& program, artifact::Operation kind);

/// "step.mlir:7:5".
std::string getPlace(const artifact::Program& program, const artifact::Instruction& instruction);

/// A text, which may be absent.
inline std::string toText(const flatbuffers::String* text) { return text == nullptr ? "" : text->str(); }

/// Elements of a vector, which may be absent.
template <typename Vector>
std::vector<uint64_t> toNumbers(const Vector* vector) {
  return vector == nullptr ? std::vector<uint64_t>() : std::vector<uint64_t>(vector->begin(), vector->end());
}

}  // namespace mlir::sgd

#endif
