// Fields of reports and explanations as JSON, with the keys of the command-line contract: each field is named once, for
// writing and for reading.
#include "compiler/report/explain.h"
#include "compiler/report/report.h"

namespace mlir::sgd {
namespace {

using Json = nlohmann::json;
using Axis = std::pair<std::string, int64_t>;

/// The lower bound and what stands between it and the program are one object.
struct BoundFields {
  LowerBound* bound;
  std::vector<BoundGap>* gaps;
};

/// As an object: {"micro": 8}.
struct SequentialFields {
  std::vector<Axis>* axes;
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
         object.map("in_loop", one.inLoop) && object.map("stage", one.stage) && object.map("to_stage", one.toStage) &&
         object.map("tensors", one.tensors) && object.map("scope", one.scope);
}

template <typename Mapper>
bool mapFields(Mapper& object, ProgramReport& one) {
  return object.map("name", one.name) && object.map("flops", one.flops) && object.map("kernels", one.kernels) &&
         object.map("library_calls", one.libraryCalls) && object.map("sent_bytes", one.sentBytes) &&
         object.map("collectives", one.collectives);
}

template <typename Mapper>
bool mapFields(Mapper& object, ParameterReport& one) {
  return object.map("name", one.name) && object.map("type", one.type) && object.map("sharding", one.sharding) &&
         object.map("bytes", one.bytes) && object.map("rank_bytes", one.rankBytes);
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
         object.map("collective", record.collective) && object.map("tensor_bytes", record.tensorBytes) &&
         object.map("needed_bytes", record.neededBytes) && object.map("hidden_seconds", record.hiddenSeconds) &&
         object.map("freed_bytes", record.freedBytes) && object.map("flops", record.flops) &&
         object.map("why", record.why);
}

template <typename Mapper>
bool mapFields(Mapper& object, Report& report) {
  SequentialFields sequential{&report.sequential};
  BoundFields bound{&report.lowerBound, &report.gaps};
  return object.map("program", report.program) && object.map("loss", report.loss) &&
         object.map("ranks", report.ranks) && object.map("mesh", report.mesh) && object.map("sequential", sequential) &&
         object.map("target", report.target) && object.map("compile_seconds", report.compileSeconds) &&
         object.map("estimated_seconds", report.estimatedSeconds) && object.map("memory", report.memory) &&
         object.map("stages", report.stages) && object.map("bubble", report.bubble) &&
         object.map("flops", report.flops) && object.map("kernels", report.kernels) &&
         object.map("library_calls", report.libraryCalls) && object.map("sent_bytes", report.sentBytes) &&
         object.map("lower_bound", bound) && object.map("has_unknown_trips", report.hasUnknownTrips) &&
         object.map("collectives", report.collectives) && object.map("compressions", report.compressions) &&
         object.map("saved_bytes", report.savedBytes) && object.map("recomputed", report.recomputed) &&
         object.map("offloaded", report.offloaded) && object.map("host_wait_seconds", report.hostWaitSeconds) &&
         object.map("exposed_seconds", report.exposedSeconds) && object.map("programs", report.programs) &&
         object.map("parameters", report.parameters) && object.map("advice", report.advice);
}

template <typename T>
constexpr bool kIsValue = std::is_arithmetic_v<T> || std::is_same_v<T, std::string>;

template <typename T>
Json write(T value);
template <typename T>
bool read(const Json& json, T& value);

Json write(const Axis& axis) { return Json::array({axis.first, axis.second}); }
bool read(const Json& json, Axis& axis) {
  return json.is_array() && json.size() == 2 && read(json[0], axis.first) && read(json[1], axis.second);
}

Json write(const SequentialFields& sequential) {
  Json axes = Json::object();
  for (const auto& [name, size] : *sequential.axes) axes[name] = size;
  return axes;
}
bool read(const Json& json, SequentialFields& sequential) {
  for (const auto& [name, size] : json.items())
    if (!read(size, sequential.axes->emplace_back(name, 0).second)) return false;
  return json.is_object();
}

template <typename T>
Json write(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(write(value));
  return list;
}
template <typename T>
bool read(const Json& json, std::vector<T>& values) {
  values.clear();
  for (const Json& value : json)
    if (!read(value, values.emplace_back())) return false;
  return json.is_array();
}

/// Sets each field that mapFields names.
struct ObjectWriter {
  template <typename T>
  bool map(const char* key, const T& value) {
    object[key] = write(value);
    return true;
  }
  Json object;
};

/// Reads what an ObjectWriter writes; false where a field is missing or of another type.
struct ObjectReader {
  template <typename T>
  bool map(const char* key, T& value) {
    auto field = object.find(key);
    return field != object.end() && read(*field, value);
  }
  const Json& object;
};

template <typename T>
Json write(T value) {
  if constexpr (kIsValue<T>) {
    return value;
  } else {
    ObjectWriter writer;
    mapFields(writer, value);
    return std::move(writer.object);
  }
}

template <typename T>
bool read(const Json& json, T& value) {
  if constexpr (kIsValue<T>) {
    bool isRight = std::is_same_v<T, std::string> ? json.is_string()
                   : std::is_same_v<T, bool>      ? json.is_boolean()
                   : std::is_same_v<T, double>    ? json.is_number()
                   : std::is_unsigned_v<T>        ? json.is_number_unsigned()
                                                  : json.is_number_integer();
    if (isRight) json.get_to(value);
    return isRight;
  } else {
    ObjectReader reader{json};
    return mapFields(reader, value);
  }
}

}  // namespace

Json Report::toJson() const { return write(*this); }
bool fromJson(const Json& json, Report& report) { return read(json, report); }

Json ExplanationReport::toJson() const { return write(records); }
bool fromJson(const Json& json, ExplanationReport& explanation) { return read(json, explanation.records); }

}  // namespace mlir::sgd
