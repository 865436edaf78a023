// Messages that have not been asked for wait in the receiver's mailbox, as a network's library keeps them.
#include "memory_transport.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace sgd::comm {

struct Mailbox {
  std::mutex mutex;
  std::map<uint64_t, std::deque<std::string>> messages;  // by tag
  int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  ~Mailbox() { close(descriptor); }
};

class MemoryNetwork {
 public:
  std::shared_ptr<Mailbox> Add(size_t* index) {
    const std::lock_guard lock(mutex_);
    *index = mailboxes_.size();
    return mailboxes_.emplace_back(std::make_shared<Mailbox>());
  }
  std::shared_ptr<Mailbox> Find(size_t index) {
    const std::lock_guard lock(mutex_);
    return mailboxes_.at(index);
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Mailbox>> mailboxes_;
};

std::shared_ptr<MemoryNetwork> MakeMemoryNetwork() { return std::make_shared<MemoryNetwork>(); }

namespace {

class MemoryTransport final : public Transport {
 public:
  MemoryTransport(std::shared_ptr<MemoryNetwork> network, std::string version, std::string devices)
      : network_(std::move(network)),
        version_(std::move(version)),
        devices_(std::move(devices)),
        own_(network_->Add(&index_)) {}

  std::string version() const override { return version_; }
  std::string devices() const override { return devices_; }
  std::string address() const override { return absl::StrCat(index_); }
  absl::Status Register(std::byte*, uint64_t) override { return absl::OkStatus(); }
  absl::Status Connect(uint32_t peer, std::string_view address) override {
    size_t index = 0;
    if (!absl::SimpleAtoi(std::string(address), &index)) return absl::InvalidArgumentError("no address");
    peers_[peer] = network_->Find(index);
    return absl::OkStatus();
  }
  void Send(uint32_t peer, uint64_t tag, const std::byte* data, uint64_t bytes, Completion& completion) override {
    Mailbox& mailbox = *peers_.at(peer);
    const std::lock_guard lock(mailbox.mutex);
    mailbox.messages[tag].emplace_back(reinterpret_cast<const char*>(data), bytes);
    const uint64_t one = 1;
    if (write(mailbox.descriptor, &one, sizeof(one)) < 0) std::abort();
    completion = {.state = Completion::State::kDone, .bytes = bytes};
  }
  void Receive(uint64_t tag, std::byte* data, uint64_t bytes, Completion& completion) override {
    completion = {.state = Completion::State::kPending, .bytes = bytes};
    expected_[tag].push_back({data, &completion});
  }
  bool Progress() override {
    const std::lock_guard lock(own_->mutex);
    bool moved = false;
    for (auto at = own_->messages.begin(); at != own_->messages.end();) {
      std::deque<Expected>& expected = expected_[at->first];
      while (!at->second.empty() && !expected.empty()) {
        const std::string& message = at->second.front();
        const bool fits = message.size() == expected.front().completion->bytes;
        if (fits) std::memcpy(expected.front().data, message.data(), message.size());
        expected.front().completion->state = fits ? Completion::State::kDone : Completion::State::kFailed;
        if (!fits) expected.front().completion->cause = kOtherSize;
        at->second.pop_front();
        expected.pop_front();
        moved = true;
      }
      at = at->second.empty() ? own_->messages.erase(at) : std::next(at);
    }
    uint64_t count = 0;
    if (!moved && read(own_->descriptor, &count, sizeof(count)) < 0) count = 0;
    return moved;
  }
  // A message that came after the last look has made the descriptor readable.
  bool Arm() override { return true; }
  int descriptor() const override { return own_->descriptor; }
  absl::Status ErrorOf(uint32_t) const override { return absl::OkStatus(); }

 private:
  struct Expected {
    std::byte* data;
    Completion* completion;
  };
  std::shared_ptr<MemoryNetwork> network_;
  std::string version_, devices_;
  size_t index_ = 0;
  std::shared_ptr<Mailbox> own_;
  std::map<uint32_t, std::shared_ptr<Mailbox>> peers_;
  std::map<uint64_t, std::deque<Expected>> expected_;
};

}  // namespace

std::unique_ptr<Transport> MakeMemoryTransport(std::shared_ptr<MemoryNetwork> network, const std::string& version,
                                               const std::string& devices) {
  return std::make_unique<MemoryTransport>(std::move(network), version, devices);
}

}  // namespace sgd::comm
