// redirect: replaces entries in the table of addresses through which a library calls others, filled by the dynamic
// linker.
#include "core/trace/redirect.hpp"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace penstock {
namespace {

#if defined(__x86_64__)
constexpr bool known = true;
constexpr uint32_t slot_types[] = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT};
#elif defined(__aarch64__)
constexpr bool known = true;
constexpr uint32_t slot_types[] = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT};
#else
constexpr bool known = false;
constexpr uint32_t slot_types[] = {0};
#endif

using Address = ElfW(Addr);

struct Work {
  std::span<const Redirection> redirections;
  const std::function<bool(std::string_view)>& wanted;
};

// The information in a library's dynamic section about its table.
struct Tables {
  Address base = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * relocations[2] = {};
  size_t bytes[2] = {};
  Address protected_begin = 0, protected_end = 0;  // made read-only by the linker

  // Some C libraries have already added the base.
  template <typename T>
  const T* at(Address address) const {
    return reinterpret_cast<const T*>(address < base ? base + address : address);
  }
};

Tables tables_of(const dl_phdr_info& info) {
  Tables t;
  t.base = info.dlpi_addr;
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info.dlpi_phdr[i];
    if (header.p_type == PT_DYNAMIC) entry = reinterpret_cast<const ElfW(Dyn)*>(t.base + header.p_vaddr);
    if (header.p_type == PT_GNU_RELRO) {
      t.protected_begin = t.base + header.p_vaddr;
      t.protected_end = t.protected_begin + header.p_memsz;
    }
  }
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) switch (entry->d_tag) {
      case DT_SYMTAB: t.symbols = t.at<ElfW(Sym)>(entry->d_un.d_ptr); break;
      case DT_STRTAB: t.names = t.at<char>(entry->d_un.d_ptr); break;
      case DT_JMPREL: t.relocations[0] = t.at<ElfW(Rela)>(entry->d_un.d_ptr); break;
      case DT_PLTRELSZ: t.bytes[0] = entry->d_un.d_val; break;
      case DT_RELA: t.relocations[1] = t.at<ElfW(Rela)>(entry->d_un.d_ptr); break;
      case DT_RELASZ: t.bytes[1] = entry->d_un.d_val; break;
      default: break;
    }
  return t;
}

void put(const Tables& tables, Address where, void* instead) {
  auto& slot = *reinterpret_cast<std::atomic<void*>*>(where);
  if (slot.load() == instead) return;
  const Address page_bytes = static_cast<Address>(::sysconf(_SC_PAGESIZE)), page = where / page_bytes * page_bytes;
  const bool is_protected = where >= tables.protected_begin && where < tables.protected_end;
  auto* memory = reinterpret_cast<void*>(page);
  if (is_protected && ::mprotect(memory, page_bytes, PROT_READ | PROT_WRITE) != 0) return;
  slot = instead;
  if (is_protected) (void)::mprotect(memory, page_bytes, PROT_READ);
}

void redirect_library(const Tables& tables, std::span<const Redirection> redirections) {
  if (tables.symbols == nullptr || tables.names == nullptr) return;
  for (int table = 0; table < 2; ++table) {
    const size_t count = tables.relocations[table] == nullptr ? 0 : tables.bytes[table] / sizeof(ElfW(Rela));
    for (size_t i = 0; i < count; ++i) {
      const ElfW(Rela) & relocation = tables.relocations[table][i];
      const auto type = static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info));
      if (type != slot_types[0] && type != slot_types[1]) continue;
      const std::string_view name = tables.names + tables.symbols[ELF64_R_SYM(relocation.r_info)].st_name;
      for (const Redirection& r : redirections)
        if (name == r.function) put(tables, tables.base + relocation.r_offset, r.instead);
    }
  }
}

int visit(dl_phdr_info* info, size_t, void* data) {
  const Work& work = *static_cast<const Work*>(data);
  std::string_view library = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  library.remove_prefix(library.rfind('/') + 1);
  if (work.wanted(library)) redirect_library(tables_of(*info), work.redirections);
  return 0;
}

}  // namespace

bool redirect(std::span<const Redirection> redirections, const std::function<bool(std::string_view)>& wanted) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  Work work{redirections, wanted};
  if (known) ::dl_iterate_phdr(visit, &work);
  return known;
}

}  // namespace penstock
