"""Subjects of society, daily life, learning and technology, with their words; and subjects named in Japanese.

Our own writing, general-purpose, as a library would shelve the world: no word was taken from a data set.
Form: a subject, indented its branches, each with the words that speak of it. `subjects` reads it.
"""

from __future__ import annotations

LEARNING = """\
Religion
  Christianity: christian christ jesus church gospel bible catholic protestant pope baptism sin salvation
    resurrection apostle
  Islam: islam islamic muslim quran koran mosque muhammad allah imam
  Judaism: jewish judaism rabbi torah synagogue jew hebrew
  Atheism: atheism atheist atheists secular unbelief agnostic disbelief theist
  Faith: god faith religion religious prayer pray divine worship holy spiritual belief soul heaven providence
    blessing
  Eastern religions: buddhism buddha hindu hinduism zen karma temple monk meditation
Philosophy
  Ethics: moral morality ethics ethical virtue duty conscience evil immoral
  Logic and knowledge: philosophy philosopher logic logical premise epistemology metaphysics truth reasoning
    fallacy existence
History
  Ancient history: ancient roman rome greece greek empire pharaoh antiquity dynasty emperor archaeology
    archaeologist
  Modern history: century historian history historical revolution colonial colony empire slavery medieval
    monarchy king kingdom
Language
  Translation: translate translation language spanish french german italian chinese japanese english interpreter
    phrase
  Grammar and words: grammar noun verb adjective vocabulary spelling pronunciation dialect linguistics
    dictionary definition syllable
Mathematics
  Algebra and numbers: mathematics mathematical algebra equation theorem integer polynomial prime proof
    arithmetic matrix
  Geometry: geometry triangle polygon circle sphere angle tangent
  Statistics: statistics statistical probability variance regression distribution mean median correlation
  Calculus: calculus derivative integral differential function convergence
Physics
  Mechanics: force mass velocity acceleration momentum gravity motion kinetic pendulum
  Quantum and particles: quantum particle electron proton neutron photon atom atomic boson
  Heat: heat thermal temperature thermodynamics entropy conduction convection radiation
  Light and waves: light optics laser wavelength lens spectrum frequency wave physics
Fluid mechanics
  Boundary layers: boundary layer laminar turbulent turbulence viscous viscosity skin friction transition
  Supersonic flow: supersonic hypersonic shock mach subsonic transonic nozzle
  Wings and aerodynamics: wing aerodynamic aerodynamics lift drag airfoil aerofoil aircraft flutter slender body
  Flow theory: flow fluid pressure incompressible compressible inviscid vortex reynolds stream navier
Engineering
  Structures: buckling shell stress strain beam plate load stiffness elastic cylinder structural fatigue
  Mechanical engineering: engine turbine gear valve piston pump bearing machine mechanical hydraulic
  Civil engineering: bridge dam tunnel concrete foundation excavation infrastructure construction
  Materials: alloy metal aluminium steel polymer ceramic composite corrosion material
Chemistry
  Reactions: chemical chemistry reaction acid oxidation catalyst compound solvent molecule molecular
  Substances: hydrogen oxygen carbon nitrogen sodium chlorine sulfur sulphur
Biology
  Genetics: gene genetic dna chromosome genome mutation heredity rna
  Evolution: evolution evolutionary species ancestor fossil darwin
  Cells: cell cells membrane enzyme bacteria virus microbe protein organism biology
  Ecology: ecosystem habitat predator prey biodiversity ecology
Animals
  Pets: dog cat puppy kitten pet leash veterinarian vet breed
  Wildlife: wildlife animal bird mammal reptile insect lion elephant whale wolf bear species zoo
  Fish: fish shark salmon aquarium tuna trout
Earth and weather
  Weather: weather rain snow forecast temperature storm sunny cloudy humidity wind
  Geology: rock mineral volcano earthquake geology sediment tectonic crust fossil
  Oceans and rivers: ocean sea river lake coast tide water wave island
  Places: mountain valley desert continent geography map region latitude
Space
  Spaceflight: nasa shuttle spacecraft rocket launch astronaut orbit orbital satellite mission payload space
  Astronomy: planet star galaxy telescope moon solar comet asteroid astronomer mars universe
Psychology
  Mind and behaviour: psychology psychologist behavior behaviour cognitive emotion memory perception personality
"""

