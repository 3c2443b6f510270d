"""presets: the published experiments, a module for each group, as campaigns of their own parameters."""

from typing import Any

from penstock.base.errors import UserError
from penstock.measure.studies.pooled import Pooled
from penstock.measure.studies.presets import esio, haefele, idris, lrz, ornl
from penstock.measure.studies.presets.study import Asked, Study

STUDIES: dict[str, Study] = {
    study.name: study for module in (idris, haefele, lrz, ornl, esio) for study in module.STUDIES
}

__all__ = ["STUDIES", "Asked", "Study", "find", "repeated"]


def find(name: str) -> Study:
    if name not in STUDIES:
        raise UserError(f"no preset '{name}'; there are ratios, {', '.join(STUDIES)}")
    return STUDIES[name]


def repeated(content: dict[str, Any]) -> None:
    """Fills in the figures and the conclusions of the study that the record CONTENT repeats."""
    study, pooled = STUDIES[content["preset"]], Pooled(content)
    content["figures"] = study.figures(pooled)
    content["conclusions"] = study.conclusions(pooled)
