// The format is Google's "Trace Event Format": complete events ("X"), times in microseconds.
#include "runtime/trace/chrome_trace.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/trace/instruction_time.h"
#include "runtime/trace/json_log.h"
#include "runtime/trace/scalar.h"

namespace sgd::trace {
namespace {

std::string RowName(uint32_t rank, uint32_t stream) {
  const std::string name = stream == 0 ? "compute" : absl::StrCat("collectives ", stream);
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
  std::set<uint32_t> streams;
  for (const TracedRun& run : runs) streams.insert(run.stream);
  std::vector<std::string> events = {absl::StrCat("{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": ", rank,
                                                  ", \"args\": {\"name\": \"rank ", rank, "\"}}")};
  for (uint32_t stream : streams) events.push_back(RowName(rank, stream));
  for (const TracedRun& run : runs) events.push_back(Bar(root, program, rank, run));
  return absl::StrJoin(events, ",\n");
}

std::string ChromeTraceJson(const std::vector<std::string>& events) {
  std::string all;
  for (const std::string& one : events) absl::StrAppend(&all, all.empty() || one.empty() ? "" : ",\n", one);
  return absl::StrCat("{\"traceEvents\": [\n", all, "\n]}\n");
}

}  // namespace sgd::trace
