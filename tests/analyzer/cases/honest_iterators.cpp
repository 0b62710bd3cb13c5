#include <mcpac.hpp>
#include <algorithm>
#include <iterator>
class Lines {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string_view*;
    using reference = std::string_view;
    Iterator() = default;
    explicit Iterator(std::string_view rest) : rest_(rest), at_end_(rest.empty()) {}
    std::string_view operator*() const { return rest_.substr(0, rest_.find('\n')); }
    Iterator& operator++() {
      const auto end = rest_.find('\n');
      rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
      at_end_ = rest_.empty();
      return *this;
    }
    Iterator operator++(int) {
      auto old = *this;
      ++*this;
      return old;
    }
    bool operator==(const Iterator& other) const { return at_end_ == other.at_end_ && rest_.size() == other.rest_.size(); }

   private:
    std::string_view rest_;
    bool at_end_ = true;
  };
  explicit Lines(std::string text) : text_(std::move(text)) {}
  Iterator begin() const { return Iterator(text_); }
  Iterator end() const { return {}; }

 private:
  std::string text_;
};
static_assert(std::forward_iterator<Lines::Iterator>);
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const Lines lines(rt.filesystem.read_text_file({.path = "a"}).text());  // use: filesystem.read_text_file {"path": "a"}
  return static_cast<int>(std::ranges::count_if(lines, [](std::string_view line) { return line.contains("TODO"); }));
}
