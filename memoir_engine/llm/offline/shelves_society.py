"""Subjects of society and of daily life, with their words.

Our own writing, general-purpose, as a library would shelve the world: no word was taken from a data set.
Form: a subject, indented its branches, each with the words that speak of it. `subjects` reads it.
"""

from __future__ import annotations

SOCIETY = """\
Government
  Public administration: government agency agencies federal bureau ministry administration official civil
    servant bureaucracy department oversight public executive directive mandate
  Legislation: congress parliament senate senator bill legislation legislative legislature lawmaker amendment
    enact bipartisan committee veto
  Elections: election vote voter ballot campaign candidate electoral poll polling turnout constituency
  Procurement: procurement contractor acquisition vendor solicitation bidder bid tender contracting
  Local government: municipal municipality city mayor county council town province state governor local
  Digital services: digital online portal modernization website citizen paperless service
Politics
  Democracy: democracy democratic freedom liberty republic constitution constitutional citizen citizenship
    tyranny
  Parties and ideology: party partisan conservative liberal socialist socialism communism communist republican
    democrat ideology
  National unity: nation union unity patriot patriotism destiny oath inauguration inaugural presidency president
  Political leadership: leader leadership president minister cabinet statesman speech administration office
Law
  Courts: court judge judicial justice supreme trial jury appeal appellate verdict plaintiff defendant lawsuit
    tribunal litigation
  Contracts and liability: contract liability clause breach damages warranty indemnity agreement tort negligence
    settlement
  Civil rights: rights discrimination equality segregation liberty amendment constitutional civil suffrage
  Regulation: regulation regulatory statute statutory compliance rule ruling law lawful legal jurisdiction
    provision
  Intellectual property: copyright patent trademark license licence infringement royalty
Crime
  Policing: police officer arrest patrol detective sheriff investigation suspect warrant fbi
  Violence: murder kill killer homicide assault violence violent victim shooting firearm gun handgun weapon
  Drugs: narcotics drug trafficking cocaine heroin dealer addiction cartel
  Punishment: prison prisoner jail sentence parole inmate penalty execution conviction criminal crime felony
  Fraud: fraud theft steal stolen scam bribery corruption laundering robbery burglary
Economy
  Public finance: budget deficit surplus debt spending expenditure appropriation fiscal treasury outlay
  Taxes: tax taxes taxation taxpayer revenue deduction income levy
  Trade: trade export import tariff protectionism market exporter trading customs nafta commerce
  Growth and prices: economy economic inflation growth recession prosperity prices productivity gdp unemployment
    recovery interest
  Industry: industry industrial factory manufacturing manufacturer steel production output plant
Business
  Management: manager management executive strategy stakeholder leadership company corporate organization
    culture decision
  Marketing: marketing brand customer advertising advertisement sales market audience promotion
  Startups: startup entrepreneur founder venture innovation investor entrepreneurship
  Companies: company corporation firm enterprise shareholder merger acquisition profit revenue ceo board
    business
Finance
  Banking: bank account deposit withdrawal balance transfer checking savings overdraft branch routing banking
    pin
  Credit: credit card loan mortgage lender borrower debt interest apr score limit payment lending
  Investment: invest investment stock bond share portfolio dividend fund investor equity securities broker
  Insurance: insurance insurer premium policy claim coverage deductible insured
  Payments: pay payment bill invoice transaction fee charge refund rewards exchange currency dollars euro
  Retirement: retirement pension rollover ira annuity
Work
  Employment: employment employer employee job jobs worker labor labour workforce unemployment occupation
  Pay and leave: wage wages salary payday paycheck vacation leave overtime benefits raise
  Hiring: hire hiring recruit recruitment applicant interview resume candidate vacancy recruiter
  Unions: union strike bargaining collective unionized picket
  Careers: career fellowship mentor mentorship intern internship colleague coworker promotion profession
  Remote work: remote telework distributed office workplace
International relations
  Diplomacy: diplomacy diplomatic ambassador embassy treaty negotiation summit foreign ally alliance nations
    peace
  Cold War: soviet communist communism ussr russia kremlin aggression containment satellite
  International organizations: nato un unesco wto imf multilateral charter
  Foreign aid: aid assistance developing humanitarian mutual underdeveloped famine
  Terrorism: terrorism terrorist qaeda extremist hostage bombing insurgent
  Regions of the world: china russia india europe european asia asian africa african germany france iran iraq
    israel palestinian arab turkey korea vietnam balkans latin
Defense
  Armed forces: military army navy marine soldier troops force forces command commander defense defence general
    armed personnel
  Weapons: missile weapon nuclear arms armament bomb bomber ballistic warhead tank ammunition deterrent
  War: war battle victory enemy invasion combat wartime aggression siege wars
  Veterans: veteran veterans gi honorable
  Disarmament: disarmament ceasefire proliferation inspection treaty arms reduction peace
Education
  Schools: school pupil teacher classroom kindergarten elementary curriculum literacy schools teaching
  Higher education: college university campus degree student tuition scholarship graduate undergraduate faculty
    professor
  Training: training course workshop lesson learn learning learner skill tutorial instructor apprenticeship
  Exams: exam grade test score assessment homework diploma
Social welfare
  Child welfare: child children foster adoption abuse neglect caseworker welfare youth juvenile
  Social security: social security pension retirement elderly senior benefit benefits beneficiaries medicare
  Poverty: poverty poor homeless hunger charity needy underprivileged shelter slum
  Family support: family families parent parents daycare childcare mother father household welfare
Health
  Health care: health healthcare hospital patient doctor nurse clinic care physician medicare appointment
  Public health: vaccine vaccination epidemic pandemic disease outbreak hygiene sanitation mortality smoking
    tobacco
  Fitness: exercise fitness workout gym weight obesity calories cardio running
  Mental health: depression anxiety therapy therapist stress psychiatric counseling suicide
  Diet and nutrition: diet nutrition vitamin protein calories sugar carbohydrate cholesterol nutritional
Medicine
  Treatment: treatment therapy surgery surgeon surgical dose dosage prescription medication antibiotic pill
    transplant
  Symptoms and diagnosis: symptom diagnosis diagnose pain fever headache infection chronic syndrome inflammation
    rash nausea
  Diseases: cancer tumor diabetes hiv aids asthma arthritis hepatitis influenza stroke cardiac hypertension
    disease
  Research: clinical trial placebo efficacy cohort medical medicine pathology immunology
  First aid: wound bandage bleeding burn cpr unconscious airway injury sprain splint choking bite breathing cool
  Anatomy: blood heart liver kidney lung brain muscle bone skin tissue artery nerve
Family and relationships
  Marriage: marriage marry wedding husband wife spouse divorce bride engaged anniversary
  Parenting: baby parent toddler pregnancy pregnant son daughter kids childhood mom dad
  Friendship: friend friendship date dating relationship partner boyfriend girlfriend birthday
Population and migration
  Immigration: immigrant immigration migrant border visa refugee asylum deport citizenship naturalization
  Ethnic groups: ethnic race racial minority indigenous tribe native genocide diaspora
  Census: census demographic population birthrate household
Community
  Clubs and associations: club association member membership committee chair chairman secretary treasurer quorum
    minutes motion seconded resolution bylaws assembly society meeting
  Events and festivals: festival fair event stage stall visitor crowd parade fireworks programme celebration
    organizer volunteer opening ceremony
  Volunteering: volunteer volunteers charity donation donate fundraising neighbour neighbor neighbourhood helper
  Lending and sharing: borrow lend lending loan return overdue library shared sharing swap tool tools
Emergencies
  Natural disasters: earthquake hurricane flood tornado tsunami disaster wildfire evacuation drought
  Rescue: rescue emergency firefighter ambulance relief survivors evacuate responder fire
Media
  News: news newspaper journalist journalism reporter editor headline press article editorial
  Broadcasting: broadcast radio station television channel anchor podcast
  Publishing: publish publisher magazine blog blogger edition publication
  Social media: twitter facebook tweet instagram follower hashtag viral post
"""

