"""presets: the published experiments, a module for each group, as campaigns of their own parameters."""

from penstock.base.errors import UserError
from penstock.measure.studies.presets import esio, haefele, idris, lrz, ornl
from penstock.measure.studies.presets.study import Asked, Study

STUDIES: dict[str, Study] = {
    study.name: study for module in (idris, haefele, lrz, ornl, esio) for study in module.STUDIES
}

__all__ = ["STUDIES", "Asked", "Study", "find"]


def find(name: str) -> Study:
    if name not in STUDIES:
        raise UserError(f"no preset '{name}'; there are ratios, {', '.join(STUDIES)}")
    return STUDIES[name]
