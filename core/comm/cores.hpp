// Cores: how many of this machine's cores a rank may use while the program's other ranks compute on theirs.
#pragma once

#include <penstock/communicator.hpp>

namespace penstock {

// Local. Those that this rank is bound to, or its share of all, which may be less than one; at most one where other
// threads may not exist. The program's ranks that are not in COMM count as if all of them were on this node.
double share_of_cores(const Communicator& comm);
// Local. Whether the ranks of COMM on this node outnumber its cores.
bool outnumber_cores(const Communicator& comm);
// Local. How many threads may work at the same time in this rank: whole cores; at least 1.
int workers_of(const Communicator& comm);

}  // namespace penstock
