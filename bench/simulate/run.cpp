// Run: an actor for each node, or for several where there are thousands of them; flows through links to disks.
#include "bench/simulate/run.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

#include "bench/simulate/library.hpp"

#include <simgrid/version.h>  // behind s4u.hpp, which defines what version 3 needs here

namespace penstock::bench {

namespace {

namespace s4u = simgrid::s4u;

constexpr int64_t most_actors = 2048;  // more nodes than this are simulated in groups of equal ones
constexpr int steps = 8;               // in which each node moves its share
constexpr int64_t most_flows = 256;    // of one actor in one step

// All nodes are alike, but that some call the file system. Of these, the first moves more than the others where nodes
// differ. GROUP nodes share an actor. Data between nodes goes between the hosts of FABRIC, and passes no forwarder.
struct Scene {
  const Demand& demand;
  const Machine& machine;
  bool write;
  int64_t group = 1, actors = 1;
  int64_t busiest = 0;  // actor
  std::vector<s4u::Host*> nodes, fabric, servers;
  std::vector<s4u::Disk*> targets;
  s4u::Host *metadata = nullptr, *locks = nullptr, *callers = nullptr;
  s4u::BarrierPtr barrier;

  double rate() const { return write ? machine.write_rate : machine.read_rate; }
  // Moving nodes among the first COUNT.
  int64_t movers_before(int64_t count) const { return std::min(count, demand.nodes) * demand.movers / demand.nodes; }
  int64_t movers_of(int64_t actor) const { return movers_before((actor + 1) * group) - movers_before(actor * group); }
  // The part of all data that the actors before ACTOR move.
  double part_before(int64_t actor) const {
    if (actor <= busiest) return 0;
    const auto all = static_cast<double>(demand.movers), its = static_cast<double>(movers_of(busiest));
    const double larger = std::min(1.0, its / all * demand.busiest);
    const auto others = static_cast<double>(movers_before(actor * group)) - its;
    return others == 0 ? larger : larger + others / (all - its) * (1 - larger);
  }
};

// Of all lock servers together.
double lock_seconds(const Demand& demand, const Machine& machine) {
  return demand.lock_moves * machine.lock_seconds + demand.lock_grants * machine.grant_seconds;
}

int64_t lock_servers(const Demand& demand, const Machine& machine) {
  if (machine.lock_servers > 0) return machine.lock_servers;
  return demand.targets;
}

// On the ranks of one node that call the file system, of all nodes.
double gathering_seconds(const Demand& demand, const Machine& machine) {
  const auto threads = static_cast<double>(machine.memory_threads > 0 ? machine.memory_threads : machine.cores);
  return demand.gathered_bytes * threads / machine.memory_rate / (static_cast<double>(demand.movers) * demand.streams);
}

// Of a call's last block, which passes all of its way, while nothing of the call follows on the slowest part.
double passing_seconds(const Demand& demand, const Machine& machine, bool write) {
  const double bytes = std::min(demand.file_bytes / demand.calls, static_cast<double>(machine.block));
  double all = 0, slowest = 0;
  for (const double rate : {machine.link_rate, machine.forwarded_nodes > 0 ? machine.forwarder_rate : 0,
                            machine.server_rate, write ? machine.write_rate : machine.read_rate})
    if (rate > 0) {
      all += bytes / rate;
      slowest = std::max(slowest, bytes / rate);
    }
  return all - slowest;
}

double calls_seconds(const Demand& demand, const Machine& machine, bool write) {
  if (demand.calls == 0) return 0;
  return demand.calls / static_cast<double>(demand.movers) / demand.streams *
         (machine.call_seconds + passing_seconds(demand, machine, write));
}

using Bounds = std::vector<std::pair<const char*, double>>;

// What each resource that the data passes would take if it were the only one.
Bounds data_bounds(const Demand& d, const Machine& m, bool write) {
  const auto nodes = static_cast<double>(d.nodes), movers = static_cast<double>(d.movers);
  const auto targets = static_cast<double>(d.targets);
  const double sent = d.overlaps && d.movers == d.nodes ? d.far_bytes : 0;  // by the nodes that move data
  const double forwarders =
      m.forwarded_nodes > 0 ? std::min(movers, std::ceil(nodes / static_cast<double>(m.forwarded_nodes))) : 0;
  return {{"the targets", d.file_bytes / targets / (write ? m.write_rate : m.read_rate)},
          {"requests at the targets", d.calls * m.target_call_seconds / targets},
          {"the servers' links", d.file_bytes / m.server_rate / static_cast<double>(std::min(m.servers, d.targets))},
          {"the forwarders", forwarders > 0 ? d.file_bytes / m.forwarder_rate / forwarders : 0},
          {"the links of the nodes that write", (d.file_bytes * d.busiest + sent) / m.link_rate / movers}};
}

// Where ranks wait for each other after each call, all wait for the slowest of N. The maximum of N draws from an
// exponential distribution is 1 + 1/2 + ... + 1/N of its means (about ln N + 0.577 + 1/2N); the deviation of a call is
// a part of the mean, and less for many blocks.
double straggling_seconds(const Demand& d, const Machine& m, bool write) {
  if (!d.in_step || d.calls == 0) return 0;
  const double calling = static_cast<double>(d.movers) * d.streams;
  const double blocks = std::max(1.0, d.file_bytes / d.calls / static_cast<double>(m.block));
  const double beyond_mean = calling <= 1 ? 0 : std::log(calling) + std::numbers::egamma + 1 / (2 * calling) - 1;
  double mean = 0;
  for (const auto& [name, seconds] : data_bounds(d, m, write)) mean = std::max(mean, seconds);
  return m.spread * beyond_mean / std::sqrt(blocks) * mean;
}

double creation_seconds(const Demand& demand, const Machine& machine) {
  return demand.creates * machine.create_seconds * (1 + demand.creates / (2 * machine.entries));
}

// What SimGrid has under other names since version 4.
#if SIMGRID_VERSION >= 40000
s4u::NetZone* add_zone() { return s4u::Engine::get_instance()->get_netzone_root()->add_netzone_star("machine"); }
s4u::Host* add_host(s4u::NetZone* zone, const std::string& name, double rate) { return zone->add_host(name, rate); }
s4u::Link* add_link(s4u::NetZone* zone, const std::string& name, double rate) {
  return zone->add_split_duplex_link(name, rate)->seal();
}
s4u::Disk* add_disk(s4u::Host* host, const std::string& name, const Machine& machine) {
  return host->add_disk(name, machine.read_rate, machine.write_rate)->seal();
}
void add_route(s4u::NetZone* zone, s4u::Host* host, const std::vector<s4u::LinkInRoute>& route) {
  zone->add_route(host, nullptr, route, true);
}
#else
s4u::NetZone* add_zone() { return s4u::create_star_zone("machine"); }
s4u::Host* add_host(s4u::NetZone* zone, const std::string& name, double rate) { return zone->create_host(name, rate); }
s4u::Link* add_link(s4u::NetZone* zone, const std::string& name, double rate) {
  return zone->create_split_duplex_link(name, rate)->seal();
}
s4u::Disk* add_disk(s4u::Host* host, const std::string& name, const Machine& machine) {
  return host->create_disk(name, machine.read_rate, machine.write_rate)->seal();
}
void add_route(s4u::NetZone* zone, s4u::Host* host, const std::vector<s4u::LinkInRoute>& route) {
  zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, route, true);
}
#endif

void make_links(Scene& scene) {
  const Machine& machine = scene.machine;
  s4u::NetZone* zone = add_zone();
  const auto connect = [&](s4u::Host* host, std::vector<s4u::Link*> links) {
    std::vector<s4u::LinkInRoute> route;
    route.reserve(links.size());
    for (s4u::Link* link : links) route.emplace_back(link, s4u::LinkInRoute::Direction::UP);
    add_route(zone, host, route);
  };
  const auto host_of = [&](const std::string& name, double rate) { return add_host(zone, name, rate); };
  const auto link = [&](const std::string& name, double rate) { return add_link(zone, name, rate); };
  s4u::Link* forwarder = nullptr;
  for (int64_t i = 0; i < scene.actors; ++i) {
    const auto size = static_cast<double>(scene.group);
    const int64_t first = i * scene.group, movers = std::max<int64_t>(1, scene.movers_of(i));
    s4u::Host* host = host_of(fmt::format("node{}", i), machine.memory_rate * size)->seal();
    std::vector<s4u::Link*> links{link(fmt::format("link{}", i), machine.link_rate * static_cast<double>(movers))};
    if (machine.forwarded_nodes > 0) {
      const int64_t reached = std::min(movers, std::max<int64_t>(1, scene.group / machine.forwarded_nodes));
      if (first % machine.forwarded_nodes == 0)
        forwarder = link(fmt::format("forwarder{}", i), machine.forwarder_rate * static_cast<double>(reached));
      links.push_back(forwarder);
    }
    scene.fabric.push_back(host_of(fmt::format("fabric{}", i), 1)->seal());
    connect(scene.fabric.back(),
            {movers == scene.group ? links.front() : link(fmt::format("between{}", i), machine.link_rate * size)});
    connect(host, links);
    scene.nodes.push_back(host);
  }
  for (int64_t i = 0; i < machine.servers; ++i) scene.servers.push_back(host_of(fmt::format("server{}", i), 1e9));
  for (int64_t t = 0; t < machine.targets; ++t) {
    s4u::Host* server = scene.servers[static_cast<size_t>(t % machine.servers)];
    scene.targets.push_back(add_disk(server, fmt::format("target{}", t), machine));
  }
  for (s4u::Host* server : scene.servers)
    connect(server->seal(), {link("of " + server->get_name(), machine.server_rate)});
  scene.metadata = host_of("metadata", 1)->seal();
  scene.locks = host_of("locks", 1)->set_core_count(static_cast<int>(lock_servers(scene.demand, machine)))->seal();
  scene.callers = host_of("callers", 1)->set_core_count(static_cast<int>(scene.actors))->seal();
  for (s4u::Host* host : {scene.metadata, scene.locks, scene.callers}) connect(host, {link(host->get_name(), 1e12)});
  zone->seal();
}

double message_seconds(const Demand& d, const Machine& machine) {
  return d.messages / d.senders * machine.message_seconds;
}

// All of it passes the links of the nodes that call the file system; one way is enough: as much comes as goes.
double exchange_seconds(const Demand& d, const Machine& machine) {
  return message_seconds(d, machine) + d.far_bytes / static_cast<double>(d.movers) / machine.link_rate;
}

// Before it writes, or after it has read. Where it overlaps, each that calls the file system gets its part from another
// node, or sends it there, through the links that its data to or from the file also passes.
void exchange(const Scene& scene, int64_t actor, int step) {
  const Demand& d = scene.demand;
  s4u::this_actor::sleep_for((d.overlaps ? message_seconds : exchange_seconds)(d, scene.machine) / steps);
  const double part = static_cast<double>(scene.movers_of(actor)) / static_cast<double>(d.movers) / steps;
  if (!d.overlaps || part == 0 || scene.actors == 1) return;
  const int64_t other = (actor + 1 + step % (scene.actors - 1)) % scene.actors;
  s4u::Host* mine = scene.fabric[static_cast<size_t>(actor)];
  s4u::Host* its = scene.fabric[static_cast<size_t>(other)];
  const auto bytes = static_cast<uint64_t>(d.far_bytes * part) + 1;
  s4u::Comm::sendto_async(scene.write ? its : mine, scene.write ? mine : its, bytes)->wait();
}

// The share of MOVERS of this actor in one step.
void move(const Scene& scene, int64_t actor, int64_t movers, int step, std::vector<s4u::ActivityPtr>& moving) {
  const Demand& d = scene.demand;
  const Machine& machine = scene.machine;
  const auto targets = static_cast<double>(d.targets);
  const double begin = targets * scene.part_before(actor), end = targets * scene.part_before(actor + 1);
  const double share = (end - begin) / targets / steps;
  s4u::Host* host = scene.nodes[static_cast<size_t>(actor)];
  // All actors' parts lie one after another on the targets; each step begins at the next target.
  const double stride = std::max(1.0, std::ceil((end - begin) / most_flows));
  for (double at = std::floor(begin); at < end; at += stride) {
    const double covered = (std::min(end, at + stride) - std::max(begin, at)) / targets / steps;
    if (covered < 1e-3 * share) continue;
    s4u::Disk* disk = scene.targets[static_cast<size_t>((std::llround(at) + step) % d.targets)];
    s4u::Host* server = disk->get_host();
    const double bytes = d.file_bytes * covered;
    const auto payload = static_cast<uint64_t>(bytes) + 1;
    moving.emplace_back(scene.write ? s4u::Comm::sendto_async(host, server, payload)
                                    : s4u::Comm::sendto_async(server, host, payload));
    const double busy = bytes + d.calls * covered * machine.target_call_seconds * scene.rate();
    moving.emplace_back(
        disk->io_init(static_cast<sg_size_t>(busy) + 1, scene.write ? s4u::Io::OpType::WRITE : s4u::Io::OpType::READ)
            ->start());
  }
  // Each stream has one call under way.
  if (!d.in_step)
    moving.emplace_back(s4u::this_actor::exec_init(calls_seconds(d, machine, scene.write) * share *
                                                   static_cast<double>(d.movers) / static_cast<double>(movers))
                            ->set_host(scene.callers)
                            ->start());
  if (const double seconds = lock_seconds(d, machine); seconds > 0)
    moving.emplace_back(s4u::this_actor::exec_init(seconds * share)->set_host(scene.locks)->start());
}

void wait_for(std::vector<s4u::ActivityPtr>& activities) {
  for (const s4u::ActivityPtr& activity : activities) activity->wait();
  activities.clear();
}

double waiting_seconds(const Demand& d, const Machine& machine) {
  const double round = std::ceil(std::log2(std::max<double>(2, d.ranks))) * machine.message_seconds;
  return d.rounds * round + d.turns * machine.message_seconds;
}

void act(const Scene& scene, int64_t actor) {
  const Demand& d = scene.demand;
  const Machine& machine = scene.machine;
  const int64_t movers = scene.movers_of(actor);
  const double share = 1.0 / static_cast<double>(scene.actors);
  const double asked = (creation_seconds(d, machine) + d.opens * machine.open_seconds) * share;
  if (asked > 0) s4u::this_actor::exec_init(asked)->set_host(scene.metadata)->start()->wait();
  scene.barrier->wait();
  const double library = library_seconds(d, machine, scene.write);
  if (!scene.write) s4u::this_actor::sleep_for(library);
  std::vector<s4u::ActivityPtr> moving;
  for (int step = 0; step < steps; ++step) {
    s4u::this_actor::sleep_for((waiting_seconds(d, machine) + straggling_seconds(d, machine, scene.write) +
                                (d.in_step ? calls_seconds(d, machine, scene.write) : 0)) /
                               steps);
    const auto between = [&] {
      if (d.far_bytes > 0) exchange(scene, actor, step);
      if (d.copied_bytes > 0) s4u::this_actor::execute(d.copied_bytes * share / steps);
      if (movers > 0) s4u::this_actor::sleep_for(gathering_seconds(d, machine) / steps);
    };
    if (scene.write || d.overlaps) between();
    wait_for(moving);
    if (movers > 0) move(scene, actor, movers, step, moving);
    if (!d.overlaps) wait_for(moving);
    if (!scene.write && !d.overlaps) between();
    if (d.rounds > 1 && !d.overlaps) scene.barrier->wait();
  }
  wait_for(moving);
  scene.barrier->wait();
  if (scene.write) s4u::this_actor::sleep_for(library);
}

// Nodes that share an actor. A group has whole forwarders, or a forwarder has whole groups.
int64_t group_of(int64_t nodes, int64_t forwarded) {
  int64_t group = (nodes + most_actors - 1) / most_actors;
  while (forwarded > 0 && group % forwarded != 0 && forwarded % group != 0) ++group;
  return group;
}

double clock_of(const Demand& demand, const Machine& machine, bool write) {
  int argc = 5;
  char program[] = "penstock-simulate", model[] = "--cfg=network/model:CM02", apart[] = "--cfg=network/crosstraffic:0",
       stack[] = "--cfg=contexts/stack-size:64", quiet[] = "--log=root.thres:error";
  char* argv[] = {program, model, apart, stack, quiet, nullptr};
  s4u::Engine engine(&argc, argv);
  Scene scene{demand, machine, write};
  scene.group = group_of(demand.nodes, machine.forwarded_nodes);
  scene.actors = (demand.nodes + scene.group - 1) / scene.group;
  while (scene.movers_of(scene.busiest) == 0) ++scene.busiest;
  make_links(scene);
  scene.barrier = s4u::Barrier::create(static_cast<unsigned>(scene.actors));
  for (int64_t i = 0; i < scene.actors; ++i)
    s4u::Actor::create("node", scene.nodes[static_cast<size_t>(i)], [&scene, i] { act(scene, i); });
  engine.run();
  return s4u::Engine::get_clock();
}

Bounds bounds(const Demand& d, const Machine& m, bool write) {
  Bounds all = data_bounds(d, m, write);
  const Bounds others{{"the metadata server", creation_seconds(d, m) + d.opens * m.open_seconds},
                      {"the latency of calls", calls_seconds(d, m, write)},
                      {"locks", lock_seconds(d, m) / static_cast<double>(lock_servers(d, m))},
                      {"the exchange between nodes", exchange_seconds(d, m)},
                      {"copies in memory", d.copied_bytes / static_cast<double>(d.nodes) / m.memory_rate},
                      {"copies at the ranks that write", gathering_seconds(d, m)},
                      {"ranks that wait for each other", waiting_seconds(d, m)},
                      {"ranks that wait for the slowest", straggling_seconds(d, m, write)},
                      {"the library's metadata", library_seconds(d, m, write)}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace

Result<Outcome> simulate(const Demand& demand, const Machine& machine, bool write) {
  Outcome outcome;
  for (const auto& [name, seconds] : bounds(demand, machine, write))
    if (seconds > outcome.limit_seconds) {
      outcome.limit = name;
      outcome.limit_seconds = seconds;
    }
  int ends[2];
  if (pipe(ends) != 0) return Status(Code::io, "no pipe to a simulation");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const double seconds = clock_of(demand, machine, write);
    const bool written = ::write(ends[1], &seconds, sizeof seconds) == sizeof seconds;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  const bool read_back =
      child > 0 && ::read(ends[0], &outcome.seconds, sizeof outcome.seconds) == sizeof outcome.seconds;
  close(ends[0]);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  if (child < 0) return Status(Code::io, "no process for a simulation");
  if (!read_back || status != 0) return Status(Code::internal, "the simulation ended before its time");
  if (outcome.seconds < 0.9 * outcome.limit_seconds)
    return Status(Code::internal,
                  fmt::format("simulated {} s, where {} alone take{} {}", outcome.seconds, outcome.limit,
                              outcome.limit.ends_with('s') ? "" : "s", outcome.limit_seconds));
  return outcome;
}

}  // namespace penstock::bench
