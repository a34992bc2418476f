"""Start and end of the validity a sentence states."""

from __future__ import annotations

from datetime import date

import pytest

from memoir_offline.rules.dates import validity

TUESDAY = date(2024, 5, 21)


@pytest.mark.req("TIMEM extraction")
@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("I lived in Lyon from 2019 until June 2021.", "2019", "2021-06"),
        ("I lived in Rome from 2010 to 2015.", "2010", "2015"),
        ("I worked at IBM between 2001 and 2004.", "2001", "2004"),
        ("I worked at IBM 2001-2004.", "2001", "2004"),
        ("I studied from May 2019 to March 2020.", "2019-05", "2020-03"),
        ("I was in Oslo from May to July 2020.", "2020-05", "2020-07"),
        ("I lived in Rome until 2015.", "", "2015"),
        ("I gave up the cello, since 2024-03.", "2024-03", ""),
        ("I worked there from 2019-03 to 2020-04.", "2019-03", "2020-04"),
        ("I moved last weekend.", "2024-05-18", ""),
        ("My flight got moved to 21 June.", "2024-06-21", ""),
        ("The exam was brought forward from 10 July to 2 July.", "2024-07-02", ""),
        ("I put the meeting off until Friday.", "2024-05-24", ""),
        ("The wedding is postponed to October.", "2024-10", ""),
        ("I booked a table for 3 June.", "2024-06-03", ""),
        ("We moved to York on 3 June.", "2023-06-03", ""),
        ("I'm getting married on 12 September.", "2024-09-12", ""),
        ("I've got tickets for 4 July.", "2024-07-04", ""),
        ("I got married on 12 September.", "2023-09-12", ""),
        ("We go next month", "2024-06", ""),
        ("I am on leave until Friday", "", "2024-05-24"),
        ("I work there until the end of May 2026.", "", "2026-05"),
        ("I have to hand it in by the twentieth of June.", "", "2024-06-20"),
        ("I was done by June.", "", ""),
        ("My birthday is on 12 March.", "", ""),
        ("Our wedding anniversary is on 5 June", "", ""),
        ("I lost five kilos in two months.", "", ""),
        ("I like tea.", "", ""),
    ],
)
def test_from_when_and_until_when_something_holds_has_the_precision_of_the_text(text: str, since: str, until: str) -> None:
    assert validity(text, TUESDAY) == (since, until)
