// ImageTable: what the runner has to know of an image, at the image's ELF entry. Linked into every
// image; the names are the linker's own, of the image and not of the runner.

// An agent's main has two forms; called through the longer one it does not look at what it does not
// take.
extern "C" int image_main(int, char**, char**) __asm__("main");

using Start = void (*)(int, char**, char**);
using End = void (*)();

extern "C" {
[[gnu::visibility("hidden")]] extern const Start __init_array_start[];
[[gnu::visibility("hidden")]] extern const Start __init_array_end[];
[[gnu::visibility("hidden")]] extern const End __fini_array_start[];
[[gnu::visibility("hidden")]] extern const End __fini_array_end[];

// The key under which destructors of the image are registered.
[[gnu::visibility("hidden")]] extern const void* const __dso_handle;
const void* const __dso_handle = &__dso_handle;

struct ImageTable {
  int (*main)(int, char**, char**);
  const Start* init;
  const Start* init_end;
  const End* fini;
  const End* fini_end;
};
[[gnu::visibility("hidden")]] extern const ImageTable mcpac_image_table;
const ImageTable mcpac_image_table{&image_main, __init_array_start, __init_array_end,
                                   __fini_array_start, __fini_array_end};
}
