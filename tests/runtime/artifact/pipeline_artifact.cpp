// Private memory: the input at 0, what is received at 64. Mailboxes are behind 128 bytes of window.
#include "tests/runtime/artifact/pipeline_artifact.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/comm/collectives/channel.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::testing {
namespace {

using artifact::ElementType;
using artifact::Space;

std::unique_ptr<artifact::ChannelT> ChannelOf(uint32_t from, uint32_t to, uint32_t depth) {
  auto channel = std::make_unique<artifact::ChannelT>();
  channel->from_stage = from;
  channel->to_stage = to;
  channel->depth = depth;
  channel->slot_bytes = 16;
  channel->mailbox = SliceAt(Space::Window, 128, *comm::MailboxBytes(16, depth));
  return channel;
}

// With one input at `position`, which is carried from the output at 64 or, unchanged, from itself.
std::unique_ptr<artifact::ProgramT> ProgramOf(int32_t stage, const char* input_name, uint64_t output_at) {
  auto program = std::make_unique<artifact::ProgramT>();
  program->name = "main";
  program->stage = stage;
  program->locations = {"model.py:7:3"};
  auto input = std::make_unique<artifact::InputT>();
  input->name = input_name;
  input->type = TensorOf(ElementType::F32, {4}, 1);
  input->slice = SliceAt(Space::Private, 0, 16);
  input->state = true;
  input->position = stage;
  program->inputs.push_back(std::move(input));
  auto output = std::make_unique<artifact::OutputT>();
  output->name = absl::StrCat("next_", input_name);
  output->type = TensorOf(ElementType::F32, {4}, 1);
  output->slice = SliceAt(Space::Private, output_at, 16);
  output->carry_input = 0;
  output->position = stage;
  program->outputs.push_back(std::move(output));
  return program;
}

void AppendLoop(artifact::ProgramT& program, uint64_t trips) {
  artifact::LoopT loop;
  loop.body = 1;
  loop.trips = trips;
  Append(program, std::move(loop));
}

void AppendSend(artifact::ProgramT& program, uint32_t channel, uint64_t at) {
  artifact::SendT send;
  send.channel = channel;
  send.source = SliceAt(Space::Private, at, 16);
  Append(program, std::move(send));
}

void AppendReceive(artifact::ProgramT& program, uint32_t channel) {
  artifact::ReceiveT receive;
  receive.channel = channel;
  receive.target = SliceAt(Space::Private, 64, 16);
  Append(program, std::move(receive));
}

}  // namespace

void FillPipeline(artifact::ArtifactWriter& writer) {
  artifact::ArtifactT& root = writer.artifact();
  root.compiler_version = "test";
  root.target = "cpu";
  root.cpu = "x86-64-v3";
  root.mesh.push_back(std::make_unique<artifact::MeshAxisT>());
  root.mesh[0]->name = "stage";
  root.mesh[0]->size = 2;
  root.channels.push_back(ChannelOf(0, 1, 2));
  root.channels.push_back(ChannelOf(1, 0, 1));
  root.private_bytes = 128;
  for (const auto& channel : {std::cref(root.channels[1]), std::cref(root.channels[0])}) {
    root.stages.push_back(std::make_unique<artifact::StageT>());
    root.stages.back()->private_bytes = root.private_bytes;
    root.stages.back()->window_bytes = 128 + channel.get()->mailbox->size();
    root.window_bytes = std::max(root.window_bytes, root.stages.back()->window_bytes);
  }
  root.programs.push_back(ProgramOf(0, "a", 64));
  AppendLoop(*root.programs[0], 3);
  AppendSend(*root.programs[0], 0, 0);
  AppendReceive(*root.programs[0], 1);
  root.programs.push_back(ProgramOf(1, "c", 0));
  AppendLoop(*root.programs[1], 3);
  AppendReceive(*root.programs[1], 0);
  AppendSend(*root.programs[1], 1, 64);
}

}  // namespace sgd::testing
