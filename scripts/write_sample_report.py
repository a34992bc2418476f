"""Write the sample report as a DOCX file: python scripts/write_sample_report.py

The file is kept beside the other samples; run this again only where its text below has changed.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from docx import Document

TARGET = Path(__file__).parents[1] / "memoir_engine" / "samples" / "documents" / "energy-report-2023.docx"
TITLE = "Energy in the Mill: Heat and Power, Report for 2023"
AUTHOR = "Paul Verhoeven"

PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "Why this report",
        (
            "Until 2021 the mill bought all its energy: it took electricity from the grid and burned eleven "
            "thousand litres of oil in a winter. Since then a solar roof has been built, the boiler has been "
            "changed, and the attic has been insulated. Members who lent money for this have a right to know what "
            "became of it. The report gives the figures of 2023 beside those of the years before, says what went "
            "wrong, and proposes what to do in 2024 and 2025.",
        ),
    ),
    (
        "The solar roof",
        (
            "On the south side of the main roof lie 96 solar modules of 400 watts, together 38.4 kilowatts at "
            "noon in June. They were mounted in April 2022 on hooks that reach between the slates, so that no "
            "slate was drilled and the office for monuments could agree. Two inverters hang in the former engine "
            "house. The solar roof cost 61,500 euros: 34,000 for modules and inverters, 15,500 for scaffolding "
            "and mounting, 7,200 for cables and the new meter cabinet, and 4,800 for the structural survey. A "
            "grant paid 18,000 euros, and 74 members lent the rest in shares of 500 euros at two per cent.",
            "In 2023 the modules produced 35,900 kilowatt hours, three per cent less than calculated, since July "
            "was grey and an inverter stood still for nine days in September. Of this the house used 21,300 "
            "kilowatt hours itself. The rest was fed into the grid and paid with 8.2 cents each. The electricity "
            "we did not have to buy was worth 6,390 euros, and the energy we sold brought 1,197 euros. After "
            "insurance, meter fees and the inspection, 6,800 euros remain. At this pace the plant has paid for "
            "itself in the spring of 2029.",
        ),
    ),
    (
        "Battery and consumption",
        (
            "The battery in the cellar stores 30 kilowatt hours, which is a summer evening in the hall with the "
            "lights, the kitchen and the loudspeakers on. It was charged and emptied 240 times in the year and "
            "has lost two per cent of its capacity. It stands on a concrete base forty centimetres above the "
            "highest flood mark. In case of fire the red switch beside the cellar door cuts modules and battery "
            "off at once; the fire brigade has a plan of it.",
            "The largest consumers of energy are the cold room of the bakery with 9,800 kilowatt hours, the lift "
            "with 2,100, the ventilation of the hall with 4,700 and all lighting with 3,900. Lamps in the "
            "stairwells were changed for light emitting diodes with motion sensors in March, which saves some "
            "1,400 kilowatt hours a year. The cold room has a compressor from 2004. A new one would use half as "
            "much current and would cost 5,200 euros.",
        ),
    ),
    (
        "Heating with wood pellets",
        (
            "The pellet boiler of 80 kilowatts has heated the building since October 2021 in place of the oil "
            "burner. Pellets are blown into the store beside the boiler room from a lorry, ten tons at a time. In "
            "2023 the boiler burned 31 tons at an average of 347 euros per ton. Together with the chimney sweep, "
            "the service contract and the current for fans and pumps, heating came to 12,900 euros less in each "
            "of the last two winters than oil would have cost at its price of today.",
            "The ash box is emptied every ten days in winter. The boiler went out six times, always at weekends: "
            "four times because the screw that feeds the pellets was jammed by dust, and twice because the store "
            "was empty, as nobody had read the gauge. A sensor now sends a message to the caretaker and to the "
            "treasurer when less than three tons remain. Before anybody enters the store the door must stand open "
            "for fifteen minutes and the warning device for carbon monoxide must be carried along, since pellets "
            "give off gas.",
        ),
    ),
    (
        "Insulation and draughts",
        (
            "Twenty-six centimetres of cellulose were blown into the attic floor in August 2022. Thermal pictures "
            "taken on a frosty morning show that the roof is now cold on the outside, as it should be, and that "
            "the heat leaves through the windows of the hall. They are single glazed and from 1985. Secondary "
            "glazing on the inside, which the office for monuments allows, would cost 23,000 euros for fourteen "
            "windows and save about five tons of fuel a year. Brush seals at the great door cost 190 euros and "
            "were fitted by two volunteers in an afternoon; the draught at the cloakroom has gone.",
            "Energy that is not needed is the cheapest. The temperature of the hall is set to nineteen degrees "
            "during lettings and fifteen at other times. The valves are locked, because every guest knows better. "
            "When the hall is let on two days in a row it is not lowered in between, as the stone walls need "
            "seven hours to become warm again.",
        ),
    ),
    (
        "The old water wheel",
        (
            "Members ask every year whether the mill could not make its power from the water again. A study by "
            "the technical college looked at a new wheel of five metres in the old pit. With the water that the "
            "leat may take it would give six kilowatts in winter and two in summer, some 28,000 kilowatt hours a "
            "year, by day and by night, and most of it in the months when the sun gives least. It would cost "
            "around 120,000 euros with the fish pass, which the river authority demands, and the permit takes "
            "three years. The board has put the study aside until the loans for the roof are repaid, but not "
            "thrown it away.",
        ),
    ),
    (
        "Proposals",
        (
            "For 2024: replace the compressor of the cold room, clean the modules once in spring, and have the "
            "inverters inspected before the guarantee ends in April 2027. For 2025: glaze the seven windows on "
            "the north side of the hall first. A charging point for cargo bicycles can be fed from the existing "
            "cabinet without a stronger connection. A charging station for cars cannot, and is not proposed.",
        ),
    ),
)


def write(target: Path) -> None:
    report = Document()
    report.core_properties.title = TITLE
    report.core_properties.author = AUTHOR
    report.core_properties.created = report.core_properties.modified = datetime(2024, 2, 20, tzinfo=UTC)
    report.core_properties.comments = ""
    report.add_heading(TITLE, level=0)
    for heading, paragraphs in PARTS:
        report.add_heading(heading, level=1)
        for paragraph in paragraphs:
            report.add_paragraph(paragraph)
    report.save(str(target))


if __name__ == "__main__":
    write(TARGET)
