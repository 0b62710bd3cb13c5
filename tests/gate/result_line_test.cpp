#include "gate/result_line.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using namespace mcpac;
using namespace mcpac::gate;

namespace {

std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"plain text of some length ",
                                                   "\"",
                                                   "\\",
                                                   "\n",
                                                   "\x01",
                                                   std::string(1, '\0'),
                                                   "\x7f",
                                                   "ä",
                                                   "語",
                                                   "😀",
                                                   "/",
                                                   "\xff",
                                                   "\xc3"};
  std::string text;
  for (auto n = random() % 12; n > 0; --n) text += kPieces[random() % kPieces.size()];
  return text;
}

Json random_value(std::mt19937& random, int depth) {
  switch (random() % (depth > 0 ? 8 : 6)) {
    case 0: return nullptr;
    case 1: return random() % 2 == 0;
    case 2: return static_cast<std::int64_t>(random()) - 1'000'000'000;
    case 3: return static_cast<double>(random()) / 7.0;
    case 6: {
      Json array = Json::array();
      for (auto n = random() % 4; n > 0; --n) array.push_back(random_value(random, depth - 1));
      return array;
    }
    case 7: {
      Json object = Json::object();
      for (auto n = random() % 4; n > 0; --n)
        object[random_text(random)] = random_value(random, depth - 1);
      return object;
    }
    default: return random_text(random);
  }
}

}  // namespace

TEST_SUITE("gate/result_line") {
  TEST_CASE("it writes the bytes that the general encoder writes") {
    std::mt19937 random(11);
    for (int i = 0; i < 3000; ++i) {
      const Json value = random_value(random, 4);
      CHECK(result_line(ipc::Id(i), value) == ipc::encode_result(ipc::Id(i), value));
    }
    CHECK(result_line(ipc::Id("a\"b"), {}) == ipc::encode_result(ipc::Id("a\"b"), {}));
  }

  TEST_CASE("every byte at every place of a word is escaped as it must be") {
    for (int byte = 0; byte < 256; ++byte) {
      for (std::size_t at = 0; at < 17; ++at) {
        std::string text(17, 'x');
        text[at] = static_cast<char>(byte);
        const std::string line = result_line(ipc::Id(1), Json(text));
        CAPTURE(byte);
        CAPTURE(at);
        CHECK(line == ipc::encode_result(ipc::Id(1), Json(text)));
        CHECK(line.find('\n') == std::string::npos);
      }
    }
  }
}
