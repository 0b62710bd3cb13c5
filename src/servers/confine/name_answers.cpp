// SPDX-License-Identifier: Apache-2.0

#include "servers/confine/name_answers.h"

#include <algorithm>

#include "core/ascii.h"
#include "policy/match/url.h"

namespace mcpac::servers {
namespace {

constexpr std::size_t kDnsHeader = 12;
constexpr std::size_t kLongestName = 253;
// 198.18.0.0/15; names begin at 198.18.0.1.
constexpr std::uint32_t kStandIns = 0xc6120000U;
// Of one start of a server: a wildcard admits any number of made-up names.
constexpr std::size_t kMostNames = 4096;
// It stands for the name as long as the server runs.
constexpr std::uint32_t kSeconds = 60;

enum class Answered : std::uint8_t {
  kYes = 0,
  kFormat = 1,
  kFailed = 2,
  kNoName = 3,
  kNotDone = 4
};

std::uint16_t number_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>((static_cast<unsigned char>(bytes[at]) << 8U) |
                                    static_cast<unsigned char>(bytes[at + 1]));
}

void put16(std::string& into, std::uint32_t number) {
  into += static_cast<char>((number >> 8U) & 0xffU);
  into += static_cast<char>(number & 0xffU);
}

// The first question: its name, type, class, and where it ends. No compression: there is nothing
// before it to point to.
struct NameQuestion {
  std::string name;
  std::uint16_t type = 0;
  std::uint16_t of_class = 0;
  std::size_t end = 0;
};

std::optional<NameQuestion> read_question(std::string_view query) {
  NameQuestion question;
  std::size_t at = kDnsHeader;
  for (;;) {
    if (at >= query.size()) return std::nullopt;
    const auto size = static_cast<unsigned char>(query[at++]);
    if (size == 0) break;
    if (size > 63 || at + size > query.size()) return std::nullopt;
    const std::string_view label = query.substr(at, size);
    // What no host's name has would make other names of it where labels are joined.
    if (label.find('.') != std::string_view::npos) return std::nullopt;
    if (!question.name.empty()) question.name += '.';
    question.name += label;
    at += size;
    if (question.name.size() > kLongestName) return std::nullopt;
  }
  if (at + 4 > query.size()) return std::nullopt;
  question.type = number_at(query, at);
  question.of_class = number_at(query, at + 2);
  question.end = at + 4;
  std::ranges::transform(question.name, question.name.begin(), to_lower);
  return question;
}

std::string reply_to(std::string_view query, std::size_t question_end, Answered how,
                     std::optional<std::uint32_t> address) {
  std::string reply(query.substr(0, 2));
  const auto flags = static_cast<unsigned char>(query[2]);
  reply += static_cast<char>(0x80U | (flags & 0x79U));  // an answer; opcode and RD as asked
  reply += static_cast<char>(0x80U | static_cast<unsigned>(how));  // recursion is available
  put16(reply, question_end > kDnsHeader ? 1 : 0);
  put16(reply, address ? 1 : 0);
  put16(reply, 0);
  put16(reply, 0);
  reply += query.substr(kDnsHeader, question_end - kDnsHeader);
  if (!address) return reply;
  put16(reply, 0xc000U | kDnsHeader);  // the name of the question
  put16(reply, 1);
  put16(reply, 1);
  put16(reply, kSeconds >> 16U);
  put16(reply, kSeconds);
  put16(reply, 4);
  put16(reply, *address >> 16U);
  put16(reply, *address);
  return reply;
}

}  // namespace

std::optional<std::string> NameAnswers::answer(std::string_view query) {
  constexpr unsigned kIsAnswer = 0x80;
  constexpr unsigned kOpcode = 0x78;
  constexpr std::uint16_t kAddress = 1;
  constexpr std::uint16_t kInternet = 1;
  if (query.size() < kDnsHeader || (static_cast<unsigned char>(query[2]) & kIsAnswer) != 0)
    return std::nullopt;
  if ((static_cast<unsigned char>(query[2]) & kOpcode) != 0)
    return reply_to(query, kDnsHeader, Answered::kNotDone, {});
  const auto question = number_at(query, 4) == 1 ? read_question(query) : std::nullopt;
  if (!question) return reply_to(query, kDnsHeader, Answered::kFormat, {});
  if (question->of_class != kInternet || question->name.empty())
    return reply_to(query, question->end, Answered::kNoName, {});
  if (policy::is_localhost(question->name)) {  // its own (RFC 6761, section 6.3)
    constexpr std::uint32_t kLoopback = 0x7f000001U;
    return reply_to(query, question->end, Answered::kYes,
                    question->type == kAddress ? std::optional(kLoopback) : std::nullopt);
  }
  if (!numbers_.contains(question->name) && !admits_(question->name))
    return reply_to(query, question->end, Answered::kNoName, {});
  const auto address = address_of(question->name);
  if (!address) return reply_to(query, question->end, Answered::kFailed, {});
  return reply_to(query, question->end, Answered::kYes,
                  question->type == kAddress ? address : std::nullopt);
}

std::optional<std::uint32_t> NameAnswers::address_of(const std::string& name) {
  if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
  if (names_.size() >= kMostNames) return std::nullopt;
  names_.push_back(name);
  const auto address = kStandIns + static_cast<std::uint32_t>(names_.size());
  numbers_.emplace(name, address);
  return address;
}

std::optional<std::string> NameAnswers::name_of(const boost::asio::ip::address_v4& address) const {
  const std::uint32_t number = address.to_uint();
  if (number <= kStandIns || number - kStandIns > names_.size()) return std::nullopt;
  return names_[number - kStandIns - 1];
}

}  // namespace mcpac::servers
