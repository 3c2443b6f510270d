"""build.py: one self-contained HTML page of a diagnosis."""

import datetime
from typing import Any

from penstock.base.pages.frame import render
from penstock.diagnose.diagnosis import Diagnosis
from penstock.diagnose.finding import INFO, Finding
from penstock.diagnose.model import Model
from penstock.diagnose.page import growth, plots
from penstock.diagnose.record import CONTAINED, files
from penstock.diagnose.rules.common import number, share, size
from penstock.diagnose.text import together


def page(diagnosis: Diagnosis, model: Model) -> str:
    job = diagnosis.job
    return render(
        "penstock.diagnose.page",
        "page.html",
        {"size": size, "share": share},
        program="penstock doctor",
        title=f"Why the I/O of job {job.job_id} takes its time" if diagnosis.is_io else f"The I/O of job {job.job_id}",
        diagnosis=diagnosis,
        job=job,
        started=datetime.datetime.fromtimestamp(job.start, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        findings=[_finding(one, diagnosis) for one in diagnosis.findings if one.severity != INFO or one.replayed],
        notes=[one for one in diagnosis.findings if one.severity == INFO and not one.replayed],
        together=together(diagnosis) if len(diagnosis.worth) > 1 else "",
        contained=CONTAINED if len(diagnosis.facts.layers) > 1 else "",
        plots=plots.all_plots(diagnosis),
        growth=growth.all_plots(model) if model.says_more else [],
        runs=len(model.scales),
        layers=diagnosis.facts.layers,
        files=files(diagnosis.facts),
    )


def _finding(one: Finding, diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "one": one,
        "severity": "WITHDRAWN" if one.withdrawn else one.severity,
        "evidence": [(e.name, number(e.value), e.meaning) for e in one.evidence],
        "core_hours": f"{one.seconds * diagnosis.job.ranks / 3600:,.3g}",
    }
