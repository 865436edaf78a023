// PyTorch's exported programs, as torch.export.save writes them.
#include "frontends/frontend.h"

#include "frontends/foreign_formats.h"
#include "frontends/torch/archive.h"
#include "frontends/torch/import_program.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "dialects/sgd/sgd_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Of one member: graphs are about a kilobyte per op.
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

constexpr uint64_t kMostWeightBytes = uint64_t{1} << 40;

llvm::Expected<torch::ExportedProgram> readProgram(const torch::Archive& archive, const torch::SizeOptions& options) {
  torch::ProgramTexts texts;
  for (auto [name, text] : {std::pair(StringRef("models/model.json"), &texts.graph),
                            std::pair(StringRef("data/weights/model_weights_config.json"), &texts.weights),
                            std::pair(StringRef("data/constants/model_constants_config.json"), &texts.constants)}) {
    llvm::Expected<std::string> bytes = archive.read(name, kMostBytes);
    if (!bytes) return bytes.takeError();
    *text = std::move(*bytes);
  }
  return torch::parseExportedProgram(texts, options);
}

class TorchFrontend final : public Frontend {
 public:
  StringRef getName() const final { return "PyTorch"; }
  StringRef getInput() const final {
    return "a PyTorch archive, as torch.export.save(torch.export.export(module, inputs), 'model.pt2') writes it";
  }

  Acceptance accepts(StringRef bytes) const final {
    return torch::isZip(bytes) && !findForeignFormat(bytes) ? Acceptance::Yes : Acceptance::No;
  }

  bool readsFromFile(StringRef start) const final { return accepts(start) == Acceptance::Yes; }

  OwningOpRef<ModuleOp> import(MLIRContext* context, llvm::MemoryBufferRef source,
                               const ImportOptions& options) const final {
    for (StringRef dialect : {"arith", "func", "math", "sgd"}) context->getOrLoadDialect(dialect);
    auto fail = [&](llvm::Error error) {
      emitError(FileLineColLoc::get(context, source.getBufferIdentifier(), 0, 0)) << llvm::toString(std::move(error));
      return OwningOpRef<ModuleOp>();
    };
    llvm::Expected<torch::Archive> archive = torch::Archive::open(source);
    if (!archive) return fail(archive.takeError());
    llvm::Expected<torch::ExportedProgram> program = readProgram(*archive, {options.bindings});
    if (!program) return fail(program.takeError());
    auto readMember = [&](StringRef name) { return archive->read(name, kMostBytes); };
    auto readStart = [&](StringRef name, uint64_t mostBytes) { return archive->readStart(name, mostBytes); };
    return torch::importProgram(context, *program, source.getBufferIdentifier(), readMember, readStart, options);
  }

  bool bindsSizes() const final { return true; }

  llvm::Expected<std::vector<ModelWeight>> readWeights(llvm::MemoryBufferRef source) const final {
    llvm::Expected<torch::Archive> archive = torch::Archive::open(source);
    if (!archive) return archive.takeError();
    llvm::Expected<torch::ExportedProgram> program = readProgram(*archive, {{}, /*takesSamples=*/true});
    if (!program) return program.takeError();
    std::vector<ModelWeight> weights;
    for (const torch::Input& input : program->inputs) {
      bool isState = input.kind == torch::Input::Kind::Parameter ||
                     (input.kind == torch::Input::Kind::Buffer && input.isPersistent);
      if (!isState || !input.tied.empty()) continue;
      auto readMember = [&](StringRef name) { return archive->read(name, kMostWeightBytes); };
      llvm::Expected<std::string> bytes = torch::readElements(*input.stored, readMember);
      if (!bytes) return bytes.takeError();
      weights.push_back(
          {input.name, torch::getTypeName(input.stored->type).str(), input.stored->sizes, std::move(*bytes)});
    }
    return weights;
  }

  void registerDialects(DialectRegistry& registry) const final {
    registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, SgdDialect>();
  }

  InputOps getInputOps(MLIRContext& context) const final { return {torch::getLoweredOps(), {}}; }
};

}  // namespace

namespace mlir::sgd {

const Frontend& getTorchFrontend() {
  static const TorchFrontend frontend;
  return frontend;
}

}  // namespace mlir::sgd
