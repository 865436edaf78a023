// Parses addresses as users write them, and tells loopback ones.
#include "runtime/comm/tcp/socket_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "runtime/comm/control/unique_fd.h"

namespace sgd::comm {
namespace {

using ::testing::HasSubstr;

TEST(HostAndPort, IsReadAsItIsWritten) {
  for (const char* text : {"node0:29500", "10.0.0.1:1", "[::1]:65535", "[fe80::1%eth0]:80", "a.b-c.d:443"}) {
    const auto place = ParseHostAndPort(text);
    ASSERT_TRUE(place.ok()) << place.status();
    EXPECT_EQ(place->Text(), text);
  }
}

TEST(HostAndPort, RefusesWhatIsNone) {
  for (const char* text :
       {"", ":1", "node0", "node0:", "node0:0", "node0:65536", "node0:x", "::1:80", "[::1:80", "[]:80", "10.0.0.300:80",
        "10.0.0:80", "a b:80", "node0,node1:80", "-n:80", "a..b:80", "[node0]:80", "[::g]:80"}) {
    const auto place = ParseHostAndPort(text);
    EXPECT_EQ(place.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(place.status().message()), HasSubstr("is no address; expected HOST:PORT"));
  }
}

TEST(HostAndPort, KnowsWhereOthersCannotConnect) {
  for (const char* host : {"localhost", "127.0.0.1", "127.9.9.9", "::1"})
    EXPECT_TRUE((HostAndPort{host, 1}.IsLoopback()));
  for (const char* host : {"0.0.0.0", "::"}) EXPECT_TRUE((HostAndPort{host, 1}.IsAny()));
  for (const char* host : {"10.0.0.1", "node0", "fd00::1"}) {
    EXPECT_FALSE((HostAndPort{host, 1}.IsLoopback()));
    EXPECT_FALSE((HostAndPort{host, 1}.IsAny()));
  }
}

SocketAddress AddressOf(const std::string& text) {
  const auto addresses = Resolve(*ParseHostAndPort(text));
  return addresses.ok() ? addresses->front() : SocketAddress();
}

TEST(SocketAddress, KnowsLoopback) {
  EXPECT_TRUE(AddressOf("127.0.0.1:1").IsLoopback());
  EXPECT_TRUE(AddressOf("127.1.2.3:1").IsLoopback());
  EXPECT_TRUE(AddressOf("[::1]:1").IsLoopback());
  EXPECT_TRUE(AddressOf("[::ffff:127.0.0.1]:1").IsLoopback());
  EXPECT_FALSE(AddressOf("10.0.0.1:1").IsLoopback());
  EXPECT_FALSE(AddressOf("[fd00::1]:1").IsLoopback());
  EXPECT_FALSE(AnyAddress(AF_INET, 1).IsLoopback());
  EXPECT_FALSE(AnyAddress(AF_INET6, 1).IsLoopback());
}

TEST(SocketAddress, IsOfADevice) {
  EXPECT_EQ(DeviceOf(AddressOf("127.0.0.1:1")), "lo");
  EXPECT_EQ(DeviceOf(AddressOf("[::ffff:127.0.0.1]:1")), "lo");
  EXPECT_EQ(DeviceOf(AddressOf("192.0.2.1:1")), "");  // of documentation, RFC 5737
}

TEST(SocketAddress, SaysWhatItIs) {
  EXPECT_EQ(AddressOf("10.0.0.1:80").Text(), "10.0.0.1:80");
  EXPECT_EQ(AddressOf("[fd00::1]:80").Text(), "[fd00::1]:80");
}

TEST(SocketAddress, OfANameThatNobodyKnows) {
  const auto addresses = Resolve({"no-such-host.invalid", 80});
  EXPECT_EQ(addresses.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(addresses.status().message()), HasSubstr("cannot resolve 'no-such-host.invalid'"));
}

UniqueFd BoundSocket(SocketAddress& address) {
  address = AddressOf("127.0.0.1:1");
  reinterpret_cast<sockaddr_in&>(address.storage).sin_port = 0;
  UniqueFd bound(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(bind(bound.get(), address.get(), address.length), 0);
  EXPECT_EQ(getsockname(bound.get(), reinterpret_cast<sockaddr*>(&address.storage), &address.length), 0);
  return bound;
}

TEST(SocketAddress, OfASocketThatHasMetItself) {
  SocketAddress address;
  const UniqueFd self = BoundSocket(address);
  ASSERT_EQ(connect(self.get(), address.get(), address.length), 0);
  EXPECT_TRUE(IsConnectedToItself(self.get()));
  const UniqueFd listener = BoundSocket(address);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  const UniqueFd other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_FALSE(IsConnectedToItself(other.get()));
  ASSERT_EQ(connect(other.get(), address.get(), address.length), 0);
  EXPECT_FALSE(IsConnectedToItself(other.get()));
}

}  // namespace
}  // namespace sgd::comm
