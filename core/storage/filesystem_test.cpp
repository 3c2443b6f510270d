// Tests of file systems: the present one, and Lustre and GPFS simulated by a wrapper with recorded samples (emulated).
#include "core/storage/filesystem.hpp"

#include <gtest/gtest.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <vector>

#include "core/storage/lustre.hpp"
#include "core/storage/storage.hpp"

namespace penstock {
namespace {

// Lines as on real machines: a Lustre client, a GPFS node, a Debian host.
constexpr const char* recorded_mounts =
    "21 27 0:20 / /proc rw,nosuid - proc proc rw\n"
    "27 1 253:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro\n"
    "44 27 0:42 / /work rw,relatime - lustre 10.10.1.1@o2ib:10.10.1.2@o2ib:/work rw,flock,user_xattr,lazystatfs\n"
    "45 27 0:43 / /gpfs/scratch rw,relatime - gpfs scratch rw\n"
    "46 27 0:44 / /mnt/with\\040blank rw - fuse.glusterfs localhost:/v rw,user_id=0\n"
    "47 27 0:45 / /hidden rw - xfs /dev/sdb rw\n"
    "48 47 0:46 / /hidden rw - tmpfs tmpfs rw\n";

// A reply of LL_IOC_LOV_GETSTRIPE recorded byte by byte after lustre_user.h: v3, 4 stripes of 1 MiB, pool "flash".
constexpr unsigned char recorded_v3[] = {0xD0, 0x0B, 0xD3, 0x0B, 0x01, 0x00, 0x00, 0x00, 0x9A, 0x02, 0x00, 0x00,
                                         0x00, 0x00, 0x00, 0x00, 0x01, 0x04, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
                                         0x00, 0x00, 0x10, 0x00, 0x04, 0x00, 0x00, 0x00, 'f',  'l',  'a',  's',
                                         'h',  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};

// Simulates a file system: real files in a folder, with stripes stored separately.
class Emulated : public FileSystemCalls {
 public:
  uint32_t magic = lustre::super_magic;
  int64_t block = 4096;
  int refuse = 0;  // errno of every ioctl
  std::vector<unsigned char> reply{std::begin(recorded_v3), std::end(recorded_v3)};
  mutable std::map<int, std::string> names;
  mutable std::map<std::string, lustre::Layout> stripes;
  mutable int open_files = 0;

  int statfs(const char*, struct statfs* result) const override {
    std::memset(result, 0, sizeof *result);
    result->f_type = static_cast<decltype(result->f_type)>(magic);
    result->f_bsize = block;
    return 0;
  }
  std::string mountinfo() const override { return recorded_mounts; }
  int open(const char* path, int flags, int mode) const override {
    delayed = (flags & lustre::delay_create) == lustre::delay_create;
    const bool creates = (flags & O_CREAT) != 0;
    const int fd = creates ? ::open(path, flags & ~lustre::delay_create, mode) : ::open("/", O_RDONLY);
    if (fd >= 0) names[fd] = path, ++open_files;
    return fd;
  }
  int ioctl(int fd, unsigned long request, void* argument) const override {
    errno = refuse;
    if (refuse != 0) return -1;
    lustre::Layout layout;
    std::memcpy(&layout, argument, sizeof layout);
    EXPECT_EQ(layout.magic, lustre::layout_v1);
    if (request == lustre::get_stripe) std::memcpy(argument, reply.data(), reply.size());
    if (request == lustre::set_stripe) {
      EXPECT_TRUE(delayed) << "stripes cannot be set once the objects are there";
      stripes[names[fd]] = layout;
    }
    return 0;
  }
  int close(int fd) const override { return --open_files, ::close(fd); }
  int unlink(const char* path) const override { return ::unlink(path); }
  std::string_view source_prefix() const override { return "emulated: "; }

  mutable bool delayed = false;
};

std::string new_path() {
  return ::testing::TempDir() + "striped-" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
}

TEST(FileSystem, TheOneHereIsNamed) {
  const auto info = detect_file_system(".", *system_calls());
  ASSERT_TRUE(info.ok()) << info.status().message();
  EXPECT_FALSE(info->type.empty());
  EXPECT_FALSE(info->type.starts_with("0x")) << info->type;
  EXPECT_GT(info->block_bytes, 0);
  const auto proc = detect_file_system("/proc/self", *system_calls());
  ASSERT_TRUE(proc.ok());
  EXPECT_EQ(proc->type, "proc");
  const auto memory = detect_file_system("/dev/shm", *system_calls());
  if (memory.ok()) {
    EXPECT_EQ(memory->type, "tmpfs");
  }
  EXPECT_EQ(detect_file_system("/nowhere/at/all", *system_calls()).status().code(), Code::not_found);
}

TEST(FileSystem, EmulatedLustreTellsItsStripes) {
  Emulated calls;
  const auto info = detect_file_system("/work/me", calls);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->type, "lustre");
  EXPECT_TRUE(info->has_stripes());
  EXPECT_EQ(info->stripe_count, 4);
  EXPECT_EQ(info->stripe_bytes, 1 << 20);
  EXPECT_EQ(info->text(), "lustre, blocks of 4096 bytes, 4 stripes of 1048576 bytes (emulated: statfs, Lustre ioctl)");
  calls.reply[28] = calls.reply[29] = 0xFF;
  EXPECT_EQ(detect_file_system("/work/me", calls)->stripe_count, -1);
  EXPECT_EQ(calls.open_files, 0);
}

TEST(FileSystem, EmulatedLustreWithoutAnAnswerIsStillLustre) {
  Emulated calls;
  calls.refuse = ENODATA;
  const auto info = detect_file_system("/work/me", calls);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->type, "lustre");
  EXPECT_EQ(info->stripe_count, 0);
  calls.refuse = 0;
  calls.reply[2] = 0xD6;  // a composite layout
  EXPECT_EQ(detect_file_system("/work/me", calls)->stripe_count, 0);
  EXPECT_NE(detect_file_system("/work/me", calls)->source.find("0xbd60bd0"), std::string::npos);
}

