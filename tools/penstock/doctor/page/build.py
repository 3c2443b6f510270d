"""build.py: one self-contained HTML page of a diagnosis."""

import datetime
from typing import Any

from penstock.doctor.diagnosis import Diagnosis
from penstock.doctor.finding import INFO, Finding
from penstock.doctor.model import Model
from penstock.doctor.page import growth, plots
from penstock.doctor.record import CONTAINED, files
from penstock.doctor.rules.common import number, share, size
from penstock.doctor.said import together
from penstock.pages.frame import render


def page(diagnosis: Diagnosis, model: Model) -> str:
    job = diagnosis.job
    return render(
        "penstock.doctor.page",
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
