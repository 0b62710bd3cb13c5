// SPDX-License-Identifier: Apache-2.0

// The one translation unit that holds the bodies of Asio and Beast (separate compilation): every
// other file sees declarations only, which saves seconds of compile time each.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
