// Metrics are read back as they were written; the server answers GET alone, whatever it is sent.
#include "runtime/watch/exposition.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/watch/metrics_publisher.h"
#include "tests/runtime/data/tensor_files.h"

namespace sgd::watch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

JobStatus Full() {
  JobStatus status{.steps_done = 120, .steps_planned = 1000, .run_steps = 20, .run_seconds = 0.5};
  status.least_seconds = 0.01, status.median_seconds = 0.02, status.slow_seconds = 0.05;
  status.loss = 2.5, status.rows_per_second = 6400, status.tokens_per_second = 1e6, status.utilization = 0.25;
  status.exposed_seconds = 0.003, status.slowest_rank = 3, status.slowest_lead = 0.001;
  status.resident_bytes = {{0, 1000}, {3, 123456789012}};
  status.stragglers = 1, status.restarts = 2, status.checkpoints = 4, status.stalled_seconds = 0.75;
  return status;
}

TEST(Exposition, IsReadBackAsItWasWritten) {
  for (const JobStatus& status : {Full(), JobStatus()}) {
    const std::string text = ExpositionText(status);
    const absl::StatusOr<JobStatus> read = ParseExposition(text);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(ExpositionText(*read), text);
    EXPECT_EQ(read->resident_bytes, status.resident_bytes);
    EXPECT_EQ(read->loss, status.loss);
    EXPECT_EQ(read->slowest_rank, status.slowest_rank);
  }
}

TEST(Exposition, HasHelpTypesAndLabels) {
  const std::string text = ExpositionText(Full());
  EXPECT_THAT(text, HasSubstr("# TYPE sgd_step_seconds summary\nsgd_step_seconds{quantile=\"0\"} 0.01\n"));
  EXPECT_THAT(text, HasSubstr("sgd_step_seconds_count 20\n"));
  EXPECT_THAT(text, HasSubstr("sgd_resident_bytes{rank=\"3\"} 123456789012\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE sgd_restarts_total counter\nsgd_restarts_total 2\n"));
  EXPECT_THAT(ExpositionText({}), Not(HasSubstr("sgd_loss")));
}

TEST(Exposition, ALossMayBeNoNumber) {
  JobStatus status;
  status.loss = std::nan("");
  EXPECT_THAT(ExpositionText(status), HasSubstr("sgd_loss NaN\n"));
  EXPECT_TRUE(std::isnan(*ParseExposition(ExpositionText(status))->loss));
  status.loss = -std::numeric_limits<double>::infinity();
  EXPECT_THAT(ExpositionText(status), HasSubstr("sgd_loss -Inf\n"));
}

TEST(Exposition, RefusesWhatIsNone) {
  for (const char* text :
       {"", "# nothing\n", "hello\n", "sgd_loss\n", "sgd_loss x\n", "other_metric 1\n", "\0\xff 1 \n"})
    EXPECT_FALSE(ParseExposition(text).ok()) << text;
  EXPECT_TRUE(ParseExposition("sgd_steps_done -1e300\nsgd_slowest_rank NaN\nother{a=\"b c\"} 1\n").ok());
}

TEST(StatusKeeper, TakesMediansOfTheLastSteps) {
  StatusKeeper keeper({.first_step = 100, .steps = 400, .rows = 64, .tokens = std::nullopt, .least_seconds = 0.001},
                      nullptr);
  EXPECT_EQ(keeper.Read().steps_done, 100);
  EXPECT_FALSE(keeper.Read().median_seconds.has_value());
  for (uint64_t step = 100; step < 400; ++step)
    keeper.StepEnded(step,
                     absl::Milliseconds(step < 200       ? 100
                                        : step % 10 == 0 ? 8
                                                         : 2),
                     1.0 / static_cast<double>(step));
  keeper.StragglerFound();
  const JobStatus status = keeper.Read();
  EXPECT_EQ(status.steps_done, 400);
  EXPECT_EQ(status.steps_planned, 500);
  EXPECT_EQ(status.run_steps, 300);
  EXPECT_NEAR(*status.median_seconds, 0.002, 1e-9);
  EXPECT_NEAR(*status.rows_per_second, 32000, 1e-6);
  EXPECT_NEAR(*status.utilization, 0.5, 1e-9);
  EXPECT_FALSE(status.tokens_per_second.has_value());
  EXPECT_EQ(status.stragglers, 1);
}

