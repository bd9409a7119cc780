"""What a run says beyond its verdicts: curves over quantiles and loads, the course of trials.

Enters: an analysis, the plan, the courses of the trials that count. Leaves: the analysis with all
of it. Never: changes a verdict or an estimate that is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgassay.analysis.association import associations
from pgassay.analysis.by_load import effects_by_load
from pgassay.analysis.checkpoint_effect import checkpoint_effects
from pgassay.analysis.course import TrialCourse
from pgassay.analysis.load_curve import load_curves
from pgassay.analysis.model import Analysis
from pgassay.analysis.quantile_shift import quantile_shifts
from pgassay.analysis.refused_curves import (
    bare_curves,
    bare_effects,
    bare_shifts,
    told_contrasts,
    without_verdict,
)
from pgassay.analysis.steadiness import steadiness_doubts, step_courses
from pgassay.plan.model import Plan


def look_beyond(analysis: Analysis, plan: Plan, courses: Sequence[TrialCourse]) -> Analysis:
    """The same analysis, with curves and courses, and the doubts they raise."""
    if plan.alternates:
        # Curves and courses are of one arm a trial.
        return analysis
    refused = without_verdict(analysis)
    effects, contrasts = checkpoint_effects(plan, courses)
    steps = step_courses(courses, plan.smallest_effect)
    return replace(
        analysis,
        quantile_shifts=bare_shifts(quantile_shifts(plan, analysis.trials), refused),
        by_load=bare_effects(effects_by_load(plan, analysis.trials), refused),
        load_curves=bare_curves(load_curves(plan, analysis.trials), plan, analysis),
        courses=steps,
        checkpoint_effects=effects,
        checkpoint_contrasts=told_contrasts(contrasts, analysis),
        associations=associations(courses),
        warnings=(*analysis.warnings, *steadiness_doubts(plan, steps)),
    )
