// The format is Google's "Trace Event Format": complete events ("X"), times in microseconds.
#include "runtime/trace/chrome_trace.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/trace/instruction_time.h"
#include "runtime/trace/json_log.h"
#include "runtime/trace/scalar.h"

namespace sgd::trace {
namespace {

// Of a stream beside compute, by what it runs.
std::string StreamName(uint32_t stream, const artifact::Instruction& instruction) {
  if (stream == 0) return "compute";
  if (const artifact::Copy* copy = instruction.op_as_Copy())
    return copy->target()->space() == artifact::Space::Host ? "copies to the host" : "copies from the host";
  switch (instruction.op_type()) {
    case artifact::Operation::Send:
      return absl::StrCat("sent messages ", stream);
    case artifact::Operation::Receive:
      return absl::StrCat("received messages ", stream);
    default:
      return absl::StrCat("collectives ", stream);
  }
}

std::string RowName(uint32_t rank, uint32_t stream, const artifact::Instruction& instruction) {
  const std::string name = StreamName(stream, instruction);
  return absl::StrCat("{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": ", rank, ", \"tid\": ", stream,
                      ", \"args\": {\"name\": ", JsonString(name), "}}");
}

std::string Bar(const artifact::Artifact& root, const artifact::Program& program, uint32_t rank, const TracedRun& run) {
  const artifact::Instruction& instruction = *program.instructions()->Get(run.instruction);
  const std::string what = WhatOf(root, instruction);
  const std::string name = absl::StrCat(artifact::OperationName(instruction), what.empty() ? "" : " ", what);
  return absl::StrCat("{\"name\": ", JsonString(name), ", \"ph\": \"X\", \"pid\": ", rank, ", \"tid\": ", run.stream,
                      ", \"ts\": ", NumberJson(absl::ToDoubleMicroseconds(run.begin)),
                      ", \"dur\": ", NumberJson(absl::ToDoubleMicroseconds(run.length)),
                      ", \"args\": {\"instruction\": ", run.instruction,
                      ", \"loc\": ", JsonString(LocationOf(program, instruction)), "}}");
}

}  // namespace

std::string ChromeTraceEvents(const artifact::Artifact& root, const artifact::Program& program, uint32_t rank,
                              const std::vector<TracedRun>& runs) {
  std::map<uint32_t, uint32_t> streams;  // to an instruction that each runs
  for (const TracedRun& run : runs) streams.emplace(run.stream, run.instruction);
  std::vector<std::string> events = {absl::StrCat("{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": ", rank,
                                                  ", \"args\": {\"name\": \"rank ", rank, "\"}}")};
  for (const auto& [stream, instruction] : streams)
    events.push_back(RowName(rank, stream, *program.instructions()->Get(instruction)));
  for (const TracedRun& run : runs) events.push_back(Bar(root, program, rank, run));
  return absl::StrJoin(events, ",\n");
}

std::string ChromeTraceJson(const std::vector<std::string>& events,
                            const std::vector<std::pair<std::string, std::string>>& other_data) {
  std::string all;
  for (const std::string& one : events) absl::StrAppend(&all, all.empty() || one.empty() ? "" : ",\n", one);
  std::string data;
  for (const auto& [key, value] : other_data)
    absl::StrAppend(&data, data.empty() ? ", \"otherData\": {" : ", ", JsonString(key), ": ", JsonString(value));
  return absl::StrCat("{\"traceEvents\": [\n", all, "\n]", data, data.empty() ? "" : "}", "}\n");
}

}  // namespace sgd::trace
