"""Settings that are not the same in two observations, or that were changed within one.

Enters: both environments as they were stored, or what was changed. Leaves: the changes, by name.
Never: shows a value that may be a secret, which no environment holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from pgassay.analysis.observation.periods.figures import IGNORED_SETTINGS
from pgassay.analysis.observation.periods.model import SettingChange
from pgassay.analysis.reading.setting_sizes import setting_text
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.forms.observation import ChangedSetting

VERSION = "server_version"


def changed_settings(first: EnvironmentFile, second: EnvironmentFile) -> Iterator[SettingChange]:
    """Yields what both environments have and is not the same, the version first."""
    versions = [one.server.version or "" for one in (first, second)]
    if all(versions) and versions[0] != versions[1]:
        yield SettingChange(VERSION, versions[0], versions[1])
    before, after = (
        {name: setting_text(str(one.value)) for name, one in side.server.every_setting.items()}
        for side in (first, second)
    )
    for name in sorted(before.keys() & after.keys()):
        if before[name] != after[name] and not _is_ignored(name):
            yield SettingChange(name, before[name], after[name])


def changed_within(
    changes: Iterable[ChangedSetting], span: tuple[int, int]
) -> Iterator[SettingChange]:
    """Yields what was changed in a stretch of time (ns) and not changed back."""
    found: dict[str, SettingChange] = {}
    for one in sorted(changes, key=lambda each: each.at_ns):
        if span[0] <= one.at_ns <= span[1]:
            first = found[one.name].first if one.name in found else setting_text(one.first)
            found[one.name] = SettingChange(one.name, first, setting_text(one.second), one.at_ns)
    yield from (found[name] for name in sorted(found) if found[name].first != found[name].second)


def _is_ignored(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in IGNORED_SETTINGS)