TECHNOLOGY = """\
Software development
  Programming languages: python java javascript ruby compiler interpreter syntax bytecode typing annotations
    semantics language
  Code and interfaces: code class method function object module attribute variable argument api parameter
    runtime exception import
  Type systems: type typing generic subclass isinstance annotation annotated checker protocol inference static
    union tuple
  Testing and quality: test tests testing bug debug debugger unittest coverage regression linter refactor
  Releases: release version deprecated deprecation backward compatibility changelog alpha beta maintenance
    upgrade
  Packaging: package packages distribution wheel pip dependency install installer metadata library build
    repository
  Open source: source github repository contributor maintainer commit community license fork pull
  Architecture: software developer engineer legacy codebase microservice framework technical architecture
    programmer coding
Computers
  Storage: disk drive floppy scsi ide hard controller backup ssd partition
  Displays: monitor screen vga resolution video display graphics card
  Processors and memory: cpu processor motherboard ram chip mhz cache intel bus hardware
  Operating systems: windows linux unix dos macintosh mac os kernel desktop operating system driver
  Printers and devices: printer keyboard mouse modem serial port cable peripheral scanner
  Files and programs: file files directory folder program command format software zip application
Computer graphics
  Images: image images jpeg gif pixel bitmap color format rendering viewer
  Graphics programming: graphics polygon rendering opengl texture shader algorithm animation raytracing
  Window systems: window widget server client display toolkit
Web
  Websites: website webpage site page homepage domain hosting browser html css url
  Web standards: standard standards http https html tls certificate browser component responsive framework
  Search and navigation: search engine link navigation index query traffic analytics visitor
  Email: email mail inbox spam newsletter smtp mailing list message
  Internet: internet online network web isp router protocol server connection
Information security
  Encryption: encryption encrypt encrypted key cipher cryptography decrypt rsa algorithm
  Privacy: privacy surveillance anonymous wiretap personal tracking confidential
  Attacks: hacker attack vulnerability malware exploit phishing breach threat
  Access: password authentication login authorization credential identity fraud pin security
Data and AI
  Machine learning: machine learning neural training classifier embedding artificial intelligence prediction
    chatbot robot ai
  Databases: database sql query table schema index record transaction storage
  Data analysis: data dataset analysis analytics metric visualization dashboard
Cloud and infrastructure
  Cloud: cloud hosting server deploy deployment aws container docker kubernetes platform virtual infrastructure
  Operations: monitoring outage uptime scaling devops automation pipeline continuous configuration logging
Electronics
  Circuits: circuit voltage resistor capacitor transistor amplifier diode ground wire wiring electronic
  Audio: audio speaker headphone microphone stereo sound signal noise
  Power supply: battery charger outlet volt amp watt electrical electricity
Telecommunications
  Phones: phone telephone smartphone cellular mobile ringtone dial caller voicemail text
  Networks: network bandwidth broadband wireless wifi antenna ethernet fiber spectrum
Design
  User research: user users usability interview interviewee research persona participants findings insight
    feedback
  User experience: design designer prototype wireframe interface accessibility interaction layout usable visual
  Content and writing: writing writer content style guide blog edit editorial readability words
Project management
  Agile methods: agile sprint scrum iteration iterative backlog kanban retrospective modular standup velocity
  Teams: team teams teammate collaboration collaborate partner partners facilitator meeting workshop
  Product management: product roadmap owner vision stakeholder outcome prioritize feature launch mvp
  Planning: project plan milestone deadline schedule estimate scope risk timeline deliverable
Energy
  Oil and gas: oil petroleum gas gasoline pipeline drilling barrel refinery fuel
  Electricity: electricity power grid megawatt utility hydroelectric generator
  Renewable energy: solar wind renewable ethanol geothermal biofuel sustainable energy
  Nuclear power: nuclear reactor uranium plutonium radioactive fission
Environment
  Climate: climate warming emission greenhouse carbon ozone
  Pollution: pollution toxic waste contamination smog recycling landfill cleanup
  Conservation: conservation forest wilderness park preserve endangered biodiversity natural resources
    environmental
  Water: water river reclamation irrigation drought reservoir watershed
Agriculture
  Crops: crop wheat corn harvest grain seed soil fertilizer farm farmer farmers irrigation agriculture
    agricultural
  Livestock: cattle livestock dairy sheep pig poultry ranch herd
Vehicles
  Cars: car cars automobile sedan dealer engine auto mileage clutch brake
  Motorcycles: motorcycle bike biker helmet rider riding
  Maintenance: oil tire tires brake mechanic repair transmission spark odometer gas fuel
  Traffic: traffic highway road lane driver driving speed ticket parking
Transport
  Rail and roads: railway railroad train rail highway road freight canal transit subway bus transportation
  Ships: ship shipping port harbor vessel sail maritime cargo boat
  Aviation: airline airport pilot airplane aviation flight aircraft runway
Travel
  Flights: flight airline luggage boarding airport plane layover ticket baggage
  Hotels and bookings: hotel booking reservation book trip itinerary resort hostel room
  Tourism: travel traveler tourist tourism sightseeing vacation destination passport visa vaccinations abroad
  Local transport: taxi directions distance gps route rental map location
"""

