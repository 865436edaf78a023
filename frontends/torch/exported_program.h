// The exported program of a `.pt2` archive: schema 8 of torch.export (models/model.json).
#ifndef SGD_FRONTENDS_TORCH_EXPORTED_PROGRAM_H
#define SGD_FRONTENDS_TORCH_EXPORTED_PROGRAM_H

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontends/torch/symbolic_sizes.h"
#include "llvm/Support/Error.h"

namespace mlir::sgd::torch {

/// Numbers of torch's ScalarType in the schema.
enum class ScalarType : int {
  Byte = 1,
  Char = 2,
  Short = 3,
  Int = 4,
  Long = 5,
  Half = 6,
  Float = 7,
  Double = 8,
  Bool = 12,
  BFloat16 = 13,
};

/// A name of a tensor value; empty: None.
struct TensorName {
  std::string name;
};

/// A value of an op's argument. std::monostate: None.
using Argument = std::variant<std::monostate, TensorName, std::vector<TensorName>, int64_t, std::vector<int64_t>,
                              double, std::vector<double>, bool, std::vector<bool>, std::string>;

struct TensorInfo {
  int type = 0;  ///< ScalarType
  std::vector<int64_t> sizes, strides;
  /// In elements, from the begin of the memory; nothing for results of loops, which the archive does not know.
  std::optional<int64_t> offset;
  bool requiresGrad = false;
  bool isKnown = true;  ///< false: sizes depend on values, and have no numbers

  bool isRowMajor() const;
};

struct Graph;

struct Node {
  std::string target;  ///< "aten.add.Tensor"
  std::vector<std::pair<std::string, Argument>> arguments;
  std::vector<std::string> outputs;  ///< names of tensors; empty: none
  std::string file;                  ///< the user's source, empty if unknown
  unsigned line = 0;
  std::string module;         ///< the path of the module that the op belongs to, "layers.0.mlp"
  std::vector<Graph> graphs;  ///< of a conditional, what it does where the predicate holds, then else; of a loop, its
                              ///< condition, where it has one, then its body

  /// Returns the argument of this name; null if there is none.
  const Argument* find(llvm::StringRef name) const;
};

/// A graph of a branch or loop. It reads no tensors but its inputs. Names are unique in the program.
struct Graph {
  std::vector<std::string> inputs;   ///< names of tensors; empty: a number, which is not supported
  std::vector<std::string> outputs;  ///< names of tensors; empty: none
  std::vector<Node> nodes;
};

/// Where the elements of a tensor are.
struct StoredTensor {
  std::string file;  ///< a member of the archive
  int type = 0;      ///< ScalarType
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;  ///< in elements

  bool isRowMajor() const;
};

struct Input {
  enum class Kind { Parameter, Buffer, Constant, User };
  Kind kind = Kind::User;
  std::string value;  ///< the tensor's name in the graph
  std::string name;   ///< the name in the module, "layers.0.weight"; of user inputs, that of `forward`'s argument
  bool isPersistent = true;                 ///< of buffers: part of the module's state_dict
  std::optional<StoredTensor> stored = {};  ///< of inputs that the archive has elements of
  std::string tied = {};                    ///< the name of an earlier parameter that has the same weights; empty: none
};

struct Output {
  std::string value;
  std::string name = {};  ///< where `forward` returns a dictionary, the key; else empty
  std::string buffer;     ///< of the next value of a buffer: its name in the module; empty: an output of `forward`
  bool isLoss = false;
};

struct ExportedProgram {
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<Node> nodes;
  std::map<std::string, TensorInfo> tensors;  ///< by name
};

/// The members of an archive that describe a program.
struct ProgramTexts {
  std::string graph;      ///< models/model.json
  std::string weights;    ///< data/weights/model_weights_config.json: which parameters are tied
  std::string constants;  ///< data/constants/model_constants_config.json: where constants are
};

/// How sizes that the export has left open are resolved.
struct SizeOptions {
  llvm::ArrayRef<BoundSize> bindings;
  bool takesSamples = false;  ///< sizes that are not bound are those of the export, for readers of weights alone
};

/// Fails with one line that says what is not supported or damaged.
llvm::Expected<ExportedProgram> parseExportedProgram(const ProgramTexts& texts, const SizeOptions& options);

}  // namespace mlir::sgd::torch

#endif
