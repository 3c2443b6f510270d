// adios2: its name and parameters, in every build.
#include "core/model/descriptor.hpp"

namespace penstock {

Descriptor adios2_descriptor() {
  using Type = Parameter::Type;
  return {
      "adios2",
      "ADIOS2's BP5: a folder of subfiles, in which blocks lie as the ranks have them",
      {
          {"aggregation", Type::choice, "two_level|everyone|serial", "two_level",
           "who writes: ranks through shared memory of their node, each rank at once, each rank in turn"},
          {"aggregators", Type::integer, "0", "0", "ranks that write; 0: one of each node"},
          {"subfiles", Type::integer, "0", "0", "data files; 0: as many as aggregators"},
          {"buffer_chunk", Type::bytes, "1", "128MiB", "the library's buffers grow by this"},
          {"buffers", Type::choice, "chunk|malloc", "chunk", "a list of buffers, or one that is reallocated"},
          {"async", Type::choice, "sync|naive|guided", "sync", "data is written by threads of the library until close"},
          {"statistics", Type::boolean, "true|false", "true", "minimum and maximum of each block"},
          {"threads", Type::integer, "0", "0", "that read; 0: the library's choice"},
      },
      ""};
}

}  // namespace penstock
