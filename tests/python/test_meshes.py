"""test_meshes.py: meshes as VTK's own XDMF reader finds them, values and places alike; and pictures of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as library
from penstock import File

vtk = pytest.importorskip("vtk", reason="no vtk: 'pip install vtk' brings it")
numpy_support = pytest.importorskip("vtk.util.numpy_support", reason="no vtk")

Array = np.ndarray[Any, Any]


def plain(data: Any) -> Array:
    return np.asarray(numpy_support.vtk_to_numpy(data))


def whole(values: Any) -> Any:
    array = np.asarray(values)
    return library.block(array, shape=array.shape, start=(0,) * array.ndim)


def write(path: Path, datasets: dict[str, Any], mesh: str, on: dict[str, str], plan: str = "") -> None:
    with library.create(path, plan=plan) as file:
        fill(file, datasets, mesh, on)
        file.xdmf()


def fill(file: File, datasets: dict[str, Any], mesh: str, on: dict[str, str]) -> None:
    for name, values in datasets.items():
        file[name] = whole(values)
    file.attributes("shape")["mesh"] = mesh
    for name, center in on.items():
        file.attributes(name)["on"] = "shape"
        file.attributes(name)["center"] = center


def read(path: Path) -> Any:
    assert path.is_file()
    reader = vtk.vtkXdmfReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutputDataObject(0)


def announced(path: Path) -> tuple[int, ...]:
    """The extents that the reader promises before it reads, which ParaView believes; none of a set of grids."""
    reader = vtk.vtkXdmfReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    key = vtk.vtkStreamingDemandDrivenPipeline.WHOLE_EXTENT()
    information = reader.GetOutputInformation(0)
    extents = tuple(information.Get(key)) if information.Has(key) else ()
    reader.Update()
    return () if reader.GetOutputDataObject(0).IsA("vtkMultiBlockDataSet") else extents


def only(data: Any) -> Any:
    """The one grid in nested sets."""
    while data.IsA("vtkMultiBlockDataSet"):
        assert data.GetNumberOfBlocks() == 1
        data = data.GetBlock(0)
    return data


def values(data: Any, name: str, center: str = "node") -> Array:
    found = (data.GetPointData() if center == "node" else data.GetCellData()).GetArray(name)
    assert found is not None, name
    return plain(found)


def field(*shape: int) -> Array:
    return np.arange(np.prod(shape), dtype=float).reshape(shape)


@pytest.mark.parametrize(
    "plan",
    ["", "hdf5/two_phase:placement=parts,parts=2", "hdf5/independent:placement=per_rank", "hdf5/two_phase:io=direct"],
)
def test_a_uniform_grid(tmp_path: Path, plan: str) -> None:
    write(
        tmp_path / "f.h5",
        {"at_nodes": field(3, 4, 5), "at_cells": field(2, 3, 4), "v": field(3, 4, 5, 3), "two": field(3, 4, 5, 2)},
        "uniform,origin=10:20:30,spacing=1:2:3",
        {"at_nodes": "node", "at_cells": "cell", "v": "node", "two": "node"},
        plan,
    )
    grid = only(read(tmp_path / "f.xmf"))
    assert grid.GetOrigin() == (30, 20, 10)
    assert grid.GetSpacing() == (3, 2, 1)
    assert grid.GetDimensions() == (5, 4, 3)
    np.testing.assert_array_equal(values(grid, "at_nodes"), field(3, 4, 5).ravel())
    np.testing.assert_array_equal(values(grid, "at_cells", "cell"), field(2, 3, 4).ravel())
    np.testing.assert_array_equal(values(grid, "v"), field(60, 3))
    np.testing.assert_array_equal(values(grid, "two_1"), field(60, 2)[:, 1])


def test_a_rectilinear_grid(tmp_path: Path) -> None:
    axes = {"x": np.array([0.0, 1, 4, 9, 16]), "y": np.array([0.0, 1, 8, 27]), "z": np.array([1.0, 10, 100])}
    write(
        tmp_path / "f.h5",
        {f"grid/{axis}": at for axis, at in axes.items()} | {"q": field(3, 4, 5).astype("f4")},
        "rectilinear,x=grid/x,y=grid/y,z=grid/z",
        {"q": "node"},
    )
    grid = only(read(tmp_path / "f.xmf"))
    for axis, at in axes.items():
        np.testing.assert_array_equal(plain(getattr(grid, f"Get{axis.upper()}Coordinates")()), at)
    np.testing.assert_array_equal(values(grid, "q"), field(3, 4, 5).ravel())


@pytest.mark.parametrize("mesh", ["uniform,spacing=1:2", "rectilinear,x=x,y=y"])
@pytest.mark.parametrize("center", ["node", "cell"])
def test_a_plane_is_where_the_reader_says_before(tmp_path: Path, mesh: str, center: str) -> None:
    axes = {"x": np.arange(5.0), "y": np.arange(4.0)}
    values_there = field(4, 5) if center == "node" else field(3, 4)
    write(tmp_path / "f.h5", axes | {"q": values_there}, mesh, {"q": center})
    extents, grid = announced(tmp_path / "f.xmf"), only(read(tmp_path / "f.xmf"))
    assert extents in ((), grid.GetExtent())
    assert grid.GetExtent() == (0, 4, 0, 3, 0, 0)
    np.testing.assert_array_equal(values(grid, "q", center), values_there.ravel())


@pytest.mark.parametrize("dimensions", [2, 3])
def test_a_curvilinear_grid(tmp_path: Path, dimensions: int) -> None:
    shape = (3, 4, 5)[-dimensions:]
    index = np.indices(shape)[::-1]
    places = {axis: np.sin(1.0 + at) + 10 * at for axis, at in zip("xyz", index, strict=False)}
    write(
        tmp_path / "f.h5",
        {f"grid/{axis}": at for axis, at in places.items()} | {"q": field(*(n - 1 for n in shape))},
        "curvilinear," + ",".join(f"{axis}=grid/{axis}" for axis in places),
        {"q": "cell"},
    )
    grid = only(read(tmp_path / "f.xmf"))
    points = plain(grid.GetPoints().GetData())
    for i, at in enumerate(places.values()):
        np.testing.assert_allclose(points[:, i], at.ravel())
    np.testing.assert_array_equal(values(grid, "q", "cell"), np.arange(np.prod([n - 1 for n in shape])))


def test_cells_of_one_type_and_of_several(tmp_path: Path) -> None:
    points = np.array([[x, y, z] for z in (0.0, 1) for y in (0.0, 1) for x in (0.0, 1, 2)])
    cells = np.array([[0, 1, 4, 3, 6, 7, 10, 9], [1, 2, 5, 4, 7, 8, 11, 10]], dtype="i8")
    on = {"p": "node", "c": "cell"}
    data = {"p": np.arange(12.0), "c": np.array([5.0, 6]), "mesh/points": points}
    write(
        tmp_path / "h.h5",
        data | {"mesh/cells": cells},
        "unstructured,points=mesh/points,cells=mesh/cells,type=hexahedron",
        on,
    )
    grid = only(read(tmp_path / "h.xmf"))
    assert [grid.GetCell(i).GetClassName() for i in range(grid.GetNumberOfCells())] == ["vtkHexahedron"] * 2
    np.testing.assert_array_equal(plain(grid.GetPoints().GetData()), points)
    assert [grid.GetCell(1).GetPointId(i) for i in range(8)] == list(cells[1])
    np.testing.assert_array_equal(values(grid, "c", "cell"), [5, 6])
    # XDMF's numbers: 9 is a hexahedron, 6 a tetrahedron.
    mixed = np.array([9, *cells[0], 6, 1, 2, 5, 8], dtype="i4")
    write(
        tmp_path / "m.h5",
        data | {"mesh/cells": mixed},
        "unstructured,points=mesh/points,cells=mesh/cells,type=mixed,count=2",
        on,
    )
    grid = only(read(tmp_path / "m.xmf"))
    assert [grid.GetCell(i).GetClassName() for i in range(grid.GetNumberOfCells())] == ["vtkHexahedron", "vtkTetra"]
    np.testing.assert_array_equal(values(grid, "p"), np.arange(12.0))


def test_blocks_of_a_refined_mesh(tmp_path: Path) -> None:
    corners = np.array([[0.0, 0, 0], [0, 0, 2], [0, 2, 0], [4, 4, 4], [8, 8, 8]])
    write(
        tmp_path / "f.h5",
        {"corner": corners, "rho": field(5, 4, 3, 2)},
        "blocks,corners=corner,spacing=0.5:1:2",
        {"rho": "cell"},
    )
    data = read(tmp_path / "f.xmf")
    while data.GetNumberOfBlocks() == 1:
        data = data.GetBlock(0)
    assert data.GetNumberOfBlocks() == 5
    for i in range(5):
        block = data.GetBlock(i)
        assert block.GetOrigin() == tuple(corners[i][::-1])
        assert block.GetSpacing() == (2, 1, 0.5)
        assert block.GetDimensions() == (3, 4, 5)
        np.testing.assert_array_equal(values(block, "rho", "cell"), field(5, 24)[i])


def test_blocks_of_a_plane_lie_in_it(tmp_path: Path) -> None:
    corners = np.array([[0.0, 0, 0], [0, 0, 2], [0, 4, 4]])
    with library.create(tmp_path / "f.h5") as file:
        file["level_1/corner"], file["level_1/u"] = whole(corners), whole(field(3, 4, 2))
        file.attributes("level_1")["mesh"] = "blocks,corners=level_1/corner,spacing=0.5:1"
        file["level_1/u"].attrs["on"] = "level_1"
        file.xdmf()
    data = read(tmp_path / "f.xmf")
    while data.GetNumberOfBlocks() == 1:
        data = data.GetBlock(0)
    for i in range(3):
        block = data.GetBlock(i)
        _, y, x = corners[i]
        assert block.GetBounds() == (x, x + 2, y, y + 2, 0, 1), "in x and y, a cell thick"
        np.testing.assert_array_equal(values(block, "u", "cell"), field(3, 8)[i])


@pytest.mark.parametrize("how", ["x=p/x,y=p/y,z=p/z", "points=p/all"])
def test_particles(tmp_path: Path, how: str) -> None:
    places = np.random.default_rng(1).random((7, 3))
    data = {"p/x": places[:, 0].copy(), "p/y": places[:, 1].copy(), "p/z": places[:, 2].copy(), "p/all": places}
    write(tmp_path / "f.h5", data | {"mass": np.arange(7.0)}, f"particles,{how}", {"mass": "node"})
    grid = only(read(tmp_path / "f.xmf"))
    np.testing.assert_allclose(plain(grid.GetPoints().GetData()), places)
    np.testing.assert_array_equal(values(grid, "mass"), np.arange(7))


def test_a_mesh_that_moves_through_a_series(tmp_path: Path) -> None:
    with library.series(tmp_path / "out-*.h5", xdmf=True) as series:
        for step in range(3):
            with series.step(step, 0.5 * step) as file:
                fill(
                    file,
                    {"x": np.arange(4.0) + step, "y": np.arange(3.0), "q": field(3, 4) * (step + 1)},
                    "rectilinear,x=x,y=y",
                    {"q": "node"},
                )
    reader = vtk.vtkXdmfReader()
    reader.SetFileName(str(tmp_path / "out.xmf"))
    reader.UpdateInformation()
    times = reader.GetOutputInformation(0).Get(vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS())
    assert list(times) == [0, 0.5, 1]
    for step, time in enumerate(times):
        reader.UpdateTimeStep(time)
        grid = only(reader.GetOutputDataObject(0))
        np.testing.assert_array_equal(plain(grid.GetXCoordinates()), np.arange(4.0) + step)
        np.testing.assert_array_equal(values(grid, "q"), field(3, 4).ravel() * (step + 1))


def test_what_does_not_fit_is_an_error_and_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "f.h5"
    write(path, {"q": field(3, 4)}, "uniform,spacing=1:1", {"q": "node"})
    before = path.read_bytes(), (tmp_path / "f.xmf").read_text()
    with pytest.raises(library.Invalid, match=r"'q' f64 \(3, 4\) is on mesh 'shape': it would have 3 dimensions"):
        write(path, {"q": field(3, 4)}, "uniform,spacing=1:1:1", {"q": "node"})
    assert (path.read_bytes(), (tmp_path / "f.xmf").read_text()) == before
    with pytest.raises(library.Unsupported, match=r"XDMF refers to HDF5 files.*'netcdf'"):
        write(tmp_path / "f.nc", {"q": field(3, 4)}, "uniform,spacing=1:1", {"q": "node"})
    assert sorted(each.name for each in tmp_path.iterdir()) == ["f.h5", "f.xmf"]


def test_without_a_mesh_a_field_is_a_uniform_grid(tmp_path: Path) -> None:
    with library.create(tmp_path / "f.h5") as file:
        file["a/b"] = whole(field(3, 4))
        file["line"] = whole(np.arange(3.0))
        file.xdmf()
    grid = only(read(tmp_path / "f.xmf"))
    np.testing.assert_array_equal(values(grid, "a/b"), np.arange(12))


def leaves(data: Any) -> list[Any]:
    if not data.IsA("vtkMultiBlockDataSet"):
        return [data]
    return [leaf for i in range(data.GetNumberOfBlocks()) for leaf in leaves(data.GetBlock(i))]


def picture(data: Any, name: str, center: str) -> Array:
    """All grids of DATA as VTK draws them from above, 200 x 200, the field blue below a half, red above."""
    renderer = vtk.vtkRenderer()
    for grid in leaves(data):
        mapper = vtk.vtkDataSetMapper()
        mapper.SetInputData(grid)
        (mapper.SetScalarModeToUsePointFieldData if center == "node" else mapper.SetScalarModeToUseCellFieldData)()
        mapper.SelectColorArray(name)
        table = vtk.vtkLookupTable()
        table.SetNumberOfTableValues(2)
        table.SetTableValue(0, 0, 0, 1, 1)
        table.SetTableValue(1, 1, 0, 0, 1)
        table.SetRange(0, 1)
        mapper.SetLookupTable(table)
        mapper.SetScalarRange(0, 1)
        actor = vtk.vtkActor()
        actor.SetMapper(mapper)
        actor.GetProperty().LightingOff()
        actor.GetProperty().SetPointSize(20)
        renderer.AddActor(actor)
    renderer.ResetCamera()
    window = vtk.vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetSize(200, 200)
    window.AddRenderer(renderer)
    window.Render()
    grabbed = vtk.vtkWindowToImageFilter()
    grabbed.SetInput(window)
    grabbed.Update()
    image = grabbed.GetOutput()
    return plain(image.GetPointData().GetScalars()).reshape(200, 200, 3)


def check_picture(image: Array) -> None:
    """Red where x is large and y is small."""
    blue, red = np.array([0, 0, 255]), np.array([255, 0, 0])
    # Rows of a VTK image go up.
    for row, column, colour in [(80, 120, red), (80, 80, blue), (120, 80, blue), (120, 120, blue)]:
        np.testing.assert_array_equal(image[row, column], colour, err_msg=f"pixel {row}, {column}")


def lower_right(y: Array, x: Array) -> Array:
    return np.asarray(((x >= 4) & (y < 4)).astype(float))


LINE = np.arange(9.0)
Y, X = np.meshgrid(LINE, LINE, indexing="ij")
CELLS = lower_right(*np.indices((8, 8)))
LAYERS = np.repeat(CELLS[np.newaxis], 2, axis=0)
QUADRILATERALS = np.array(
    [[9 * j + i, 9 * j + i + 1, 9 * j + i + 10, 9 * j + i + 9] for j in range(8) for i in range(8)]
)
PLACES = np.indices((16, 16)) / 2.0 + 0.25
CORNERS = np.array([[0.0, y, x] for y in (0, 4) for x in (0, 4)])
BLOCKS = np.array([CELLS[int(y) : int(y) + 4, int(x) : int(x) + 4] for _, y, x in CORNERS])
KINDS: dict[str, tuple[dict[str, Any], str, str]] = {
    "uniform, a plane": ({"q": CELLS}, "uniform,spacing=1:1", "cell"),
    "uniform": ({"q": LAYERS}, "uniform,spacing=1:1:1", "cell"),
    "rectilinear, a plane": ({"q": CELLS, "x": LINE, "y": LINE}, "rectilinear,x=x,y=y", "cell"),
    "rectilinear": ({"q": LAYERS, "x": LINE, "y": LINE, "z": LINE[:3]}, "rectilinear,x=x,y=y,z=z", "cell"),
    "curvilinear, a plane": ({"q": CELLS, "x": X, "y": Y}, "curvilinear,x=x,y=y", "cell"),
    "unstructured": (
        {"q": CELLS.ravel(), "x": X.ravel(), "y": Y.ravel(), "c": QUADRILATERALS},
        "unstructured,x=x,y=y,cells=c,type=quadrilateral",
        "cell",
    ),
    "blocks": ({"q": BLOCKS, "corner": CORNERS}, "blocks,corners=corner,spacing=1:1", "cell"),
    "particles": (
        {"q": lower_right(*PLACES).ravel(), "x": PLACES[1].ravel(), "y": PLACES[0].ravel()},
        "particles,x=x,y=y",
        "node",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_picture_has_the_field_where_it_belongs(tmp_path: Path, kind: str) -> None:
    datasets, mesh, center = KINDS[kind]
    write(tmp_path / "f.h5", datasets, mesh, {"q": center})
    check_picture(picture(read(tmp_path / "f.xmf"), "q", center))


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_of_a_later_time(tmp_path: Path, kind: str) -> None:
    datasets, mesh, center = KINDS[kind]
    with library.series(tmp_path / "out-*.h5", xdmf=True) as series:
        for number in range(3):
            with series.step(number, 0.5 * number) as file:
                fill(file, datasets | {"q": datasets["q"] if number == 1 else 0 * datasets["q"]}, mesh, {"q": center})
    reader = vtk.vtkXdmfReader()
    reader.SetFileName(str(tmp_path / "out.xmf"))
    reader.UpdateInformation()
    reader.UpdateTimeStep(0.5)
    check_picture(picture(reader.GetOutputDataObject(0), "q", center))
