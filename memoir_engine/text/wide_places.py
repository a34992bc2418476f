"""Names of places that hold other places: whoever lives in Boston lives in Massachusetts too.

Invariant: lower case; "country" and "part" (of a country) hold no name in common. Pure. General knowledge, not of any data.
"""

from __future__ import annotations

from typing import Literal

Width = Literal["country", "part", "place"]

_COUNTRIES = frozenset(
    """afghanistan|albania|algeria|angola|argentina|armenia|australia|austria|azerbaijan|bahrain|bangladesh|belarus|belgium
    |bolivia|bosnia|botswana|brazil|britain|great britain|bulgaria|cambodia|cameroon|canada|chad|chile|china|colombia|congo
    |costa rica|croatia|cuba|cyprus|czech republic|czechia|denmark|dominican republic|ecuador|egypt|el salvador|england
    |estonia|ethiopia|fiji|finland|france|gabon|gambia|germany|ghana|greece|guatemala|guinea|guyana|haiti|honduras|hungary
    |iceland|india|indonesia|iran|iraq|ireland|israel|italy|ivory coast|jamaica|japan|jordan|kazakhstan|kenya|korea|kosovo
    |kuwait|kyrgyzstan|laos|latvia|lebanon|liberia|libya|liechtenstein|lithuania|madagascar|malawi|malaysia|maldives|mali
    |malta|mauritius|mexico|moldova|monaco|mongolia|montenegro|morocco|mozambique|myanmar|namibia|nepal|netherlands|holland
    |new zealand|nicaragua|niger|nigeria|north korea|north macedonia|northern ireland|norway|oman|pakistan|panama|paraguay
    |peru|philippines|poland|portugal|qatar|romania|russia|rwanda|saudi arabia|scotland|senegal|serbia|singapore|slovakia
    |slovenia|somalia|south africa|south korea|spain|sri lanka|sudan|sweden|switzerland|syria|taiwan|tajikistan|tanzania
    |thailand|tunisia|turkey|uganda|ukraine|united arab emirates|uae|united kingdom|uk|united states|usa|us|america|uruguay
    |uzbekistan|venezuela|vietnam|wales|yemen|zambia|zimbabwe|europe|asia|africa|south america|north america""".replace(
        "\n    ", ""
    ).split("|")
)
_PARTS = frozenset(
    """alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii|idaho|illinois|indiana|iowa
    |kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi|missouri|montana|nebraska|nevada
    |new hampshire|new jersey|new mexico|north carolina|north dakota|ohio|oklahoma|oregon|pennsylvania|rhode island
    |south carolina|south dakota|tennessee|texas|utah|vermont|virginia|west virginia|wisconsin|wyoming|new england
    |alberta|british columbia|manitoba|new brunswick|newfoundland|nova scotia|ontario|saskatchewan|new south wales
    |queensland|tasmania|bavaria|hesse|saxony|brandenburg|tyrol|provence|brittany|normandy|burgundy|alsace|tuscany|sicily
    |sardinia|lombardy|catalonia|andalusia|galicia|cornwall|devon|kent|essex|sussex|yorkshire|lancashire|norfolk|suffolk
    |flanders|wallonia|bali|java|punjab|kerala|goa|hokkaido|siberia|crimea|patagonia|quebec""".replace("\n    ", "").split("|")
)


def width(name: str) -> Width:
    """name: a proper name, without its article."""
    low = " ".join(name.casefold().replace(".", "").split())
    return "country" if low in _COUNTRIES else "part" if low in _PARTS else "place"
