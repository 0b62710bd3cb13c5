// Runtime: everything that generated headers and programs need, in one include.
#pragma once

#include "abi.hpp"
#include "content.hpp"
#include "convert.hpp"
#include "entry.hpp"
#include "error.hpp"
#include "expected.hpp"
#include "fields.hpp"
#include "json.hpp"
#include "log.hpp"
#include "method.hpp"
#include "narrow.hpp"
#include "network.hpp"
#include "note.hpp"
#include "requires.hpp"
#include "result.hpp"
#include "session.hpp"
