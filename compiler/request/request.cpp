// One table of fields, which is written to attributes and keys and read from attributes.
#include "compiler/request/request.h"

#include "dialects/sgd/programs.h"
#include "llvm/Support/Endian.h"

using namespace mlir;
using namespace mlir::sgd;

/// Visits all fields of `request`, a Request or a const one.
template <typename Visitor, typename RequestType>
static void visitFields(Visitor& visit, RequestType& request) {
  auto& options = request.options;
  visit("programs", request.programs);
  visit("level", request.level);
  visit("recipe_file", options.recipeFile);
  visit("recipe", options.recipe);
  visit("mesh", options.mesh);
  visit("bind", options.bindings);
  visit("micro", options.sequential);
  visit("micro_refuse", options.refuseSplit);
  visit("target", options.target);
  visit("cpu", options.cpu);
  visit("loss", options.loss);
  visit("for_simulation", options.isForSimulation);
  visit("omits_description", options.omitsDescription);
  visit("memory_limit", options.memoryLimit);
  visit("topology", options.topology);
  visit("tile_scratch", options.tileScratch);
  visit("unroll", options.unrolledOps);
  visit("shard_updates", options.shardUpdates);
  visit("weigh_constraints", options.weighConstraints);
  visit("allow_tf32", options.allowTf32);
  visit("keep_unreduced", options.keepUnreduced);
}

namespace {

/// Adds what is no default to a dictionary.
class AttrWriter {
 public:
  explicit AttrWriter(MLIRContext* context) : builder(context) {}

  void operator()(StringRef name, const std::string& value) {
    if (!value.empty()) fields.set(name, builder.getStringAttr(value));
  }
  void operator()(StringRef name, bool value) {
    if (value) fields.set(name, builder.getUnitAttr());
  }
  template <typename T>
  void operator()(StringRef name, const std::optional<T>& value) {
    if (value) fields.set(name, toAttr(*value));
  }
  template <typename T>
  void operator()(StringRef name, const std::vector<T>& values) {
    if (values.empty()) return;
    fields.set(name, builder.getArrayAttr(llvm::map_to_vector(values, [&](const T& value) { return toAttr(value); })));
  }

  DictionaryAttr take() { return fields.getDictionary(builder.getContext()); }

 private:
  Attribute toAttr(int64_t value) { return builder.getI64IntegerAttr(value); }
  Attribute toAttr(uint64_t value) { return builder.getI64IntegerAttr(static_cast<int64_t>(value)); }
  Attribute toAttr(EmitLevel level) { return builder.getStringAttr(getName(level)); }
  Attribute toAttr(const MeshAxisSize& axis) { return MeshAxisAttr::get(builder.getContext(), axis.name, axis.size); }
  Attribute toAttr(const RequestedProgram& program) { return builder.getStrArrayAttr({program.name, program.file}); }

  Builder builder;
  NamedAttrList fields;
};

/// Takes fields from a dictionary. What is left out is empty.
class AttrReader {
 public:
  explicit AttrReader(DictionaryAttr fields) : fields(fields) {}

  template <typename T>
  void operator()(StringRef name, T& value) {
    value = T();
    known.push_back(name);
    Attribute attribute = fields.get(name);
    if (attribute && !take(attribute, value) && wrong.empty()) wrong = name.str();
  }

  /// The first field that is of another type, or unknown; empty where there is none.
  std::string getWrong() const {
    for (NamedAttribute field : fields)
      if (!llvm::is_contained(known, field.getName().getValue())) return field.getName().str();
    return wrong;
  }

