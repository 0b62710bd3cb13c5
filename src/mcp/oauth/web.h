// SPDX-License-Identifier: Apache-2.0

// Web: single requests to URLs that a server named, as OAuth makes them.
//
// Each such URL is hostile. It is https, or http to this very machine; it leads to no private
// address unless the server itself answered from one (Reach of its HttpHead: what its name resolves
// to at another moment says nothing); no redirect is followed; answers are bounded and have a time
// limit.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ssl/context.hpp>

#include "core/error.h"
#include "core/json.h"
#include "mcp/http_connection.h"
#include "mcp/url.h"

namespace mcpac::mcp::oauth {

struct WebRequest {
  std::string url;
  std::string body{};           // with one: POST
  std::string content_type{};   // of the body
  std::string authorization{};  // never logged
};

struct WebAnswer {
  unsigned status = 0;
  std::string body{};
  std::string location{};
  [[nodiscard]] bool is_good() const { return status >= 200 && status < 300; }
};

class Web {
 public:
  // `reach`: where who names URLs may lead us.
  [[nodiscard]] static Result<Web> make(boost::asio::any_io_executor executor, Reach reach);

  [[nodiscard]] boost::asio::awaitable<Result<WebAnswer>> fetch(WebRequest request) const;
  // The JSON object at a URL; an answer that is none, or a status other than 200, is an error.
  [[nodiscard]] boost::asio::awaitable<Result<Json>> fetch_object(std::string url) const;
  // Whether a browser may be sent there, as far as the address itself tells: what a name resolves
  // to is the browser's own to find out.
  [[nodiscard]] bool may_show(const Url& page) const;
  [[nodiscard]] const boost::asio::any_io_executor& executor() const { return executor_; }

 private:
  Web(boost::asio::any_io_executor executor, std::shared_ptr<boost::asio::ssl::context> tls,
      Reach reach)
      : executor_(std::move(executor)), tls_(std::move(tls)), reach_(reach) {}

  boost::asio::any_io_executor executor_;
  std::shared_ptr<boost::asio::ssl::context> tls_;
  Reach reach_;
};

// Where whatever the name stands for now may lead: for a URL that the user wrote, and for no other.
// The owner of a name chooses what it resolves to, at each moment anew.
[[nodiscard]] boost::asio::awaitable<Reach> reach_of(boost::asio::any_io_executor executor,
                                                     Url url);

// https, or http to a loopback host. kServerHttp else.
[[nodiscard]] Result<Url> safe_url(std::string_view text);
[[nodiscard]] bool is_loopback(const Url& url);

}  // namespace mcpac::mcp::oauth
