// Changes of a timeline that copy between device and host.
#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "passes/remat/timeline.h"

using namespace mlir::sgd::remat;
using Kind = Execution::Kind;

/// Whatever reads `from` from position `first` on reads `to`.
void Timeline::rename(unsigned from, unsigned to, int first) {
  for (size_t position = first; position < executions.size(); ++position)
    for (unsigned& version : executions[position].reads)
      if (version == from) version = to;
}

std::optional<unsigned> Timeline::getHostSource(unsigned version) const {
  if (made[version] < 0 || executions[made[version]].kind != Kind::CopyIn) return std::nullopt;
  return executions[made[version]].reads.front();
}

void Timeline::offload(const Offload& offload) {
  const unsigned buffer = bufferOf[offload.version];
  const unsigned host = offload.state ? *offload.state : addVersion(buffer, /*isHost=*/true);
  if (offload.back) {
    const unsigned device = addVersion(buffer, /*isHost=*/false);
    rename(offload.version, device, *offload.back);
    executions.insert(executions.begin() + *offload.back, {Kind::CopyIn, 0, nextInstance + 1, {host}, {device}});
  } else {
    rename(offload.version, host, static_cast<int>(executions.size()) - 1);
  }
  executions.insert(executions.begin() + offload.copied, {Kind::CopiedOut, 0, nextInstance, {offload.version}, {host}});
  executions.insert(executions.begin() + offload.begin, {Kind::CopyOut, 0, nextInstance, {offload.version}, {host}});
  nextInstance += 2;
  analyse();
}

void Timeline::bringIn(unsigned state, int position) {
  stateOnHost.insert(llvm::lower_bound(stateOnHost, state), state);
  onHost[state] = true;
  const unsigned device = addVersion(state, /*isHost=*/false);
  bool isRead = false;
  for (Execution& execution : llvm::MutableArrayRef(executions).drop_back())
    for (unsigned& version : execution.reads)
      if (version == state) version = device, isRead = true;
  if (isRead) executions.insert(executions.begin() + position, {Kind::CopyIn, 0, nextInstance++, {state}, {device}});
  analyse();
}

void Timeline::bringAgain(unsigned version, int position) {
  const unsigned host = *getHostSource(version), device = addVersion(bufferOf[version], /*isHost=*/false);
  rename(version, device, position);
  executions.insert(executions.begin() + position, {Kind::CopyIn, 0, nextInstance++, {host}, {device}});
  analyse();
}

bool Timeline::keepOnDevice(unsigned state) {
  auto known = llvm::find(stateOnHost, state);
  if (known == stateOnHost.end()) return false;
  stateOnHost.erase(known);
  onHost[state] = false;
  llvm::SmallVector<unsigned, 4> copies;  // versions on the device
  std::optional<unsigned> next;           // what the state becomes
  for (const Execution& execution : executions) {
    if (execution.kind == Kind::CopyIn && execution.reads.front() == state) copies.push_back(execution.writes.front());
    if (execution.kind == Kind::CopyOut && execution.writes.front() == state) next = execution.reads.front();
  }
  llvm::erase_if(executions, [&](const Execution& execution) {
    return execution.isCopy() && (execution.reads.front() == state || execution.writes.front() == state);
  });
  if (next) rename(state, *next, static_cast<int>(executions.size()) - 1);
  for (unsigned copy : copies) rename(copy, state, 0);
  analyse();
  return true;
}

bool Timeline::isCopiedOut(unsigned instance) const {
  return llvm::any_of(executions, [&](const Execution& execution) {
    return execution.instance == instance && execution.kind == Kind::CopyOut;
  });
}

/// Results alone: what is brought back goes with that.
bool Timeline::dropCopyOut(unsigned instance) {
  auto copy = llvm::find_if(executions, [&](const Execution& execution) { return execution.instance == instance; });
  const unsigned version = copy->reads.front(), host = copy->writes.front();
  const bool isBroughtBack = llvm::any_of(executions, [&](const Execution& execution) {
    return execution.kind == Kind::CopyIn && execution.reads.front() == host;
  });
  if (isBroughtBack || sequence->buffers[bufferOf[host]].isKept) return false;
  llvm::erase_if(executions, [&](const Execution& execution) { return execution.instance == instance; });
  rename(host, version, 0);
  analyse();
  return true;
}

void Timeline::moveUp(int from, int to) {
  std::rotate(executions.begin() + to, executions.begin() + from, executions.begin() + from + 1);
  analyse();
}

void Timeline::moveDown(int from, int to) {
  std::rotate(executions.begin() + from, executions.begin() + from + 1, executions.begin() + to + 1);
  analyse();
}
