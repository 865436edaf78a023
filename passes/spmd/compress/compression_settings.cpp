// The attribute, written and read.
#include "passes/spmd/compress/compression_settings.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;

DictionaryAttr CompressionSetting::toAttr(MLIRContext* context) const {
  Builder builder(context);
  NamedAttrList fields;
  fields.set("kind", builder.getStringAttr(stringifyCompressionKind(kind)));
  if (kind == CompressionKind::Int8) fields.set("block", builder.getI64IntegerAttr(block));
  if (kind == CompressionKind::PowerSGD) fields.set("rank", builder.getI64IntegerAttr(rank));
  if (kind == CompressionKind::TopK) fields.set("share", builder.getF64FloatAttr(share));
  return fields.getDictionary(context);
}

std::optional<CompressionSetting> CompressionSetting::fromAttr(Attribute attribute) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  auto name = dictionary ? dictionary.getAs<StringAttr>("kind") : StringAttr();
  std::optional<CompressionKind> kind = name ? symbolizeCompressionKind(name.getValue()) : std::nullopt;
  if (!kind) return std::nullopt;
  CompressionSetting setting{*kind};
  if (auto block = dictionary.getAs<IntegerAttr>("block")) setting.block = block.getInt();
  if (auto rank = dictionary.getAs<IntegerAttr>("rank")) setting.rank = rank.getInt();
  if (auto share = dictionary.getAs<FloatAttr>("share")) setting.share = share.getValueAsDouble();
  return setting;
}

CompressionSettings::CompressionSettings(ModuleOp module) {
  if (auto axes = module->getAttrOfType<DictionaryAttr>(kCompressAttr))
    for (NamedAttribute axis : axes)
      if (auto setting = CompressionSetting::fromAttr(axis.getValue())) byAxis[axis.getName()] = *setting;
}

std::optional<CompressionSetting> CompressionSettings::find(ArrayRef<AxisPart> axes, MeshAttr mesh,
                                                            std::string& why) const {
  std::optional<CompressionSetting> found;
  std::string other;
  for (const AxisPart& part : axes) {
    StringRef name = mesh.getAxes()[part.axis].getName();
    auto setting = byAxis.find(name);
    if (setting == byAxis.end())
      other = "it is over axis '" + name.str() + "' as well, which is not compressed; name that axis too";
    else if (!found)
      found = setting->second;
    else if (*found != setting->second)
      other = "it is over several axes, which are compressed in different ways";
  }
  if (!found || other.empty()) return found;
  why = other;
  return std::nullopt;
}
