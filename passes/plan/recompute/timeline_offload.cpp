// Changes of a timeline that copy between device and host.
#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "passes/plan/recompute/timeline.h"

using namespace mlir::sgd::remat;
using Kind = Execution::Kind;

std::optional<unsigned> Timeline::getHostSource(unsigned version) const {
  const int maker = versions[version].maker;
  if (maker < 0 || executions[maker].kind != Kind::CopyIn) return std::nullopt;
  return executions[maker].reads.front();
}

void Timeline::offload(const Offload& offload) {
  const unsigned buffer = getBuffer(offload.version);
  const unsigned host = offload.state ? *offload.state : addVersion(buffer, /*isOnHost=*/true);
  if (offload.back) {
    const unsigned device = addVersion(buffer, /*isOnHost=*/false);
    rename(offload.version, device, *offload.back);
    insert(*offload.back, addExecution({Kind::CopyIn, 0, nextInstance + 1, {host}, {device}}));
  } else {
    rename(offload.version, host, static_cast<int>(size()) - 1);
  }
  insert(offload.copied, addExecution({Kind::CopiedOut, 0, nextInstance, {offload.version}, {host}}));
  insert(offload.begin, addExecution({Kind::CopyOut, 0, nextInstance, {offload.version}, {host}}));
  nextInstance += 2;
  settle();
}

void Timeline::bringIn(unsigned state, int position) {
  setOnHost(state, true);
  const unsigned device = addVersion(state, /*isOnHost=*/false);
  bool isRead = false;
  const llvm::SmallVector<unsigned, 4> users = versions[state].uses;
  for (unsigned user : users)
    for (unsigned operand = 0; user != order.back() && operand < executions[user].reads.size(); ++operand)
      if (executions[user].reads[operand] == state) setRead(user, operand, device), isRead = true;
  if (isRead) insert(position, addExecution({Kind::CopyIn, 0, nextInstance++, {state}, {device}}));
  settle();
}

void Timeline::bringAgain(unsigned version, int position) {
  const unsigned host = *getHostSource(version), device = addVersion(getBuffer(version), /*isOnHost=*/false);
  rename(version, device, position);
  insert(position, addExecution({Kind::CopyIn, 0, nextInstance++, {host}, {device}}));
  settle();
}

bool Timeline::keepOnDevice(unsigned state) {
  if (!llvm::is_contained(stateOnHost, state)) return false;
  setOnHost(state, false);
  llvm::SmallVector<unsigned, 4> copies;  // versions on the device
  std::optional<unsigned> next;           // what the state becomes
  const llvm::SmallVector<unsigned, 4> users = versions[state].uses;
  for (unsigned user : users) {
    const Execution& execution = executions[user];
    if (execution.kind == Kind::CopyIn) copies.push_back(execution.writes.front());
    if (execution.kind == Kind::CopyOut) next = execution.reads.front();
    if (execution.isCopy()) erase(user);
  }
  if (next) rename(state, *next, static_cast<int>(size()) - 1);
  for (unsigned copy : copies) rename(copy, state, 0);
  settle();
  return true;
}

bool Timeline::isCopiedOut(unsigned instance) const {
  return llvm::any_of(executionsOf[instance],
                      [&](unsigned execution) { return executions[execution].kind == Kind::CopyOut; });
}

/// Results alone: what is brought back goes with that.
bool Timeline::dropCopyOut(unsigned instance) {
  const Execution& copy = executions[executionsOf[instance].front()];
  const unsigned version = copy.reads.front(), host = copy.writes.front();
  const bool isBroughtBack =
      llvm::any_of(versions[host].uses, [&](unsigned execution) { return executions[execution].kind == Kind::CopyIn; });
  if (isBroughtBack || sequence->buffers[getBuffer(host)].isKept) return false;
  eraseInstance(instance);
  rename(host, version, 0);
  settle();
  return true;
}

void Timeline::move(int from, int to) {
  const unsigned execution = order[from];
  erase(execution);
  insert(to, execution);
  settle();
}
