// Master: virtual datasets for other tools, and the index for penstock, which does not use the mappings.
#include <algorithm>
#include <map>

#include "core/format/format.hpp"
#include "core/format/hdf5/builder.hpp"
#include "core/format/hdf5/image.hpp"
#include "core/format/hdf5/private_file.hpp"
#include "core/format/hdf5/read.hpp"
#include "core/format/index.hpp"
#include "core/format/regular_file.hpp"
#include "core/hdf5/attributes.hpp"
#include "core/hdf5/definitions.hpp"
#include "core/hdf5/meaning.hpp"

namespace penstock::hdf5 {
namespace {

// In names of virtual sources "%b" is a block number, so a plain "%" is written "%%".
std::string escaped(std::string_view name) {
  std::string out;
  for (const char c : name) out.append(c == '%' ? 2 : 1, c);
  return out;
}

class MasterBuilder {
 public:
  MasterBuilder(hid_t file, const Contents& contents, const Catalogue& visible)
      : file_(file),
        contents_(contents),
        scales_(scales_of(visible)),
        visible_(without_names(visible, scales_)),
        builder_(file, visible_, scales_, {.block = 1}) {}

  Status build() {
    PENSTOCK_TRY(builder_.make_groups());
    for (const Dataset& dataset : visible_.datasets) {
      const int index = contents_.catalogue.index_of(dataset.name);
      PENSTOCK_TRY(add(dataset, contents_.blocks[static_cast<size_t>(index)]).in("dataset '" + dataset.name + "'"));
    }
    PENSTOCK_TRY(write_scales(file_, scales_));
    return add_index();
  }

 private:
  Status add(const Dataset& dataset, const std::vector<StoredBlock>& blocks) {
    const Properties creation(H5Pcreate(H5P_DATASET_CREATE));
    const Space space = dataset_space(dataset.shape, false);
    PENSTOCK_ASSIGN(const hid_t type, builder_.shared().type(dataset.type, is_utf8(visible_, dataset.name)));
    PENSTOCK_ASSIGN(const hid_t links, builder_.shared().link_creation(dataset.name));
    PENSTOCK_ASSIGN(const Group group, builder_.group_of(dataset.name));
    if (!creation.ok() || !space.ok() || !set_object(creation)) return library_error(Code::internal, "setting it up");
    // A dataset without blocks has never been allocated and reads as zero.
    PENSTOCK_TRY(add_mappings(creation, space, dataset, blocks));
    DatasetHandle handle(H5Dcreate2(group, last_part(dataset.name).c_str(), type, space, links, creation, H5P_DEFAULT));
    if (!handle.ok()) return library_error(Code::internal, "making it");
    PENSTOCK_TRY(write_attributes(handle, visible_, dataset.name, builder_.shared()));
    return handle.close() ? Status() : library_error(Code::internal, "closing it");
  }

  Status add_mappings(hid_t creation, hid_t space, const Dataset& dataset, const std::vector<StoredBlock>& blocks) {
    std::map<int32_t, int64_t> in_part;  // of this dataset so far
    for (const StoredBlock& block : blocks) {
      const std::string source = escaped(part_dataset_name(dataset.name, in_part[block.part]++));
      if (block.where.count() == 0) continue;
      const std::string part = escaped(file_name_of(contents_.parts[static_cast<size_t>(block.part)]));
      const Space there = dataset_space(packed_shape(block.where), false);
      if (!there.ok() || !select_box(space, block.where.box()) ||
          H5Pset_virtual(creation, space, part.c_str(), source.c_str(), there) < 0)
        return library_error(Code::internal, "mapping a block of part '" + part + "'");
    }
    return H5Sselect_all(space) < 0 ? library_error(Code::internal, "mapping its blocks") : Status();
  }

  Status add_index() {
    PENSTOCK_ASSIGN(const std::string text, encode_index(contents_));
    const hsize_t size = text.size();
    const Properties grouped(H5Pcreate(H5P_GROUP_CREATE)), creation(H5Pcreate(H5P_DATASET_CREATE));
    const Space space(H5Screate_simple(1, &size, nullptr));
    bool ok = grouped.ok() && creation.ok() && space.ok() && H5Pset_obj_track_times(grouped, false) >= 0 &&
              H5Pset_obj_track_times(creation, false) >= 0;
    const Group group(ok ? H5Gcreate2(file_, own_group, H5P_DEFAULT, grouped, H5P_DEFAULT) : -1);
    ok = ok && group.ok();
    DatasetHandle handle(ok ? H5Dcreate2(file_, index_dataset, H5T_STD_U8LE, space, H5P_DEFAULT, creation, H5P_DEFAULT)
                            : -1);
    ok = ok && handle.ok() && H5Dwrite(handle, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) >= 0;
    return ok && handle.close() ? Status() : library_error(Code::internal, "writing the index");
  }

  hid_t file_;
  const Contents& contents_;
  DimensionScales scales_;
  Catalogue visible_;
  Builder builder_;
};

// Without datasets of runs: a virtual mapping would need a union of hyperslabs, which HDF5 needs minutes to create and
// read.
Catalogue visible_part(const Contents& contents) {
  Catalogue visible = contents.catalogue;
  std::erase_if(visible.datasets, [&](const Dataset& dataset) {
    const auto& blocks = contents.blocks[static_cast<size_t>(contents.catalogue.index_of(dataset.name))];
    if (std::ranges::all_of(blocks, [](const StoredBlock& block) { return block.where.is_box(); })) return false;
    visible.attributes.erase(dataset.name);
    return true;
  });
  return visible;
}

}  // namespace

Result<std::vector<std::byte>> master_image(const Contents& contents) {
  if (contents.blocks.size() != contents.catalogue.datasets.size())
    return Status(Code::internal, "a master was asked for without blocks for every dataset");
  PENSTOCK_ASSIGN(PrivateFile image, PrivateFile::make());
  PENSTOCK_ASSIGN(const Properties access, file_access(image.named()));
  const Properties creation(H5Pcreate(H5P_FILE_CREATE));
  if (!creation.ok() || !set_object(creation) || H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) < 0 ||
      H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) < 0)
    return library_error(Code::internal, "setting up an HDF5 master");
  File file(H5Fcreate(image.path().c_str(), create_truncating, creation, access));
  if (!file.ok()) return library_error(Code::io, "making an HDF5 master in '" + image.path() + "'");
  image.unlink_name();
  {
    MasterBuilder builder(file, contents, visible_part(contents));
    PENSTOCK_TRY(builder.build());
  }
  if (!file.close()) return library_error(Code::no_space, "writing an HDF5 master");
  PENSTOCK_ASSIGN(const int64_t size, image.size());
  return image.read(0, size);
}

}  // namespace penstock::hdf5