# subject: two characters of each word that speaks of it
JAPANESE = """\
政治: 政治 政府 国会 議員 選挙 内閣 首相 大臣 政党 党員 大統 議会 行政 憲法 民主 自治
    市長 知事 政権 改革 官僚 外交 国連 加盟 連合 独立
法律: 法律 法的 裁判 刑法 民法 判決 訴訟 犯罪 警察 逮捕 条約 法令 規定 権利 義務 処分
    弁護 違反 契約 登記 禁止 差別 答申
経済: 経済 市場 貿易 銀行 企業 会社 金融 株式 投資 産業 通貨 税金 工業 予算 価格 製造
    生産 販売 消費 輸出 石油 経営 商品 労働 賃金 争議
歴史: 歴史 世紀 時代 王朝 皇帝 帝国 戦国 幕府 江戸 明治 昭和 大正 天皇 将軍 武士 国王
    古代 中世 革命 植民 遺跡 貴族 王国 統一 皇后
軍事: 軍事 戦争 軍隊 戦闘 陸軍 海軍 空軍 兵器 戦車 攻撃 部隊 艦隊 侵攻 占領 爆撃 司令
    兵士 武装 内戦 大戦 降伏
地理: 地理 地域 都市 山脈 河川 半島 気候 人口 地方 首都 海岸 面積 市街 住居 住所 島嶼
    諸島 北部 南部 東部 西部 郊外 梅雨 気温 降水
交通: 鉄道 列車 路線 道路 空港 航空 車両 新幹 自動 高速 交通 運転 駅前 港湾 船舶 旅客
    地下 線路 停車
科学: 科学 物理 化学 元素 分子 原子 理論 数学 実験 物質 反応 温度 応力 関数 方程 測定
    測量 電気 結晶 炭素 技術 計測 力学
宇宙: 宇宙 惑星 恒星 衛星 太陽 天文 銀河 探査 軌道 望遠
生物: 生物 動物 植物 細胞 進化 遺伝 昆虫 鳥類 魚類 恐竜 哺乳 個体 生息 繁殖 種類 微生
    細菌 病害
医療: 医療 病院 患者 治療 病気 感染 医師 手術 健康 症状 薬物 医学 疾患 診断 障害 栄養
    ワク 免疫
音楽: 音楽 楽器 歌手 作曲 演奏 楽曲 交響 録音 歌詞 楽団 指揮 歌劇 初演
文学: 文学 小説 作家 詩人 物語 出版 漫画 文庫 雑誌 著者 執筆 印刷 活字 新聞
芸術: 芸術 美術 絵画 画家 彫刻 建築 様式 写真 設計 展覧 工芸
映画とテレビ: 映画 監督 俳優 放送 番組 声優 主演 公開 撮影 劇場 視聴
スポーツ: 選手 試合 野球 優勝 大会 競技 得点 球団 出場 蹴球 陸上 五輪 連覇 決勝
宗教: 宗教 教会 仏教 神道 聖書 寺院 神社 信仰 僧侶 教皇 司教 信者 修道
言語: 言語 文字 方言 文法 発音 単語 英語 漢字 日本語 綴り 表記 語源
教育: 教育 学校 大学 学生 教師 授業 学部 教授 入学 卒業 学位
情報技術: 情報 通信 電子 計算 暗号 端末 回線 電話 検索 機能 開発
料理: 料理 食品 食事 野菜 調理 醤油 米飯 酒類 飲料 味噌 食材
娯楽: 遊技 娯楽 遊園 玩具 将棋 囲碁 賭博 客船 観光 旅行
"""


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
