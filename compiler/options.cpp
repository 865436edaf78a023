// Parsers of option values; each message says what was read and what is accepted.
#include "compiler/options.h"

#include <cmath>

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir::sgd;

template <typename... Parts>
static Error makeError(Parts&&... parts) {
  std::string text;
  raw_string_ostream stream(text);
  (stream << ... << parts);
  return make_error<StringError>(text, inconvertibleErrorCode());
}

/// Sizes of `what` by name, separated by commas.
static Expected<std::vector<MeshAxisSize>> parseSizes(StringRef text, StringRef flag, StringRef what) {
  std::vector<MeshAxisSize> sizes;
  StringSet<> names;
  for (StringRef part : split(text, ',')) {
    auto [name, size] = part.split('=');
    name = name.trim();
    MeshAxisSize one{name.str(), 0};
    if (!part.contains('=') || name.empty()) return makeError(flag, ": '", part, "' is not ", what.upper(), "=SIZE");
    if (size.trim().getAsInteger(10, one.size) || one.size < 1)
      return makeError(flag, ": the size of ", what, " '", name, "' must be a positive integer, not '", size, "'");
    if (!names.insert(name).second) return makeError(flag, ": ", what, " '", name, "' occurs twice");
    sizes.push_back(one);
  }
  return sizes;
}

Expected<std::vector<MeshAxisSize>> mlir::sgd::parseMesh(StringRef text) { return parseSizes(text, "--mesh", "axis"); }

Expected<std::vector<MeshAxisSize>> mlir::sgd::parseBindings(StringRef text) {
  return parseSizes(text, "--bind", "name");
}

Expected<EmitLevel> mlir::sgd::parseEmitLevel(StringRef text) {
  auto level = StringSwitch<std::optional<EmitLevel>>(text)
                   .Case("graph", EmitLevel::Graph)
                   .Case("sharded", EmitLevel::Sharded)
                   .Case("spmd", EmitLevel::Spmd)
                   .Case("kernels", EmitLevel::Kernels)
                   .Case("plan", EmitLevel::Plan)
                   .Default(std::nullopt);
  if (!level) return makeError("--emit: '", text, "' is not graph, sharded, spmd, stablehlo, kernels or plan");
  return *level;
}

Error mlir::sgd::parseEmit(StringRef text, CompileOptions& options) {
  options.emitsStablehlo = text == "stablehlo";
  Expected<EmitLevel> level = options.emitsStablehlo ? EmitLevel::Spmd : parseEmitLevel(text);
  if (!level) return level.takeError();
  options.emit = *level;
  return Error::success();
}

Expected<uint64_t> mlir::sgd::parseByteSize(StringRef text) {
  StringRef number = text.trim().take_while([](char c) { return isDigit(c) || c == '.'; });
  StringRef unit = text.trim().drop_front(number.size()).trim();
  double factor = StringSwitch<double>(unit)
                      .Cases({"", "B"}, 1)
                      .Case("kB", 1e3)
                      .Case("MB", 1e6)
                      .Case("GB", 1e9)
                      .Case("TB", 1e12)
                      .Case("KiB", 0x1p10)
                      .Case("MiB", 0x1p20)
                      .Case("GiB", 0x1p30)
                      .Case("TiB", 0x1p40)
                      .Default(0);
  double value = 0;
  if (number.empty() || number.getAsDouble(value) || factor == 0 || value * factor >= 0x1p63)
    return makeError("'", text, "' is not a number of bytes such as 1048576, 512MiB or 80GiB");
  return static_cast<uint64_t>(std::floor(value * factor));
}

Error mlir::sgd::checkCpu(StringRef cpu) {
  if (cpu == "native" || cpu == "x86-64-v3" || cpu == "x86-64-v4") return Error::success();
  return makeError("--cpu: '", cpu, "' is not native, x86-64-v3 or x86-64-v4");
}
