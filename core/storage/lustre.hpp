// Lustre's user-space interface for stripes, rewritten after its public header lustre_user.h and the manual page of
// llapi_layout: magic numbers, ioctl numbers, and the head of the structure they exchange.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>

#include <cstddef>
#include <cstdint>

namespace penstock::lustre {

inline constexpr uint32_t super_magic = 0x0BD00BD0;  // statfs
inline constexpr uint32_t layout_v1 = 0x0BD10BD0;    // LOV_USER_MAGIC_V1
inline constexpr uint32_t layout_v3 = 0x0BD30BD0;    // LOV_USER_MAGIC_V3: with a pool's name
inline constexpr unsigned long set_stripe = _IOW('f', 154, long);
inline constexpr unsigned long get_stripe = _IOW('f', 155, long);
// open(2) creates only the name; the objects wait for set_stripe. New clients use the first flag, old ones the second.
inline constexpr int delay_create = O_NOCTTY | FASYNC | 0100000000;
inline constexpr int64_t stripe_unit = 65536;    // stripe sizes are its multiples
inline constexpr uint16_t all_targets = 0xFFFF;  // as a count
inline constexpr uint16_t any_target = 0xFFFF;   // as an offset

// lov_user_md_v1 without the objects after it; v3 has the pool's name before them. Host byte order.
struct Layout {
  uint32_t magic;
  uint32_t pattern;  // 1: RAID 0; 0: the default
  uint64_t object[2];
  uint32_t stripe_bytes;
  uint16_t stripe_count;
  uint16_t stripe_offset;  // when reading: the layout's generation
};
static_assert(sizeof(Layout) == 32 && offsetof(Layout, stripe_bytes) == 24 && offsetof(Layout, stripe_count) == 28);

}  // namespace penstock::lustre
