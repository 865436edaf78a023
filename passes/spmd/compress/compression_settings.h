// The user's settings: by axis of the mesh, how gradients are reduced over it. An attribute of the module.
#ifndef SGD_PASSES_SPMD_COMPRESS_COMPRESSION_SETTINGS_H
#define SGD_PASSES_SPMD_COMPRESS_COMPRESSION_SETTINGS_H

#include "dialects/sgd/compression.h"
#include "passes/sharding/propagation/mesh_axes.h"

namespace mlir::sgd {

/// Discardable attribute of modules: a dictionary from names of axes to settings, as toAttr gives them.
inline constexpr llvm::StringLiteral kCompressAttr = "sgd.compress";

struct CompressionSetting {
  CompressionKind kind = CompressionKind::BF16;
  int64_t block = 256;  ///< of int8: elements with one scale
  int64_t rank = 4;     ///< of powersgd: columns of the factors
  double share = 0.01;  ///< of top_k: part of the elements

  bool operator==(const CompressionSetting&) const = default;
  DictionaryAttr toAttr(MLIRContext* context) const;
  static std::optional<CompressionSetting> fromAttr(Attribute attribute);
};

/// The settings of a module.
class CompressionSettings {
 public:
  /// Empty where the module has none. Entries that are no settings are ignored.
  explicit CompressionSettings(ModuleOp module);

  bool empty() const { return byAxis.empty(); }

  /// Of a reduction over all of `axes`: nothing where one of them has none, or another one. Then `why` says so, unless
  /// none of them has any.
  std::optional<CompressionSetting> find(ArrayRef<AxisPart> axes, MeshAttr mesh, std::string& why) const;

 private:
  llvm::StringMap<CompressionSetting> byAxis;
};

}  // namespace mlir::sgd

#endif
