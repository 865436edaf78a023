// Fields of reports and explanations as JSON, with the keys of the command-line contract: each field is named once, for
// writing and for reading.
#include "compiler/report/explain.h"
#include "compiler/report/report.h"

namespace mlir::sgd {
namespace {

using llvm::json::Value;

/// The lower bound and what stands between it and the program are one object.
struct BoundFields {
  LowerBound* bound;
  std::vector<BoundGap>* gaps;
};

struct MeshFields {
  std::vector<std::pair<std::string, int64_t>>* axes;
};

/// As an object: {"micro": 8}.
struct SequentialFields {
  std::vector<std::pair<std::string, int64_t>>* axes;
};

template <typename Mapper>
bool mapFields(Mapper& object, MemoryReport& memory) {
  return object.map("peak", memory.peak) && object.map("arguments", memory.arguments) &&
         object.map("outputs", memory.outputs) && object.map("aliased", memory.aliased) &&
         object.map("constants", memory.constants) && object.map("temporaries", memory.temporaries) &&
         object.map("host", memory.host);
}

template <typename Mapper>
bool mapFields(Mapper& object, StageReport& stage) {
  return object.map("memory", stage.memory) && object.map("seconds", stage.seconds) &&
         object.map("sent_bytes", stage.sentBytes);
}

template <typename Mapper>
bool mapFields(Mapper& object, CollectiveReport& one) {
  return object.map("kind", one.kind) && object.map("count", one.count) &&
         object.map("operand_bytes", one.operandBytes) && object.map("sent_bytes", one.sentBytes) &&
         object.map("group_size", one.groupSize) && object.map("loc", one.location) &&
         object.map("in_loop", one.inLoop) && object.map("stage", one.stage) && object.map("to_stage", one.toStage);
}

template <typename Mapper>
bool mapFields(Mapper& object, CompressionReport& one) {
  return object.map("state", one.state) && object.map("kind", one.kind) && object.map("sent_bytes", one.sentBytes) &&
         object.map("uncompressed_bytes", one.uncompressedBytes) && object.map("loc", one.location) &&
         object.map("why", one.why);
}

template <typename Mapper>
bool mapFields(Mapper& object, RecomputedReport& one) {
  return object.map("what", one.what) && object.map("loc", one.location) && object.map("count", one.count) &&
         object.map("freed_bytes", one.freedBytes) && object.map("flops", one.flops) &&
         object.map("sent_bytes", one.sentBytes) && object.map("seconds", one.seconds);
}

template <typename Mapper>
bool mapFields(Mapper& object, OffloadedReport& one) {
  return object.map("what", one.what) && object.map("name", one.name) && object.map("loc", one.location) &&
         object.map("count", one.count) && object.map("bytes", one.bytes) && object.map("seconds", one.seconds);
}

template <typename Mapper>
bool mapFields(Mapper& object, LowerBoundTerm& term) {
  return object.map("what", term.what) && object.map("type", term.type) && object.map("loc", term.location) &&
         object.map("bytes", term.bytes);
}

template <typename Mapper>
bool mapFields(Mapper& object, BoundGap& gap) {
  return object.map("reason", gap.reason) && object.map("bytes", gap.bytes);
}

template <typename Mapper>
bool mapFields(Mapper& object, BoundFields& fields) {
  return object.map("bytes", fields.bound->bytes) && object.map("terms", fields.bound->terms) &&
         object.map("between", *fields.gaps);
}

template <typename Mapper>
bool mapFields(Mapper& object, Alternative& one) {
  return object.map("name", one.name) && object.map("bytes", one.bytes) && object.map("seconds", one.seconds) &&
         object.map("why", one.why);
}

template <typename Mapper>
bool mapFields(Mapper& object, ExplainRecord& record) {
  return object.map("program", record.program) && object.map("loc", record.location) && object.map("op", record.op) &&
         object.map("subject", record.subject) && object.map("scope", record.scope) &&
         object.map("chosen", record.chosen) && object.map("alternatives", record.alternatives) &&
         object.map("from", record.from) && object.map("to", record.to) && object.map("steps", record.steps) &&
         object.map("bytes", record.bytes) && object.map("seconds", record.seconds) &&
         object.map("freed_bytes", record.freedBytes) && object.map("flops", record.flops) &&
         object.map("why", record.why);
}

template <typename Mapper>
bool mapFields(Mapper& object, Report& report) {
  MeshFields mesh{&report.mesh};
  SequentialFields sequential{&report.sequential};
  BoundFields bound{&report.lowerBound, &report.gaps};
  return object.map("program", report.program) && object.map("loss", report.loss) &&
         object.map("ranks", report.ranks) && object.map("mesh", mesh) && object.map("sequential", sequential) &&
         object.map("target", report.target) && object.map("compile_seconds", report.compileSeconds) &&
         object.map("estimated_seconds", report.estimatedSeconds) && object.map("memory", report.memory) &&
         object.map("stages", report.stages) && object.map("bubble", report.bubble) &&
         object.map("flops", report.flops) && object.map("kernels", report.kernels) &&
         object.map("library_calls", report.libraryCalls) && object.map("sent_bytes", report.sentBytes) &&
         object.map("lower_bound", bound) && object.map("has_unknown_trips", report.hasUnknownTrips) &&
         object.map("collectives", report.collectives) && object.map("compressions", report.compressions) &&
         object.map("saved_bytes", report.savedBytes) && object.map("recomputed", report.recomputed) &&
         object.map("offloaded", report.offloaded) && object.map("host_wait_seconds", report.hostWaitSeconds);
}

template <typename Fields>
Value write(Fields fields);

/// Writes what an ObjectMapper reads.
struct ObjectWriter {
  template <typename T>
  bool map(StringLiteral key, const T& value) {
    if constexpr (std::is_constructible_v<Value, const T&>)
      object[key] = Value(value);
    else
      object[key] = write(value);
    return true;
  }
  template <typename T>
  bool map(StringLiteral key, const std::vector<T>& values) {
    llvm::json::Array list;
    for (const T& value : values) list.push_back(write(value));
    object[key] = std::move(list);
    return true;
  }
  bool map(StringLiteral key, const MeshFields& mesh) {
    llvm::json::Array axes;
    for (const auto& [name, size] : *mesh.axes) axes.push_back(llvm::json::Array{name, size});
    object[key] = std::move(axes);
    return true;
  }