// A port that was free a moment ago.
uint32_t FreePort() {
  const comm::UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

std::string Ask(uint32_t port, const std::string& request) {
  const comm::UniqueFd connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(send(connection.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t count = 0; (count = recv(connection.get(), buffer, sizeof(buffer), 0)) > 0;)
    answer.append(buffer, static_cast<size_t>(count));
  return answer;
}

TEST(MetricsPublisher, AnswersGetAlone) {
  const uint32_t port = FreePort();
  const auto publisher = MetricsPublisher::Start({.port = port, .text = [] { return std::string("sgd_loss 1\n"); }});
  ASSERT_TRUE(publisher.ok()) << publisher.status();
  const absl::StatusOr<std::string> fetched = FetchMetrics(port);
  ASSERT_TRUE(fetched.ok()) << fetched.status();
  EXPECT_EQ(*fetched, "sgd_loss 1\n");
  EXPECT_THAT(Ask(port, "GET / HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(Ask(port, "GET /etc/passwd HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask(port, "POST /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Ask(port, std::string("\0\xff\r\n\r\n", 6)), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Ask(port, std::string(4096, 'a')), StartsWith("HTTP/1.1 400 "));
  // Whoever says nothing is dropped after a second, and the next one is served.
  const absl::Time begin = SteadyNow();
  EXPECT_EQ(Ask(port, "GET "), "");
  EXPECT_LT(SteadyNow() - begin, absl::Seconds(20));
  EXPECT_TRUE(FetchMetrics(port).ok());
}

TEST(MetricsPublisher, NamesAPortThatIsTaken) {
  const uint32_t port = FreePort();
  const auto first = MetricsPublisher::Start({.port = port, .text = [] { return std::string(); }});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = MetricsPublisher::Start({.port = port, .text = [] { return std::string(); }});
  EXPECT_THAT(second.status().message(),
              HasSubstr(absl::StrCat("--metrics-port: cannot listen on 127.0.0.1:", port, ": ")));
}

TEST(MetricsPublisher, ReplacesItsFileAsAWhole) {
  data::TemporaryFolder folder;
  const std::string file = folder / "metrics.prom";
  std::mutex mutex;
  int calls = 0;
  {
    const auto publisher = MetricsPublisher::Start({.file = file, .every = absl::Milliseconds(5), .text = [&] {
                                                      const std::lock_guard lock(mutex);
                                                      return absl::StrCat("sgd_loss ", ++calls, "\n");
                                                    }});
    ASSERT_TRUE(publisher.ok()) << publisher.status();
    const absl::Time end = SteadyNow() + absl::Seconds(30);
    while (SteadyNow() < end) {
      EXPECT_THAT(data::ReadText(file), StartsWith("sgd_loss "));
      const std::lock_guard lock(mutex);
      if (calls > 5) break;
    }
  }
  EXPECT_EQ(data::ReadText(file), absl::StrCat("sgd_loss ", calls, "\n"));
  EXPECT_GT(calls, 5);
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
  EXPECT_EQ(files, 1) << "temporary files are left";
}

TEST(MetricsPublisher, RefusesFilesThatCannotBeReplaced) {
  const auto text = [] { return std::string(); };
  EXPECT_THAT(MetricsPublisher::Start({.file = "/dev/null", .text = text}).status().message(),
              HasSubstr("--metrics: /dev/null: is no regular file"));
  EXPECT_THAT(MetricsPublisher::Start({.file = "/nowhere/metrics", .text = text}).status().message(),
              HasSubstr("--metrics: /nowhere/metrics: cannot write"));
}

TEST(MetricsPublisher, FetchingNeedsARun) {
  EXPECT_THAT(FetchMetrics(FreePort()).status().message(), HasSubstr("expected a run with --metrics-port"));
}

}  // namespace
}  // namespace sgd::watch
