// Messages that are cut, long, foreign, or sent to an end that is gone.
#include "runtime/workers/worker_messages.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "runtime/launch/interruption.h"

namespace sgd::workers {
namespace {

using ::testing::HasSubstr;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

class WorkerMessagesTest : public ::testing::Test {
 protected:
  std::pair<comm::UniqueFd, comm::UniqueFd> ends_ = *NewWorkerSockets();
  const int program_ = ends_.first.get();
  const int worker_ = ends_.second.get();
};

TEST_F(WorkerMessagesTest, CommandsBringRequestsAndSegments) {
  const std::string longest(kMaxRequestBytes, 'x');
  EXPECT_EQ(SendCommand(program_, {.job = 7}, longest, worker_), absl::OkStatus());
  EXPECT_EQ(SendCommand(program_, {.job = 8}, "", -1), absl::OkStatus());
  auto first = ReceiveCommand(worker_), second = ReceiveCommand(worker_);
  ASSERT_TRUE(first.ok() && first->has_value() && second.ok() && second->has_value());
  EXPECT_EQ((*first)->command.job, 7);
  EXPECT_EQ((*first)->request, longest);
  EXPECT_EQ(fcntl((*first)->segment.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ((*second)->request, "");
  EXPECT_FALSE((*second)->segment.valid());
}

TEST_F(WorkerMessagesTest, OutcomesKeepTheirCodes) {
  EXPECT_EQ(*ReceiveOutcome(program_), std::nullopt);
  for (const absl::Status& outcome : {absl::OkStatus(), absl::DataLossError("lost"), launch::Interrupted()}) {
    SendOutcome(worker_, outcome);
    EXPECT_EQ(*ReceiveOutcome(program_), outcome);
  }
  SendOutcome(worker_, absl::InternalError(std::string(5000, 'y')));
  EXPECT_EQ(Message(**ReceiveOutcome(program_)), std::string(1007, 'y'));
}

TEST_F(WorkerMessagesTest, RefusesOtherMessages) {
  const std::string foreign(200 << 10, 'z');
  for (const size_t bytes : {size_t{5}, size_t{1024}, sizeof(WorkerCommand), foreign.size()}) {
    ASSERT_EQ(send(worker_, foreign.data(), bytes, 0), bytes);
    EXPECT_THAT(Message(ReceiveOutcome(program_).status()), HasSubstr("which are no outcome"));
    ASSERT_EQ(send(program_, foreign.data(), bytes, 0), bytes);
    EXPECT_THAT(Message(ReceiveCommand(worker_).status()), HasSubstr("which are no command"));
  }
  const WorkerCommand command;
  std::string longer(reinterpret_cast<const char*>(&command), sizeof(command));
  longer.resize(sizeof(command) + kMaxRequestBytes + 1);
  ASSERT_EQ(send(program_, longer.data(), longer.size(), 0), longer.size());
  EXPECT_THAT(Message(ReceiveCommand(worker_).status()), HasSubstr("which are no command"));
}

TEST_F(WorkerMessagesTest, AnEndThatIsGoneIsNoError) {
  SendOutcome(worker_, absl::OkStatus());
  ends_.first = comm::UniqueFd();
  EXPECT_EQ(*ReceiveCommand(worker_), std::nullopt);
  SendOutcome(worker_, absl::OkStatus());
  ends_ = *NewWorkerSockets();
  ends_.second = comm::UniqueFd();
  EXPECT_EQ(SendCommand(ends_.first.get(), {}, "", -1), absl::OkStatus());
  EXPECT_EQ(ReceiveOutcome(ends_.first.get()).status(), absl::UnavailableError("has closed its socket"));
}

}  // namespace
}  // namespace sgd::workers
