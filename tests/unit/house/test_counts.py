"""A text that counts things has a form for one of them, or words that need none.

Intervals, shares and forecasts rest on two trials, arms, rounds or intervals at least, and rates
are no plain numbers: such texts need no form for one.
"""

from __future__ import annotations

import re

from tools.messages.extract import all_messages

from support.synthetic.kept import kept_object

THINGS = "blocks|statements|rows|settings|values|events|samples|nodes|figures|lines|messages"
THINGS += "|servers|programs|notes|caveats|connections|files|levels|others"
COUNTED = re.compile(rf"\{{(\w+)(?::[^}}]*)?\}} (?:(?:more|complete) )?({THINGS})\b(?! \()")
NEVER_ONE = {
    *("of", "every", "planned", "least", "fewest", "most", "needed", "there", "connections"),
    *("blocks", "min_blocks", "max_blocks", "samples"),
}
"""Places of totals, of limits, and of the blocks that an interval rests on."""


def test_a_text_that_counts_has_a_form_for_one() -> None:
    found = [
        (match[0], one.text)
        for one in kept_object(all_messages)
        if not one.plural
        for match in COUNTED.finditer(one.text)
        if match[1] not in NEVER_ONE
    ]
    assert found == []
