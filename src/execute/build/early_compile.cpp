#include "execute/build/early_compile.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpac::execute {
namespace {

// Readable when one of the two is: a wait takes one descriptor.
UniqueFd either(int first, int second) {
  UniqueFd both(::epoll_create1(EPOLL_CLOEXEC));
  for (const int descriptor : {first, second}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (descriptor >= 0 && both) ::epoll_ctl(both.get(), EPOLL_CTL_ADD, descriptor, &event);
  }
  return both;
}

bool has_word(std::string_view text, std::string_view word) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end])))
      return true;
  }
  return false;
}

}  // namespace

std::optional<EntryPlace> likely_entry(const Snapshot& snapshot) {
  using analyzer::Entry;
  const auto sources = snapshot.sources_inside();
  for (const auto& [word, form] :
       {std::pair("agent_main", Entry::kAgentMain), std::pair("runtime", Entry::kRuntimeObject)}) {
    std::vector<std::size_t> with;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto name =
          std::string_view(sources[i]).substr(std::string_view(inside::kSource).size() + 1);
      if (has_word(snapshot.files().at(std::string(name)), word)) with.push_back(i);
    }
    if (with.size() == 1) return EntryPlace{with.front(), form};
    if (with.size() > 1) return std::nullopt;
  }
  return std::nullopt;
}

EarlyCompile::EarlyCompile(const BuildPlace& place, EntryPlace entry)
    : entry_(entry),
      cancel_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      stop_(either(place.stop.descriptor, cancel_.get())),
      built_(std::async(std::launch::async, [this, place] {
        auto stoppable = place;
        stoppable.stop = StopSignal{stop_.get()};
        return compile_and_link(stoppable, entry_);
      })) {}

EarlyCompile::~EarlyCompile() {
  const std::uint64_t one = 1;
  // With nothing to be told by, the compiler ends by its own limits.
  [[maybe_unused]] const auto written = ::write(cancel_.get(), &one, sizeof one);
  if (built_.valid()) built_.wait();
}

Result<Built> EarlyCompile::take() {
  return built_.get();
}

}  // namespace mcpac::execute
