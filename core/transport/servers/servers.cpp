// servers: dedicated I/O processes take over the data and write it while the ranks compute. Best for writing in the
// background and for many ranks on a node; a rank that only waits for its data gains nothing.
#include "core/transport/servers/ranks.hpp"
#include "core/transport/servers/transfer.hpp"

namespace penstock {
namespace {

const Descriptor descriptor{
    "servers",
    "I/O processes beside the ranks write what they are handed: for writing while computing",
    {{"kind", Parameter::Type::choice, "node|ranks", "node",
      "node: processes started on each node; ranks: those that penstock_split set apart"},
     {"per_node", Parameter::Type::integer, "1", "1", "node servers for each node"},
     {"assignment", Parameter::Type::choice, "fixed|any", "fixed",
      "fixed: a group of ranks has its server; any: the one with the least to do takes the next hand-over"},
     {"buffer_bytes", Parameter::Type::bytes, "65536", "256MiB",
      "memory of a node through which its ranks hand over: captured puts, beyond memory_bytes; its servers assemble in "
      "as much again"},
     {"scratch", Parameter::Type::text, "a folder", "",
      "write to this node-local folder first, and from there to the target"},
     {"io", Parameter::Type::choice, "auto|buffered|direct", "auto",
      "how the file system is called; auto: direct for large durable writes where the file system can, else buffered"}},
    ""};

class Servers : public Transport {
 public:
  const Descriptor& describe() const override { return descriptor; }
  Status check_choice(const Hints&) const override {
    return {Code::unsupported, "its commits return before the file is published"};
  }

  Result<std::unique_ptr<Transfer>> begin(const Job& job, const Settings& settings) const override {
    PhaseTimer timer(*job.phases, Phase::exchange);
    const bool ranks = settings.word("kind") == "ranks";
    PENSTOCK_ASSIGN(ServerPoolPtr pool,
                    ranks ? take_server_ranks(job.comm, settings) : take_node_servers(job.comm, settings));
    return begun<ServersTransfer>(job, settings, std::move(pool), ranks ? keep_server_ranks : keep_node_servers);
  }
};

}  // namespace

const Transport& servers_transport() {
  static const Servers transport;
  return transport;
}

}  // namespace penstock
