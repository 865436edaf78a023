// The file is written by the library that writes checkpoints.
#include "compiler/driver/write_weights.h"

#include <cstring>

#include "compiler/driver/programs.h"
#include "frontends/frontends.h"
#include "runtime/data/tensor_file_writer.h"

using namespace mlir;
using namespace mlir::sgd;

static LogicalResult fail(llvm::raw_ostream& errors, const Twine& message) {
  errors << "sgdc: error: " << message << "\n";
  return failure();
}

static absl::Status write(const std::vector<ModelWeight>& weights, const std::string& path) {
  std::vector<::sgd::data::TensorSpec> specs;
  std::map<std::string, const ModelWeight*> byName;
  for (const ModelWeight& weight : weights) {
    std::optional<::sgd::artifact::ElementType> element = ::sgd::artifact::ElementFromSafetensors(weight.type);
    if (!element)
      return absl::InvalidArgumentError(weight.name + " has elements of a type that no safetensors file has");
    specs.push_back({weight.name, *element, {weight.shape.begin(), weight.shape.end()}});
    byName[weight.name] = &weight;
  }
  absl::StatusOr<::sgd::data::TensorFileWriter> writer = ::sgd::data::TensorFileWriter::Create(path, std::move(specs));
  if (!writer.ok()) return writer.status();
  for (size_t index = 0; index < writer->specs().size(); ++index) {
    const std::string& bytes = byName.at(writer->specs()[index].name)->bytes;
    std::span<std::byte> target = writer->Bytes(index);
    if (target.size() != bytes.size()) return absl::InternalError("a weight has another size than its type says");
    std::memcpy(target.data(), bytes.data(), bytes.size());
  }
  return writer->Commit();
}

LogicalResult mlir::sgd::writeWeights(const ProgramSource& source, StringRef path, llvm::raw_ostream& errors) {
  SmallVector<const Frontend*> frontends = findFrontends(source.text);
  if (frontends.size() != 1)
    return fail(errors, source.fileName + " is no model of a known format; expected one that sgdc compiles");
  llvm::Expected<std::vector<ModelWeight>> weights = frontends.front()->readWeights(getBuffer(source));
  if (!weights) return fail(errors, source.fileName + " " + llvm::toString(weights.takeError()));
  if (weights->empty())
    return fail(errors, source.fileName + " carries no weights; expected a PyTorch archive; leave out --weights");
  absl::Status written = write(*weights, path.str());
  return written.ok() ? success() : fail(errors, std::string(written.message()));
}
