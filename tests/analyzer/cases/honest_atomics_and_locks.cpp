#include <mcpac.hpp>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
class Counter {
 public:
  void add(std::size_t n) {
    const std::scoped_lock lock(mutex_);
    total_ += n;
    changed_.notify_all();
  }
  std::size_t wait_for(std::size_t n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return total_ >= n; });
    return total_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t total_ = 0;
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  Counter counter;
  std::atomic<int> done{0};
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&, i] {
      const auto text = rt.filesystem.read_text_file({.path = "part" + std::to_string(i)}).text();  // use: filesystem.read_text_file {"path": "?"}
      counter.add(text.size() + 1);
      done.fetch_add(1, std::memory_order_relaxed);
    });
  }
  for (auto& worker : workers) worker.join();
  return counter.wait_for(4) > 0 && done.load() == 4 ? 0 : 1;
}