  bool map(StringLiteral key, const SequentialFields& sequential) {
    llvm::json::Object axes;
    for (const auto& [name, size] : *sequential.axes) axes[name] = size;
    object[key] = std::move(axes);
    return true;
  }

  llvm::json::Object object;
};

template <typename Fields>
Value write(Fields fields) {
  ObjectWriter writer;
  mapFields(writer, fields);
  return std::move(writer.object);
}

template <typename Fields>
bool read(const Value& json, Fields& fields, llvm::json::Path path) {
  llvm::json::ObjectMapper object(json, path);
  return object && mapFields(object, fields);
}

// ObjectMapper finds these by the types of fields.
bool fromJSON(const Value& json, BoundFields& bound, llvm::json::Path path) { return read(json, bound, path); }
bool fromJSON(const Value& json, MeshFields& mesh, llvm::json::Path) {
  const llvm::json::Array* axes = json.getAsArray();
  for (const Value& axis : axes ? *axes : llvm::json::Array()) {
    const llvm::json::Array* pair = axis.getAsArray();
    auto name = pair && pair->size() == 2 ? pair->front().getAsString() : std::nullopt;
    auto size = name ? pair->back().getAsInteger() : std::nullopt;
    if (!size) return false;
    mesh.axes->emplace_back(name->str(), *size);
  }
  return axes;
}

bool fromJSON(const Value& json, SequentialFields& sequential, llvm::json::Path) {
  const llvm::json::Object* axes = json.getAsObject();
  for (const auto& axis : axes ? *axes : llvm::json::Object()) {
    std::optional<int64_t> size = axis.second.getAsInteger();
    if (!size) return false;
    sequential.axes->emplace_back(axis.first.str(), *size);
  }
  return axes;
}

}  // namespace

static bool fromJSON(const Value& json, MemoryReport& memory, llvm::json::Path path) {
  return read(json, memory, path);
}
static bool fromJSON(const Value& json, StageReport& stage, llvm::json::Path path) { return read(json, stage, path); }
static bool fromJSON(const Value& json, CollectiveReport& one, llvm::json::Path path) { return read(json, one, path); }
static bool fromJSON(const Value& json, CompressionReport& one, llvm::json::Path path) { return read(json, one, path); }
static bool fromJSON(const Value& json, LowerBoundTerm& term, llvm::json::Path path) { return read(json, term, path); }
static bool fromJSON(const Value& json, BoundGap& gap, llvm::json::Path path) { return read(json, gap, path); }
static bool fromJSON(const Value& json, RecomputedReport& one, llvm::json::Path path) { return read(json, one, path); }
static bool fromJSON(const Value& json, OffloadedReport& one, llvm::json::Path path) { return read(json, one, path); }
static bool fromJSON(const Value& json, Alternative& one, llvm::json::Path path) { return read(json, one, path); }
static bool fromJSON(const Value& json, ExplainRecord& record, llvm::json::Path path) {
  return read(json, record, path);
}
Value Report::toJson() const { return write(*this); }

bool fromJson(const Value& json, Report& report) {
  llvm::json::Path::Root root;
  return read(json, report, root);
}

Value ExplanationReport::toJson() const {
  llvm::json::Array list;
  for (const ExplainRecord& record : records) list.push_back(write(record));
  return list;
}

bool fromJson(const Value& json, ExplanationReport& explanation) {
  llvm::json::Path::Root root;
  return llvm::json::fromJSON(json, explanation.records, root);
}

}  // namespace mlir::sgd
