// Plain sockets; what comes from outside is bounded in bytes and time.
#include "runtime/watch/metrics_publisher.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/replace_file.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::watch {
namespace {

constexpr size_t kMostRequest = 4096;
constexpr size_t kMostAnswer = 1 << 20;
constexpr absl::Duration kPatience = absl::Seconds(1);
constexpr std::string_view kEnd = "\r\n\r\n";

sockaddr_in Loopback(uint32_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Whether the socket is ready before `end`.
bool WaitFor(int socket, short events, absl::Time end) {
  while (true) {
    const int64_t left = absl::ToInt64Milliseconds(end - SteadyNow());
    if (left <= 0) return false;
    pollfd descriptor = {socket, events, 0};
    const int ready = poll(&descriptor, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// Up to `most` bytes of a socket that does not block, until `is_enough` or its end; false when it takes too long.
template <typename IsEnough>
bool ReadFrom(int socket, size_t most, absl::Time end, std::string& text, IsEnough is_enough) {
  char buffer[4096];
  while (text.size() < most && !is_enough(text)) {
    if (!WaitFor(socket, POLLIN, end)) return false;
    const ssize_t count = recv(socket, buffer, std::min(sizeof(buffer), most - text.size()), 0);
    if (count == 0) return true;
    if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (count > 0) text.append(buffer, static_cast<size_t>(count));
  }
  return true;
}

bool WriteTo(int socket, std::string_view text, absl::Time end) {
  while (!text.empty()) {
    if (!WaitFor(socket, POLLOUT, end)) return false;
    const ssize_t count = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (count > 0) text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

std::string Response(const std::string& status, const std::string& body) {
  return absl::StrCat("HTTP/1.1 ", status, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n",
                      "Content-Length: ", body.size(), "\r\nConnection: close\r\n",
                      status.starts_with("405") ? "Allow: GET\r\n" : "", "\r\n", body);
}

absl::Status PortError(uint32_t port, const char* action) {
  return absl::UnavailableError(absl::StrCat("--metrics-port: cannot ", action, " 127.0.0.1:", port, ": ",
                                             std::strerror(errno), "; expected a free port; give another one"));
}

}  // namespace

absl::Status ReplaceText(const std::string& path, const std::string& text) {
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no regular file; expected one that can be replaced"));
  const std::string other = absl::StrCat(path, ".", getpid(), ".tmp");
  const comm::UniqueFd file(open(other.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file.valid()) return artifact::SystemError("write", path);
  absl::Status status = artifact::WriteAll(file.get(), text, path);
  if (status.ok() && rename(other.c_str(), path.c_str()) != 0) status = artifact::SystemError("replace", path);
  if (!status.ok()) unlink(other.c_str());
  return status;
}

absl::StatusOr<std::unique_ptr<MetricsPublisher>> MetricsPublisher::Start(MetricsOptions options) {
  auto publisher = std::unique_ptr<MetricsPublisher>(new MetricsPublisher(std::move(options)));
  if (absl::Status status = publisher->WriteFile(); !status.ok()) return status;
  if (publisher->options_.port != 0) {
    if (absl::Status status = publisher->Listen(); !status.ok()) return status;
  }
  publisher->stop_ = comm::UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!publisher->stop_.valid()) return absl::InternalError(absl::StrCat("eventfd: ", std::strerror(errno)));
  absl::StatusOr<std::thread> thread = SpawnThread("the metrics", [self = publisher.get()] { self->Run(); });
  if (!thread.ok()) return thread.status();
  publisher->thread_ = *std::move(thread);
  return publisher;
}

MetricsPublisher::~MetricsPublisher() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  while (write(stop_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
  WriteAndNote();
}

absl::Status MetricsPublisher::Listen() {
  listener_ = comm::UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_.valid()) return PortError(options_.port, "make a socket for");
  const int one = 1;
  setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  const sockaddr_in address = Loopback(options_.port);
  if (bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener_.get(), 8) != 0) {
    return PortError(options_.port, "listen on");
  }
  return absl::OkStatus();
}

absl::Status MetricsPublisher::WriteFile() const {
  if (options_.file.empty()) return absl::OkStatus();
  absl::Status status = ReplaceText(options_.file, options_.text());
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("--metrics: ", status.message()));
}

void MetricsPublisher::WriteAndNote() {
  const absl::Status status = WriteFile();
  if (!status.ok() && !has_failed_ && options_.note) options_.note(std::string(status.message()));
  has_failed_ = !status.ok();
}

void MetricsPublisher::Run() {
  absl::Time next = SteadyNow() + options_.every;
  while (true) {
    pollfd descriptors[] = {{stop_.get(), POLLIN, 0}, {listener_.valid() ? listener_.get() : -1, POLLIN, 0}};
    const int64_t left = options_.file.empty() ? 60'000 : absl::ToInt64Milliseconds(next - SteadyNow());
    poll(descriptors, 2, static_cast<int>(std::clamp<int64_t>(left, 0, 60'000)));
    if (descriptors[0].revents != 0) return;
    if (descriptors[1].revents != 0) {
      const comm::UniqueFd connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (connection.valid()) Answer(connection.get());
    }
    if (SteadyNow() < next) continue;
    next = SteadyNow() + options_.every;
    WriteAndNote();
  }
}

void MetricsPublisher::Answer(int connection) const {
  const absl::Time end = SteadyNow() + kPatience;
  std::string request;
  const auto is_whole = [](const std::string& text) { return text.find(kEnd) != std::string::npos; };
  if (!ReadFrom(connection, kMostRequest, end, request, is_whole)) return;
  if (!is_whole(request)) {
    static_cast<void>(WriteTo(connection, Response("400 Bad Request", "the request is too long or not whole\n"), end));
    return;
  }
  const std::string_view line = std::string_view(request).substr(0, request.find("\r\n"));
  std::string answer;
  if (!line.starts_with("GET ")) {
    answer = Response("405 Method Not Allowed", "only GET\n");
  } else if (line.starts_with("GET / ") || line.starts_with("GET /metrics ")) {
    answer = Response("200 OK", options_.text());
  } else {
    answer = Response("404 Not Found", "only /metrics\n");
  }
  static_cast<void>(WriteTo(connection, answer, end));  // whoever does not read gets nothing
}

absl::StatusOr<std::string> FetchMetrics(uint32_t port) {
  const std::string place = absl::StrCat("127.0.0.1:", port);
  const absl::Time end = SteadyNow() + 2 * kPatience;
  const comm::UniqueFd connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(port);
  if (!connection.valid() ||
      connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return absl::UnavailableError(
        absl::StrCat(place, ": cannot connect: ", std::strerror(errno), "; expected a run with --metrics-port ", port));
  std::string text;
  const auto never = [](const std::string&) { return false; };
  if (!WriteTo(connection.get(), "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", end) ||
      !ReadFrom(connection.get(), kMostAnswer, end, text, never)) {
    return absl::UnavailableError(absl::StrCat(place, ": did not answer within two seconds"));
  }
  const size_t body = text.find(kEnd);
  if (!text.starts_with("HTTP/1.1 200 ") || body == std::string::npos)
    return absl::InvalidArgumentError(absl::StrCat(place, ": answers something else than metrics"));
  return text.substr(body + kEnd.size());
}

}  // namespace sgd::watch