 private:
  static bool take(Attribute attribute, std::string& value) {
    auto text = dyn_cast<StringAttr>(attribute);
    if (text) value = text.str();
    return static_cast<bool>(text);
  }
  static bool take(Attribute attribute, bool& value) { return value = isa<UnitAttr>(attribute); }
  static bool take(Attribute attribute, int64_t& value) {
    auto number = dyn_cast<IntegerAttr>(attribute);
    if (number && number.getType().isInteger(64)) value = number.getInt();
    return number && number.getType().isInteger(64);
  }
  static bool take(Attribute attribute, uint64_t& value) {
    int64_t number = 0;
    bool isTaken = take(attribute, number);
    value = static_cast<uint64_t>(number);
    return isTaken;
  }
  static bool take(Attribute attribute, EmitLevel& value) {
    auto text = dyn_cast<StringAttr>(attribute);
    llvm::Expected<EmitLevel> level = parseEmitLevel(text ? text.getValue() : StringRef());
    if (level) value = *level;
    bool isTaken = static_cast<bool>(level);
    llvm::consumeError(level.takeError());
    return isTaken;
  }
  static bool take(Attribute attribute, MeshAxisSize& value) {
    auto axis = dyn_cast<MeshAxisAttr>(attribute);
    if (axis) value = {axis.getName().str(), axis.getSize()};
    return axis && axis.getSize() > 0;
  }
  static bool take(Attribute attribute, RequestedProgram& value) {
    auto pair = dyn_cast<ArrayAttr>(attribute);
    return pair && pair.size() == 2 && take(pair[0], value.name) && take(pair[1], value.file);
  }
  template <typename T>
  static bool take(Attribute attribute, std::optional<T>& value) {
    return take(attribute, value.emplace());
  }
  template <typename T>
  static bool take(Attribute attribute, std::vector<T>& values) {
    auto array = dyn_cast<ArrayAttr>(attribute);
    return array && llvm::all_of(array, [&](Attribute one) { return take(one, values.emplace_back()); });
  }

  DictionaryAttr fields;
  SmallVector<StringRef> known;
  std::string wrong;
};

/// Writes each field behind its name; texts behind their lengths, so that no two lists of texts give the same bytes.
class KeyWriter {
 public:
  template <typename T>
  void operator()(StringRef name, const T& value) {
    add(name);
    add(value);
  }

  std::string key;

 private:
  void add(StringRef text) {
    add(static_cast<int64_t>(text.size()));
    key += text;
  }
  void add(const std::string& text) { add(StringRef(text)); }
  void add(bool value) { add(static_cast<int64_t>(value)); }
  void add(EmitLevel level) { add(static_cast<int64_t>(level)); }
  void add(uint64_t value) { add(static_cast<int64_t>(value)); }
  void add(int64_t value) {
    char bytes[8];
    llvm::support::endian::write64le(bytes, value);
    key.append(bytes, sizeof(bytes));
  }
  void add(const MeshAxisSize& axis) { add(axis.name), add(axis.size); }
  void add(const RequestedProgram& program) { add(program.name), add(program.file); }
  template <typename T>
  void add(const std::optional<T>& value) {
    add(value.has_value());
    if (value) add(*value);
  }
  template <typename T>
  void add(const std::vector<T>& values) {
    add(static_cast<int64_t>(values.size()));
    for (const T& value : values) add(value);
  }
};

}  // namespace

StringRef mlir::sgd::getName(EmitLevel level) {
  static constexpr StringRef names[] = {"graph", "sharded", "spmd", "kernels", "plan"};
  return names[static_cast<size_t>(level)];
}

RequestAttr Request::toAttr(MLIRContext* context) const {
  AttrWriter writer(context);
  visitFields(writer, *this);
  return RequestAttr::get(context, kRequestVersion, writer.take());
}

FailureOr<Request> Request::read(ModuleOp compilation) {
  auto error = [&] { return emitError(compilation.getLoc()) << "'" << kRequestAttr << "' "; };
  auto attribute = compilation->getAttrOfType<RequestAttr>(kRequestAttr);
  if (!attribute)
    return LogicalResult(error() << "is missing; expected the request of a compilation on its module; write one by "
                                    "sgdc --emit-request");
  if (attribute.getVersion() != kRequestVersion)
    return LogicalResult(error() << "has version " << attribute.getVersion() << "; expected version " << kRequestVersion
                                 << "; write it by the sgdc of this build");
  Request request;
  AttrReader reader(attribute.getFields());
  visitFields(reader, request);
  std::string wrong = reader.getWrong();
  if (!wrong.empty())
    return LogicalResult(error() << "has the field '" << wrong << "' = " << attribute.getFields().get(wrong)
                                 << ", which is no field of a request");
  return request;
}

std::string Request::getKey() const {
  KeyWriter writer;
  visitFields(writer, *this);
  return std::move(writer.key);
}
