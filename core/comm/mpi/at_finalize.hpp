// At finalize: what is to be given back while MPI still works.
#pragma once

#include <functional>

namespace penstock {

// Local, from any thread. LAST runs in MPI_Finalize before anything of MPI goes; the one asked for last runs first.
// Ranks ask in the same order where LAST is collective.
void at_finalize(std::function<void()> last);

}  // namespace penstock
