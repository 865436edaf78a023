// By system calls alone: a library for them would be one more to install.
#include "runtime/checkpoint/direct_writes.h"

#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/memory/memory.h"

namespace sgd::checkpoint {

std::unique_ptr<DirectWrites> DirectWrites::Create(int file, Redo redo) {
  aio_context_t context = 0;
  if (syscall(SYS_io_setup, kMost, &context) != 0) return nullptr;
  return absl::WrapUnique(new DirectWrites(file, context, std::move(redo)));
}

DirectWrites::~DirectWrites() { syscall(SYS_io_destroy, context_); }

absl::Status DirectWrites::Begin(std::span<const std::byte> bytes, uint64_t offset) {
  if (in_flight_ == kMost) {
    if (absl::Status status = EndOne(); !status.ok()) return status;
  }
  Write& write = *std::ranges::find(writes_, false, &Write::is_in_flight);
  iocb request = {};
  request.aio_lio_opcode = IOCB_CMD_PWRITE;
  request.aio_fildes = static_cast<uint32_t>(file_);
  request.aio_buf = reinterpret_cast<uint64_t>(bytes.data());
  request.aio_nbytes = bytes.size();
  request.aio_offset = static_cast<int64_t>(offset);
  request.aio_data = static_cast<uint64_t>(&write - writes_.data());
  iocb* requests[] = {&request};
  if (syscall(SYS_io_submit, context_, 1, requests) != 1) return redo_(bytes, offset, errno);
  write = {bytes, offset, true};
  ++in_flight_;
  return absl::OkStatus();
}

absl::Status DirectWrites::EndOne() {
  io_event event = {};
  while (syscall(SYS_io_getevents, context_, 1, 1, &event, nullptr) != 1) {
    if (errno != EINTR) return absl::InternalError("the system does not tell how writes have ended");
  }
  Write& write = writes_[event.data];
  write.is_in_flight = false;
  --in_flight_;
  const size_t done = event.res < 0 ? 0 : static_cast<size_t>(event.res);
  if (done == write.bytes.size()) return absl::OkStatus();
  return redo_(write.bytes.subspan(done), write.offset + done, event.res < 0 ? static_cast<int>(-event.res) : 0);
}

absl::Status DirectWrites::Drain() {
  absl::Status status;
  while (in_flight_ > 0) {
    const size_t before = in_flight_;
    status.Update(EndOne());
    if (in_flight_ == before) break;
  }
  return status;
}

}  // namespace sgd::checkpoint
