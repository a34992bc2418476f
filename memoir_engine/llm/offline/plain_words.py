"""Words that say little as the name of a category.

NEVER: no name has them. VAGUE: nouns that fit almost any text, so a name of them alone is worth half.
"""

from __future__ import annotations

NEVER = frozenset(
    """january february march april may june july august september october november december monday tuesday wednesday thursday
    friday saturday sunday today tomorrow yesterday thousand million billion hundred dozen people person man men woman
    women thing way time year years day days week weeks month months hour hours lot lots bit kind sort part parts number
    numbers example examples case cases fact facts reason reasons result results point points place places side end
    beginning rest area areas piece pieces group groups question questions answer answers problem problems issue issues
    idea ideas change changes need needs help work works use post wrote line lines word words name names list lists mr
    mrs ms dr sir everyone anyone someone something nothing everything anything stuff guy guys sure able possible
    different important great big small large long short high low main whole certain particular own several current
    recent good bad better best real true right wrong hard easy common general specific similar available following
    previous simple single full open clear ready free special additional various entire major minor course order level
    levels form forms set sets type types value values note notes section sections figure figures table tables rule
    rules view views effort efforts purpose purposes sense matter matters call calls step steps start stop read reading
    yeah dear please regards sincerely subject organization distribution reply edu com org net www http https html""".split()
)
VAGUE = frozenset(
    """world nation nations country countries future life lives power powers action actions act acts strength history hope
    hopes honor honour user users team teams project projects department departments government system systems community
    development process processes service services opportunity opportunities support progress program programs effort
    role state states citizen citizens children child family friend friends company companies member members office
    source sources resource resources condition conditions situation method methods feature features function functions
    object objects information data model models approach plan plans policy goal goals interest interests experience
    activity activities technology tool tools quality value benefit benefits chance position positions author authors
    change changes version versions implementation discussion addition attention knowledge practice practices
    relationship structure field fields matter century quarter success failure difference differences perception
    responsibility responsibilities commitment institution institutions warning warnings error errors update updates
    page pages book books story report reports letter message messages price cost costs money business market public
    home house school city town water land air body hand hands head eye eyes face heart mind voice door room table car
    game play show food music law rights freedom peace war society""".split()
)
