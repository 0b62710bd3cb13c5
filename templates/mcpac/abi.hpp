// The ABI number: what generated headers and these headers must agree on. It grows whenever
// templates/EMITTED_FORM.md changes in a way that an older generated header would not survive.
#pragma once

#define MCPAC_ABI 1
