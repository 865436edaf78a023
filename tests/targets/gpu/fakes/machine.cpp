// The seed of the order is SGD_EMULATED_ORDER.
#include "tests/targets/gpu/fakes/machine.h"

#include <sched.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "tests/targets/gpu/fakes/counts.h"

namespace sgd::emulated {
namespace {

// Everything that comes before `from` in the graph, itself included.
std::set<size_t> Ancestors(const GraphNodes& graph, const std::set<size_t>& from) {
  std::set<size_t> found = from;
  std::vector<size_t> open(from.begin(), from.end());
  while (!open.empty()) {
    const size_t node = open.back();
    open.pop_back();
    for (size_t before : graph.nodes[node].after) {
      if (found.insert(before).second) open.push_back(before);
    }
  }
  return found;
}

}  // namespace

Machine& Machine::OfThisThread() {
  thread_local Machine machine;
  return machine;
}

Machine::Machine() {
  const char* seed = getenv("SGD_EMULATED_ORDER");
  does_nothing_ = getenv("SGD_EMULATED_NOTHING") != nullptr;
  random_.seed(seed == nullptr ? 1 : static_cast<uint32_t>(strtoul(seed, nullptr, 10)));
}

EmulatedStream* Machine::AddStream() {
  streams_.push_back(std::make_unique<EmulatedStream>());
  return streams_.back().get();
}

void Machine::RemoveStream(EmulatedStream* stream) {
  Drain(stream);
  std::erase_if(streams_, [&](const auto& other) { return other.get() == stream; });
}

CUresult Machine::Enqueue(EmulatedStream* stream, Operation run) {
  if (stream->graph != nullptr) {
    stream->graph->nodes.push_back({std::move(run), {stream->after.begin(), stream->after.end()}});
    stream->after = {stream->graph->nodes.size() - 1};
    return CUDA_SUCCESS;
  }
  CountCall();
  if (!does_nothing_) stream->items.push_back({std::move(run), nullptr, nullptr});
  return error_;
}

CUresult Machine::Record(EmulatedStream* stream, EmulatedEvent* event) {
  event->graph = stream->graph;
  if (stream->graph != nullptr) {
    event->after = stream->after;
    return CUDA_SUCCESS;
  }
  CountCall();
  if (does_nothing_ && event->recorded != nullptr) return error_;
  event->recorded = std::make_shared<Completion>();
  event->recorded->is_done = does_nothing_;
  if (!does_nothing_) stream->items.push_back({nullptr, nullptr, event->recorded});
  return error_;
}

CUresult Machine::Wait(EmulatedStream* stream, EmulatedEvent* event) {
  if (event->graph != nullptr) {
    if (event->graph != capture_.get()) return CUDA_ERROR_INVALID_VALUE;
    stream->graph = event->graph;
    stream->after.insert(event->after.begin(), event->after.end());
    return CUDA_SUCCESS;
  }
  // An event of before the capture is no part of the graph.
  if (stream->graph != nullptr) return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  CountCall();
  if (event->recorded != nullptr && !event->recorded->is_done)
    stream->items.push_back({nullptr, event->recorded, nullptr});
  return error_;
}

CUresult Machine::BeginCapture(EmulatedStream* stream) {
  if (capture_ != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  capture_ = std::make_unique<GraphNodes>();
  stream->graph = capture_.get();
  stream->after.clear();
  origin_ = stream;
  return CUDA_SUCCESS;
}

CUresult Machine::EndCapture(EmulatedStream* stream, std::unique_ptr<GraphNodes>& graph) {
  if (capture_ == nullptr || stream != origin_) return CUDA_ERROR_ILLEGAL_STATE;
  const std::set<size_t> joined = Ancestors(*capture_, origin_->after);
  bool is_joined = true;
  for (const auto& other : streams_) {
    if (other->graph != capture_.get()) continue;
    is_joined = is_joined && std::ranges::includes(joined, other->after);
    other->graph = nullptr;
    other->after.clear();
  }
  graph = std::move(capture_);
  origin_ = nullptr;
  return is_joined ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

GraphRun::GraphRun(std::shared_ptr<const GraphNodes> graph)
    : graph_(std::move(graph)), waits_(graph_->nodes.size()), next_(graph_->nodes.size()) {
  for (size_t i = 0; i < graph_->nodes.size(); ++i) {
    waits_[i] = graph_->nodes[i].after.size();
    for (size_t before : graph_->nodes[i].after) next_[before].push_back(i);
    if (waits_[i] == 0) ready_.push_back(i);
  }
}

CUresult GraphRun::Advance(std::mt19937& random) {
  std::vector<size_t> not_ready;
  while (!ready_.empty()) {
    std::swap(ready_[random() % ready_.size()], ready_.back());
    const size_t node = ready_.back();
    ready_.pop_back();
    const CUresult result = graph_->nodes[node].run();
    if (result == CUDA_ERROR_NOT_READY) {
      not_ready.push_back(node);
      continue;
    }
    if (result != CUDA_SUCCESS) return result;
    for (size_t other : next_[node]) {
      if (--waits_[other] == 0) ready_.push_back(other);
    }
  }
  ready_ = std::move(not_ready);
  return ready_.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult Machine::Launch(EmulatedStream* stream, std::shared_ptr<const GraphNodes> graph) {
  if (does_nothing_) return CountCall(), error_;
  auto run = std::make_shared<GraphRun>(std::move(graph));
  return Enqueue(stream, [this, run] { return run->Advance(random_); });
}

CUresult Machine::Advance() {
  std::vector<EmulatedStream*> able;
  for (const auto& stream : streams_) {
    if (stream->is_idle()) continue;
    const EmulatedStream::Item& item = stream->items[stream->next];
    if (item.wait == nullptr || item.wait->is_done) able.push_back(stream.get());
  }
  if (able.empty()) return CUDA_ERROR_LAUNCH_TIMEOUT;
  std::ranges::shuffle(able, random_);
  for (EmulatedStream* stream : able) {
    const EmulatedStream::Item item = stream->items[stream->next];
    const CUresult result = item.run && error_ == CUDA_SUCCESS ? item.run() : CUDA_SUCCESS;
    if (result == CUDA_ERROR_NOT_READY) continue;
    if (error_ == CUDA_SUCCESS) error_ = result;
    if (item.record != nullptr) {
      item.record->is_done = true;
      const auto now = std::chrono::steady_clock::now().time_since_epoch();
      item.record->done_at = std::chrono::duration<double, std::milli>(now).count();
    }
    ++stream->next;
    if (stream->is_idle()) {
      stream->items.clear();
      stream->next = 0;
    }
    fruitless_ = 0;
    return CUDA_SUCCESS;
  }
  // Others have to do something first, with what cores there are.
  constexpr int kYields = 50;
  if (++fruitless_ <= kYields)
    sched_yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  return CUDA_ERROR_NOT_READY;
}

CUresult Machine::Drain(EmulatedStream* stream) {
  if (capture_ != nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  constexpr std::chrono::seconds kPatience(60);
  auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!stream->is_idle()) {
    const CUresult result = Advance();
    if (result == CUDA_ERROR_LAUNCH_TIMEOUT) return result;
    const auto now = std::chrono::steady_clock::now();
    if (result == CUDA_SUCCESS) deadline = now + kPatience;
    if (now > deadline) return CUDA_ERROR_LAUNCH_TIMEOUT;
  }
  return error_;
}

void Machine::DrainAll() {
  for (const auto& stream : streams_) Drain(stream.get());
}

CUresult Machine::Poll(EmulatedStream* stream) {
  if (capture_ != nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->is_idle()) return error_;
  return Advance() == CUDA_ERROR_LAUNCH_TIMEOUT ? CUDA_ERROR_LAUNCH_TIMEOUT : CUDA_ERROR_NOT_READY;
}

CUresult Machine::Poll(EmulatedEvent* event) {
  if (event->graph != nullptr) return CUDA_ERROR_CAPTURED_EVENT;
  if (capture_ != nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (event->recorded == nullptr || event->recorded->is_done || error_ != CUDA_SUCCESS) return error_;
  return Advance() == CUDA_ERROR_LAUNCH_TIMEOUT ? CUDA_ERROR_LAUNCH_TIMEOUT : CUDA_ERROR_NOT_READY;
}

}  // namespace sgd::emulated