LIFE = """\
Food and cooking
  Recipes: recipe ingredient cook cooking dish sauce soup salad boil fry simmer tablespoon cup onion garlic
  Baking: bake baking bread dough flour yeast cake oven butter pastry cookie
  Restaurants: restaurant menu waiter chef reservation dinner lunch dine meal
  Ingredients: meat chicken beef cheese egg rice pasta vegetable fruit sugar salt pepper spice substitute milk
  Drinks: wine beer coffee tea cocktail juice brewing
Sports
  Baseball: baseball pitcher inning batter homerun bullpen batting
  Ice hockey: hockey nhl puck goalie playoff rink
  Football: football soccer goalkeeper midfield striker touchdown quarterback fifa
  Basketball: basketball nba dunk rebound hoop
  Competitions: game team player coach season league championship match tournament win score fans stadium
  Athletics: athlete olympic marathon sprint swimming tennis golf cycling race medal
Games
  Video games: videogame console nintendo sega gamer arcade playstation
  Board and card games: chess poker dice puzzle coin flip cards roll
Music
  Songs and bands: music song band album singer guitar concert playlist lyrics pop rock jazz rapper
  Classical music: orchestra symphony composer violin piano opera sonata conductor concerto
Visual arts
  Painting and sculpture: painting painter sculpture museum gallery canvas portrait artist art exhibition
  Crafts: knitting pottery woodwork weaving sewing embroidery carving craft
  Photography: photo photograph photographer camera lens exposure film
Film and television
  Films: film movie cinema actor actress director screenplay hollywood
  Television: television tv show series episode sitcom audience
Literature
  Fiction: novel fiction novelist story character narrative plot fantasy
  Poetry: poem poet poetry verse rhyme stanza
  Books: book author reader library literary bestseller chapter
Performing arts
  Theatre and dance: theatre theater stage play ballet dance dancer choreography comedy joke
Shopping
  Orders and delivery: order shipping delivery package shipped tracking parcel
  Sales: sale sell seller buy buyer price offer condition asking discount shipping store shop
  Shopping lists: shopping list groceries grocery cart purchase item
  Clothing: clothes clothing shirt dress shoe jacket fashion fabric
Home
  Housing: house housing apartment rent tenant landlord home homeowner mortgage residential
  Household: kitchen bathroom furniture cleaning laundry vacuum thermostat lights
  Tools and repairs: tool tools drill saw hammer ladder sander screwdriver repair workshop blade wrench nail paint
  Garden: compost bed sow seedling prune plot allotment greenhouse hedge watering
    garden gardening lawn plant seed flower weed tree
Daily planning
  Calendar: calendar schedule meeting appointment event agenda holiday
  Reminders and alarms: reminder remind alarm timer todo list wake clock
  Clock and dates: clock noon midnight hourly minute date
Assistants
  Settings: volume mode settings name language repeat sync
  Conversation: joke hello goodbye bot hobbies cancel
"""
