// At finalize: releases resources while MPI still works.
#pragma once

#include <functional>

namespace penstock {

// Local, from any thread. LAST runs at the start of MPI_Finalize, in reverse order of registration. If LAST is
// collective, ranks must register in the same order.
void at_finalize(std::function<void()> last);

}  // namespace penstock