TEST(FileSystem, EmulatedGpfsTellsItsBlockSize) {
  Emulated calls;
  calls.magic = 0x47504653;
  calls.block = 16 << 20;
  const auto info = detect_file_system("/gpfs/scratch/me", calls);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->type, "gpfs");
  EXPECT_EQ(info->block_bytes, 16 << 20);
  EXPECT_FALSE(info->has_stripes());
}

TEST(FileSystem, TheDeepestAndLatestMountCounts) {
  Emulated calls;
  calls.magic = 0x12345678;
  const std::pair<const char*, const char*> table[] = {{"/", "ext4"},
                                                       {"/workshop", "ext4"},
                                                       {"/gpfs/scratch/a/b", "gpfs"},
                                                       {"/mnt/with blank/x", "fuse.glusterfs"},
                                                       {"/hidden/x", "tmpfs"}};
  for (const auto& [path, type] : table) EXPECT_EQ(detect_file_system(path, calls)->type, type) << path;
}

TEST(FileSystem, EmulatedFilesAreMadeWithTheirStripes) {
  Emulated calls;
  const std::string path = new_path();
  const Status status = create_striped(path, 0666, {8, 4 << 20, 3}, calls);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(calls.stripes[path].stripe_count, 8);
  EXPECT_EQ(calls.stripes[path].stripe_bytes, 4U << 20);
  EXPECT_EQ(calls.stripes[path].stripe_offset, 3);
  EXPECT_EQ(create_striped(path, 0666, {}, calls).code(), Code::exists);
  ::unlink(path.c_str());
  ASSERT_TRUE(create_striped(path, 0666, {-1, 0, -1}, calls).ok());
  EXPECT_EQ(calls.stripes[path].stripe_count, 0xFFFF);
  EXPECT_EQ(calls.stripes[path].stripe_offset, 0xFFFF);
  ::unlink(path.c_str());
  EXPECT_EQ(calls.open_files, 0);
}

TEST(FileSystem, AFileWhoseStripesAreRefusedIsRemoved) {
  Emulated calls;
  calls.refuse = EINVAL;
  const std::string path = new_path();
  const Status status = create_striped(path, 0666, {8, 0, -1}, calls);
  EXPECT_NE(status.message().find("setting the stripes of '" + path + "'"), std::string::npos) << status.message();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(calls.open_files, 0);
}

TEST(FileSystem, StripesThatLustreDoesNotKnowAreRefused) {
  for (const Striping& striping : {Striping{0, 1000, -1}, Striping{0, int64_t{1} << 32, -1}, Striping{65535, 0, -1},
                                   Striping{0, 0, 65535}, Striping{-2, 0, -1}})
    EXPECT_EQ(check_striping(striping).code(), Code::invalid);
}

TEST(FileSystem, StorageCreatesThroughTheMaker) {
  const auto calls = std::make_shared<const Emulated>();
  bool striped = true;
  const auto storage = posix_storage([&](const std::string& path, int64_t, mode_t mode) -> Result<bool> {
    if (!striped) return false;
    PENSTOCK_TRY(create_striped(path, mode, {2, 65536, -1}, *calls));
    return true;
  });
  const std::string path = new_path();
  {
    auto file = storage->create(path, 100000, Io::buffered);
    ASSERT_TRUE(file.ok()) << file.status().message();
    ASSERT_TRUE((*file)->close().ok());
  }
  EXPECT_EQ(calls->stripes[path].stripe_count, 2);
  EXPECT_EQ(std::filesystem::file_size(path), 100000U);
  EXPECT_EQ(storage->create(path, 10, Io::buffered).status().code(), Code::exists);
  EXPECT_EQ(std::filesystem::file_size(path), 100000U) << "a file that was there is left alone";
  const mode_t before = ::umask(027);
  for (const auto& [access, mode] : {std::pair(Access::ordinary, 0640), std::pair(Access::own, 0600)}) {
    ::unlink(path.c_str());
    EXPECT_TRUE(storage->create(path, 10, Io::buffered, true, access).ok());
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(mode));
  }
  ::umask(before);
  ::unlink(path.c_str());
  calls->stripes.clear();
  striped = false;
  EXPECT_TRUE(storage->create(path, 10, Io::buffered).ok()) << "the maker leaves it to the storage";
  EXPECT_TRUE(calls->stripes.empty());
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace penstock
