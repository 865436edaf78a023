// The interface of a frontend: it recognizes a program by its bytes and imports it. A folder of frontends/ that holds a
// `frontend.cpp` is one, and nothing outside of it names it: folder `onnx` defines `const Frontend& getOnnxFrontend()`
// in namespace mlir::sgd, and the library `sgd_frontends_onnx`; frontends/CMakeLists.txt finds both.
#ifndef SGD_FRONTENDS_FRONTEND_H
#define SGD_FRONTENDS_FRONTEND_H

#include <functional>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::sgd {

/// A size that a model leaves open, by the user's name for it.
struct BoundSize {
  std::string name;  ///< "batch"
  int64_t size = 0;
};

/// The requests of a compilation to an import.
struct ImportOptions {
  /// Sizes for what the model leaves open. A name that stands for nothing is an error.
  std::vector<BoundSize> bindings;
  /// A loop that counts to a known bound is unrolled when it becomes at most so many ops, a quarter of that with more
  /// than 8 iterations; its first iteration always is when it is the only one.
  int64_t unrolledOps = 4000;
  /// Loops over rows of stacked values, as scans over layers are, stay loops: each stage of a pipeline will have some.
  bool keepsLayerLoops = false;
  /// Matmuls of f32 whose precision is the default may be computed in TF32 by targets that have it.
  bool allowTf32 = false;
  /// Arguments and results that are unreduced stay so, see sgd-stack-summands; otherwise they are whole.
  bool keepUnreduced = false;
  /// Lower Fourier transforms to matmuls with tables, for targets without code for them.
  bool transformsByMatmuls = false;
  /// Called, if set, when an import goes from one phase to another, for measurements; the first one is "import".
  std::function<void(StringRef phase)> enterPhase;
};

/// Ends a source that is only the start of an archive: the archive itself stays in the file that the source's
/// identifier names, since most of it are weights that no import reads.
inline constexpr llvm::StringLiteral kRestInFile("\n(the rest stays in the file)");

/// Whether a frontend imports some bytes.
enum class Acceptance : uint8_t {
  No,         ///< They are in another format.
  IfNoOther,  ///< They are in a syntax that several frontends share, here text of MLIR: yes, unless another says so.
  Yes,
};

/// The ops of a frontend's input dialects, by name, sorted.
struct InputOps {
  SmallVector<std::string> imported, refused;
};

/// A tensor that a model file carries.
struct ModelWeight {
  std::string name;  ///< of the argument
  std::string type;  ///< as safetensors files name it, "F32"
  std::vector<int64_t> shape;
  std::string bytes;  ///< row-major, little-endian
};

/// Stateless; there is one object of each class.
class Frontend {
 public:
  virtual ~Frontend() = default;

  /// The name of its format, for headings.
  virtual StringRef getName() const = 0;

  /// Its format and how to get it, for messages: "StableHLO as text, as ... prints it".
  virtual StringRef getInput() const = 0;

  /// Decides by content, without parsing, at the speed of a search: frontends are asked about each other's programs.
  /// Words in comments, strings and locations decide nothing.
  virtual Acceptance accepts(StringRef bytes) const = 0;

  /// Whether it reads what it needs of a program from its file, by the start of it; see kRestInFile.
  virtual bool readsFromFile(StringRef start) const { return false; }

  /// Imports a program that it accepts to the graph level, or, where the user has written a pipeline by stages, to the
  /// SPMD level. Returns null after an error at the user's location. The identifier of `source` is what errors call its
  /// file, and where files beside it are looked for; behind its bytes there is a NUL.
  virtual OwningOpRef<ModuleOp> import(MLIRContext* context, llvm::MemoryBufferRef source,
                                       const ImportOptions& options) const = 0;

  /// Whether exportProgram writes programs.
  virtual bool exports() const { return false; }

  /// The way back, behind partitioning: `program`, a module of the SPMD level, in ops of the input dialects, for one
  /// rank. Returns null after an error. The dialects have been loaded.
  virtual OwningOpRef<ModuleOp> exportProgram(ModuleOp program) const { return nullptr; }

  /// Whether its programs may leave sizes open.
  virtual bool bindsSizes() const { return false; }

  /// Returns the weights that a program carries; none for formats without weights.
  virtual llvm::Expected<std::vector<ModelWeight>> readWeights(llvm::MemoryBufferRef source) const {
    return std::vector<ModelWeight>();
  }

  /// Adds the dialects that it parses or builds.
  virtual void registerDialects(DialectRegistry& registry) const = 0;

  /// Registers passes of its own, for sgd-opt.
  virtual void registerPasses() const {}

  /// Returns the ops of `context`, which has all dialects loaded; none for a frontend without input dialects.
  virtual InputOps getInputOps(MLIRContext& context) const { return {}; }
};

}  // namespace mlir::sgd

#endif
